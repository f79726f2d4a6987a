"""The samples of the heat map: the confidence of a model on every token, before and after training.

From these confidences (Eq. 1) follow the windows and weights that CuSeT computes (Eq. 5 to 8).
"""

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..objective import cuset
from ..progress import Progress
from ..settings import SettingsError
from ..stage.loading import open_rows, open_tokenizer
from ..stage.pretrained import chosen_device, explained
from ..stage.processors import LabelRules
from .readers import open_reader, silence_transformers
from .requests import HeatmapSettings, ModelRequest
from .token_probabilities import token_log_probabilities


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Region:
    """The least confident window of a sample.

    Attributes:
        start: index in the row of the window's first token.
        end: index in the row one past its last token.
        confidence: mean confidence C of the window (Eq. 7).
        weight: the sample weight 1 - C (Eq. 8).
    """

    start: int
    end: int
    confidence: float
    weight: float


@dataclass(frozen=True)
class Reading:
    """The confidences of one model on a row.

    Attributes:
        confidence: c of each token, None where it is not supervised.
        window: C_t, the mean confidence of the window around each token, None where it is not supervised.
        regions: the least confident window of each sample in the row.
    """

    confidence: list[float | None]
    window: list[float | None]
    regions: list[Region]


@dataclass(frozen=True)
class Sample:
    """A row of a data set with the readings of the models.

    Attributes:
        source: name of the row, for example "data, row 1".
        texts: text of each token.
        supervised: whether each token is supervised.
        cuda: whether each token is CUDA-sensitive.
        readings: reading by name ("before", "after" or "model"), in the order in which the page shows them.
        asked: the first user message.
    """

    source: str
    texts: list[str]
    supervised: list[bool]
    cuda: list[bool]
    readings: dict[str, Reading]
    asked: str = ""

    @property
    def first(self) -> int:
        """Index of the first supervised token. The tokens before it are the prompt."""
        return self.supervised.index(True)

    def weights(self, name: str, tau: float, lam: float) -> list[float | None]:
        """Return the weight M of each token (Eq. 4) for the reading `name`.

        M is the sum of two terms: 1 if the token's confidence is above tau, and lambda if the token is CUDA-sensitive.
        It is None where the token is not supervised.
        """
        tokens = zip(self.readings[name].confidence, self.cuda, strict=True)
        return [None if c is None else (c > tau) + lam * cuda for c, cuda in tokens]

    def summary(self, name: str, tau: float, lam: float) -> dict[str, float | None]:
        """Return the numbers that the page shows above the sample, for the reading `name`.

        A mean over no tokens is None. `left_out` is the share of supervised tokens whose weight M is 0. `nll` is in
        nats.
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
            # A row with several turns has several windows. The page shows their mean, the JSON file has each of them.
            "region_confidence": mean([region.confidence for region in reading.regions]),
            "sample_weight": mean([region.weight for region in reading.regions]),
        }


def token_texts(tokenizer: Any, ids: list[int]) -> list[str]:
    """Return the text of each token. Joined, the texts are the text of the whole sequence.

    A token is decoded together with the one before it, because SentencePiece drops a leading space. The bytes of a
    character may be spread over several tokens. Then the first of these tokens gets the character, and the others get
    an empty text.
    """

    def decode(part: list[int]) -> str:
        return tokenizer.decode(part, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    texts = [""] * len(ids)
    context_start = start = 0  # ids[context_start:start] is context, ids[start:end] has no text yet
    for end in range(1, len(ids) + 1):
        context, text = decode(ids[context_start:start]), decode(ids[context_start:end])
        if text.endswith("\ufffd") and end - start < 4 and end < len(ids):  # UTF-8 has at most four bytes
            continue
        texts[start] = text[len(context) :]
        context_start, start = start, end
    return texts


def make_reading(log_probabilities: np.ndarray, row: dict[str, list[int]], window: int) -> Reading:
    """Return a model's confidence on one row, with the least confident window and the weight of every sample in it.

    Args:
        log_probabilities: one value for each label of the row that is not -100, as `token_log_probabilities` yields
            them.
        row: input_ids, labels, cuda_mask and sample_ids, each a list of [length].
        window: l of Eq. 5, in tokens.

    Returns:
        A `Reading` whose lists have one entry per token, with None where a token is not supervised.
    """
    labels = torch.tensor(row["labels"])
    positions = 1 + cuset.supervised_positions(labels[None])[0].nonzero()[:, 0]  # index of each target in the row
    # Nothing predicts the first token of a row. If it is supervised, its value comes first and is dropped.
    confidence = torch.from_numpy(log_probabilities[len(log_probabilities) - len(positions) :]).exp().clamp(max=1.0)
    ids = torch.tensor(row["sample_ids"])[positions]
    sample, lengths = cuset.number_samples(torch.zeros_like(ids), ids)
    means = cuset.window_confidence(confidence, sample, lengths, window)
    minima = cuset.least_confident_window(means, sample, lengths.numel())

    regions = []
    for length, end, lowest in zip(lengths.tolist(), lengths.cumsum(0).tolist(), minima.tolist(), strict=True):
        left = start = end - length
        right = end
        if length >= window:  # in a shorter sample, R_t of Eq. 5 is the whole sample
            centre = start + int(means[start:end].argmin())
            left, right = max(start, centre - window // 2), min(end, centre + (window + 1) // 2)
        regions.append(Region(int(positions[left]), int(positions[right - 1]) + 1, lowest, 1.0 - lowest))

    def spread(values: torch.Tensor) -> list[float | None]:
        by_position = dict(zip(positions.tolist(), values.tolist(), strict=True))
        return [by_position.get(position) for position in range(len(labels))]

    return Reading(spread(confidence), spread(means), regions)


def make_sample(tokenizer: Any, row: dict[str, list[int]], source: str, asked: str) -> Sample:
    """Return a sample without readings: the texts and labels of a row's tokens, which are the same for every model.

    Args:
        tokenizer: the tokenizer that encoded the row.
        row: input_ids, labels and cuda_mask, each a list of [length].
        source: name of the row, for the page and for error messages.
        asked: the first user message.

    Raises:
        ValueError: the row has no supervised token.
    """
    # Nothing predicts the first token of a row, so it never counts as supervised.
    supervised = [index > 0 and label != cuset.IGNORE_INDEX for index, label in enumerate(row["labels"])]
    if not any(supervised):
        raise ValueError(f"{source}: its prompt fills cutoff_len, so no token is supervised. Raise cutoff_len.")
    texts, is_cuda = token_texts(tokenizer, row["input_ids"]), list(map(bool, row["cuda_mask"]))
    return Sample(source, texts, supervised, is_cuda, {}, asked)


def collect(settings: HeatmapSettings) -> list[Sample]:
    """Read every sample with the model, and with the model before training where that is known.

    A progress bar is shown. Only one model is in memory at a time.

    Raises:
        SettingsError: a folder, a data set, a template or an adapter does not exist or does not fit.
    """
    silence_transformers()
    device = chosen_device(settings.device)
    trusted = {"trust_remote_code": settings.trust_remote_code}
    tokenizer = open_tokenizer(settings.model, settings.adapter, **trusted)
    rows = _rows(settings, tokenizer)
    samples = [make_sample(tokenizer, row, source, asked) for source, row, asked in rows]

    before_tokenizer = settings.compared and _before(settings, tokenizer, rows)
    readings = [("after" if before_tokenizer else "model", settings.model, settings.adapter, tokenizer)]
    if before_tokenizer:
        readings.insert(0, ("before", settings.compared, None, before_tokenizer))
    with Progress(total=len(readings) * len(rows), unit="sample") as bar:
        for name, path, adapter, own_tokenizer in readings:
            bar.set_description_str(name, refresh=False)
            request = ModelRequest(model=path, adapter=adapter, quantization_bit=settings.quantization_bit)
            model = open_reader(request, own_tokenizer, device, **trusted)
            with explained(path):
                log_probabilities = token_log_probabilities(model, (row for _, row, _ in rows))
                for sample, (_, row, _), values in zip(samples, rows, log_probabilities, strict=True):
                    sample.readings[name] = make_reading(values, row, settings.window)
                    bar.update()
            del model  # one model in memory at a time
    return samples


def _rows(settings: HeatmapSettings, tokenizer: Any) -> list[tuple[str, dict[str, Any], str]]:
    """Return the rows to read, as (name of the row, encoded row, first user message)."""
    rules = LabelRules(settings.kinds, settings.aliases, language=settings.language)
    rows = []
    for name in settings.dataset:
        options = {"dataset": [name], "max_samples": settings.samples, **settings.options()}
        with explained():
            opened = open_rows(tokenizer, settings.model, rules, **options)
            encoded_rows, first_prompts = opened.tokens(), opened.first_prompts()
        if not encoded_rows:
            raise SettingsError(
                f"dataset={name}: none of its first {settings.samples} rows has a prompt and a response. Check its columns in "
                "dataset_info.json, or take more rows (samples=...)."
            )
        named = (f"{name}, row {number}" for number in range(1, len(encoded_rows) + 1))
        rows += zip(named, encoded_rows, first_prompts, strict=True)
    return rows


def _before(settings: HeatmapSettings, tokenizer: Any, rows: list[tuple[str, dict[str, Any], str]]) -> Any:
    """Return the tokenizer of the model before training.

    Returns:
        None, with a warning, if the run added tokens to the base model's vocabulary and the samples use them.

    Raises:
        SettingsError: the model was named by `before`, and some token ids of the samples mean other text to its
            tokenizer. Its confidence would be that of another text.
    """
    own_tokenizer = open_tokenizer(settings.compared, trust_remote_code=settings.trust_remote_code)
    ids = sorted({token for _, row, _ in rows for token in row["input_ids"]})
    if tokenizer.convert_ids_to_tokens(ids) == own_tokenizer.convert_ids_to_tokens(ids):
        return own_tokenizer
    if settings.before is None:
        why = "the run added tokens of the samples to its vocabulary"
        logger.warning(f"{settings.compared} is not shown beside the trained model: {why}.")
        return None
    raise SettingsError(
        f"before={settings.before}: some of the samples' tokens mean something else to its tokenizer, so the two cannot be compared. Give "
        "the model that the training started from."
    )
