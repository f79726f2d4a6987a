"""Answers from an OpenAI-compatible endpoint: vLLM, SGLang, `llamafactory-cli api`, or a service. Imports httpx.

One request a sample, several in flight. Time-outs, lost connections, 408, 409, 425, 429, 5xx, and bodies that are no whole chat
completion are tried again with growing pauses, or after the wait that the server asks for (Retry-After). A refusal of one prompt (400,
413, 422) is a failure of that sample; a refused key or an unknown model ends the run.

Whether the seed that is sent is honoured is the server's business (vLLM does, `llamafactory-cli api` does not), and so are settings that
are not sent, such as top_k and repetition_penalty, unless `extra_body` says otherwise. A server in front of a reasoning model should
separate the reasoning (vLLM: --reasoning-parser): where the chat template opens the tag, an answer that was cut off inside its
reasoning cannot be told from one without.

Tokens are the server's own count (usage.completion_tokens, reasoning and end token included); where it gives none, none are recorded.
"""

import asyncio
import itertools
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import httpx

from ..tasks.answers_file import Answer
from .completion import excerpt, read_choice, repeats_key, retry_after
from .plan import Failure, Request
from .settings import GenerationError, RecordedSettings


FATAL = {
    401: "the API key is missing or wrong, see api_key_env",
    403: "the API key may not use it, see api_key_env",
    404: "there is no such model or path",
}
LONGEST_PAUSE_S = 60.0  # of our own
LONGEST_WAIT_S = 600.0  # of those that a server asks for


class _Again(Exception):
    """The request may be tried again: why, and the seconds that the server asks to wait."""


@dataclass
class EndpointBackend:
    """Asks an endpoint with `concurrency` requests in flight; `api_key` is sent as a bearer token and never written anywhere.

    `url` is what `base_url` makes of an address. `timeout_s` limits a request from sending to the last byte. The first pause before one of
    the `retries` is `backoff_s`, each following one twice as long, at most a minute.
    """

    settings: RecordedSettings
    url: str
    api_key: str | None = field(default=None, repr=False)
    concurrency: int = 8
    timeout_s: float = 600.0
    retries: int = 5
    backoff_s: float = 1.0
    _limit_key: str = field(default="max_tokens", init=False)
    _failed_in_row: int = field(default=0, init=False)
    _has_answered: bool = field(default=False, init=False)

    def replies(self, requests: Sequence[Request]) -> Iterator[Answer | Failure]:
        """One outcome a request, in any order, as soon as it is there.

        Raises:
            GenerationError: nothing answers at the address, the key is refused, the model is unknown, or one request
                after another fails.
        """
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        timeout = httpx.Timeout(self.timeout_s, connect=15.0)
        limits = httpx.Limits(max_connections=self.concurrency + 1)
        waiting, asked = iter(requests), set[asyncio.Task[Answer | Failure]]()
        # The runner stands still between two outcomes.
        with asyncio.Runner() as runner:
            client = httpx.AsyncClient(headers=headers, timeout=timeout, limits=limits)
            try:
                while True:
                    for request in itertools.islice(waiting, self.concurrency - len(asked)):
                        asked.add(runner.get_loop().create_task(self._ask(client, request)))
                    if not asked:
                        return
                    done, asked = runner.run(asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED))
                    for task in sorted(done, key=lambda task: task.exception() is not None):  # answers before an error
                        yield task.result()
            finally:
                for task in asked:
                    task.cancel()
                runner.run(client.aclose())

    async def _ask(self, client: httpx.AsyncClient, request: Request) -> Answer | Failure:
        started, tries = time.perf_counter(), self.retries + 1
        for attempt in range(1, tries + 1):
            try:
                async with asyncio.timeout(self.timeout_s):
                    outcome = await self._try(client, request)
                self._failed_in_row = 0
                if isinstance(outcome, Failure):
                    return outcome
                seconds = round(time.perf_counter() - started, 3)
                return replace(outcome, seconds=seconds, extra={**outcome.extra, "tries": attempt})
            except TimeoutError:
                again, wait = f"no answer within {self.timeout_s:g} s (timeout)", 0.0
            except httpx.RequestError as error:
                said = "" if repeats_key(str(error), error) else str(error)  # a broken header is shown as it came
                again, wait = f"{type(error).__name__}: {said}".removesuffix(": "), 0.0
                if isinstance(error, httpx.ConnectError) and not self._has_answered:
                    raise GenerationError(
                        f"endpoint={self.url}: nothing answers there ({again}). Start the server first, such as "
                        "`API_PORT=8000 llamafactory-cli api model.yaml`, and give its address."
                    ) from None
            except _Again as error:
                again, wait = error.args
            if attempt < tries:
                pause = min(self.backoff_s * 2 ** (attempt - 1), LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)
                await asyncio.sleep(max(pause, min(wait, LONGEST_WAIT_S)))
        self._failed_in_row += 1
        if self._failed_in_row >= max(10, self.concurrency):
            raise GenerationError(
                f"{self.url}: {self._failed_in_row} requests in a row failed, each after {tries} tries; the "
                f"last one: {again}. What was answered is kept: run the same command again when the server works."
            )
        return Failure(request, f"{again} ({tries} tries)")

    async def _try(self, client: httpx.AsyncClient, request: Request) -> Answer | Failure:
        limit_key, settings = self._limit_key, self.settings
        body = {
            "model": settings.model,
            "messages": [dict(message) for message in request.messages],
            limit_key: settings.max_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": request.seed,
            "n": 1,
            "stream": False,
            **(settings.extra_body or {}),
        }
        response = await client.post(f"{self.url}/chat/completions", json=body)
        status, self._has_answered = response.status_code, True
        if status in (408, 409, 425, 429) or status >= 500:
            raise _Again(f"status {status}: {excerpt(response)}", retry_after(response))
        if status in FATAL:
            raise GenerationError(f"{self.url}: {FATAL[status]} ({status}: {excerpt(response)}).")
        if status == 400 and limit_key == "max_tokens" and "max_completion_tokens" in response.text:
            self._limit_key = "max_completion_tokens"  # OpenAI's name for reasoning models
            return await self._try(client, request)
        if status != 200:
            return Failure(request, f"status {status}: {excerpt(response)}")
        try:
            data = response.json()
            answer, reasoning, finish_reason = read_choice(data)
        except (ValueError, RecursionError) as error:
            raise _Again(f"not a chat completion ({error}): {excerpt(response)}", 0.0) from None
        if repeats_key("\n".join(filter(None, (answer, reasoning, finish_reason))), response):
            return Failure(request, "the answer repeats the API key, so it is not kept")
        # As the server counts them, where it does; some send zeros in place of a count.
        usage = data["usage"] if isinstance(data.get("usage"), dict) else {}
        counts = usage.get("completion_tokens"), usage.get("prompt_tokens")
        tokens, prompt_tokens = (count if type(count) is int and count >= 0 else None for count in counts)
        if answer or reasoning:
            tokens = tokens or None
        counted = {"tokens": tokens, "prompt_tokens": prompt_tokens, "finish_reason": finish_reason}
        extra = {"endpoint": self.url}
        return Answer(request.task, request.sample, answer, reasoning=reasoning, **counted, extra=extra)
