"""Questions to a model and its replies, each kept in a file of its own: what was asked before is not asked again.

A reply is found by its question: the messages, the model and how it samples. So a run repeats without the endpoint, goes on after
kill -9, and goes on with the replies on another machine.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from ..text import one_line
from .questions import Messages
from .rows import CurationError, NotSettled
from .settings import WriteSettings
from .store import Store
from .training_rows import token_count


@dataclass(frozen=True)
class Reply:
    """A reply of a model. tokens, prompt_tokens: as the server counts them, else estimated."""

    question: str  # its hash
    text: str
    finish_reason: str | None
    tokens: int
    prompt_tokens: int

    @property
    def cut_off(self) -> bool:
        return self.finish_reason == "length"


class Replies:
    """The replies in `folder`, and the endpoint for those that are missing. Thread-safe.

    used: tokens of all replies that are kept, and of their questions.
    """

    def __init__(self, folder: Path, settings: WriteSettings) -> None:
        self.folder, self._store, self._settings = folder, Store(folder), settings
        self._lock, self._backend = threading.Lock(), None
        replies = (self._store.load(path)["reply"] for path in folder.glob("*/*.json"))
        self.used = sum(reply["tokens"] + reply["prompt_tokens"] for reply in replies)

    def ask(self, messages: Messages) -> Reply:
        """The reply to a question, from its file or from the endpoint.

        Raises:
            NotSettled: it is not there, and no endpoint is given, the endpoint failed, or the ceiling is reached.
            CurationError: the endpoint is not there, or refuses the key or the model: no row can go on.
        """
        asked = {"messages": list(messages), **self._settings.sampling}
        path = self._store.file(asked)
        if kept := self._store.load(path):
            return Reply(**{field.name: kept["reply"][field.name] for field in fields(Reply)})
        most = self._settings.most_tokens
        if self._settings.endpoint is None:
            raise NotSettled("no_endpoint", "a question without a kept reply; give endpoint= to have it answered")
        if most and self.used >= most:
            used = f"{self.used:,} of most_tokens={most}"
            raise NotSettled("ceiling", f"Token budget used up ({used}). Raise most_tokens to continue.")
        reply = self._fetch(path.stem, messages)
        self._store.save(path, {**asked, "reply": asdict(reply)})
        with self._lock:
            self.used += reply.prompt_tokens + reply.tokens
        return reply

    def _fetch(self, key: str, messages: Messages) -> Reply:
        from ..generate import GenerationError
        from ..generate.backend import choose_backend
        from ..generate.plan import Failure, Request

        try:
            with self._lock:
                self._backend = self._backend or choose_backend(self._settings.backend)[1]()
            (outcome,) = self._backend.replies([Request(key, 0, messages, int(key[:8], 16) >> 1, key)])
        except GenerationError as error:
            raise CurationError(str(error)) from None
        if isinstance(outcome, Failure):
            raise NotSettled("endpoint", one_line(outcome.message, 500))
        tokens, asked = outcome.tokens, outcome.prompt_tokens
        return Reply(
            question=key,
            text=outcome.answer,
            finish_reason=outcome.finish_reason,
            tokens=token_count((outcome.reasoning or "") + outcome.answer) if tokens is None else tokens,
            prompt_tokens=token_count("".join(each["content"] for each in messages)) if asked is None else asked,
        )
