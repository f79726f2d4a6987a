"""From names (a model, an adapter, a data set) to the heat map's samples, with a sentence for everything that can be wrong with them."""

import logging
from typing import Any

from transformers.utils import logging as transformers_logging

from ..progress import Progress
from ..settings import SettingsError
from ..stage.loading import open_rows, open_tokenizer
from ..stage.pretrained import chosen_device, explained
from ..stage.processors import LabelRules
from .confidence import Sample, make_reading, make_sample
from .readers import open_reader
from .requests import HeatmapSettings, ModelRequest
from .token_probabilities import token_log_probabilities


logger = logging.getLogger(__name__)


def collect(settings: HeatmapSettings) -> list[Sample]:
    """Read every sample with the model, and with what it was before training; a progress bar shows how far.

    Raises:
        SettingsError: a folder, a data set, a template or an adapter that does not exist or does not fit.
    """
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    device = chosen_device(settings.device)
    trusted = {"trust_remote_code": settings.trust_remote_code}
    with explained(f"model={settings.model}: its tokenizer cannot be loaded"):
        tokenizer = open_tokenizer(settings.model, settings.adapter, **trusted)
    rows = _rows(settings, tokenizer)
    samples = [make_sample(tokenizer, row, source, asked) for source, row, asked in rows]

    before = settings.compared and _before(settings, tokenizer, rows)
    readings = [("after" if before else "model", settings.model, settings.adapter, tokenizer)]
    if before:
        readings.insert(0, ("before", settings.compared, None, before))
    with Progress(total=len(readings) * len(rows), unit="sample") as bar:
        for name, path, adapter, own_tokenizer in readings:
            bar.set_description_str(name, refresh=False)
            model = open_reader(ModelRequest(model=path, adapter=adapter), own_tokenizer, device, **trusted)
            with explained(path):
                found = token_log_probabilities(model, (row for _, row, _ in rows))
                for sample, (_, row, _), values in zip(samples, rows, found, strict=True):
                    sample.readings[name] = make_reading(values, row, settings.window)
                    bar.update()
            del model  # one model in memory at a time
    return samples


def _rows(settings: HeatmapSettings, tokenizer: Any) -> list[tuple[str, dict[str, Any], str]]:
    """The rows to read, each with a name before it and what was asked behind it."""
    rules = LabelRules(settings.kinds, settings.aliases, language=settings.language)
    rows = []
    for name in settings.dataset:
        options = {"dataset": [name], "max_samples": settings.samples, **settings.options()}
        with explained():
            opened = open_rows(tokenizer, settings.model, rules, **options)
            found, asked = opened.tokens(), opened.first_prompts()
        if not found:
            raise SettingsError(
                f"dataset={name}: none of its first {settings.samples} rows has a prompt and a response. Check its columns in "
                "dataset_info.json, or take more rows (samples=...)."
            )
        named = (f"{name}, row {number}" for number in range(1, len(found) + 1))
        rows += zip(named, found, asked, strict=True)
    return rows


def _before(settings: HeatmapSettings, tokenizer: Any, rows: list[tuple[str, dict[str, Any], str]]) -> Any:
    """The tokenizer of the model before training; None, with a warning, where the run added tokens to its base that the samples have.

    Raises:
        SettingsError: a model that was named spells the samples otherwise, so that its confidence would be that of another text.
    """
    with explained(f"{settings.compared}: the model cannot be loaded"):
        own = open_tokenizer(settings.compared, trust_remote_code=settings.trust_remote_code)
    ids = sorted({token for _, row, _ in rows for token in row["input_ids"]})
    spelled = zip(tokenizer.convert_ids_to_tokens(ids), own.convert_ids_to_tokens(ids), ids, strict=True)
    differing = [(token, here) for here, there, token in spelled if here != there]
    if not differing:
        return own
    if settings.before is None:
        logger.warning(
            f"{settings.compared} is not shown beside the trained model: the run added {differing[0][1]!r} and other tokens of the samples "
            "to its vocabulary."
        )
        return None
    raise SettingsError(
        f"before={settings.before}: {len(differing)} of the samples' {len(ids)} tokens mean something else to its tokenizer (the first is "
        f"{differing[0][0]}), so the two cannot be compared. Give the model that the training started from, or compare=false."
    )
