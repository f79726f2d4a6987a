"""What the reports compute: pass@k under two rules, confidence intervals over tasks, paired comparison of two methods.

Outcomes are a float array [T, S]: T tasks, S samples each, in the order they were drawn; 1 passed, 0 failed, NaN unknown (the
judge failed, so the sample says nothing about the model). The task is the unit of every interval and test: samples of one task
resemble each other, so they are resampled together. NumPy and SciPy only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Rule(StrEnum):
    """How pass@k is read from the S samples of a task."""

    FIRST = "first"  # CUDABench's harness, and the CuSeT paper's numbers: any of the first k samples passed
    UNBIASED = "unbiased"  # Chen et al. 2021: the mean over all subsets of k of the samples


def pass_at_k_unbiased(n: int, c: int, k: int) -> float:
    """The probability that k of n samples, drawn without replacement, hold one of the c right ones.

    1 - C(n - c, k) / C(n, k), Chen et al. 2021 (arXiv 2107.03374), Eq. 1. Evaluated as a sum of logarithms, so that neither a
    large n overflows nor a small result cancels. ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    if not 0 <= c <= n:
        raise ValueError(f"c={c}: the number of right samples, in [0, n={n}]")
    if not 1 <= k <= n:
        raise ValueError(f"k={k}: in [1, n={n}]; pass@{k} cannot be estimated from fewer than {k} samples")
    if c == 0:
        return 0.0
    if c > n - k:
        return 1.0
    # The binomials' quotient has min(c, k) factors: it is symmetric in c and k.
    few, many = sorted((c, k))
    return -math.expm1(math.fsum(math.log1p(-many / (n - i)) for i in range(few)))


def pass_at_k_first(flags: Sequence[bool], k: int) -> bool:
    """Whether any of the first k samples passed: what CUDABench's harness counts. ValueError when there are fewer than k."""
    if not 1 <= k <= len(flags):
        raise ValueError(f"k={k}: in [1, {len(flags)}], the number of samples")
    return any(flags[:k])


def task_scores(outcomes: ArrayLike, k: int, rule: Rule) -> NDArray[np.float64]:
    """pass@k of each task, [T], NaN where the outcomes do not determine it.

    FIRST needs samples 1 to k known (also when a known one passed: leaving out only the undecided failures would favour the
    model). UNBIASED needs any k known ones. ValueError when there are fewer than k columns.
    """
    outcomes = np.asarray(outcomes, dtype=np.float64)
    if outcomes.ndim != 2 or not 1 <= k <= outcomes.shape[1]:
        raise ValueError(f"outcomes of shape {outcomes.shape}, k={k}: needs [tasks, samples] with at least k samples")
    if rule is Rule.FIRST:
        return outcomes[:, :k].max(axis=1, initial=0.0)  # NaN propagates
    known = (~np.isnan(outcomes)).sum(axis=1)
    right = np.nansum(outcomes, axis=1).astype(int)
    pairs, place = np.unique(np.stack([known, right], axis=1), axis=0, return_inverse=True)
    table = np.array([pass_at_k_unbiased(n, c, k) if n >= k else math.nan for n, c in pairs.tolist()])
    return table[place.reshape(-1)] if len(table) else np.empty(0)


@dataclass(frozen=True)
class Estimate:
    """A mean over tasks. The interval is None without tasks."""

    value: float | None
    low: float | None
    high: float | None
    tasks: int  # in the mean
    left_out: int  # tasks whose score is unknown


