"""The statistics of `cuset analyze`: distributions of confidence, a bootstrap over clusters, and sliding windows.

Tokens of one file depend on each other, so the bootstrap draws whole clusters (files) instead of tokens.

A distribution is kept as counts over bins of the log odds. So memory depends neither on the number of files nor on the
number of tokens, and confidences at both ends of the range that language models give (1e-6 to 1 - 1e-7) stay distinct.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kstwo


BINS = 2**16  # number of bins of the log odds
LOWEST, HIGHEST = -40.0, 20.0  # a bin is 0.0009 wide; values outside go to the first or last bin
COARSE = 1024  # bins of a resample; each has at most 1/1024 of the mean mass of the two distributions, ties aside
READINGS = ("centre", "majority", "any")
"""When a window counts as being on a structure: if its middle token is, if most of its tokens are, or if any token is."""
_TOGETHER = 64  # clusters that are added to the resamples by one matrix product


Interval = dict[str, float | None]
"""An estimate as a dict: `value`, and `low` and `high`, the ends of its 95 % interval. Both ends are None if there is only one cluster,
and all three if there is no value."""


def _interval(value: float | None, low: float | None = None, high: float | None = None) -> Interval:
    return {"value": value, "low": low, "high": high}


def log_odds_bins(log_p: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the bin of each log-probability, from 0 to BINS - 1.

    The bins divide the log odds, log p - log(1 - p), into equal parts. A log-probability above 0 counts as 0.
    """
    log_p = np.minimum(np.asarray(log_p, dtype=np.float64), 0.0)
    with np.errstate(divide="ignore"):  # float32 may round a probability to 1, whose log odds are infinite
        odds = log_p - np.log(-np.expm1(log_p))
    bins = (np.clip(odds, LOWEST, HIGHEST) - LOWEST) * (BINS / (HIGHEST - LOWEST))
    return np.minimum(bins.astype(np.int64), BINS - 1)


