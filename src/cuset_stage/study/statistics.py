"""Means and differences over tasks and seeds at once.

Scores are float arrays [seeds, tasks]: a task resembles itself under every seed, and a seed's model itself on every task. An interval over
tasks alone says nothing of another training; the error here has both parts (two-way analysis of variance, both factors random).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student


@dataclass(frozen=True)
class Crossed:
    """A mean over seeds and tasks. se: its standard error; df: degrees of freedom; by_seed: each seed's mean; tasks: how many."""

    value: float
    se: float
    df: float
    by_seed: tuple[float, ...]
    tasks: int

    @property
    def seeds(self) -> int:
        return len(self.by_seed)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The ends of the t interval."""
        half = float(student.ppf((1 + confidence) / 2, self.df)) * self.se
        return self.value - half, self.value + half

    def rate_interval(self) -> tuple[float, float]:
        """95 % of a rate, within 0 and 1. Where no score differs from another, what that many equal seeds leave open (Clopper-Pearson), with one
        seed what that many equal tasks do."""
        low, high = self.interval()
        if self.se == 0:
            unseen = 1 - 0.025 ** (1 / (self.seeds if self.seeds > 1 else self.tasks))
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
        nearer = bound - abs(self.value)
        return float(student.sf(nearer / self.se, self.df))

    def detectable(self) -> float:
        """The true difference that a test at the 5 % level finds with power 0.8, if the error is as it was here."""
        return float(student.ppf(0.975, self.df) + student.ppf(0.8, self.df)) * self.se


def crossed(scores: ArrayLike) -> Crossed | None:
    """The mean of scores [seeds, tasks] and its error over both; None without a task that is known under all seeds.

    Its variance is (MS_task + MS_seed - MS_rest) / (tasks x seeds), and at least MS_rest / (tasks x seeds); degrees of freedom are
    Satterthwaite's (1946). With one seed the error is over tasks alone, with one task over seeds alone.
    """
    scores = np.asarray(scores, dtype=np.float64)
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    seeds, tasks = scores.shape
    if tasks == 0 or seeds == 0:
        return None
    value = float(scores.mean())
    by_task, by_seed = (scores.mean(axis=axis, keepdims=True) - value for axis in (0, 1))
    rest = scores - value - by_task - by_seed
    squares = np.array([seeds * (by_task**2).sum(), tasks * (by_seed**2).sum(), (rest**2).sum()])
    degrees = np.maximum([tasks - 1, seeds - 1, (tasks - 1) * (seeds - 1)], 1)
    mean_squares = squares / degrees
    variance = max(mean_squares @ [1, 1, -1], mean_squares[2])
    spread = float((mean_squares**2 / degrees).sum())
    df = float(variance**2 / spread) if spread else float(degrees[0])
    return Crossed(value, float((variance / scores.size) ** 0.5), df, tuple(scores.mean(axis=1)), tasks)
