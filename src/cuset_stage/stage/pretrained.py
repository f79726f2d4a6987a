"""A model's folder and a LoRA adapter, checked for what libraries only warn about or need seconds to say. Loads peft when used."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from ..settings import SettingsError
from ..text import InputError, one_line


def check_model(value: str) -> str:
    """The value, when it is a model's folder or may be a name on the Hub. Raises ValueError."""
    folder = _existing(value)
    if folder.is_dir() and not (folder / "config.json").is_file():
        if (folder / "adapter_config.json").is_file():
            raise ValueError("this is an adapter; give it as adapter=... and its base model as model=...")
        raise ValueError("no config.json there, so it is not a model; was the training run finished?")
    return value


def check_tokenizer(value: str) -> str:
    """The value, when it is a folder with a tokenizer or may be a name on the Hub. Raises ValueError."""
    folder = _existing(value)
    if folder.is_dir() and not any(any(folder.glob(name)) for name in ("tokenizer*", "vocab*", "config.json")):
        raise ValueError("no tokenizer there (tokenizer.json or the like); give a model's folder.")
    return value


def _existing(value: str) -> Path:
    """The path of a value, which need not exist where it may be a name on the Hub. Raises ValueError."""
    folder = Path(value).expanduser()
    # Hub names have one slash; such a folder may be meant too, so a missing parent folder is no proof either way.
    is_path = value.count("/") != 1 or value.startswith((".", "/", "~")) or folder.parent.is_dir()
    if is_path and not folder.is_dir():
        raise ValueError("there is no such folder; give a model's folder or its name on the Hub (owner/name).")
    return folder


def check_adapter(value: str) -> str:
    """The value, when it is an adapter's folder. Raises ValueError."""
    if not (Path(value).expanduser() / "adapter_config.json").is_file():
        raise ValueError("no adapter_config.json there; give the output_dir of a LoRA run or one of its checkpoints.")
    return value


def trained_keys(value: str) -> dict[str, str]:
    """The keys a run of `stage: cuset` trained with, as the table of its model card has them; empty where there is no such card."""
    try:
        card = (Path(value).expanduser() / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", card, re.MULTILINE))


Model = Annotated[str, AfterValidator(check_model)]
Tokenizer = Annotated[str, AfterValidator(check_tokenizer)]
Adapter = Annotated[str, AfterValidator(check_adapter)]


def chosen_device(device: str, gpu: str = "cuda:0") -> str:
    """The device; `auto` is `gpu` where there is one, else the CPU. Raises SettingsError for a device that is not here."""
    import torch

    if device == "auto":
        return gpu if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(device)
    except RuntimeError:
        raise SettingsError(f"device={device}: torch has no such device; give auto, cpu, cuda or cuda:1.") from None
    count = torch.cuda.device_count()
    if found.type == "cuda" and (found.index or 0) >= count:
        there, fix = (f"{count} CUDA GPUs", f"cuda:0 to cuda:{count - 1}") if count else ("no CUDA GPU", "cpu")
        raise SettingsError(f"device={device}: torch sees {there} here; give {fix}, or auto.")
    return device


@contextlib.contextmanager
def explained(what: str = "") -> Iterator[None]:
    """Turn the errors of loading and reading into a sentence that begins with `what`. Raises SettingsError."""
    from safetensors import SafetensorError

    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, ImportError, SafetensorError) as error:
        # Libraries chain the cause; without `what` it is our own sentence.
        raise SettingsError(f"{what}: {one_line(error.__cause__ or error, 400)}" if what else str(error)) from error


def with_adapter(model: Any, adapter: str) -> Any:
    """The model with a LoRA adapter on it, all of it and nothing else. Raises SettingsError when it does not fit."""
    from peft import PeftModel, get_peft_model_state_dict
    from peft.utils import load_peft_weights

    folder = str(Path(adapter).expanduser())
    misfit = (
        f"adapter={adapter} does not fit the model; give as model the base it was trained on (base_model_name_or_path in its "
        "adapter_config.json)"
    )
    with explained(misfit):
        adapted = PeftModel.from_pretrained(model, folder)
        saved = set(load_peft_weights(folder, device="cpu"))
    # peft only warns about weights that have no place, or a place without weights.
    expected = set(get_peft_model_state_dict(adapted))
    if saved != expected:
        raise SettingsError(
            f"{misfit}: {len(saved - expected)} of its {len(saved)} weights have no place in it, and {len(expected - saved)} places "
            "stay empty."
        )
    return adapted.eval()
