"""From chat messages to the token ids a model reads: the tokenizer's own chat template, or one of LLaMA-Factory's."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..answers import REASONING_TAGS, open_reasoning
from .settings import GenerationError


logger = logging.getLogger(__name__)
Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Prompt:
    """`opened` is the reasoning tag that the template leaves open at its end, or ""."""

    ids: list[int]
    opened: str


class Prompter:
    """Encodes messages and decodes answers of one tokenizer.

    Raises:
        GenerationError: the tokenizer has no chat template and none was named, or LLaMA-Factory has none of that name.
    """

    def __init__(
        self, tokenizer: Any, *, template: str | None, arguments: Mapping[str, Any] | None, model: str
    ) -> None:
        self.tokenizer = tokenizer
        self._arguments = dict(arguments or {})
        self._factory = None
        self._folded = False
        self.stop_ids: set[int] = set() if tokenizer.eos_token_id is None else {tokenizer.eos_token_id}
        if template is not None:
            from ..stage.chat import ChatTemplate  # takes seconds

            if self._arguments:
                raise GenerationError(
                    "--template-args are for the tokenizer's own chat template: leave out --template."
                )
            try:
                self._factory = ChatTemplate(template, tokenizer)
            except ValueError as error:
                raise GenerationError(f"--template {template}: {error}") from None
            self.stop_ids |= set(self._factory.stop_ids)
        elif tokenizer.chat_template is None:
            raise GenerationError(
                f"{model}: its tokenizer has no chat template. Name the one it was trained with: --template qwen, "
                "llama3, alpaca, ..."
            )
        self._kept = _reasoning_tokens(tokenizer)

    def encode(self, messages: Messages) -> Prompt:
        """The prompt up to the place where the answer begins.

        A system message that the template refuses (Gemma's does) or leaves out goes to the head of the user's, with a notice.
        """
        if self._factory is not None:
            ids = self._factory.encode([dict(message) for message in messages])
            return Prompt(ids, open_reasoning(self.tokenizer.decode(ids[-16:])))
        text = self._render(messages)
        return Prompt(self.tokenizer(text, add_special_tokens=False)["input_ids"], open_reasoning(text))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of generated tokens, without special tokens other than those that mark reasoning."""
        special = set(self.tokenizer.all_special_ids) - self._kept
        ids = [token for token in ids if token not in special]
        return self.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def _render(self, messages: Messages) -> str:
        from jinja2 import TemplateError

        def render(messages: Messages) -> str:
            return self.tokenizer.apply_chat_template(
                [dict(message) for message in messages], tokenize=False, add_generation_prompt=True, **self._arguments
            )

        foldable = len(messages) == 2 and messages[0]["role"] == "system"
        refusal = "it leaves out the system message"
        try:
            text = render(messages)
            # Templates may strip what they are given; without the system message, CUDABench's files would go unsaid.
            if not foldable or messages[0]["content"].strip() in text:
                return text
        except TemplateError as error:
            refusal = str(error)
        if foldable:
            user = {"role": "user", "content": f"{messages[0]['content']}\n\n{messages[1]['content']}"}
            try:
                text = render([user])
            except TemplateError:
                foldable = False
        if not foldable:
            raise GenerationError(f"the tokenizer's chat template refuses the prompt: {refusal}.")
        if not self._folded:
            logger.warning("The chat template takes no system message: it is put before the user's.")
            self._folded = True
        return text


def _reasoning_tokens(tokenizer: Any) -> set[int]:
    """Special tokens whose text is part of a reasoning tag."""
    tags = " ".join(tag for pair in REASONING_TAGS for tag in pair)
    return {
        token
        for token, text in zip(tokenizer.all_special_ids, tokenizer.all_special_tokens, strict=True)
        if str(text) in tags
    }
