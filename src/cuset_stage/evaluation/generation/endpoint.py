"""Answers from an OpenAI-compatible endpoint: vLLM, SGLang, `llamafactory-cli api`, or a service. Imports httpx.

One request a sample, several in flight. A request is tried again, with growing pauses, after a time-out, a lost connection, 408,
409, 425, 429, 5xx, and a body that is not a chat completion; the wait that a server asks for (Retry-After) is kept. A refusal of
one prompt (400, 413, 422) is a failure of that sample; a refused key or an unknown model ends the run.

The sample's seed is sent; whether the server honours it is the server's business, and so are settings that are not sent: vLLM,
for one, takes top_k and repetition_penalty from the model's generation_config.json unless `extra_body` says otherwise. A server
in front of a reasoning model should separate the reasoning (vLLM: --reasoning-parser): where the chat template opens the tag, an
answer that was cut off inside its reasoning cannot be told from one without.
"""

import asyncio
import json
import logging
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from .plan import Failure, Reply, Request
from .settings import GenerationError, Settings


logger = logging.getLogger(__name__)
RETRIED = frozenset((408, 409, 425, 429))  # and 5xx
FATAL = {
    401: "the API key is missing or wrong",
    403: "the API key may not use it",
    404: "there is no such model or path",
}
LONGEST_PAUSE_S = 60.0


class _Again(Exception):
    """The request may be tried again; `pause_s` is what the server asked for."""

    def __init__(self, reason: str, pause_s: float | None = None) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


class _Refused(Exception):
    """The server refuses this request, and would again."""


