"""A model that gives the log-probability of tokens: loaded here as LLaMA-Factory loads it, or behind a server."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import numpy as np

from ..generate.completion import base_url, bearer, excerpt, reason, without_key
from ..settings import Settings, SettingsError
from ..stage.loading import open_model, open_tokenizer
from ..stage.pretrained import check_vocabulary, chosen_device, explained, with_adapter
from ..text import one_line
from .requests import ModelRequest
from .token_probabilities import Row, token_log_probabilities


TIMEOUT_S = 600.0
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
        key = os.environ.get(settings.api_key_env)
        return partial(read_served, request.endpoint, request.model, settings.concurrency, key)
    device = chosen_device(settings.device)
    model = open_reader(request, tokenizer, device, trust_remote_code=settings.trust_remote_code)
    return partial(token_log_probabilities, model, batch_tokens=settings.batch_tokens)


def read_served(
    endpoint: str, model: str, concurrency: int, key: str | None, rows: Iterable[Row]
) -> Iterator[np.ndarray]:
    """What `token_log_probabilities` yields, from an OpenAI-compatible server that returns `prompt_logprobs`, as vLLM does.

    endpoint: such as http://localhost:8000/v1. model: the name it is served by. concurrency: requests in flight.

    Raises:
        SettingsError: the server does not answer, or not with these numbers.
    """
    url, waiting = f"{base_url(endpoint)}/completions", deque()
    with httpx.Client(headers=bearer(key), timeout=TIMEOUT_S) as client:
        pool = ThreadPoolExecutor(concurrency)
        try:
            for row in rows:
                waiting.append(pool.submit(_ask, client, url, model, row))
                if len(waiting) == AHEAD * concurrency:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def _ask(client: httpx.Client, url: str, model: str, row: Row) -> np.ndarray:
    """The log-probabilities of a row's supervised tokens; NaN for its first token."""
    ids = [int(token) for token in row["input_ids"]]
    body = {"model": model, "prompt": ids, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 1}
    try:
        response = client.post(url, json=body)
        trouble = None if response.status_code == 200 else f"status {response.status_code}: {excerpt(response)}"
    except httpx.RequestError as error:
        trouble = reason(error)
    if trouble is not None:
        raise SettingsError(
            f"endpoint={url}: {trouble}. Expected a completion with prompt_logprobs, as `vllm serve` gives it; its "
            "--max-model-len has to hold the longest row (cutoff_len)."
        )
    try:
        # For each position the candidates by their id, of which the prompt's own is always one; nothing for the first.
        positions = response.json()["choices"][0]["prompt_logprobs"][1:]
        values = np.array([float(of[str(token)]["logprob"]) for of, token in zip(positions, ids[1:], strict=True)])
        if not (values <= MOST_ROUNDING).all():  # NaN is not either
            raise ValueError(f"{values[~(values <= MOST_ROUNDING)][0]} is no log-probability")
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise SettingsError(
            f"endpoint={url}: no log-probabilities of the prompt came back ({one_line(without_key(repr(error), response))}): "
            f"{excerpt(response)}. "
            "Serve the model with vLLM, or give it as a folder."
        ) from None
    known = np.concatenate([[np.nan], np.minimum(values, 0.0)]).astype(np.float32)
    return known[np.asarray(row["labels"]) != -100]
