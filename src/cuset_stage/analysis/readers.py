"""A model that gives the log-probability of tokens: loaded here as LLaMA-Factory loads it, or behind a server."""

import asyncio
import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import httpx
import numpy as np

from ..generate.completion import base_url, bearer, excerpt, may_pass, reason, retry_after
from ..settings import Settings, SettingsError
from ..stage.loading import open_model, open_tokenizer
from ..stage.pretrained import check_vocabulary, chosen_device, explained, with_adapter
from ..text import one_line
from .requests import ModelRequest
from .token_probabilities import Row, token_log_probabilities


TRIES = 5
TIMEOUT_S = 600.0
FIRST_PAUSE_S = 1.0  # each following one is twice as long
AHEAD = 4  # requests that may wait for each one in flight
MOST_ROUNDING = 0.5  # nats that a server's log-probability may be above 0, as in bfloat16
Reader = Callable[[Iterable[Row]], Iterator[np.ndarray]]
"""Rows -> what `token_log_probabilities` yields of them."""


def open_reader(request: ModelRequest, tokenizer: Any, device: str, *, trust_remote_code: bool = False) -> Any:
    """The model of a request that is not served, in evaluation mode.

    Raises:
        SettingsError: it cannot be loaded, or the adapter or the tokenizer does not fit.
    """
    options = {"trust_remote_code": trust_remote_code, "quantization_bit": request.quantization_bit}
    with explained(f"{request.model}: the model cannot be loaded"):
        model = open_model(request.model, tokenizer, device, **options)
    if request.adapter is not None:
        model = with_adapter(model, request.adapter)
    check_vocabulary(tokenizer, model, request.model, request.adapter)
    return model


def request_tokenizer(request: ModelRequest, settings: Settings) -> Any:
    """The tokenizer of a request. Raises SettingsError when it cannot be loaded."""
    source = request.tokenizer or request.model
    fix = " (say where it lies: tokenizer: FOLDER)" if request.endpoint and not request.tokenizer else ""
    with explained(f"{source}: its tokenizer cannot be loaded{fix}"):
        return open_tokenizer(source, request.adapter, trust_remote_code=settings.trust_remote_code)


def request_reader(request: ModelRequest, tokenizer: Any, settings: Settings) -> Reader:
    """What reads rows with the model of a request: a server, or the model loaded here.

    settings: of a command, with device, batch_tokens, concurrency, api_key_env and trust_remote_code.
    """
    if request.endpoint is not None:
        options = {"concurrency": settings.concurrency, "api_key_env": settings.api_key_env}
        return ServerReader(request.endpoint, request.model, **options).read
    device = chosen_device(settings.device)
    model = open_reader(request, tokenizer, device, trust_remote_code=settings.trust_remote_code)
    return partial(token_log_probabilities, model, batch_tokens=settings.batch_tokens)


