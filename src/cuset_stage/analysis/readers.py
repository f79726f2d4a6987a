"""Load a model for reading, as LLaMA-Factory loads it, with its adapter."""

from typing import Any

from transformers.utils import logging as transformers_logging

from ..stage.loading import open_model
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
