"""Load a model for reading, as LLaMA-Factory loads it, with its adapter and its tokenizer."""

from typing import Any

from transformers.utils import logging as transformers_logging

from ..settings import Settings
from ..stage.loading import open_model, open_tokenizer
from ..stage.pretrained import check_vocabulary, explained, with_adapter
from .requests import ModelRequest


def silence_transformers() -> None:
    """Turn off transformers' warnings and progress bars for the rest of the process."""
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()


def open_reader(request: ModelRequest, tokenizer: Any, device: str, *, trust_remote_code: bool = False) -> Any:
    """Return the model of a request, in evaluation mode.

    Raises:
        SettingsError: the model cannot be loaded, or the adapter or the tokenizer does not fit.
    """
    options = {"trust_remote_code": trust_remote_code, "quantization_bit": request.quantization_bit}
    with explained(f"{request.model}: the model cannot be loaded"):
        model = open_model(request.model, tokenizer, device, **options)
    if request.adapter is not None:
        model = with_adapter(model, request.adapter)
    check_vocabulary(tokenizer, model, request.model, request.adapter)
    return model


def request_tokenizer(request: ModelRequest, settings: Settings) -> Any:
    """Return the tokenizer of a request.

    Raises:
        SettingsError: the tokenizer cannot be loaded.
    """
    with explained(f"{request.model}: its tokenizer cannot be loaded"):
        return open_tokenizer(request.model, request.adapter, trust_remote_code=settings.trust_remote_code)
