"""What goes to an OpenAI-compatible server and comes back, as data: nothing is sent here. Imports httpx."""

import html
import json
import math
import os
import re
from base64 import b64encode
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from ..text import one_line
from .settings import GenerationError


LEAST_SECRET = 16  # characters; a shorter key, such as EMPTY or token, is a word that answers have
# What servers say of an answer that they, not the model, ended: vLLM and SGLang say abort, proxies error.
ABORTED = frozenset(("abort", "aborted", "error", "cancelled", "canceled"))


def api_key(variable: str) -> str | None:
    """The key that an environment variable holds; None where the default one is not set, as many servers want none.

    Raises:
        GenerationError: another one was named, and is not set; or no header can hold the key.
    """
    if variable not in os.environ and variable != "OPENAI_API_KEY":
        raise GenerationError(f"api_key_env={variable}: this environment variable is not set.")
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise GenerationError("the API key holds characters that no HTTP header takes: is it the key?")
    return key or None


def base_url(endpoint: str) -> str:
    """http://host:8000/v1 from what people give: with or without /v1, or with the whole path of chat completions.

    Raises:
        GenerationError: it is not such an address, or holds a user name, a password or a query.
    """
    try:
        parts = urlsplit(endpoint)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # brackets that do not match, or a port that is none
        valid = False
    if not valid or not {"@", "?", "#"}.isdisjoint(endpoint):
        # What stands before an @ or behind a ? may be a key, so the address is not repeated.
        raise GenerationError(
            "endpoint: expected an address such as http://localhost:8000/v1, without user name, password or query; a key comes "
            "from the environment (api_key_env)."
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))


def read_choice(data: Any) -> tuple[str, str | None, str | None]:
    """Answer, reasoning and finish_reason of a chat completion.

    Raises ValueError when it is none, or the server broke it off: what there is of it is not the model's own end.
    """
    try:
        choice = data["choices"][0]
        message, finish_reason = choice["message"], choice.get("finish_reason")
        content, reasoning = message.get("content"), message.get("reasoning_content") or message.get("reasoning")
        if isinstance(content, list):  # parts
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
    """Seconds of the Retry-After header; 0 without a number there."""
    try:
        seconds = float(response.headers.get("retry-after", ""))
    except ValueError:
        return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def excerpt(response: httpx.Response) -> str:
    """What the server says, on one line, without the key that the request had; without all of it where it repeats the key in disguise."""
    text = response.text
    try:
        error = json.loads(text)
        error = error.get("error", error.get("detail", error))
        text = str(error.get("message", error) if isinstance(error, dict) else error)
    except (ValueError, AttributeError, RecursionError):
        pass
    key = response.request.headers.get("authorization", "").removeprefix("Bearer ")
    text = text.replace(key, "(the API key)") if key else text
    return one_line("(left out: it repeats the API key)" if repeats_key(text, response) else text)


def repeats_key(text: str, response: httpx.Response | httpx.RequestError) -> bool:
    """Whether a text holds the request's key: as it is, in capitals, broken into pieces, as URLs, HTML and JSON escape it, in hexadecimal or
    in base64."""
    raw = response.request.headers.get("authorization", "").removeprefix("Bearer ").encode()
    if len(raw) < LEAST_SECRET:
        return False
    # In base64 the key may begin at each of three places in a group of four characters; what shares a group with others differs.
    base64 = (b64encode(bytes(shift) + raw)[shift and shift + 1 : (shift + len(raw)) // 3 * 4] for shift in range(3))
    spellings = (spelling.decode() for spelling in (raw, raw.hex().encode(), *base64))
    text = html.unescape(unquote(unquote(text)))
    found = _letters(re.sub(r"\\+(?:u00|x)([0-9a-fA-F]{2})", lambda escape: chr(int(escape[1], 16)), text))
    return any(_letters(spelling) in found for spelling in spellings)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()
