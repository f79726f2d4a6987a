"""Answers from an OpenAI-compatible endpoint: vLLM, SGLang, `llamafactory-cli api`, or a service. Imports httpx.

One request a sample, several in flight. A request is tried again, with growing pauses, after a time-out, a lost connection, 408,
409, 425, 429, 5xx, a body that is not a chat completion or has no end, and one that the server broke off; the wait that a server asks
for (Retry-After) is kept, up to ten minutes. A refusal of one prompt (400, 413, 422) is a failure of that sample; a refused key or
an unknown model ends the run.

The sample's seed is sent; whether it is honoured is the server's business (vLLM does, `llamafactory-cli api` does not), and so are
settings that are not sent: vLLM takes top_k and repetition_penalty from the model's generation_config.json, `llamafactory-cli api`
top_k: 50 from its own defaults, unless `extra_body` or its YAML file says otherwise. A server in front of a reasoning model should
separate the reasoning (vLLM: --reasoning-parser): where the chat template opens the tag, an answer that was cut off inside its
reasoning cannot be told from one without.

Tokens are the server's own count (usage.completion_tokens, reasoning and end token included). Where it gives none, a tokenizer counts
the text, without an end token. `tokens_from` in each line says which.
"""

import asyncio
import logging
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from ..text import one_line
from .completion import base_url, bearer, excerpt, read_choice, read_usage, retry_after
from .plan import Failure, Reply, Request
from .settings import GenerationError, Settings


logger = logging.getLogger(__name__)
RETRIED = frozenset((408, 409, 425, 429))  # and 5xx
FATAL = {
    401: "the API key is missing or wrong",
    403: "the API key may not use it",
    404: "there is no such model or path",
}
LONGEST_PAUSE_S = 60.0  # of our own
LONGEST_WAIT_S = 600.0  # of those that a server asks for
LONGEST_GREETING_S = 30.0
LARGEST_BODY = 16 * 2**20  # a hundred thousand tokens, each character escaped, are a quarter of it


class _Again(Exception):
    """The request may be tried again, after at least `pause_s`."""

    def __init__(self, reason: str, pause_s: float = 0.0) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


