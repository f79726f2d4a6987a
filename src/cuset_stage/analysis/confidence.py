"""Token confidence of a model on samples, with the windows and weights that CuSeT makes of it (Eq. 1 and 5 to 8).

Torch only: tokens and labels come in as the rows of the training's own preprocessing, a model's probabilities as numbers.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..objective.cuset import (
    IGNORE_INDEX,
    least_confident_window,
    number_samples,
    supervised_positions,
    window_confidence,
)


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
        reading = self.readings[name]
        tokens = [(c, cuda) for c, cuda in zip(reading.confidence, self.cuda, strict=True) if c is not None]

        def mean(values: list[float]) -> float | None:
            return sum(values) / len(values) if values else None

        return {
            "tokens": len(tokens),
            "cuda_share": mean([float(cuda) for _, cuda in tokens]),
            "confidence": mean([c for c, _ in tokens]),
            "cuda_confidence": mean([c for c, cuda in tokens if cuda]),
            "other_confidence": mean([c for c, cuda in tokens if not cuda]),
            "nll": mean([-math.log(max(c, 1e-45)) for c, _ in tokens]),  # float32 may round c to 0
            "left_out": mean([float(m == 0) for m in self.weights(name, tau, lam) if m is not None]),
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
    positions = 1 + supervised_positions(labels[None])[0].nonzero()[:, 0]  # of the targets in the row
    # The first token of a row is predicted from nothing.
    confidence = torch.from_numpy(log_probabilities[len(log_probabilities) - len(positions) :]).exp().clamp(max=1.0)
    ids = torch.tensor(row["sample_ids"])[positions]
    sample, lengths = number_samples(torch.zeros_like(ids), ids)
    means = window_confidence(confidence, sample, lengths, window)
    minima = least_confident_window(means, sample, lengths.numel())

    regions = []
    ends = lengths.cumsum(0).tolist()
    for length, end, least in zip(lengths.tolist(), ends, minima.tolist(), strict=True):
        start = end - length
        left, right = window_bounds(start + int(means[start:end].argmin()), start, end, window)
        regions.append(Region(int(positions[left]), int(positions[right - 1]) + 1, least, 1.0 - least))

    def spread(values: torch.Tensor) -> list[float | None]:
        known = dict(zip(positions.tolist(), values.tolist(), strict=True))
        return [known.get(position) for position in range(len(labels))]

    return Reading(spread(confidence), spread(means), regions)


def window_bounds(centre: int, start: int, end: int, window: int) -> tuple[int, int]:
    """R_t of Eq. 5 as [left, right): the window around `centre` in the sample [start, end), the sample itself if it is shorter."""
    if end - start < window:
        return start, end
    return max(start, centre - window // 2), min(end, centre + (window + 1) // 2)


def make_sample(tokenizer: Any, row: dict[str, list[int]], source: str, asked: str) -> Sample:
    """What is the same for every model: the tokens of a row and their labels, and what was asked.

    Raises:
        ValueError: the row has no supervised token.
    """
    labels = row["labels"]
    # The first token of a row is predicted from nothing, so it is never supervised.
    supervised = [index > 0 and label != IGNORE_INDEX for index, label in enumerate(labels)]
    if not any(supervised):
        raise ValueError(f"{source}: its prompt fills cutoff_len, so no token is supervised. Raise cutoff_len.")
    texts = token_texts(tokenizer, row["input_ids"])
    return Sample(source, texts, supervised, [bool(m) for m in row["cuda_mask"]], {}, asked)
