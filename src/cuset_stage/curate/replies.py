"""Questions to a model and its replies, each kept in a file of its own: what was asked before is not asked again.

A reply is found by its question: the messages, the model and how it samples. So a run repeats without the endpoint, goes on after
kill -9, and goes on with the replies on another machine.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, NamedTuple

from ..text import one_line
from .questions import Messages
from .rows import CurationError, NotSettled
from .settings import WriteSettings
from .store import find_once, key_of
from .training_rows import token_count


class Reply(NamedTuple):
    """A reply of a model. question: its hash. cut_off: at the most tokens that a reply may have."""

    question: str
    text: str
    cut_off: bool


class Replies:
    """The replies in `folder`, and the endpoint for those that are missing. Thread-safe.

    used: tokens of all replies that are kept, and of their questions.
    """

    def __init__(self, folder: Path, settings: WriteSettings) -> None:
        self.folder, self._settings = folder, settings
        self._lock, self._backend = threading.Lock(), None
        replies = (json.loads(path.read_text(encoding="utf-8"))["reply"] for path in folder.glob("*/*.json"))
        self.used = sum(reply["tokens"] + reply["prompt_tokens"] for reply in replies)

    def ask(self, messages: Messages) -> Reply:
        """The reply to a question, from its file or from the endpoint.

        Raises:
            NotSettled: it is not there, and no endpoint is given, the endpoint failed, or the ceiling is reached.
            CurationError: the endpoint is not there, or refuses the key or the model: no row can go on.
        """
        asked = {"messages": list(messages), **self._settings.sampling}
        kept = find_once(self.folder, asked, lambda: {**asked, "reply": self._fetch(asked)})["reply"]
        return Reply(kept["question"], kept["text"], kept["finish_reason"] == "length")

    def _fetch(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The endpoint's reply as it is kept; tokens as the server counts them, else estimated."""
        most = self._settings.most_tokens
        if self._settings.endpoint is None:
            raise NotSettled("no_endpoint", "a question without a kept reply; give endpoint= to have it answered")
        if most and self.used >= most:
            used = f"{self.used:,} of most_tokens={most}"
            raise NotSettled("ceiling", f"Token budget used up ({used}). Raise most_tokens to continue.")
        from ..generate import GenerationError
        from ..generate.backend import choose_backend
        from ..generate.plan import Failure, Request

        key, messages = key_of(asked), tuple(asked["messages"])
        try:
            with self._lock:
                self._backend = self._backend or choose_backend(self._settings.backend)[1]()
            (outcome,) = self._backend.replies([Request(key, 0, messages, int(key[:8], 16) >> 1, key)])
        except GenerationError as error:
            raise CurationError(str(error)) from None
        if isinstance(outcome, Failure):
            raise NotSettled("endpoint", one_line(outcome.message, 500))
        tokens, sent = outcome.tokens, outcome.prompt_tokens
        if tokens is None:
            tokens = token_count((outcome.reasoning or "") + outcome.answer)
        if sent is None:
            sent = token_count("".join(each["content"] for each in messages))
        with self._lock:
            self.used += sent + tokens
        return {
            "question": key, "text": outcome.answer, "finish_reason": outcome.finish_reason, "tokens": tokens, "prompt_tokens": sent,
        }  # fmt: skip