class EndpointBackend:
    """Asks an endpoint.

    Args:
        endpoint: the base address, such as http://localhost:8000/v1.
        api_key: sent as a bearer token; never written anywhere.
        concurrency: requests in flight.
        timeout_s: limit for one request, from sending to the last byte.
        retries: further tries after the first.
        backoff_s: the first pause; each following one is twice as long, at most a minute.
        tokenizer: folder or Hub name of a tokenizer that counts tokens where the endpoint does not.

    Raises:
        GenerationError: it is no address, no header can hold the key, or the tokenizer cannot be loaded.
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
        self.url = base_url(endpoint)
        self._settings = settings
        # What is small and compressed can be of any size when it is not.
        self._headers = {"Accept-Encoding": "identity", **bearer(api_key)}
        self._concurrency = concurrency
        self._timeout_s = timeout_s
        self._tries = retries + 1
        self._backoff_s = backoff_s
        self._tokenizer, self._prompter = (None, None) if tokenizer is None else _load_tokenizer(tokenizer)
        self._limit_key = "max_tokens"
        self._failed_in_row = 0
        self._told_no_usage = False

    def replies(self, requests: Sequence[Request]) -> Iterator[Reply | Failure]:
        """See `plan.BackEnd`.

        Raises:
            GenerationError: nothing answers at the address, the key is refused, the model is unknown, or one request
                after another fails.
        """
        outcomes: asyncio.Queue[Reply | Failure | Exception] = asyncio.Queue()
        pending = iter(requests)
        workers: list[asyncio.Task[None]] = []

        async def work() -> None:
            while (request := next(pending, None)) is not None:
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
            timeout = httpx.Timeout(self._timeout_s, connect=15.0)
            client = httpx.AsyncClient(headers=self._headers, timeout=timeout, limits=limits)
            try:
                runner.run(start())
                for _ in requests:
                    outcome = runner.run(outcomes.get())
                    if isinstance(outcome, Exception):
                        pending = iter(())  # no new requests; answers in flight are paid for, and kept when they come
                        self._tries = 0  # and none of them is tried again
                        runner.run(asyncio.wait(workers, timeout=self._timeout_s))
                        while not outcomes.empty():
                            if isinstance(last := outcomes.get_nowait(), Reply):
                                yield last
                        raise outcome
                    yield outcome
            finally:
                for worker in workers:
                    worker.cancel()
                runner.run(client.aclose())

    async def _greet(self, client: httpx.AsyncClient) -> None:
        """Find out early that nothing answers, and say when the model's name is not among those served."""
        try:
            async with asyncio.timeout(LONGEST_GREETING_S):
                response = await _read(client, "GET", f"{self.url}/models", timeout=LONGEST_GREETING_S)
        except _Again:
            return  # no list of models
        except (httpx.RequestError, TimeoutError) as error:
            raise GenerationError(
                f"endpoint={self.url}: nothing answers there ({_reason(error)}). Start the server first, such as "
                "`API_PORT=8000 llamafactory-cli api model.yaml`, and give its address."
            ) from None
        if response.status_code in (401, 403):
            raise GenerationError(
                f"{self.url}: {FATAL[response.status_code]} ({response.status_code}); see api_key_env."
            )
        try:
            served = [str(model["id"]) for model in response.json()["data"]]
        except (ValueError, LookupError, TypeError):
            return  # not every server lists its models
        if served and self._settings.model not in served:
            names = ", ".join(served[:5])
            logger.warning("%s serves %s; it is asked for %s all the same.", self.url, names, self._settings.model)

    async def _ask(self, client: httpx.AsyncClient, request: Request) -> Reply | Failure:
        started = time.perf_counter()
        attempt = 0
        while True:
            attempt += 1
            try:
                async with asyncio.timeout(self._timeout_s):
                    outcome = await self._try(client, request, started, attempt)
                self._failed_in_row = 0
                return outcome
            except TimeoutError:
                again = _Again(f"no answer within {self._timeout_s:g} s (timeout)")
            except httpx.RequestError as error:
                again = _Again(_reason(error))
            except _Again as error:
                again = error
            if attempt < self._tries:
                pause = min(self._backoff_s * 2 ** (attempt - 1), LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)
                await asyncio.sleep(max(pause, min(again.pause_s, LONGEST_WAIT_S)))
            if attempt >= self._tries:  # the last one, or the run is over meanwhile
                break
        self._failed_in_row += 1
        if self._failed_in_row >= max(10, self._concurrency):
            raise GenerationError(
                f"{self.url}: {self._failed_in_row} requests in a row failed, each after {self._tries} tries; the "
                f"last one: {again}. What was answered is kept: run the same command again when the server works."
            )
        return Failure(request, f"{again} ({self._tries} tries)")

    async def _try(self, client: httpx.AsyncClient, request: Request, started: float, attempt: int) -> Reply | Failure:
        limit_key = self._limit_key
        response = await _read(client, "POST", f"{self.url}/chat/completions", json=self._body(request))
        status = response.status_code
        if status in RETRIED or status >= 500:
            raise _Again(f"status {status}: {excerpt(response)}", retry_after(response))
        if status in FATAL:
            raise GenerationError(f"{self.url}: {FATAL[status]} ({status}: {excerpt(response)}).")
        if status == 400 and limit_key == "max_tokens" and "max_completion_tokens" in response.text:
            self._limit_key = "max_completion_tokens"  # OpenAI's name for reasoning models
            return await self._try(client, request, started, attempt)
        if status != 200:
            return Failure(request, f"status {status}: {excerpt(response)}")
        try:
            data = response.json()
            answer, reasoning, finish_reason = read_choice(data)
        except (ValueError, RecursionError) as error:
            raise _Again(f"not a chat completion ({error}): {excerpt(response)}") from None
        tokens, prompt_tokens, source = self._count(data, request, (reasoning or "") + answer)
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
        self, data: Mapping[str, Any], request: Request, text: str
    ) -> tuple[int | None, int | None, str | None]:
        """Tokens of answer and prompt, and who counted the answer's: "usage", "tokenizer" or None."""
        tokens, prompt_tokens = read_usage(data)
        if tokens is not None and (tokens or not text):  # some servers send zeros in place of a count
            return tokens, prompt_tokens, "usage"
        if self._tokenizer is not None:
            if prompt_tokens is None and self._prompter is not None:
                prompt_tokens = len(self._prompter.encode(request.messages).ids)
            return len(self._tokenizer(text, add_special_tokens=False)["input_ids"]), prompt_tokens, "tokenizer"
        if not self._told_no_usage:
            logger.warning("%s does not say how many tokens it used: give tokenizer=... to count them.", self.url)
            self._told_no_usage = True
        return None, prompt_tokens, None


async def _read(client: httpx.AsyncClient, method: str, url: str, **options: Any) -> httpx.Response:
    """The whole response, as `client.request` gives it. Raises _Again for a body that is larger than any answer."""
    body = bytearray()
    async with client.stream(method, url, **options) as response:
        async for part in response.aiter_bytes():
            body += part
            if len(body) > LARGEST_BODY:
                raise _Again(f"a body of more than {LARGEST_BODY >> 20} MiB (status {response.status_code})")
    # Without Content-Encoding: the body is decoded by now.
    headers = {name: response.headers[name] for name in ("content-type", "retry-after") if name in response.headers}
    return httpx.Response(response.status_code, headers=headers, content=bytes(body), request=response.request)


def _load_tokenizer(name: str) -> tuple[Any, Any]:
    """The tokenizer, and what encodes prompts with it when it has a chat template."""
    from transformers import AutoTokenizer  # takes seconds

    from .prompting import Prompter

    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise GenerationError(f"tokenizer={name}: cannot be loaded ({one_line(error)}).") from None
    return tokenizer, Prompter(tokenizer, model=name) if tokenizer.chat_template is not None else None


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")
