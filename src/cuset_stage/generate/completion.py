"""Read and check data that is exchanged with an OpenAI-compatible server. Nothing is sent here. Imports httpx."""

import html
import json
import os
import re
import time
from base64 import b64encode
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from ..text import one_line
from .settings import GenerationError


LEAST_SECRET = 16  # characters; a shorter key, such as EMPTY or token, is a word that may occur in answers
# Values of finish_reason for an answer that the server ended, not the model: vLLM and SGLang use abort, proxies error.
ABORTED = frozenset(("abort", "aborted", "error", "cancelled", "canceled"))


def api_key(variable: str) -> str | None:
    """Return the API key in an environment variable, or None if there is none.

    The default variable may be unset, as many servers need no key.

    Raises:
        GenerationError: a variable other than the default is not set, or its value cannot be part of an HTTP header.
    """
    if variable not in os.environ and variable != "OPENAI_API_KEY":
        raise GenerationError(f"api_key_env={variable}: this environment variable is not set.")
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise GenerationError("the API key holds characters that no HTTP header takes: is it the key?")
    return key or None


def base_url(endpoint: str) -> str:
    """Return the base URL of an endpoint, such as http://host:8000/v1.

    Args:
        endpoint: an address with or without /v1, or with the whole path of chat completions.

    Raises:
        GenerationError: it is not such an address, or it has a user name, a password or a query.
    """
    try:
        parts = urlsplit(endpoint)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and httpx.URL(endpoint)
    except (ValueError, httpx.InvalidURL):  # unmatched brackets, an invalid port, or bytes that are not UTF-8
        valid = False
    if not valid or not {"@", "?", "#"}.isdisjoint(endpoint):
        # The message must not repeat the address, as the part before an @ or after a ? may be a key.
        raise GenerationError(
            "endpoint: expected an address such as http://localhost:8000/v1, without user name, password or query; a key comes "
            "from the environment (api_key_env)."
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))


def read_choice(data: Any) -> tuple[str, str | None, str | None]:
    """Return answer, reasoning and finish_reason of a chat completion. The last two are None if they are not given.

    Args:
        data: the parsed JSON body of a response.

    Raises:
        ValueError: the data is not a chat completion, or the server aborted it, so the answer has no proper end.
    """
    try:
        choice = data["choices"][0]
        message, finish_reason = choice["message"], choice.get("finish_reason")
        content, reasoning = message.get("content"), message.get("reasoning_content") or message.get("reasoning")
        if isinstance(content, list):  # a list of parts, [{type: text, text: ...}]
            content = "".join(part["text"] for part in content if part["type"] == "text")
    except (LookupError, TypeError, AttributeError):
        raise ValueError("no choices with a message") from None
    finish_reason, reasoning = (text if isinstance(text, str) else None for text in (finish_reason, reasoning))
    if finish_reason is not None and finish_reason.lower() in ABORTED:
        raise ValueError(f"the server gave up: finish_reason {finish_reason!r}")
    if content is None and (finish_reason is not None or reasoning is not None):
        content = ""  # cut off inside its reasoning, or filtered
    if not isinstance(content, str):
        raise ValueError("no text in the message")
    return content, reasoning, finish_reason


def retry_after(response: httpx.Response) -> float:
    """Return the seconds that the Retry-After header asks for, by a number or a date; 0 if it has neither."""
    asked = response.headers.get("retry-after", "")
    with suppress(ValueError):
        return float(asked) if asked[:1].isdecimal() else parsedate_to_datetime(asked).timestamp() - time.time()
    return 0.0


def excerpt(response: httpx.Response) -> str:
    """Return the server's message, or where it redirects to, on one line, with the request's API key removed.

    If the message repeats the key in another encoding (`repeats_key`), the whole message is left out.
    """
    text = response.headers.get("location", response.text)
    with suppress(ValueError, AttributeError, RecursionError):  # the body is no such object
        error = json.loads(text)
        error = error.get("error", error.get("detail", error))
        text = str(error.get("message", error) if isinstance(error, dict) else error)
    key = response.request.headers.get("authorization", "").removeprefix("Bearer ")
    text = text.replace(key, "(the API key)") if key else text
    return one_line("(left out: it repeats the API key)" if repeats_key(text, response) else text)


def repeats_key(text: str, response: httpx.Response | httpx.RequestError) -> bool:
    """Return True if a text contains the request's API key in some form.

    These are recognised: the key as it is, in other case, broken into pieces, escaped as in URLs, HTML or JSON, in
    hexadecimal, and in base64. Keys shorter than LEAST_SECRET are not looked for.

    Args:
        text: the text to search.
        response: the response, or the error of a request. The key is taken from its request's headers.
    """
    raw = response.request.headers.get("authorization", "").removeprefix("Bearer ").encode()
    if len(raw) < LEAST_SECRET:
        return False
    # In base64, three bytes make a group of four characters, so the key has three spellings, by its offset in a group.
    # Characters that also depend on the neighbours of the key are cut off.
    base64 = (b64encode(bytes(shift) + raw)[shift and shift + 1 : (shift + len(raw)) // 3 * 4] for shift in range(3))
    spellings = (spelling.decode() for spelling in (raw, raw.hex().encode(), *base64))
    text = html.unescape(unquote(unquote(text)))
    letters = _letters(re.sub(r"\\+(?:u00|x)([0-9a-fA-F]{2})", lambda escape: chr(int(escape[1], 16)), text))
    return any(_letters(spelling) in letters for spelling in spellings)


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without regard to case."""
    return "".join(filter(str.isalnum, text)).casefold()
