"""What a heat map shows, as plain values, and the numbers above it. Standard library only."""

import math
from dataclasses import asdict, dataclass
from typing import Any


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


@dataclass(frozen=True)
class Page:
    """A page's samples and the settings they were read with."""

    title: str
    samples: list[Sample]
    settings: dict[str, Any]


def nll(confidence: float) -> float:
    """-log c in nats; a probability that float32 rounds to 0 stays finite."""
    return -math.log(max(confidence, 1e-45))


def summary(sample: Sample, name: str, tau: float) -> dict[str, float | None]:
    """The numbers above a sample for the reading `name`; a mean over no token is None.

    `left_out` is the share of supervised tokens whose weight M (Eq. 4) is 0: neither confident nor CUDA.
    """
    reading = sample.readings[name]
    tokens = [(c, cuda) for c, cuda in zip(reading.confidence, sample.cuda, strict=True) if c is not None]

    def mean(values: list[float]) -> float | None:
        return sum(values) / len(values) if values else None

    return {
        "tokens": len(tokens),
        "cuda_share": mean([float(cuda) for _, cuda in tokens]),
        "confidence": mean([c for c, _ in tokens]),
        "cuda_confidence": mean([c for c, cuda in tokens if cuda]),
        "other_confidence": mean([c for c, cuda in tokens if not cuda]),
        "nll": mean([nll(c) for c, _ in tokens]),
        "left_out": mean([float(c <= tau and not cuda) for c, cuda in tokens]),
        # A row of several turns has several windows; the page shows the mean, the JSON has each.
        "region_confidence": mean([region.confidence for region in reading.regions]),
        "sample_weight": mean([region.weight for region in reading.regions]),
    }


def as_json(page: Page) -> dict[str, Any]:
    """The page's numbers as JSON values: settings, and for each sample its tokens, readings and summaries."""
    return {
        "title": page.title,
        "settings": page.settings,
        "samples": [
            {
                **asdict(sample),
                "summary": {name: summary(sample, name, page.settings["tau"]) for name in sample.readings},
            }
            for sample in page.samples
        ],
    }