def cumulated_gap(first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """Return F - G, the difference of two cumulative distributions, [..., bins].

    Its largest magnitude is the KS distance D (Massey 1951).

    Args:
        first: [..., bins], counts of the distribution F.
        second: [..., bins], counts of the distribution G over the same bins.
    """
    parts = [np.cumsum(counts, axis=-1) / counts.sum(axis=-1, keepdims=True) for counts in (first, second)]
    return parts[0] - parts[1]


def naive_p(distance: float, first: int, second: int) -> float:
    """Return the p-value of a two-sample KS test that assumes independent tokens.

    It is that of scipy.stats.ks_2samp(method="asymp"), and underflows to 0 below 1e-300.

    Args:
        distance: the KS distance D.
        first: number of values of the first distribution.
        second: number of values of the second distribution.
    """
    return float(kstwo.sf(distance, np.round(first * second / (first + second))))


def coarse_bins(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the coarse bin of each fine bin, [BINS].

    Each coarse bin has about the same mass of the mean of the two distributions.

    Args:
        first: [BINS], counts of the first distribution.
        second: [BINS], counts of the second distribution.
    """
    mass = sum(counts / max(1, counts.sum()) for counts in (first, second)) / 2
    return np.minimum((np.cumsum(mass) - mass / 2) * COARSE, COARSE - 1).astype(np.int64)


class ClusterBootstrap:
    """A bootstrap over clusters: sums over all clusters, and over resamples of them.

    A resample draws as many clusters as there are, with replacement. Clusters are added one by one and are not kept.
    How often a resample holds the next cluster is drawn from a binomial distribution, given how many of its draws are
    left. Together these counts are multinomial, so this is the ordinary cluster bootstrap.

    Args:
        clusters: number of clusters that will be added.
        resamples: number of resamples.
        seed: seed of the draws.

    Attributes:
        at: for each named array of sums, its indices into `total`, in the shape of the array.
        total: [width], the sums over all clusters.
        draws: [resamples, width], the sums over each resample. They are complete once all clusters are added.
        is_single: whether there are fewer than two clusters, so that no interval can be given.
    """

    def __init__(self, clusters: int, resamples: int, seed: int) -> None:
        self._left_clusters = clusters
        self._rng = np.random.default_rng(seed)
        self._left = np.full(resamples, clusters)
        self._waiting: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self.is_single = clusters < 2
        self.at: dict[str, NDArray[np.int64]] = {}

    def add(self, named: Mapping[str, ArrayLike]) -> None:
        """Add the sums of the next cluster. The names and shapes of the arrays must be the same for every cluster."""
        arrays = {name: np.asarray(values, dtype=np.float64) for name, values in named.items()}
        sums = np.concatenate([values.ravel() for values in arrays.values()])
        if not self.at:
            starts = np.cumsum([0, *(values.size for values in arrays.values())])
            for start, (name, values) in zip(starts, arrays.items(), strict=False):
                self.at[name] = start + np.arange(values.size).reshape(values.shape)
            self.total, self.draws = np.zeros(len(sums)), np.zeros((len(self._left), len(sums)))
        times = self._rng.binomial(self._left, 1 / self._left_clusters)
        self._left -= times
        self._left_clusters -= 1
        self._waiting.append((times, sums))
        self.total += sums
        if len(self._waiting) == _TOGETHER or not self._left_clusters:
            times, values = (np.array(column, dtype=np.float64) for column in zip(*self._waiting, strict=True))
            self.draws += times.T @ values
            self._waiting = []

    def ratio(self, over: int, under: int) -> Interval:
        """Return the ratio of two sums with its percentile interval.

        Args:
            over: index of the numerator in `total`.
            under: index of the denominator in `total`.
        """
        return self._with_ends(lambda sums: sums[..., over] / sums[..., under])

    def difference(self, first: tuple[int, int], second: tuple[int, int]) -> Interval:
        """Return the difference of two ratios, each (over, under), with an interval from the same draws."""
        (a, b), (c, d) = first, second
        return self._with_ends(lambda sums: sums[..., a] / sums[..., b] - sums[..., c] / sums[..., d])

    def _with_ends(self, of: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Interval:
        with np.errstate(invalid="ignore", divide="ignore"):  # a resample without such tokens gives 0 / 0
            value, drawn = float(of(self.total)), of(self.draws)
        if not np.isfinite(value):
            return _interval(None)
        drawn = drawn[np.isfinite(drawn)]
        if self.is_single or not len(drawn):
            return _interval(value)
        return _interval(value, *map(float, np.quantile(drawn, [0.025, 0.975])))


def clustered_ks(
    fine: Sequence[NDArray[np.int64]], bootstrap: ClusterBootstrap, first: NDArray[np.int64], second: NDArray[np.int64]
) -> dict[str, Any] | None:
    """Return the KS distance D of two distributions, with an interval and p-values.

    The D of a resample is too large on average, because the noise of the resample is added to that of the data. The
    effect is largest where D is small. So the interval is the basic bootstrap interval, 2 D minus the quantiles of the
    resampled D (Davison and Hinkley 1997, 5.2), cut to [0, 1].

    The clustered p-value is the share of resamples whose F* - G* is at least as far from the F - G of the data as that
    is from 0 (same book, 4.4). No D is drawn under a null hypothesis.

    Args:
        fine: two arrays [BINS], the counts of all tokens, from which D is computed.
        bootstrap: sums that hold the counts over COARSE bins.
        first: [COARSE], indices of the first distribution's counts among the sums of `bootstrap`.
        second: [COARSE], indices of the second distribution's counts.

    Returns:
        None if one of the distributions is empty. Otherwise `d`, an `Interval`; `p_naive`, the p-value if tokens were
        independent; and `p_clustered`, the p-value if only clusters are independent, None with fewer than two
        clusters.
    """
    sizes = [int(counts.sum()) for counts in fine]
    if not all(sizes):
        return None
    d = float(np.abs(cumulated_gap(*fine)).max())
    naive = naive_p(d, *sizes)
    draws = bootstrap.draws[:, first], bootstrap.draws[:, second]
    has_both = np.logical_and(*(counts.sum(axis=1) > 0 for counts in draws))
    if bootstrap.is_single or not has_both.any():
        return {"d": _interval(d), "p_naive": naive, "p_clustered": None}

    observed = cumulated_gap(bootstrap.total[first], bootstrap.total[second])
    drawn = cumulated_gap(*(counts[has_both] for counts in draws))
    lower, upper = np.quantile(np.abs(drawn).max(axis=1), [0.025, 0.975])
    coarse_d = float(np.abs(observed).max())  # differs from d by at most the resolution of the coarse bins
    ends = np.clip([d + coarse_d - upper, d + coarse_d - lower], 0, 1)
    as_far = np.count_nonzero(np.abs(drawn - observed).max(axis=1) >= coarse_d)
    p_clustered = (1 + as_far) / (1 + len(drawn))
    return {"d": _interval(d, *map(float, ends)), "p_naive": naive, "p_clustered": p_clustered}


def window_means(confidence: NDArray[np.floating], window: int) -> NDArray[np.float64]:
    """Return the mean confidence of each sliding window of a sample, as in Fig. 2 of arXiv 2606.16231.

    Windows have stride 1 and lie wholly inside the sample: number `start` covers the tokens [start, start + window). A
    sample shorter than `window` is one window.

    Args:
        confidence: [tokens], confidence of each token of the sample.
        window: length of a window in tokens.

    Returns:
        [count], in [0, 1].
    """
    size = min(window, len(confidence))
    return np.clip(_sums(confidence, size) / size, 0.0, 1.0)  # rounding of the sums may leave [0, 1]


def windows_on(mask: NDArray[np.bool_], window: int) -> NDArray[np.bool_]:
    """Return which windows stand on the tokens of a mask, by each of `READINGS`.

    The middle token of a window is start + size // 2, so that the window around token t is R_t of Eq. 5.

    Args:
        mask: [tokens], the tokens of a structure.
        window: as in `window_means`.

    Returns:
        [3, count] boolean, one row for each of `READINGS`.
    """
    size = min(window, len(mask))
    inside = _sums(mask, size)
    return np.stack([mask[size // 2 :][: len(inside)], 2 * inside > size, inside > 0])


def _sums(values: NDArray, size: int) -> NDArray[np.float64]:
    """Return the sum over each window, [len(values) - size + 1]."""
    sums = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    return sums[size:] - sums[:-size]
