"""Means and differences over tasks and seeds at once.

Scores are float arrays [seeds, tasks]: a task resembles itself under every seed, and a seed's model itself on every task. An interval over
tasks alone says nothing of another training; the error here has both parts (Cameron, Gelbach and Miller 2011, two-way clustering).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student


@dataclass(frozen=True)
class Crossed:
    """A mean over seeds and tasks. se: its standard error; df: degrees of freedom; seeds, tasks: how many."""

    value: float
    se: float
    df: int
    seeds: int
    tasks: int

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The ends of the t interval."""
        half = float(student.ppf((1 + confidence) / 2, self.df)) * self.se
        return self.value - half, self.value + half

    def rate_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The interval of a rate, within 0 and 1. Where no score differs from another, what that many equal tasks leave open (Clopper-Pearson)."""
        low, high = self.interval(confidence)
        if self.se == 0:
            unseen = 1 - ((1 - confidence) / 2) ** (1 / self.tasks)
            low, high = self.value - unseen * self.value, self.value + unseen * (1 - self.value)
        return max(low, 0.0), min(high, 1.0)

    @property
    def p_value(self) -> float:
        """Two-sided: of a mean of 0."""
        if self.se == 0:  # scores without any spread say nothing of others
            return 1.0
        return float(2 * student.sf(abs(self.value) / self.se, self.df))

    def equivalence_p(self, bound: float) -> float:
        """Of a mean outside (-bound, bound): the larger of two one-sided tests (Schuirmann 1987)."""
        if self.se == 0:
            return 1.0
        return float(
            max(
                student.sf((self.value + bound) / self.se, self.df),
                student.sf((bound - self.value) / self.se, self.df),
            )
        )

    def detectable(self, power: float = 0.8, alpha: float = 0.05) -> float:
        """The true difference that a test at this level finds with this power, if the error is as it was here."""
        return float(student.ppf(1 - alpha / 2, self.df) + student.ppf(power, self.df)) * self.se


def crossed(scores: ArrayLike) -> Crossed | None:
    """The mean of scores [seeds, tasks] and its error over both; None without a task that is known under all seeds.

    The variance is that of sums over tasks, plus that of sums over seeds, minus that of single scores (each with its G / (G - 1)), and never
    below either of the first two. Degrees of freedom: the smaller number less one. With one seed the error is over tasks alone.
    """
    scores = np.asarray(scores, dtype=np.float64)
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    seeds, tasks = scores.shape
    if tasks == 0 or seeds == 0:
        return None
    rest: NDArray[np.float64] = scores - scores.mean()

    def part(sums: NDArray[np.float64]) -> float:
        count = sums.size
        return float((sums**2).sum() / scores.size**2 * count / (count - 1)) if count > 1 else 0.0

    by_task, by_seed, single = part(rest.sum(axis=0)), part(rest.sum(axis=1)), part(rest)
    variance = max(by_task + by_seed - single, by_task, by_seed)
    counts = [count for count in (seeds, tasks) if count > 1]
    return Crossed(float(scores.mean()), variance**0.5, min(counts, default=2) - 1, seeds, tasks)