def estimate_means(
    scores: ArrayLike,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Estimate]:
    """The mean of each column of scores [T, M] and its percentile bootstrap interval over tasks.

    A NaN leaves its task out of that column. One seed draws the same tasks for every column, so columns of differences
    (bounds=(-1, 1)) are a paired bootstrap. Where all tasks of a column have one score the bootstrap has no spread; the interval
    is then what T equal draws leave open: another outcome has probability at most 1 - (alpha / 2)^(1 / T), which for scores of
    0 or 1 is the exact (Clopper-Pearson) interval.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2:
        raise ValueError(f"scores of shape {scores.shape}: needs [tasks, columns]")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence}: a probability in (0, 1)")
    known = ~np.isnan(scores)
    counts = known.sum(axis=0)
    values = np.where(known, scores, 0.0)
    spread = [
        column[mask].min() < column[mask].max() if mask.any() else False
        for column, mask in zip(scores.T, known.T, strict=True)
    ]
    tail = (1 - confidence) / 2
    lows, highs = _bootstrap(values[:, spread], known[:, spread], tail, resamples, seed)
    bootstrap = iter(zip(lows, highs, strict=True))
    results = []
    for column, (tasks, varies) in enumerate(zip(counts.tolist(), spread, strict=True)):
        left_out = len(scores) - tasks
        if not tasks:
            results.append(Estimate(None, None, None, 0, left_out))
            continue
        mean = float(values[:, column].sum() / tasks)
        if varies:
            low, high = next(bootstrap)
        else:
            unseen = 1 - tail ** (1 / tasks)
            low, high = mean - unseen * (mean - bounds[0]), mean + unseen * (bounds[1] - mean)
        results.append(Estimate(mean, float(low), float(high), tasks, left_out))
    return results


def _bootstrap(
    values: NDArray[np.float64], known: NDArray[np.bool_], tail: float, resamples: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Quantiles tail and 1 - tail, [M] each, of the means of `resamples` draws of T tasks with replacement."""
    tasks, columns = values.shape
    if not tasks or not columns:
        return np.empty(columns), np.empty(columns)
    rng = np.random.default_rng(seed)
    means = np.empty((resamples, columns))
    mask = known.astype(np.float64)
    chunk = max(1, 2_000_000 // tasks)  # resamples at a time: 16 MB of weights
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        draws = rng.integers(tasks, size=(size, tasks))
        draws += np.arange(size)[:, None] * tasks
        weights = np.bincount(draws.reshape(-1), minlength=size * tasks).reshape(size, tasks).astype(np.float64)
        drawn = weights @ mask
        with np.errstate(invalid="ignore"):  # a draw without any known task has no mean
            means[start : start + size] = np.where(drawn > 0, weights @ values, np.nan) / np.where(drawn > 0, drawn, 1)
    low, high = np.nanquantile(means, [tail, 1 - tail], axis=0)
    return low, high


@dataclass(frozen=True)
class McNemar:
    """Two methods on the same tasks, counted in tasks."""

    both: int
    only_first: int
    only_second: int
    neither: int
    p_value: float  # exact, two-sided

    @property
    def tasks(self) -> int:
        """How many tasks have both outcomes."""
        return self.both + self.only_first + self.only_second + self.neither


def mcnemar_exact(first: ArrayLike, second: ArrayLike) -> McNemar:
    """McNemar's exact test on paired 0/1 outcomes [T]; a task with a NaN on either side is left out.

    Of the tasks that one method alone solves, each is as likely to be either's under the null hypothesis: a two-sided binomial
    test with probability 1/2 (McNemar 1947). Without such tasks the p-value is 1.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"outcomes of shapes {first.shape} and {second.shape}: needs [tasks] twice")
    known = ~(np.isnan(first) | np.isnan(second))
    a, b = first[known] > 0, second[known] > 0
    only_first, only_second = int((a & ~b).sum()), int((~a & b).sum())
    p_value = 1.0
    if only_first + only_second:
        from scipy.stats import binomtest  # 0.3 s to import

        p_value = float(binomtest(only_first, only_first + only_second, 0.5).pvalue)
    return McNemar(int((a & b).sum()), only_first, only_second, int((~a & ~b).sum()), p_value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment (Holm 1979) of m p-values, in their order.

    Comparing the results with alpha bounds the probability of any false finding among the m by alpha.
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def fast_p(right: ArrayLike, speedups: ArrayLike, p: float) -> NDArray[np.float64]:
    """fast_p of each task, [T] (KernelBench, arXiv 2502.10517): 1 where its sample is right and more than p times as fast.

    right [T] is 1, 0 or NaN (unknown, stays so); speedups [T] may be NaN where none was measured, which counts as not faster;
    with p = 0 being right is enough.
    """
    right, speedups = np.asarray(right, dtype=np.float64), np.asarray(speedups, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        fast = np.ones_like(right) if p == 0 else (speedups > p).astype(np.float64)
    return np.where(np.isnan(right), np.nan, (right > 0) * fast)