def base_url(endpoint: str) -> str:
    """http://host:8000/v1 from what people give; credentials in it are left to the API key.

    Raises:
        GenerationError: it is not an http address.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise GenerationError(f"--endpoint {endpoint}: expected an address such as http://localhost:8000/v1.")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))


class EndpointBackend:
    """Asks an endpoint.

    Args:
        endpoint: the base address, such as http://localhost:8000/v1.
        api_key: sent as a bearer token; never written anywhere.
        concurrency: requests in flight.
        timeout_s: limit for one request, from sending to the last byte.
        retries: further tries after the first.
        backoff_s: the first pause; each following one is twice as long, at most a minute.
        tokenizer: folder or Hub name of a tokenizer that counts tokens where the endpoint does not (no end token then).

    Raises:
        GenerationError: an option is out of range, or the tokenizer cannot be loaded.
    """

    def __init__(
        self,
        settings: Settings,
        endpoint: str,
        *,
        api_key: str | None = None,
        concurrency: int = 8,
        timeout_s: float = 600.0,
        retries: int = 5,
        backoff_s: float = 1.0,
        tokenizer: str | None = None,
    ) -> None:
        for name, value, least in (("--batch-size", concurrency, 1), ("--retries", retries, 0)):
            if value < least:
                raise GenerationError(f"{name} {value}: at least {least}.")
        if not timeout_s > 0:
            raise GenerationError(f"--timeout {timeout_s}: more than 0 seconds.")
        self.url = base_url(endpoint)
        self._settings = settings
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._tries = retries + 1
        self._backoff_s = backoff_s
        self._counter = None if tokenizer is None else _load_tokenizer(tokenizer)
        self._limit_key = "max_tokens"
        self._failed_in_row = 0
        self._told_no_usage = False

    def replies(self, requests: Sequence[Request]) -> Iterator[Reply | Failure]:
        """See `plan.BackEnd`.

        Raises:
            GenerationError: nothing answers at the address, the key is refused, the model is unknown, or one request after
                another fails.
        """
        outcomes: asyncio.Queue[Reply | Failure | Exception] = asyncio.Queue()
        pending = iter(requests)
        workers: list[asyncio.Task[None]] = []

        async def work() -> None:
            for request in pending:
                try:
                    outcomes.put_nowait(await self._ask(client, request))
                except Exception as error:  # handed over: nobody else looks at a worker's end
                    outcomes.put_nowait(error)
                    return

        async def start() -> None:
            await self._greet(client)
            workers.extend(asyncio.create_task(work()) for _ in range(min(self._concurrency, len(requests))))

        # The runner stands still between two outcomes, and cancels what is in flight when the block is left.
        with asyncio.Runner() as runner:
            limits = httpx.Limits(max_connections=self._concurrency + 1)
            client = httpx.AsyncClient(
                headers=self._headers, timeout=httpx.Timeout(self._timeout_s, connect=15.0), limits=limits
            )
            try:
                runner.run(start())
                for _ in requests:
                    outcome = runner.run(outcomes.get())
                    if isinstance(outcome, Exception):
                        raise outcome
                    yield outcome
            finally:
                for worker in workers:
                    worker.cancel()
                runner.run(client.aclose())

    async def _greet(self, client: httpx.AsyncClient) -> None:
        """Find out early that nothing answers, and say when the model's name is not among those served."""
        try:
            response = await client.get(f"{self.url}/models", timeout=30.0)
        except httpx.TransportError as error:
            raise GenerationError(
                f"--endpoint {self.url}: nothing answers there ({_reason(error)}). Start the server first, such as "
                "`API_PORT=8000 llamafactory-cli api model.yaml`, and give its address."
            ) from None
        if response.status_code in (401, 403):
            raise GenerationError(
                f"{self.url}: {FATAL[response.status_code]} ({response.status_code}); see --api-key-env."
            )
        try:
            served = [str(model["id"]) for model in response.json()["data"]]
        except (ValueError, LookupError, TypeError):
            return  # not every server lists its models
        if served and self._settings.model not in served:
            logger.warning(
                "%s serves %s; it is asked for %s all the same.", self.url, ", ".join(served[:5]), self._settings.model
            )

    async def _ask(self, client: httpx.AsyncClient, request: Request) -> Reply | Failure:
        started = time.perf_counter()
        for attempt in range(1, self._tries + 1):
            try:
                async with asyncio.timeout(self._timeout_s):
                    reply = await self._try(client, request, started, attempt)
                self._failed_in_row = 0
                return reply
            except _Refused as error:
                return Failure(request, str(error))
            except TimeoutError:
                again = _Again(f"no answer within {self._timeout_s:g} s (--timeout)")
            except httpx.RequestError as error:
                again = _Again(_reason(error))
            except _Again as error:
                again = error
            if attempt < self._tries:
                pause = again.pause_s
                if pause is None:
                    pause = self._backoff_s * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)
                await asyncio.sleep(min(pause, LONGEST_PAUSE_S))
        self._failed_in_row += 1
        if self._failed_in_row >= max(10, self._concurrency):
            raise GenerationError(
                f"{self.url}: {self._failed_in_row} requests in a row failed, each after {self._tries} tries; the last one: {again}. What "
                "was answered is kept: run the same command again when the server works."
            )
        return Failure(request, f"{again} ({self._tries} tries)")

    async def _try(self, client: httpx.AsyncClient, request: Request, started: float, attempt: int) -> Reply:
        response = await client.post(f"{self.url}/chat/completions", json=self._body(request))
        status = response.status_code
        if status in RETRIED or status >= 500:
            raise _Again(f"status {status}: {_excerpt(response)}", _retry_after(response))
        if status in FATAL:
            raise GenerationError(f"{self.url}: {FATAL[status]} ({status}: {_excerpt(response)}).")
        if status == 400 and self._limit_key == "max_tokens" and "max_completion_tokens" in response.text:
            self._limit_key = "max_completion_tokens"  # OpenAI's name for reasoning models
            raise _Again("the server wants max_completion_tokens", 0.0)
        if status != 200:
            raise _Refused(f"status {status}: {_excerpt(response)}")
        try:
            data = response.json()
            answer, reasoning, finish_reason = _read_choice(data)
        except (ValueError, RecursionError) as error:
            raise _Again(f"not a chat completion ({error}): {_excerpt(response)}") from None
        tokens, prompt_tokens, source = self._count(data, request, answer, reasoning)
        return Reply(
            request,
            answer=answer,
            reasoning=reasoning,
            tokens=tokens,
            prompt_tokens=prompt_tokens,
            finish_reason=finish_reason,
            seconds=round(time.perf_counter() - started, 3),
            extra={"endpoint": self.url, "tries": attempt, "tokens_from": source},
        )

    def _body(self, request: Request) -> dict[str, Any]:
        return {
            "model": self._settings.model,
            "messages": [dict(message) for message in request.messages],
            self._limit_key: self._settings.max_tokens,
            "temperature": self._settings.temperature,
            "top_p": self._settings.top_p,
            "seed": request.seed,
            "n": 1,
            "stream": False,
            **(self._settings.extra_body or {}),
        }

    def _count(
        self, data: Mapping[str, Any], request: Request, answer: str, reasoning: str | None
    ) -> tuple[int | None, int | None, str | None]:
        """Tokens of answer and prompt, and who counted: "usage", "tokenizer" or None."""
        usage = data.get("usage")
        counts = [
            usage.get(key) if isinstance(usage, dict) else None for key in ("completion_tokens", "prompt_tokens")
        ]
        counts = [
            value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
            for value in counts
        ]
        if counts[0] is not None:
            return counts[0], counts[1], "usage"
        if self._counter is None:
            if not self._told_no_usage:
                logger.warning("%s does not say how many tokens it used: give --tokenizer to count them.", self.url)
                self._told_no_usage = True
            return None, counts[1], None
        tokens = len(self._counter((reasoning or "") + answer, add_special_tokens=False)["input_ids"])
        if counts[1] is None and self._counter.chat_template is not None:
            text = self._counter.apply_chat_template(
                [dict(message) for message in request.messages], tokenize=False, add_generation_prompt=True
            )
            counts[1] = len(self._counter(text, add_special_tokens=False)["input_ids"])
        return tokens, counts[1], "tokenizer"


def _read_choice(data: Any) -> tuple[str, str | None, str | None]:
    """Answer, reasoning and finish_reason of a chat completion. Raises ValueError when it is none."""
    try:
        choice = data["choices"][0]
        message = choice["message"]
        finish_reason = choice.get("finish_reason")
        content = message.get("content")
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        if isinstance(content, list):  # parts
            content = "".join(part["text"] for part in content if part["type"] == "text")
    except (LookupError, TypeError, AttributeError):
        raise ValueError("no choices with a message") from None
    finish_reason = finish_reason if isinstance(finish_reason, str) else None
    reasoning = reasoning if isinstance(reasoning, str) else None
    if content is None and (finish_reason is not None or reasoning is not None):
        content = ""  # cut off inside its reasoning, or filtered
    if not isinstance(content, str):
        raise ValueError("no text in the message")
    return content, reasoning, finish_reason


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds of the Retry-After header; its other form, a date, is left aside."""
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def _excerpt(response: httpx.Response) -> str:
    """What the server says, on one line."""
    text = response.text
    try:
        error = json.loads(text)
        error = error.get("error", error.get("detail", error))
        text = str(error.get("message", error) if isinstance(error, dict) else error)
    except (ValueError, AttributeError, RecursionError):
        pass
    text = " ".join(text[:2000].split())
    return text if len(text) <= 200 else text[:200] + "..."


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _load_tokenizer(name: str) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise GenerationError(f"--tokenizer {name}: cannot be loaded ({str(error).splitlines()[0]}).") from None
