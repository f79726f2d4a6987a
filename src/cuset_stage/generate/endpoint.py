"""Sample answers from an OpenAI-compatible endpoint: vLLM, SGLang, `llamafactory-cli api` or a service. Imports httpx.

There is one request per sample, and several are in flight. A request is tried again after a time-out, a lost
connection, the status 408, 409, 425, 429 or 5xx, or a body that is not a complete chat completion. The pauses between
the tries grow, and are at least as long as the server asks for (Retry-After). If the server refuses one prompt (400,
413, 422), only this sample fails. A refused key or an unknown model ends the run.

The server decides whether it uses the seed that is sent (vLLM does, `llamafactory-cli api` does not). It also decides
about settings that are not sent, such as top_k and repetition_penalty, unless `extra_body` sets them.

A server with a reasoning model should return the reasoning separately (vLLM: --reasoning-parser). Otherwise, if the
chat template opens the reasoning tag, an answer that was cut off inside its reasoning looks like one without
reasoning.

Token counts are the server's own (usage.completion_tokens, with reasoning and end token). If it sends none, none are
recorded.
"""

import asyncio
import itertools
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import httpx

from ..row_checks import LARGEST
from ..tasks.answers_file import Answer
from .completion import excerpt, read_choice, repeats_key, retry_after
from .plan import Failure, Request
from .settings import GenerationError, RecordedSettings


FATAL = {
    401: "the API key is missing or wrong, see api_key_env",
    403: "the API key may not use it, see api_key_env",
    404: "there is no such model or path",
    **dict.fromkeys((301, 302, 303, 307, 308), "it sends requests to another address; give that one as endpoint"),
}
LONGEST_PAUSE_S = 60.0  # longest pause of our own between two tries
LONGEST_WAIT_S = 600.0  # longest wait that is granted when a server asks for one


class _Again(Exception):
    """The request may be tried again. Its arguments are the problem and the seconds that the server asks to wait."""


@dataclass
class EndpointBackend:
    """Samples answers from an endpoint.

    Attributes:
        settings: the settings of the answers.
        url: base URL, as `base_url` returns it.
        api_key: sent as a bearer token, and never written anywhere. None: no key is sent.
        concurrency: number of requests in flight.
        timeout_s: limit for a request in seconds, from sending to the last byte.
        retries: number of further tries after a request has failed.
        backoff_s: pause before the first retry in seconds. Each following pause is twice as long, at most a minute.
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
    _ended: BaseException | None = field(default=None, init=False)  # what ended the run; nothing is asked after it
    _has_answered: bool = field(default=False, init=False)

    def replies(self, requests: Sequence[Request]) -> Iterator[Answer | Failure]:
        """Yield one outcome per request as soon as it is there, in any order.

        After an error that ends the run no request begins. The outcomes of those in flight come first, because their
        answers may be paid for. Calls in several threads end together, but only a call that lacks an outcome raises.

        Raises:
            GenerationError: nothing answers at the address, the key is refused, the model is unknown, or too many
                requests in a row fail.
        """
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        timeout = httpx.Timeout(self.timeout_s, connect=15.0)
        limits = httpx.Limits(max_connections=self.concurrency + 1)
        waiting, in_flight, missing = iter(requests), set[asyncio.Task[Answer | Failure]](), len(requests)
        # The event loop runs only while this generator waits for the next outcome, not while its caller works.
        with asyncio.Runner() as runner:
            client = httpx.AsyncClient(headers=headers, timeout=timeout, limits=limits)
            try:
                while True:
                    room = 0 if self._ended else self.concurrency - len(in_flight)
                    for request in itertools.islice(waiting, room):
                        in_flight.add(runner.get_loop().create_task(self._ask(client, request)))
                    if not in_flight:
                        break
                    done, in_flight = runner.run(asyncio.wait(in_flight, return_when=asyncio.FIRST_COMPLETED))
                    for task in done:
                        if error := task.exception():
                            self._ended = self._ended or error
                        else:
                            missing -= 1
                            yield task.result()
            finally:
                for task in in_flight:
                    task.cancel()
                runner.run(client.aclose())
        if missing:
            raise self._ended

    async def _ask(self, client: httpx.AsyncClient, request: Request) -> Answer | Failure:
        """Send a request, and try again if that may help."""
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
                problem, wait = f"no answer within {self.timeout_s:g} s (timeout)", 0.0
            except httpx.RequestError as error:
                # The error may quote a broken header, and with it the key.
                detail = "" if repeats_key(str(error), error) else str(error)
                problem, wait = f"{type(error).__name__}: {detail}".removesuffix(": "), 0.0
                if isinstance(error, httpx.ConnectError) and not self._has_answered:
                    raise GenerationError(
                        f"endpoint={self.url}: nothing answers there ({problem}). Start the server first, such as "
                        "`API_PORT=8000 llamafactory-cli api model.yaml`, and give its address."
                    ) from None
            except _Again as error:
                problem, wait = error.args
            if attempt == tries or self._ended:
                break
            pause = min(self.backoff_s * 2 ** (attempt - 1), LONGEST_PAUSE_S) * random.uniform(0.5, 1.0)
            await asyncio.sleep(max(pause, min(wait, LONGEST_WAIT_S)))
        self._failed_in_row += 1
        if self._failed_in_row >= max(10, self.concurrency):
            raise GenerationError(
                f"{self.url}: {self._failed_in_row} requests in a row failed, each after {tries} tries; the "
                f"last one: {problem}. What was answered is kept: run the same command again when the server works."
            )
        return Failure(request, f"{problem} ({attempt} tries)")

    async def _try(self, client: httpx.AsyncClient, request: Request) -> Answer | Failure:
        """Send a request once. Raises _Again if it may be tried again, and GenerationError if the run has to end."""
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
        content = json.dumps(body)  # with escapes, unlike httpx's own, for what UTF-8 cannot encode (lone surrogates)
        response = await client.post(f"{self.url}/chat/completions", content=content)
        status, self._has_answered = response.status_code, True
        if status in (408, 409, 425, 429) or status >= 500:
            raise _Again(f"status {status}: {excerpt(response)}", retry_after(response))
        if status in FATAL:
            raise GenerationError(f"{self.url}: {FATAL[status]} ({status}: {excerpt(response)}).")
        if status == 400 and limit_key == "max_tokens" and "max_completion_tokens" in response.text:
            self._limit_key = "max_completion_tokens"  # OpenAI's name of the setting for reasoning models
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
        # Some servers send 0 instead of a count, so 0 tokens are recorded only if the answer is empty.
        usage = data["usage"] if isinstance(data.get("usage"), dict) else {}
        counts = usage.get("completion_tokens"), usage.get("prompt_tokens")
        tokens, prompt_tokens = (count if type(count) is int and 0 <= count < LARGEST else None for count in counts)
        if answer or reasoning:
            tokens = tokens or None
        counted = {"tokens": tokens, "prompt_tokens": prompt_tokens, "finish_reason": finish_reason}
        extra = {"endpoint": self.url}
        return Answer(request.task, request.sample, answer, reasoning=reasoning, **counted, extra=extra)
