"""From names (a model, an adapter, a data set) to the heat map's samples, with a sentence for everything that can be wrong with them."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel, get_peft_model_state_dict
from peft.utils import load_peft_weights
from tqdm import tqdm
from transformers.utils import logging as transformers_logging

from ..stage.labelled_rows import open_rows
from ..stage.loading import open_model, open_tokenizer
from ..stage.processors import LabelRules
from .confidence import make_sample, read_sample
from .page_data import Page
from .requests import AnalysisError, HeatmapSettings


def collect(settings: HeatmapSettings) -> Page:
    """Read every sample with the model, and with what it was before training; a progress bar shows how far.

    Raises:
        AnalysisError: a folder, a data set, a template or an adapter that does not exist or does not fit.
    """
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    names = _reading_names(settings)
    device = settings.device
    if device == "auto":
        device = "cuda:0" if torch.cuda.is_available() else "cpu"
    with _explained("tokenizer", settings.model):
        tokenizer = open_tokenizer(settings.model, trust_remote_code=settings.trust_remote_code)
    rows = _rows(settings, tokenizer)
    try:
        samples = [make_sample(tokenizer, row, source) for source, row in rows]
    except ValueError as error:
        raise AnalysisError(str(error)) from error

    with tqdm(total=len(names) * len(rows), unit="sample", disable=None) as bar:
        for name, path, adapter in names:
            bar.set_description(name)
            with _explained("model", path):
                _check_same_tokens(settings, tokenizer, path, rows)
                model = open_model(path, tokenizer, device, trust_remote_code=settings.trust_remote_code)
            if adapter is not None:
                model = _with_adapter(model, adapter)
            for sample, (_, row) in zip(samples, rows, strict=True):
                try:
                    sample.readings[name] = read_sample(model, row, settings.window)
                except ValueError as error:
                    raise AnalysisError(f"{path}: {error}") from error
                bar.update()
            del model  # one model in memory at a time
    shown = settings.model_dump(
        include={"model", "adapter", "template", "cutoff_len", "window", "tau", "kinds"}, mode="json"
    )
    shown |= {"before": names[0][1] if len(names) == 2 else None, "dataset": ",".join(settings.dataset)}
    title = "Token confidence of " + "/".join(Path(settings.adapter or settings.model).parts[-2:])
    return Page(title + ", before and after training" * (len(names) == 2), samples, shown)


def _reading_names(settings: HeatmapSettings) -> list[tuple[str, str, str | None]]:
    """(name, model, adapter) of each reading, in the order to show them."""
    before = settings.before or (settings.model if settings.adapter else None)
    if not settings.compare or before is None:
        return [("model", settings.model, settings.adapter)]
    return [("before", before, None), ("after", settings.model, settings.adapter)]


def _rows(settings: HeatmapSettings, tokenizer: Any) -> list[tuple[str, dict[str, Any]]]:
    """The rows to read, each with a name."""
    rules = LabelRules(settings.kinds, settings.aliases)
    rows = []
    for name in settings.dataset:
        try:
            options = {"dataset": [name], "max_samples": settings.samples, **settings.options()}
            found = open_rows(tokenizer, settings.model, rules, **options).tokens()
        except ValueError as error:
            raise AnalysisError(_sentence(error)) from error
        if not found:
            raise AnalysisError(
                f"dataset={name}: none of its first {settings.samples} rows has a prompt and a response. Check the columns in "
                f"{Path(settings.dataset_dir) / 'dataset_info.json'}, or take more rows (samples=...)."
            )
        rows += [(f"{name}, row {number}", row) for number, row in enumerate(found, start=1)]
    return rows


@contextlib.contextmanager
def _explained(what: str, path: str) -> Iterator[None]:
    """Turn the errors of loading into a sentence."""
    try:
        yield
    except AnalysisError:
        raise
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        cause = error.__cause__ or error
        raise AnalysisError(
            f"cannot load the {what} of {path}: {_sentence(cause)} Give a folder with config.json, weights and tokenizer, or a model "
            "on the Hub that can be reached."
        ) from error


def _sentence(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0] if lines[0].endswith((".", "?", "!")) else lines[0].rstrip(":") + "."


def _check_same_tokens(
    settings: HeatmapSettings, tokenizer: Any, path: str, rows: list[tuple[str, dict[str, Any]]]
) -> None:
    """Refuse a model before training that spells the samples otherwise: its confidence would be that of another text."""
    if path == settings.model:
        return
    ids = sorted({token for _, row in rows for token in row["input_ids"]})
    other = open_tokenizer(path, trust_remote_code=settings.trust_remote_code)
    spelled = zip(tokenizer.convert_ids_to_tokens(ids), other.convert_ids_to_tokens(ids), ids, strict=True)
    differing = [token for here, there, token in spelled if here != there]
    if differing:
        raise AnalysisError(
            f"before={path}: {len(differing)} of the samples' {len(ids)} tokens mean something else to its tokenizer (the first is "
            f"{differing[0]}), so the two cannot be compared. Give the model that the training started from."
        )


def _with_adapter(model: Any, adapter: str) -> Any:
    """Put a LoRA adapter on a model, and make sure that all of it, and nothing else, was put there."""
    fix = "Give as model the base it was trained on (base_model_name_or_path in its adapter_config.json)."
    try:
        adapted = PeftModel.from_pretrained(model, adapter)
        saved = set(load_peft_weights(adapter, device="cpu"))
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        raise AnalysisError(f"adapter={adapter} does not fit the model: {_sentence(error)} {fix}") from error
    # peft only warns about weights that have no place, or a place without weights.
    expected = set(get_peft_model_state_dict(adapted))
    if saved != expected:
        raise AnalysisError(
            f"adapter={adapter} does not fit the model: {len(saved - expected)} of its {len(saved)} weights have no place in it, and "
            f"{len(expected - saved)} places stay empty. {fix}"
        )
    return adapted.eval()
