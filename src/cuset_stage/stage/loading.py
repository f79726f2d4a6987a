"""Tokenizers, models and chat templates outside a training run, loaded by the same code that a run uses."""

import contextlib
import io
from collections.abc import Iterator, Sequence
from typing import Any

from llamafactory.data import get_template_and_fix_tokenizer
from llamafactory.data.template import TEMPLATES
from llamafactory.extras import logging
from llamafactory.hparams import DataArguments, FinetuningArguments, ModelArguments
from llamafactory.model import load_model, load_tokenizer

from ..text import nearest


def open_tokenizer(path: str, *, trust_remote_code: bool = False) -> Any:
    """The tokenizer of a model as LLaMA-Factory patches it, before a template has fixed it.

    Raises:
        OSError: there is none at `path`.
    """
    with quiet():
        model_args = ModelArguments(model_name_or_path=path, trust_remote_code=trust_remote_code)
        return load_tokenizer(model_args)["tokenizer"]


def open_model(path: str, tokenizer: Any, device: str, *, trust_remote_code: bool = False) -> Any:
    """The model at `path` as LLaMA-Factory loads it for inference: frozen, in evaluation mode, without an adapter."""
    model_args = ModelArguments(model_name_or_path=path, trust_remote_code=trust_remote_code)
    model_args.device_map = {"": device}
    # "full" loads nothing beside the weights; as the model is not trainable, nothing is unfrozen or cast.
    with quiet():
        return load_model(tokenizer, model_args, FinetuningArguments(finetuning_type="full"), is_trainable=False)


def open_template(tokenizer: Any, data_args: DataArguments) -> Any:
    """LLaMA-Factory's chat template `data_args.template`. It fixes the tokenizer in place, as before training.

    Raises:
        ValueError: there is no template of this name; the message has those that are near.
    """
    if data_args.template not in TEMPLATES:
        raise ValueError(
            f"LLaMA-Factory has no template {data_args.template!r}; {nearest(data_args.template, TEMPLATES)}"
        )
    with quiet():
        return get_template_and_fix_tokenizer(tokenizer, data_args)


class ChatTemplate:
    """A template for prompts alone, for models whose tokenizer has none; as in `llamafactory-cli api`."""

    def __init__(self, name: str, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._template = open_template(tokenizer, DataArguments(template=name))
        self.stop_ids: list[int] = self._template.get_stop_token_ids(tokenizer)

    def encode(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """Token ids up to the place where the answer begins. A system message, if any, comes first."""
        messages = list(messages)
        system = messages.pop(0)["content"] if messages[0]["role"] == "system" else None
        answer = {"role": "assistant", "content": ""}
        return self._template.encode_oneturn(self._tokenizer, [*messages, answer], system)[0]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep LLaMA-Factory's and datasets' prints and progress bars off the screen; warnings stay."""
    from datasets.utils import logging as datasets_logging

    logger = logging.get_logger("llamafactory")
    level = logger.level
    bars = datasets_logging.is_progress_bar_enabled()
    logger.setLevel("WARNING")
    datasets_logging.disable_progress_bar()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logger.setLevel(level)
        if bars:
            datasets_logging.enable_progress_bar()
