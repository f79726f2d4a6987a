"""The statistics of reports and studies: pass@k under two rules, confidence intervals, and tests of two methods.

Outcomes are a float array [T, S]: T tasks with S samples each, in the order in which they were drawn. 1 is passed, 0
is failed, and NaN is unknown (the judge failed, so the sample says nothing about the model). The task is the unit of
every interval and test. The samples of a task resemble each other, so they are resampled together.

The scores of a study are float arrays [seeds, tasks]. The scores of a task under different seeds are related, and so
are the scores of one seed's model on different tasks. An interval over tasks alone says nothing about another
training. So the error of `crossed` has both parts (two-way analysis of variance, both factors random).

This module needs NumPy and SciPy only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import nctdtrinc
from scipy.stats import binomtest
from scipy.stats import t as student


RESAMPLES = 10_000
TAIL = 0.025  # probability beyond each end of a 95 % interval


class Rule(StrEnum):
    """The rule by which pass@k is computed from the S samples of a task."""

    FIRST = "first"  # any of the first k samples passed: the rule of CUDABench and of the CuSeT paper's numbers
    UNBIASED = "unbiased"  # the mean over all subsets of k samples: Chen et al. 2021


def pass_at_k_unbiased(n: int, c: int, k: int) -> float:
    """Return the probability that k of n samples, of which c are right, include at least one right one.

    The k samples are drawn without replacement. This is 1 - C(n - c, k) / C(n, k), Eq. 1 of Chen et al. 2021 (arXiv
    2107.03374). It is computed with integers, so that only the final quotient is rounded.
    """
    choices = math.comb(n, k)
    return (choices - math.comb(n - c, k)) / choices


def task_scores(outcomes: ArrayLike, k: int, rule: Rule) -> NDArray[np.float64]:
    """Return pass@k of each task.

    The rule FIRST needs the first k samples to be known, even if one of them passed: to leave out only the tasks that
    are still undecided would favour the model. The rule UNBIASED needs any k known samples.

    Args:
        outcomes: [T, S], 1, 0 or NaN (unknown).
        k: at most S.
        rule: how pass@k is computed.

    Returns:
        [T], NaN where too few outcomes are known.
    """
    outcomes = np.asarray(outcomes, dtype=np.float64)
    if rule is Rule.FIRST:
        return outcomes[:, :k].max(axis=1, initial=0.0)  # NaN propagates
    known_counts = (~np.isnan(outcomes)).sum(axis=1).tolist()
    right_counts = np.nansum(outcomes, axis=1).astype(int).tolist()
    return np.array(
        [pass_at_k_unbiased(n, c, k) if n >= k else math.nan for n, c in zip(known_counts, right_counts, strict=True)]
    )


@dataclass(frozen=True)
class Estimate:
    """A mean over tasks with its interval.

    Attributes:
        value: the mean.
        low: lower end of the 95 % interval.
        high: upper end of the 95 % interval.
        tasks: number of tasks in the mean.
        left_out: number of tasks whose score is unknown.
    """

    value: float
    low: float
    high: float
    tasks: int
    left_out: int


def estimate_means(
    scores: ArrayLike,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    seed: int = 0,
    clusters: NDArray[np.int64] | None = None,
) -> list[Estimate | None]:
    """Return the mean of each column of scores with its 95 % percentile bootstrap interval over tasks.

    Every column is resampled with the same draws of tasks, so columns of differences (bounds=(-1, 1)) give a paired
    bootstrap.

    If all tasks of a column have the same score, the bootstrap has no spread. Then the interval is what T equal draws
    leave open: another outcome has a probability of at most 1 - (alpha / 2)^(1 / T). For scores of 0 or 1 this is the
    exact (Clopper-Pearson) interval.

    Args:
        scores: [T, M], one column per quantity. A NaN leaves the task out of that column.
        bounds: smallest and largest possible score.
        seed: seed of the bootstrap.
        clusters: [T], number of each task's cluster, where the tasks of a cluster resemble each other. Then clusters
            are drawn instead of tasks, and T above is the number of clusters. None if all tasks are independent.

    Returns:
        One estimate per column, or None for a column without a known task.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if not scores.size:
        return [None] * scores.shape[1]
    clusters = np.arange(len(scores)) if clusters is None else clusters
    results: list[Estimate | None] = [None] * scores.shape[1]
    for m, (column, low, high) in enumerate(zip(scores.T, *_bootstrap(scores, clusters, seed), strict=True)):
        if not len(known_scores := column[~np.isnan(column)]):
            continue
        mean = float(known_scores.mean())
        if np.ptp(known_scores) < 1e-12:  # equal scores differ by rounding alone
            unseen = 1 - TAIL ** (1 / len(np.unique(clusters[~np.isnan(column)])))
            low, high = mean - unseen * (mean - bounds[0]), mean + unseen * (bounds[1] - mean)
        results[m] = Estimate(mean, float(low), float(high), len(known_scores), len(column) - len(known_scores))
    return results


