"""Load a model for reading, as LLaMA-Factory loads it, with its adapter."""

from typing import Any

from llamafactory.extras import logging
from llamafactory.hparams import FinetuningArguments, ModelArguments
from llamafactory.model import load_model
from transformers.utils import logging as transformers_logging

from .. import attention
from ..stage.loading import quiet
from ..stage.pretrained import check_vocabulary, explained, with_adapter
from .requests import ModelRequest


logger = logging.get_logger(f"llamafactory.{__name__}")  # a child of its logger, for its handlers and verbosity


def silence_transformers() -> None:
    """Turn off transformers' warnings and progress bars for the rest of the process."""
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()


def open_reader(request: ModelRequest, tokenizer: Any, device: str, *, trust_remote_code: bool = False) -> Any:
    """Return the model of a request as LLaMA-Factory loads it for inference: frozen and in evaluation mode.

    On a CPU an unquantised model is converted to float32, as `cuset generate` does: many CPUs have no 16-bit
    arithmetic and would take minutes per row.

    Raises:
        SettingsError: the model cannot be loaded, or the adapter or the tokenizer does not fit.
    """
    options = {"trust_remote_code": trust_remote_code, "quantization_bit": request.quantization_bit}
    with explained(f"{request.model}: the model cannot be loaded"):
        model_args = ModelArguments(request.model, **options)
        model_args.device_map = {"": device}
        if note := attention.switch(device):
            logger.warning_rank0(note)
        # "full" loads only the weights, without an adapter. The model is not trainable, so nothing is unfrozen or
        # cast.
        with quiet():
            model = load_model(tokenizer, model_args, FinetuningArguments(finetuning_type="full"), is_trainable=False)
        if device == "cpu" and getattr(model.config, "quantization_config", None) is None:
            model = model.float()
    if request.adapter is not None:
        model = with_adapter(model, request.adapter)
    check_vocabulary(tokenizer, model, request.model, request.adapter)
    return model