class ServerReader:
    """An OpenAI-compatible server that returns the log-probabilities of a prompt.

    Asks for completions of token ids with `prompt_logprobs`, as vLLM has them; a server that answers without them is asked with
    `echo` and `logprobs`, OpenAI's older way.

    Args:
        endpoint: such as http://localhost:8000/v1.
        model: the name it is served by.
        concurrency: requests in flight.
        api_key_env: the environment variable that holds the key, if the server wants one.
    """

    def __init__(self, endpoint: str, model: str, *, concurrency: int, api_key_env: str) -> None:
        self.url = f"{base_url(endpoint)}/completions"
        self._model, self._concurrency = model, concurrency
        self._headers = bearer(os.environ.get(api_key_env))
        self._echoes = False

    def read(self, rows: Iterable[Row]) -> Iterator[np.ndarray]:
        """What `token_log_probabilities` yields. Raises SettingsError when the server does not answer, or not with these numbers."""
        waiting: deque[tuple[Row, asyncio.Task[list[float | None]]]] = deque()
        source = iter(rows)
        limits = httpx.Limits(max_connections=self._concurrency)
        # The runner stands still between two results.
        with asyncio.Runner() as runner:
            client = httpx.AsyncClient(headers=self._headers, timeout=TIMEOUT_S, limits=limits)
            try:
                while True:
                    for row in itertools.islice(source, AHEAD * self._concurrency - len(waiting)):
                        ids = [int(token) for token in row["input_ids"]]
                        waiting.append((row, runner.get_loop().create_task(self._ask(client, ids))))
                    if not waiting:
                        break
                    row, task = waiting.popleft()
                    runner.run(asyncio.wait([task]))
                    values = np.array(task.result(), dtype=np.float32)
                    yield values[np.asarray(row["labels"]) != -100]
            finally:
                for _, task in waiting:
                    task.cancel()
                runner.run(client.aclose())

    async def _ask(self, client: httpx.AsyncClient, ids: list[int]) -> list[float | None]:
        """The log-probability of each id; None for the first."""
        body = {"model": self._model, "prompt": ids, "max_tokens": 1, "temperature": 0}
        for attempt in range(1, TRIES + 1):
            echoes = self._echoes
            asked = {"echo": True, "logprobs": 1} if echoes else {"prompt_logprobs": 1}
            try:
                response = await client.post(self.url, json={**body, **asked})
            except httpx.RequestError as error:
                trouble, pause = reason(error), 0.0
            else:
                if response.status_code == 200:
                    log_p = self._read(response, ids, echoes)
                    return await self._ask(client, ids) if log_p is None else log_p
                trouble, pause = f"status {response.status_code}: {excerpt(response)}", retry_after(response)
                if not may_pass(response.status_code):
                    break
            if attempt < TRIES:
                await asyncio.sleep(max(pause, FIRST_PAUSE_S * 2 ** (attempt - 1)))
        raise SettingsError(
            f"endpoint={self.url}: {trouble}. Expected a completion with prompt_logprobs, as `vllm serve` gives it; its "
            "--max-model-len has to hold the longest row (cutoff_len)."
        )

    def _read(self, response: httpx.Response, ids: list[int], echoes: bool) -> list[float | None] | None:
        """The log-probabilities in an answer; None where they have to be asked for in the older way."""
        try:
            choice = response.json()["choices"][0]
            if echoes:
                return echoed_log_probabilities(choice["logprobs"], ids)
            if choice.get("prompt_logprobs"):
                return prompt_log_probabilities(choice["prompt_logprobs"], ids)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise SettingsError(
                f"endpoint={self.url}: no log-probabilities of the prompt came back ({one_line(repr(error))}): {excerpt(response)}. "
                "Serve the model with vLLM, or give it as a folder."
            ) from None
        self._echoes = True
        return None


def prompt_log_probabilities(positions: list[Mapping[str, Any] | None], ids: list[int]) -> list[float | None]:
    """vLLM's `prompt_logprobs`: for each position the candidates by their id, of which the prompt's own is always one; None first."""
    if len(positions) != len(ids):
        raise ValueError(f"{len(positions)} positions for {len(ids)} tokens")
    pairs = zip(positions[1:], ids[1:], strict=True)
    return [None, *(_at_most_zero(candidates[str(token)]["logprob"]) for candidates, token in pairs)]


def echoed_log_probabilities(log_probabilities: Mapping[str, Any], ids: list[int]) -> list[float | None]:
    """OpenAI's `logprobs` of an echoed prompt: None first, and what was generated behind the prompt."""
    values = log_probabilities["token_logprobs"][: len(ids)]
    if len(values) != len(ids) or None in values[1:]:
        raise ValueError(f"{len(values)} positions for {len(ids)} tokens")
    return [None, *map(_at_most_zero, values[1:])]


def _at_most_zero(value: Any) -> float:
    """A log-probability without what rounding left above 0. Raises ValueError for NaN and for what no rounding explains."""
    if not (number := float(value)) <= MOST_ROUNDING:
        raise ValueError(f"{value} is no log-probability")
    return min(number, 0.0)
