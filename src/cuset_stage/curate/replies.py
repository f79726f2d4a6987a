"""Replies of a model, each stored in its own file, so that nothing is asked twice.

A stored reply is found by its question: the messages, the model and the sampling settings. A run can therefore be
repeated without the endpoint, resumed after kill -9, and continued on another machine with the stored replies.
"""

import threading
from pathlib import Path
from typing import Any, NamedTuple

from ..text import one_line
from .questions import Messages
from .rows import CurationError, NotSettled
from .settings import WriteSettings
from .store import find_once, key_of, stored
from .training_rows import token_count


class Reply(NamedTuple):
    """A reply of a model.

    Attributes:
        question: hash of the question.
        text: the reply's text.
        cut_off: whether the reply ended at its token limit.
    """

    question: str
    text: str
    cut_off: bool


class Replies:
    """The stored replies in `folder`, and the endpoint that is asked for missing ones. Thread-safe.

    Attributes:
        folder: the folder with the stored replies.
        used: number of tokens in all stored replies and their questions.
    """

    def __init__(self, folder: Path, settings: WriteSettings) -> None:
        self.folder, self._settings = folder, settings
        self._lock, self._backend = threading.Lock(), None
        replies = (kept["reply"] for kept in map(stored, folder.glob("*/*.json")) if kept)
        self.used = sum(reply["tokens"] + reply["prompt_tokens"] for reply in replies)

    def ask(self, messages: Messages) -> Reply:
        """Return the reply to a question, from its file or from the endpoint.

        Raises:
            NotSettled: the reply is not stored, and there is no endpoint, the endpoint failed, or the token budget
                (`most_tokens`) is used up.
            CurationError: the endpoint cannot be reached, or refuses the key or the model, so no row can continue.
        """
        question = {"messages": list(messages), **self._settings.sampling}
        kept = find_once(self.folder, question, lambda: {**question, "reply": self._fetch(question)})["reply"]
        return Reply(kept["question"], kept["text"], kept["finish_reason"] == "length")

    def _fetch(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the endpoint's reply in the form that is stored. Token counts are the server's, or else estimates."""
        limit = self._settings.most_tokens
        if self._settings.endpoint is None:
            raise NotSettled("no_endpoint", "a question without a kept reply; give endpoint= to have it answered")
        if limit and self.used >= limit:
            used = f"{self.used:,} of most_tokens={limit}"
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
