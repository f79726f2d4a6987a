"""Check a model's folder, an adapter, and the files that a run wrote beside them.

Libraries only warn about some of these faults, or need seconds to report them. peft and transformers are imported only
when a function needs them.
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
    """Return the value if it is a model's folder or may be a name on the Hub.

    Raises:
        ValueError: it is neither, or it is an adapter or an unfinished run.
    """
    folder = _existing(value)
    if folder.is_dir() and not (folder / "config.json").is_file():
        if (folder / "adapter_config.json").is_file():
            raise ValueError(
                "this is an adapter; give its base as model=... and this as adapter=..., where that is a key; a command that lists "
                f"models takes models='{{tuned: {{model: BASE, adapter: {value}}}}}'; for a study, merge the two first "
                "(llamafactory-cli export)"
            )
        raise ValueError("no config.json there, so it is not a model; was the training run finished?")
    return value


def check_tokenizer(value: str) -> str:
    """Return the value if it is a folder with a tokenizer or may be a name on the Hub.

    Raises:
        ValueError: it is neither.
    """
    folder = _existing(value)
    if folder.is_dir() and not has_tokenizer(folder) and not (folder / "config.json").is_file():
        raise ValueError("no tokenizer there (tokenizer.json or the like); give a model's folder.")
    return value


def _existing(value: str) -> Path:
    """Return the path of a value. It must exist unless the value may be a name on the Hub.

    Raises:
        ValueError: there is no such folder.
    """
    folder = Path(value).expanduser()
    # Hub names have exactly one slash, but so have many paths. A value with one slash is taken for a path only if its
    # parent folder exists.
    is_path = value.count("/") != 1 or value.startswith((".", "/", "~")) or folder.parent.is_dir()
    if is_path and not folder.is_dir():
        raise ValueError("there is no such folder; give a model's folder or its name on the Hub (owner/name).")
    return folder


def check_adapter(value: str) -> str:
    """Return the value if it is an adapter's folder.

    Raises:
        ValueError: its settings or its weights are not there.
    """
    for name in ("adapter_config.json", "adapter_model.*"):
        if not any(Path(value).expanduser().glob(name)):
            raise ValueError(
                f"no {name} there; give the output_dir of a LoRA run or one of its checkpoints, with all its files."
            )
    return value


def has_tokenizer(folder: Path) -> bool:
    """Check that a folder holds the files of a tokenizer."""
    return any(any(folder.glob(name)) for name in ("tokenizer*", "vocab*"))


def written_beside(*weights: str | None) -> Iterator[Path]:
    """Yield each folder of weights, and after it the folder of the run that wrote it if it is a checkpoint inside.

    Such checkpoints are, for example, checkpoint-500 and pissa_converted. None is passed over.
    """
    for value in filter(None, weights):
        folder = Path(value).expanduser().resolve()
        yield folder
        if any((folder.parent / name).is_file() for name in ("adapter_config.json", "config.json")):
            yield folder.parent


def tokenizer_of(model: str, adapter: str | None = None) -> str:
    """Return the place of the tokenizer that the weights were trained with.

    A run writes its tokenizer beside its weights, with the tokens and the chat template that it added. So that
    tokenizer is newer than the base model's.

    Args:
        model: folder of the model or its name on the Hub.
        adapter: folder of an adapter on it, if any.

    Returns:
        The folder beside the adapter, else beside the model, else the model's own name.
    """
    if tokenizer_folder := next(filter(has_tokenizer, written_beside(adapter, model)), None):
        return str(tokenizer_folder)
    folder = Path(model).expanduser()
    return str(folder) if folder.is_dir() else model


def trained_template(model: str, adapter: str | None = None) -> str | None:
    """Return the name of LLaMA-Factory's chat template that a run trained with.

    It is read from training_args.yaml beside the weights, which LlamaBoard's runs have, for example.
    None if there is no such file.
    """
    for folder in written_beside(adapter or model):
        try:
            keys = yaml.safe_load((folder / "training_args.yaml").read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            continue
        if isinstance(keys, dict) and isinstance(keys.get("template"), str):
            return keys["template"]
    return None


def trained_keys(value: str) -> dict[str, str]:
    """Return the keys that a run of `stage: cuset` trained with, from the table of its model card.

    Empty if there is no such card.
    """
    try:
        card = (Path(value).expanduser() / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", card, re.MULTILINE))


Model = Annotated[str, AfterValidator(check_model)]
Tokenizer = Annotated[str, AfterValidator(check_tokenizer)]
Adapter = Annotated[str, AfterValidator(check_adapter)]


def chosen_device(device: str, gpu: str = "cuda:0") -> str:
    """Return the device to use. `auto` means `gpu` if there is one, else the CPU.

    Raises:
        SettingsError: the device is not available here.
    """
    import torch

    if device == "auto":
        return gpu if torch.cuda.is_available() else "cpu"
    try:
        parsed = torch.device(device)
    except RuntimeError:
        raise SettingsError(f"device={device}: torch has no such device; give auto, cpu, cuda or cuda:1.") from None
    count = torch.cuda.device_count()
    if parsed.type == "cuda" and (parsed.index or 0) >= count:
        there, fix = (f"{count} CUDA GPUs", f"cuda:0 to cuda:{count - 1}") if count else ("no CUDA GPU", "cpu")
        raise SettingsError(f"device={device}: torch sees {there} here; give {fix}, or auto.")
    return device


@contextlib.contextmanager
def explained(what: str = "") -> Iterator[None]:
    """Turn the errors of loading and reading within this context into one sentence.

    Args:
        what: the beginning of the sentence. If empty, the error's own text is the sentence.

    Raises:
        SettingsError: the explained error. An InputError passes unchanged.
    """
    from safetensors import SafetensorError

    try:
        yield
    except InputError:
        raise
    except (OSError, EOFError, ValueError, RuntimeError, KeyError, TypeError, ImportError, SafetensorError) as error:
        # Libraries chain the real cause. Without `what`, the error's text is already a sentence of ours.
        text = one_line(error.__cause__ or error, 400) or "a file ends too early"  # of an EOFError, which has no text
        raise SettingsError(f"{what}: {text}" if what else str(error)) from error


def with_adapter(model: Any, adapter: str) -> Any:
    """Return the model with the adapter of a folder on it, after checking that all of the adapter fits.

    If the run resized the vocabulary, the model's vocabulary is resized too, in place. For an adapter that a PiSSA run
    has converted to one on the unchanged base, the converted form is used.

    Returns:
        The PEFT model in evaluation mode.

    Raises:
        SettingsError: the adapter does not fit the model, for example because it lacks rows of a vocabulary that was
            resized.
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
        embeddings = _resize_vocabulary(model, weights, adapter)
        if (converted / "adapter_config.json").is_file():
            # The converted folder holds only LoRA's matrices. Fully trained modules are in the adapter's own folder.
            weights = {name: weight for name, weight in weights.items() if "lora_" not in name}
            weights |= load_peft_weights(str(converted), device="cpu")
            adapted = get_peft_model(model, PeftConfig.from_pretrained(str(converted), inference_mode=True))
            set_peft_model_state_dict(adapted, dict(weights))
        else:
            adapted = PeftModel.from_pretrained(model, str(folder))
    # peft only warns about weights without a place in the model and about places without weights. Depending on whether
    # it finds the base model, it saves the rows of a resized vocabulary in further places, so these may be extra.
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


