"""Questions to a model and its replies, each kept as a file of its own: what was asked before is not asked again.

A reply is found by the hash of its question: the messages, the model and how it samples. So a run repeats without the endpoint, goes on
after kill -9, and goes on with the replies on another machine.
"""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from ..files import write_atomically
from ..row_checks import Count, RowModel, Seconds, Text, Truth, wrong_value
from ..text import one_line
from .folders import keyed_file
from .questions import Messages, in_json
from .settings import WriteSettings
from .stage_rows import CurationError, NotSettled
from .training_text import token_counter


class Reply(RowModel):
    """A reply of a model. tokens, prompt_tokens: as the server counts them, else estimated; seconds: from question to reply."""

    question: Text  # its hash
    text: Text
    finish_reason: Text | None
    tokens: Count
    prompt_tokens: Count
    counted: Truth
    seconds: Seconds

    @property
    def cut_off(self) -> bool:
        return self.finish_reason == "length"


class Replies:
    """The replies in `folder`, <first two digits of the hash>/<hash>.json, and the endpoint for those that are missing. Thread-safe."""

    def __init__(self, folder: Path, settings: WriteSettings) -> None:
        self.folder, self._settings = folder, settings
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._spent = 0.0, 0.0  # tokens of questions and of replies
        if settings.most_tokens or settings.most_cost:
            for path in folder.glob("*/*.json"):
                self._count(_read(path))

    def ask(self, messages: Messages) -> Reply:
        """The reply to a question, from its file or from the endpoint.

        Raises:
            NotSettled: it is not there, and no endpoint is given, the endpoint failed, or a ceiling is reached.
            CurationError: the endpoint is not there, or refuses the key or the model: no row can go on.
        """
        if self._settings.json_mode:
            messages = in_json(messages)
        asked = {"messages": list(messages), **self._settings.sampling}
        path = keyed_file(self.folder, asked)
        if path.is_file():
            return _read(path)
        if self._settings.endpoint is None:
            raise NotSettled("no_endpoint", "a question without a kept reply; give endpoint= to have it answered")
        self._check_ceiling()
        reply = self._fetch(path.stem, messages)
        write_atomically(path, json.dumps({**asked, "reply": reply.model_dump()}, indent=1) + "\n")
        self._count(reply)
        return reply

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Within, Ctrl-C ends the waiting for replies: a server may take hours."""

        def stop(*_: object) -> NoReturn:
            self._stopped.set()
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _count(self, reply: Reply) -> None:
        with self._lock:
            self._spent = self._spent[0] + reply.prompt_tokens, self._spent[1] + reply.tokens

    def _check_ceiling(self) -> None:
        given = self._settings
        if given.most_tokens and sum(self._spent) >= given.most_tokens:
            raise NotSettled(
                "ceiling",
                f"{sum(self._spent):,.0f} tokens are used; most_tokens={given.most_tokens} allows no more, give a higher one",
            )
        cost = sum(tokens * price / 1e6 for tokens, price in zip(self._spent, given.prices, strict=True))
        if given.most_cost and cost >= given.most_cost:
            raise NotSettled(
                "ceiling", f"{cost:.4g} is spent; most_cost={given.most_cost:g} allows no more, give a higher one"
            )

    @cached_property
    def _backend(self) -> Any:
        from ..generate.backend import choose_backend

        _, open_backend = choose_backend(self._settings.backend)
        return open_backend()

    def _fetch(self, key: str, messages: Messages) -> Reply:
        from ..generate import GenerationError
        from ..generate.plan import Failure, Request

        request = Request(key, 0, messages, int(key[:8], 16) >> 1, key)
        answered: Future[Any] = Future()

        def call() -> None:
            try:
                with self._lock:
                    backend = self._backend
                (reply,) = backend.replies([request])
                answered.set_result(reply)
            except Exception as error:
                answered.set_exception(error)

        threading.Thread(target=call, daemon=True).start()
        while not wait([answered], timeout=0.2).done:
            if self._stopped.is_set():
                raise NotSettled("interrupted", "the run was interrupted")
        try:
            outcome = answered.result()
        except GenerationError as error:
            raise CurationError(str(error)) from None
        if isinstance(outcome, Failure):
            raise NotSettled("endpoint", one_line(outcome.message, 500))
        estimate = token_counter(None)
        tokens, asked = outcome.tokens, outcome.prompt_tokens
        return Reply(
            question=key,
            text=outcome.answer,
            finish_reason=outcome.finish_reason,
            tokens=estimate((outcome.reasoning or "") + outcome.answer) if tokens is None else tokens,
            prompt_tokens=estimate("".join(each["content"] for each in messages)) if asked is None else asked,
            counted=tokens is not None and asked is not None,
            seconds=outcome.seconds or 0.0,
        )


def _read(path: Path) -> Reply:
    """Raises CurationError for a file that is no reply."""
    try:
        reply = json.loads(path.read_text(encoding="utf-8"))["reply"]
        return Reply.model_validate(reply)
    except ValidationError as error:
        problem = f"reply: {wrong_value(error, Reply, reply)}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = one_line(error)
    raise CurationError(f"{path}: no kept reply ({problem}); delete the file to ask again.")
