"""The heat map's samples: token confidence of a model, before and after training, with the windows and weights that CuSeT makes of it (Eq. 1 and 5
to 8)."""

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers.utils import logging as transformers_logging

from ..objective import cuset
from ..progress import Progress
from ..settings import SettingsError
from ..stage.loading import open_rows, open_tokenizer
from ..stage.pretrained import chosen_device, explained
from ..stage.processors import LabelRules
from .readers import open_reader
from .requests import HeatmapSettings, ModelRequest
from .token_probabilities import token_log_probabilities


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Region:
    """The least confident window of a sample: tokens [start, end) of the row, its confidence C (Eq. 7), the weight 1 - C (Eq. 8)."""

    start: int
    end: int
    confidence: float
    weight: float


@dataclass(frozen=True)
class Reading:
    """What one model makes of a row: c and C_t of each token (None where not supervised) and a region for each sample."""

    confidence: list[float | None]
    window: list[float | None]
    regions: list[Region]


@dataclass(frozen=True)
class Sample:
    """A row of a data set: the text of its tokens, their labels, and the readings by name, in the order to show them."""

    source: str
    texts: list[str]
    supervised: list[bool]
    cuda: list[bool]
    readings: dict[str, Reading]
    asked: str = ""  # the first user message

    @property
    def first(self) -> int:
        """The index of the first supervised token: what stands before it is prompt."""
        return self.supervised.index(True)

    def weights(self, name: str, tau: float, lam: float) -> list[float | None]:
        """M of each token (Eq. 4) for the reading `name`: 1 when its confidence is above tau, and lambda when it is CUDA."""
        tokens = zip(self.readings[name].confidence, self.cuda, strict=True)
        return [None if c is None else (c > tau) + lam * cuda for c, cuda in tokens]

    def summary(self, name: str, tau: float, lam: float) -> dict[str, float | None]:
        """The numbers above the sample for the reading `name`; a mean over no token is None.

        `left_out` is the share of supervised tokens whose weight M is 0.
        """
        reading, weights = self.readings[name], np.array(self.weights(name, tau, lam), dtype=float)
        is_known = ~np.isnan(weights)
        c, is_cuda = np.array(reading.confidence, dtype=float)[is_known], np.array(self.cuda, dtype=bool)[is_known]

        def mean(values: Any) -> float | None:
            return float(np.mean(values)) if len(values) else None

        return {
            "tokens": len(c),
            "cuda_share": mean(is_cuda),
            "confidence": mean(c),
            "cuda_confidence": mean(c[is_cuda]),
            "other_confidence": mean(c[~is_cuda]),
            "nll": mean(-np.log(np.maximum(c, 1e-45))),  # float32 may round c to 0
            "left_out": mean(weights[is_known] == 0),
            # A row of several turns has several windows; the page shows the mean, the JSON has each.
            "region_confidence": mean([region.confidence for region in reading.regions]),
            "sample_weight": mean([region.weight for region in reading.regions]),
        }


def token_texts(tokenizer: Any, ids: list[int]) -> list[str]:
    """The text of each token, so that joined they are the text of all of them.

    A token is decoded together with the one before it: SentencePiece drops a leading space, and a character's bytes may be spread
    over several tokens. Such a character is given to the first of them, and the others have no text.
    """

    def decode(part: list[int]) -> str:
        return tokenizer.decode(part, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    texts = [""] * len(ids)
    before = start = 0  # ids[before:start] is context, ids[start:end] waits for its text
    for end in range(1, len(ids) + 1):
        known, text = decode(ids[before:start]), decode(ids[before:end])
        is_open = text.endswith("\ufffd") and end - start < 4 and end < len(ids)  # UTF-8 has at most four bytes
        if is_open:
            continue
        texts[start] = text[len(known) :]
        before, start = start, end
    return texts


def make_reading(log_probabilities: np.ndarray, row: dict[str, list[int]], window: int) -> Reading:
    """A model's confidence on one row, with the least confident window and the weight of every sample in it.

    Args:
        log_probabilities: of the row's labels that are not -100, as `token_log_probabilities` gives them.
        row: input_ids, labels, cuda_mask and sample_ids, each a list of [length].
        window: l of Eq. 5, in tokens.

    Returns:
        A `Reading` whose lists have one entry a token, None where a token is not supervised.
    """
    labels = torch.tensor(row["labels"])
    positions = 1 + cuset.supervised_positions(labels[None])[0].nonzero()[:, 0]  # of the targets in the row
    # The first token of a row is predicted from nothing.
    confidence = torch.from_numpy(log_probabilities[len(log_probabilities) - len(positions) :]).exp().clamp(max=1.0)
    ids = torch.tensor(row["sample_ids"])[positions]
    sample, lengths = cuset.number_samples(torch.zeros_like(ids), ids)
    means = cuset.window_confidence(confidence, sample, lengths, window)
    minima = cuset.least_confident_window(means, sample, lengths.numel())

    regions = []
    ends = lengths.cumsum(0).tolist()
    for length, end, least in zip(lengths.tolist(), ends, minima.tolist(), strict=True):
        left = start = end - length
        right = end
        if length >= window:  # else R_t of Eq. 5 is the sample itself
            centre = start + int(means[start:end].argmin())
            left, right = max(start, centre - window // 2), min(end, centre + (window + 1) // 2)
        regions.append(Region(int(positions[left]), int(positions[right - 1]) + 1, least, 1.0 - least))

    def spread(values: torch.Tensor) -> list[float | None]:
        by_position = dict(zip(positions.tolist(), values.tolist(), strict=True))
        return [by_position.get(position) for position in range(len(labels))]

    return Reading(spread(confidence), spread(means), regions)


def make_sample(tokenizer: Any, row: dict[str, list[int]], source: str, asked: str) -> Sample:
    """What is the same for every model: the tokens of a row and their labels, and what was asked.

    Raises:
        ValueError: the row has no supervised token.
    """
    labels = row["labels"]
    # The first token of a row is predicted from nothing, so it is never supervised.
    supervised = [index > 0 and label != cuset.IGNORE_INDEX for index, label in enumerate(labels)]
    if not any(supervised):
        raise ValueError(f"{source}: its prompt fills cutoff_len, so no token is supervised. Raise cutoff_len.")
    texts = token_texts(tokenizer, row["input_ids"])
    return Sample(source, texts, supervised, [bool(m) for m in row["cuda_mask"]], {}, asked)


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
            request = ModelRequest(model=path, adapter=adapter, quantization_bit=settings.quantization_bit)
            model = open_reader(request, own_tokenizer, device, **trusted)
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
    if tokenizer.convert_ids_to_tokens(ids) == own.convert_ids_to_tokens(ids):
        return own
    if settings.before is None:
        why = "the run added tokens of the samples to its vocabulary"
        logger.warning(f"{settings.compared} is not shown beside the trained model: {why}.")
        return None
    raise SettingsError(
        f"before={settings.before}: some of the samples' tokens mean something else to its tokenizer, so the two cannot be compared. Give "
        "the model that the training started from."
    )