def _resize_vocabulary(model: Any, weights: Mapping[str, Any], adapter: str) -> tuple[str, ...]:
    """Give the model as many embeddings as the adapter's weights have rows, in place.

    Returns:
        Prefixes of the adapter's weight names that belong to the embeddings and the output layer.

    Raises:
        SettingsError: the adapter brings the additional rows of only one of the two layers, or not its tokenizer.
    """
    layers = [layer for layer in (model.get_input_embeddings(), model.get_output_embeddings()) if layer is not None]
    names = [name for name, module in model.named_modules() if any(module is layer for layer in layers)]
    embeddings = tuple(f"base_model.model.{name}." for name in names)
    ends = ("weight", "base_layer.weight")  # of a fully trained layer, and of one below LoRA's factors
    rows = {start: len(weights[start + end]) for start in embeddings for end in ends if start + end in weights}
    wanted = max(rows.values(), default=0)
    if wanted > model.get_input_embeddings().num_embeddings:
        if len(rows) < len(embeddings) and not model.config.get_text_config().tie_word_embeddings:
            raise SettingsError(
                f"it was trained with a vocabulary of {wanted} rows, and holds those of {', '.join(rows)} alone. Train again with "
                "additional_target: embed_tokens,lm_head (and resize_vocab: true)."
            )
        if not any(map(has_tokenizer, written_beside(adapter))):
            raise SettingsError(
                f"adapter={adapter}: it was trained with a vocabulary of {wanted} rows, and its tokenizer is not there; copy tokenizer.json "
                "and the run's other files there as well."
            )
        model.resize_token_embeddings(wanted, mean_resizing=False)
    return embeddings


def check_reads(tokenizer: Any) -> None:
    """Refuse a tokenizer without a vocabulary.

    transformers makes one, without a word, from a folder that holds tokenizer_config.json alone. It turns every text
    into no tokens, so training would learn nothing and every answer would be empty.

    Raises:
        SettingsError: names the folder and the fix.
    """
    if not tokenizer.encode("kernel", add_special_tokens=False):
        raise SettingsError(
            f"{tokenizer.name_or_path}: its tokenizer has no vocabulary, so it finds no tokens in any text; copy the missing file "
            "(tokenizer.json, vocab.json or tokenizer.model) there from the model or the run that the folder was copied from."
        )


def check_vocabulary(tokenizer: Any, model: Any, name: str, adapter: str | None = None) -> None:
    """Refuse a tokenizer without a vocabulary, or with tokens that the model has no embedding for.

    Special tokens of the model's own tokenizer may lack an embedding, for example image tokens in a model that reads
    only text. They are refused where they occur in a text.

    Raises:
        SettingsError: names the fault and the fix.
    """
    from transformers import AutoTokenizer

    check_reads(tokenizer)
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
