"""LLaMA-Factory's chat templates outside a training run, for models whose tokenizer has none."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from llamafactory.data import get_template_and_fix_tokenizer
from llamafactory.data.template import TEMPLATES
from llamafactory.hparams import DataArguments

from .inspect import quiet


class ChatTemplate:
    """A template and the tokenizer that it has fixed in place, as before training and in `llamafactory-cli api`.

    Raises:
        ValueError: LLaMA-Factory has no template of this name; the message has those that are near.
    """

    def __init__(self, name: str, tokenizer: Any) -> None:
        if name not in TEMPLATES:
            near = get_close_matches(name, TEMPLATES, n=4)
            hint = f"did you mean {', '.join(near)}?" if near else "its documentation lists them."
            raise ValueError(f"LLaMA-Factory has no such template; {hint}")
        self._tokenizer = tokenizer
        with quiet():
            self._template = get_template_and_fix_tokenizer(tokenizer, DataArguments(template=name))
        self.stop_ids: list[int] = self._template.get_stop_token_ids(tokenizer)

    def encode(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """Token ids up to the place where the answer begins. A system message, if any, comes first."""
        messages = list(messages)
        system = messages.pop(0)["content"] if messages[0]["role"] == "system" else None
        ids, _ = self._template.encode_oneturn(
            self._tokenizer, [*messages, {"role": "assistant", "content": ""}], system
        )
        return ids
