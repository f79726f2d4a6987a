"""A model's folder, an adapter, and what a run wrote beside them, checked for what libraries only warn about or need seconds to say.

Loads peft and transformers when used.
"""

import contextlib
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator

from ..settings import SettingsError
from ..text import InputError, one_line


logger = logging.getLogger(__name__)


def check_model(value: str) -> str:
    """The value, when it is a model's folder or may be a name on the Hub. Raises ValueError."""
    folder = _existing(value)
    if folder.is_dir() and not (folder / "config.json").is_file():
        if (folder / "adapter_config.json").is_file():
            raise ValueError(
                "this is an adapter; give it as adapter=..., where that is a key, and its base model as model=..."
            )
        raise ValueError("no config.json there, so it is not a model; was the training run finished?")
    return value


def check_tokenizer(value: str) -> str:
    """The value, when it is a folder with a tokenizer or may be a name on the Hub. Raises ValueError."""
    folder = _existing(value)
    if folder.is_dir() and not has_tokenizer(folder) and not (folder / "config.json").is_file():
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


def has_tokenizer(folder: Path) -> bool:
    return any(any(folder.glob(name)) for name in ("tokenizer*", "vocab*"))


def written_beside(value: str) -> Iterator[Path]:
    """The folder of weights, then that of the run which wrote it, for a checkpoint inside it (checkpoint-500, pissa_converted)."""
    folder = Path(value).expanduser().resolve()
    yield folder
    if any((folder.parent / name).is_file() for name in ("adapter_config.json", "config.json")):
        yield folder.parent


def tokenizer_of(model: str, adapter: str | None = None) -> str:
    """Where the tokenizer lies that weights were trained with: beside the adapter, else beside the model, else the model's own name.

    A run writes its tokenizer, with the tokens and the chat template that it added, beside its weights, where it is newer than the base's.
    """
    for value in filter(None, (adapter, model)):
        if found := next(filter(has_tokenizer, written_beside(value)), None):
            return str(found)
    folder = Path(model).expanduser()
    return str(folder) if folder.is_dir() else model


def trained_template(model: str, adapter: str | None = None) -> str | None:
    """The chat template of LLaMA-Factory that a run trained with, where it wrote its keys beside its weights, as LlamaBoard's do."""
    for folder in written_beside(adapter or model):
        try:
            keys = yaml.safe_load((folder / "training_args.yaml").read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            continue
        if isinstance(keys, dict) and isinstance(keys.get("template"), str):
            return keys["template"]
    return None


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
    """The model with an adapter on it, all of it and nothing else.

    Where the run resized the vocabulary, so is the model's, in place. An adapter that PiSSA's run has converted to one on the unchanged base is
    taken in its converted form.

    Raises:
        SettingsError: the adapter does not fit the model, as where it lacks rows of a vocabulary that was resized.
    """
    from peft import PeftConfig, PeftModel, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
    from peft.utils import load_peft_weights

    folder = Path(adapter).expanduser().resolve()
    if folder.name == "pissa_converted" and (folder.parent / "adapter_config.json").is_file():
        folder = folder.parent
    converted = folder / "pissa_converted"
    misfit = (
        f"adapter={adapter} does not fit the model; give as model the base it was trained on (base_model_name_or_path in its "
        "adapter_config.json)"
    )
    with explained(misfit):
        weights = load_peft_weights(str(folder), device="cpu")
        embeddings = _resize_vocabulary(model, weights)
        if (converted / "adapter_config.json").is_file():
            # Only LoRA's matrices are in it: modules that were trained in whole are with the adapter itself.
            weights = {name: weight for name, weight in weights.items() if "lora_" not in name}
            weights |= load_peft_weights(str(converted), device="cpu")
            adapted = get_peft_model(model, PeftConfig.from_pretrained(str(converted), inference_mode=True))
            set_peft_model_state_dict(adapted, dict(weights))
        else:
            adapted = PeftModel.from_pretrained(model, str(folder))
    # peft only warns about weights that have no place, or a place without weights. It saves rows of a vocabulary that was resized in
    # further places, depending on whether it finds the base model.
    expected = set(get_peft_model_state_dict(adapted, save_embedding_layers=False))
    saved = {name for name in weights if name in expected or not name.startswith(embeddings)}
    if saved != expected:
        raise SettingsError(
            f"{misfit}: {len(saved - expected)} of its {len(saved)} weights have no place in it, and {len(expected - saved)} places "
            "stay empty."
        )
    if str(getattr(adapted.peft_config["default"], "init_lora_weights", "")).startswith("pissa_niter"):
        logger.warning(
            f"adapter={adapter}: PiSSA began from a random approximation of the weights, which is drawn anew here: the model is only about the "
            "one that was trained. Train with pissa_convert: true."
        )
    return adapted.eval()


def _resize_vocabulary(model: Any, weights: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the model as many embeddings as the adapter's weights bring rows for, in place.

    Returns the beginnings of the names that the weights of the embeddings and of the output layer have in the adapter.

    Raises:
        SettingsError: of two layers, the adapter brings the further rows of one alone.
    """
    layers = [layer for layer in (model.get_input_embeddings(), model.get_output_embeddings()) if layer is not None]
    names = [name for name, module in model.named_modules() if any(module is layer for layer in layers)]
    embeddings = tuple(f"base_model.model.{name}." for name in names)
    ends = ("weight", "base_layer.weight")  # of a layer that was trained in whole, and of one below LoRA's factors
    rows = {start: len(weights[start + end]) for start in embeddings for end in ends if start + end in weights}
    wanted = max(rows.values(), default=0)
    if wanted > model.get_input_embeddings().num_embeddings:
        if len(rows) < len(embeddings) and not model.config.get_text_config().tie_word_embeddings:
            raise SettingsError(
                f"it was trained with a vocabulary of {wanted} rows, and holds those of {', '.join(rows)} alone. Train again with "
                "additional_target: embed_tokens,lm_head (and resize_vocab: true)."
            )
        model.resize_token_embeddings(wanted, mean_resizing=False)
    return embeddings


def check_vocabulary(tokenizer: Any, model: Any, name: str, adapter: str | None = None) -> None:
    """Refuse a tokenizer with tokens that the model has no embedding for.

    Special tokens of the model's own tokenizer may be such, as for images in a model that reads text alone: they are refused where they
    occur. name: the model's folder or name on the Hub.

    Raises:
        SettingsError: names both sizes and the fix.
    """
    from transformers import AutoTokenizer

    rows, vocabulary = model.get_input_embeddings().weight.shape[0], tokenizer.get_vocab()
    beyond = {token for token, number in vocabulary.items() if number >= rows}
    if not beyond:
        return
    spared = set(map(str, tokenizer.all_special_tokens))
    spared |= {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    if adapter is not None:
        spared &= AutoTokenizer.from_pretrained(tokenizer_of(name)).get_vocab().keys()
    if beyond := sorted(beyond - spared, key=vocabulary.__getitem__):
        raise SettingsError(
            f"{tokenizer.name_or_path}: its tokenizer has {max(vocabulary.values()) + 1} tokens, {name} has embeddings for {rows}: "
            f"{beyond[0]!r} and {len(beyond) - 1} more have none. Give the tokenizer of the model, or train with resize_vocab: true."
        )