def _bootstrap(scores: NDArray[np.float64], clusters: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Return the quantiles TAIL and 1 - TAIL, [2, M], of the column means of RESAMPLES resamples of the clusters."""
    is_known = ~np.isnan(scores)
    is_known |= ~is_known.any(axis=0)  # avoids 0 / 0 in columns without a known task, which the caller skips
    count = int(clusters.max()) + 1
    sums, known_counts = np.zeros((2, count, scores.shape[1]))
    np.add.at(sums, clusters, np.nan_to_num(scores))
    np.add.at(known_counts, clusters, is_known)
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(RESAMPLES // 500):  # in parts, to hold [500, clusters] weights at a time
        weights = rng.multinomial(count, np.full(count, 1 / count), size=500).astype(float)
        with np.errstate(invalid="ignore"):  # a resample that draws no known task gives 0 / 0
            means.append(weights @ sums / (weights @ known_counts))
    return np.nanquantile(np.concatenate(means), [TAIL, 1 - TAIL], axis=0)


@dataclass(frozen=True)
class McNemar:
    """The result of McNemar's test of two methods on the same tasks.

    Attributes:
        both: tasks that both methods solve.
        only_first: tasks that only the first method solves.
        only_second: tasks that only the second method solves.
        neither: tasks that neither method solves.
        p_value: exact, two-sided p-value.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    p_value: float


def mcnemar_exact(first: ArrayLike, second: ArrayLike) -> McNemar:
    """Return McNemar's exact test of two methods on the same tasks.

    Under the null hypothesis, a task that only one method solves is equally likely to be solved by either. So this is
    a two-sided binomial test with probability 1/2 (McNemar 1947). Without such tasks the p-value is 1.

    Args:
        first: [T], outcomes of the first method, 0 or 1. A task with a NaN on either side is left out.
        second: [T], outcomes of the second method on the same tasks.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    is_known = ~(np.isnan(first) | np.isnan(second))
    a, b = first[is_known] > 0, second[is_known] > 0
    both, only_first, only_second, neither = (int(np.sum(cell)) for cell in (a & b, a & ~b, ~a & b, ~a & ~b))
    discordant = only_first + only_second
    p_value = float(binomtest(only_first, discordant, 0.5).pvalue) if discordant else 1.0
    return McNemar(both, only_first, only_second, neither, p_value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return m p-values after Holm's step-down adjustment (Holm 1979), in the same order.

    If the adjusted values are compared with alpha, the probability of any false finding among the m is at most alpha.
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(p_values, dtype=np.float64)[order]))
    return adjusted.tolist()


def fast_p(right: ArrayLike, speedups: ArrayLike, p: float) -> NDArray[np.float64]:
    """Return fast_p of each task (KernelBench, arXiv 2502.10517), [T].

    It is 1 where the sample of the task is right and more than p times as fast as the reference. With p = 0, being
    right is enough.

    Args:
        right: [T], 1, 0 or NaN. Unknown outcomes stay NaN.
        speedups: [T], NaN where no speed-up was measured, which counts as not faster.
        p: the speed-up to exceed.
    """
    right, speedups = np.asarray(right, dtype=np.float64), np.asarray(speedups, dtype=np.float64)
    return np.where(np.isnan(right), np.nan, (right > 0) & ((p == 0) | (speedups > p)))


@dataclass(frozen=True)
class Crossed:
    """A mean over seeds and tasks.

    Attributes:
        value: the mean.
        se: standard error of the mean.
        df: degrees of freedom of the standard error.
        by_seed: mean of each seed.
        tasks: number of tasks.
    """

    value: float
    se: float
    df: float
    by_seed: tuple[float, ...]
    tasks: int

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return len(self.by_seed)

    def interval(self) -> tuple[float, float]:
        """Return the ends of the 95 % t interval."""
        half = float(student.ppf(1 - TAIL, self.df)) * self.se
        return self.value - half, self.value + half

    def rate_interval(self) -> tuple[float, float]:
        """Return the ends of the 95 % interval of a rate, cut to [0, 1].

        If the standard error is 0, the interval is what that many equal seeds leave open (Clopper-Pearson). With a
        single seed, it is what that many equal tasks leave open.
        """
        low, high = self.interval()
        if self.se == 0:
            unseen = 1 - TAIL ** (1 / (self.seeds if self.seeds > 1 else self.tasks))
            low, high = self.value - unseen * self.value, self.value + unseen * (1 - self.value)
        return max(low, 0.0), min(high, 1.0)

    @property
    def p_value(self) -> float:
        """Two-sided p-value of the hypothesis that the true mean is 0."""
        if self.se == 0:  # scores without spread say nothing about the error
            return 1.0
        return float(2 * student.sf(abs(self.value) / self.se, self.df))

    def equivalence_p(self, bound: float) -> float:
        """Return the p-value of the hypothesis that the true mean is outside (-bound, bound).

        It is the larger p-value of two one-sided tests (Schuirmann 1987).
        """
        if self.se == 0:
            return 1.0
        return float(student.sf((bound - abs(self.value)) / self.se, self.df))

    def detectable(self) -> float:
        """Return the true difference that a test at the 5 % level finds with power 0.8, given this error."""
        return float(nctdtrinc(self.df, 0.2, student.ppf(0.975, self.df))) * self.se


def crossed(scores: ArrayLike) -> Crossed | None:
    """Return the mean of scores over seeds and tasks, with its error over both.

    The variance of the mean is (MS_task + MS_seed - MS_rest) / (tasks x seeds), and at least MS_rest / (tasks x
    seeds). The degrees of freedom are Satterthwaite's (1946), with all three mean squares in either case. With one seed
    the error is over tasks alone, and with one task over seeds alone.

    Args:
        scores: [seeds, tasks]. A task with a NaN under any seed is left out.

    Returns:
        None if no task is known under all seeds.
    """
    scores = np.asarray(scores, dtype=np.float64)
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    seeds, tasks = scores.shape
    if tasks == 0 or seeds == 0:
        return None
    value = float(scores.mean())
    by_task, by_seed = (scores.mean(axis=axis, keepdims=True) - value for axis in (0, 1))
    rest = scores - value - by_task - by_seed
    degrees = np.maximum([tasks - 1, seeds - 1, (tasks - 1) * (seeds - 1)], 1)
    mean_squares = np.array([seeds * (by_task**2).sum(), tasks * (by_seed**2).sum(), (rest**2).sum()]) / degrees
    mean_squares *= np.ptp(scores) > 1e-12  # equal scores differ by rounding alone
    variance = max(mean_squares @ [1, 1, -1], mean_squares[2])
    spread = float((mean_squares**2 / degrees).sum())
    df = float(variance**2 / spread) if spread else float(degrees[0])
    return Crossed(value, float((variance / scores.size) ** 0.5), df, tuple(scores.mean(axis=1)), tasks)
