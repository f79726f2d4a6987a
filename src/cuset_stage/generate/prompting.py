"""Turn chat messages into token ids, with the tokenizer's own chat template or one of LLaMA-Factory's."""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..answers import REASONING_TAGS, open_reasoning
from .settings import GenerationError


logger = logging.getLogger(__name__)
_MARKUP = re.compile(r"\W*<[^<>]*\w[^<>]*>|\[[A-Z_/ ]+\]")
Messages = Sequence[Mapping[str, str]]
_OWN = {"conversation", "tokenize", "add_generation_prompt", "continue_final_message", "return_dict", "return_tensors"}
"""Arguments of `apply_chat_template` that this module sets itself, so users cannot pass them."""


class Prompt(NamedTuple):
    """An encoded prompt.

    Attributes:
        ids: the token ids.
        opened: the reasoning tag that the template leaves open at the prompt's end, or "".
    """

    ids: list[int]
    opened: str


class Prompter:
    """Encodes messages and decodes answers with one tokenizer.

    Args:
        tokenizer: the model's tokenizer.
        template: the name of a chat template of LLaMA-Factory. None: the tokenizer's own.
        arguments: further arguments for the tokenizer's own chat template.

    Attributes:
        tokenizer: the tokenizer.
        stop_ids: ids of the tokens that end an answer.

    Raises:
        GenerationError: the tokenizer has no chat template and none was named, LLaMA-Factory has none of that name, or
            the arguments cannot be used.
    """

    def __init__(
        self, tokenizer: Any, *, template: str | None = None, arguments: Mapping[str, Any] | None = None
    ) -> None:
        if taken := sorted(_OWN.intersection(arguments or ())):
            raise GenerationError(f"template_args: {taken[0]} is set by cuset generate itself: leave it out.")
        self.tokenizer = tokenizer
        self._arguments = {"tokenize": False, "add_generation_prompt": True, **(arguments or {})}
        self._factory = None
        self._told = False
        self.stop_ids: set[int] = set() if tokenizer.eos_token_id is None else {tokenizer.eos_token_id}
        if template is not None:
            from llamafactory.hparams import DataArguments  # imported here, as it takes seconds

            from ..stage.loading import open_template

            if arguments:
                raise GenerationError("template_args are for the tokenizer's own chat template: leave out template.")
            try:
                self._factory = open_template(tokenizer, DataArguments(template=template))
            except ValueError as error:
                raise GenerationError(f"template={template}: {error}") from None
            self.stop_ids |= set(self._factory.get_stop_token_ids(tokenizer))
        elif tokenizer.chat_template is None:
            fix = "Name the one it was trained with: template=qwen, llama3, alpaca, ..."
            raise GenerationError(f"{tokenizer.name_or_path}: its tokenizer has no chat template. {fix}")
        tags = " ".join(tag for pair in REASONING_TAGS for tag in pair)
        special = zip(tokenizer.all_special_ids, map(str, tokenizer.all_special_tokens), strict=True)
        # Not every special token is markup. `<<<` or `__global__` may have been added as special tokens, and `!` may
        # be the padding token. These are part of an answer's text.
        self._hidden = {token for token, text in special if text not in tags and _MARKUP.fullmatch(text)}

    def encode(self, messages: Messages) -> Prompt:
        """Return the prompt up to the place where the answer begins.

        If the template refuses the system message (Gemma's does) or leaves it out, the message is put before the
        user's message, and a warning is logged.

        Raises:
            GenerationError: the template refuses the prompt or leaves out the user's message.
        """
        if self._factory is not None:
            turns = [dict(message) for message in messages]
            system = turns.pop(0)["content"] if turns[0]["role"] == "system" else None
            # As `llamafactory-cli api` encodes a prompt: with an answer that is still empty.
            turns.append({"role": "assistant", "content": ""})
            ids, _ = self._factory.encode_oneturn(self.tokenizer, turns, system)
            return Prompt(ids, open_reasoning(self.tokenizer.decode(ids[-16:])))
        text = self._render(messages)
        return Prompt(self.tokenizer(text, add_special_tokens=False)["input_ids"], open_reasoning(text))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of generated tokens.

        Special tokens that look like markup (`<|im_end|>`, `[INST]`) are left out, but reasoning tags are kept.
        """
        ids = [token for token in ids if token not in self._hidden]
        return self.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def _render(self, messages: Messages) -> str:
        """Return the prompt as text, by the tokenizer's own chat template."""
        from jinja2 import TemplateError

        joined = [{"role": "user", "content": "\n\n".join(message["content"] for message in messages)}]
        refusal: TemplateError | None = None
        for candidate in ([dict(message) for message in messages], joined):
            try:
                text = self.tokenizer.apply_chat_template(candidate, **self._arguments)
            except TemplateError as error:
                refusal = refusal or error
                continue
            # A template that leaves out the system message loses which files CUDABench's programs read and write, and
            # one that was cut off loses the task as well. Templates may strip white space.
            if not all(message["content"].strip() in text for message in candidate):
                continue
            if candidate is joined and not self._told:
                logger.warning("The chat template takes no system message: it is put before the user's.")
                self._told = True
            return text
        place, fault = self.tokenizer.name_or_path, refusal or "it leaves the task out; was it copied in part?"
        raise GenerationError(f"{place}: the tokenizer's chat template refuses the prompt: {fault}")
