"""What reports and studies compute: pass@k under two rules, intervals over tasks alone or over tasks and seeds, tests of two methods.

Outcomes are a float array [T, S]: T tasks, S samples each, in the order they were drawn; 1 passed, 0 failed, NaN unknown (the
judge failed, so the sample says nothing about the model). The task is the unit of every interval and test: samples of one task
resemble each other, so they are resampled together.

A study's scores are float arrays [seeds, tasks]: a task resembles itself under every seed, and a seed's model itself on every task. An
interval over tasks alone says nothing of another training; the error of `crossed` has both parts (two-way analysis of variance, both
factors random). NumPy and SciPy only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest
from scipy.stats import t as student


RESAMPLES = 10_000
TAIL = 0.025  # beyond each end of a 95 % interval


class Rule(StrEnum):
    """How pass@k is read from the S samples of a task."""

    FIRST = "first"  # CUDABench's harness, and the CuSeT paper's numbers: any of the first k samples passed
    UNBIASED = "unbiased"  # Chen et al. 2021: the mean over all subsets of k of the samples


def pass_at_k_unbiased(n: int, c: int, k: int) -> float:
    """The probability that k of n samples, drawn without replacement, hold one of the c right ones.

    1 - C(n - c, k) / C(n, k), Chen et al. 2021 (arXiv 2107.03374), Eq. 1, in integers, of which Python rounds the quotient once.
    """
    choices = math.comb(n, k)
    return (choices - math.comb(n - c, k)) / choices


def task_scores(outcomes: ArrayLike, k: int, rule: Rule) -> NDArray[np.float64]:
    """pass@k of each task, [T], NaN where the outcomes do not determine it; k is at most the number of samples.

    FIRST needs samples 1 to k known (also when a known one passed: leaving out only the undecided failures would favour the
    model). UNBIASED needs any k known ones.
    """
    outcomes = np.asarray(outcomes, dtype=np.float64)
    if rule is Rule.FIRST:
        return outcomes[:, :k].max(axis=1, initial=0.0)  # NaN propagates
    known = (~np.isnan(outcomes)).sum(axis=1).tolist()
    right = np.nansum(outcomes, axis=1).astype(int).tolist()
    return np.array([pass_at_k_unbiased(n, c, k) if n >= k else math.nan for n, c in zip(known, right, strict=True)])


@dataclass(frozen=True)
class Estimate:
    """A mean over tasks with the ends of its interval."""

    value: float
    low: float
    high: float
    tasks: int  # in the mean
    left_out: int  # tasks whose score is unknown


def estimate_means(
    scores: ArrayLike,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    seed: int = 0,
    clusters: NDArray[np.int64] | None = None,
) -> list[Estimate | None]:
    """The mean of each column of scores [T, M] and its 95 % percentile bootstrap interval over tasks; None without a known task.

    clusters: the number of each task's cluster, [T], where tasks of one resemble each other; then clusters are drawn, and not tasks.

    A NaN leaves its task out of that column. One seed draws the same tasks for every column, so columns of differences
    (bounds=(-1, 1)) are a paired bootstrap. Where all tasks of a column have one score the bootstrap has no spread; the interval
    is then what T equal draws leave open: another outcome has probability at most 1 - (alpha / 2)^(1 / T), which for scores of
    0 or 1 is the exact (Clopper-Pearson) interval.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if not scores.size:
        return [None] * scores.shape[1]
    clusters = np.arange(len(scores)) if clusters is None else clusters
    results: list[Estimate | None] = [None] * scores.shape[1]
    for m, (column, low, high) in enumerate(zip(scores.T, *_bootstrap(scores, clusters, seed), strict=True)):
        if not len(known := column[~np.isnan(column)]):
            continue
        mean = float(known.mean())
        if known.min() == known.max():
            unseen = 1 - TAIL ** (1 / len(np.unique(clusters[~np.isnan(column)])))
            low, high = mean - unseen * (mean - bounds[0]), mean + unseen * (bounds[1] - mean)
        results[m] = Estimate(mean, float(low), float(high), len(known), len(column) - len(known))
    return results


def _bootstrap(scores: NDArray[np.float64], clusters: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Quantiles TAIL and 1 - TAIL, [2, M], of the means of RESAMPLES draws of all clusters with replacement."""
    known = ~np.isnan(scores)
    known |= ~known.any(axis=0)  # the caller passes over columns without a known task
    count = int(clusters.max()) + 1
    values, knowns = np.zeros((2, count, scores.shape[1]))
    np.add.at(values, clusters, np.nan_to_num(scores))
    np.add.at(knowns, clusters, known)
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(RESAMPLES // 500):  # in parts: [500, T] at a time
        weights = rng.multinomial(count, np.full(count, 1 / count), size=500).astype(float)
        with np.errstate(invalid="ignore"):  # a draw without any known task has no mean
            means.append(weights @ values / (weights @ knowns))
    return np.nanquantile(np.concatenate(means), [TAIL, 1 - TAIL], axis=0)


@dataclass(frozen=True)
class McNemar:
    """Two methods on the same tasks, counted in tasks."""

    both: int
    only_first: int
    only_second: int
    neither: int
    p_value: float  # exact, two-sided


def mcnemar_exact(first: ArrayLike, second: ArrayLike) -> McNemar:
    """McNemar's exact test on paired 0/1 outcomes [T]; a task with a NaN on either side is left out.

    Of the tasks that one method alone solves, each is as likely to be either's under the null hypothesis: a two-sided binomial
    test with probability 1/2 (McNemar 1947). Without such tasks the p-value is 1.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    known = ~(np.isnan(first) | np.isnan(second))
    a, b = first[known] > 0, second[known] > 0
    both, only_first, only_second, neither = (int(np.sum(cell)) for cell in (a & b, a & ~b, ~a & b, ~a & ~b))
    discordant = only_first + only_second
    p_value = float(binomtest(only_first, discordant, 0.5).pvalue) if discordant else 1.0
    return McNemar(both, only_first, only_second, neither, p_value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (Holm 1979) of m p-values, in their order.

    Comparing the results with alpha bounds the probability of any false finding among the m by alpha.
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(p_values, dtype=np.float64)[order]))
    return adjusted.tolist()


def fast_p(right: ArrayLike, speedups: ArrayLike, p: float) -> NDArray[np.float64]:
    """fast_p of each task, [T] (KernelBench, arXiv 2502.10517): 1 where its sample is right and more than p times as fast.

    right [T] is 1, 0 or NaN (unknown, stays so); speedups [T] may be NaN where none was measured, which counts as not faster;
    with p = 0 being right is enough.
    """
    right, speedups = np.asarray(right, dtype=np.float64), np.asarray(speedups, dtype=np.float64)
    return np.where(np.isnan(right), np.nan, (right > 0) & ((p == 0) | (speedups > p)))


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
            unseen = 1 - TAIL ** (1 / (self.seeds if self.seeds > 1 else self.tasks))
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
