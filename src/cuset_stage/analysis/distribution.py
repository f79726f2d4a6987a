"""The statistics of `cuset analyze`: two distributions of confidence, a bootstrap that knows what belongs together, and sliding windows.

Tokens come as counts over bins of their log odds, so that memory depends neither on files nor on tokens, and the confidences that
language models give, from 1e-6 to 1 - 1e-7, are told apart on both ends.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kstwo


BINS = 2**16  # of the log odds
LOWEST, HIGHEST = -40.0, 20.0  # a bin is 0.0009 wide; what lies outside is in the first or the last
COARSE = 1024  # bins of a resample, each with at most 1/1024 of the two distributions' mean mass, ties aside
READINGS = ("centre", "majority", "any")
"""When a window is on a structure: its middle token is, more than half of its tokens are, or one of them is."""
_TOGETHER = 64  # clusters that enter the resamples with one product


Interval = dict[str, float | None]
"""value, and low and high, the ends of its 95% interval; these are None without a second cluster, all three where there is no value."""


def _interval(value: float | None, low: float | None = None, high: float | None = None) -> Interval:
    return {"value": value, "low": low, "high": high}


def log_odds_bins(log_p: NDArray[np.float32]) -> NDArray[np.int64]:
    """The bin of each log-probability, 0 to BINS - 1: log p - log(1 - p), cut into equal parts; above 0 counts as 0."""
    log_p = np.minimum(np.asarray(log_p, dtype=np.float64), 0.0)
    with np.errstate(divide="ignore"):  # a probability that float32 rounds to 1
        odds = log_p - np.log(-np.expm1(log_p))
    bins = (np.clip(odds, LOWEST, HIGHEST) - LOWEST) * (BINS / (HIGHEST - LOWEST))
    return np.minimum(bins.astype(np.int64), BINS - 1)


def cumulated_gap(first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """F - G of counts over the same bins, [..., bins] each; the largest of its magnitudes is the KS distance D (Massey 1951)."""
    parts = [np.cumsum(counts, axis=-1) / counts.sum(axis=-1, keepdims=True) for counts in (first, second)]
    return parts[0] - parts[1]


def naive_p(distance: float, first: int, second: int) -> float:
    """The p-value of a two-sample KS test that takes all tokens for independent, as scipy.stats.ks_2samp(method="asymp") has it.

    first, second: how many values. It underflows to 0 below 1e-300.
    """
    return float(kstwo.sf(distance, np.round(first * second / (first + second))))


def coarse_bins(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """[BINS]: the coarse bin of each fine one, so that the mean of the two distributions has about equal mass in each of them."""
    mass = sum(counts / max(1, counts.sum()) for counts in (first, second)) / 2
    return np.minimum((np.cumsum(mass) - mass / 2) * COARSE, COARSE - 1).astype(np.int64)


class ClusterBootstrap:
    """Sums over clusters, and over `resamples` draws of as many clusters with replacement.

    Clusters come one by one and are not kept: how often each draw holds a cluster is binomial given what is left of the draw, which
    makes the draws multinomial, the ordinary bootstrap of clusters.

    Attributes:
        at: where each named array of sums stands among all of them, in its shape.
        total: [width], the sum over the clusters.
        draws: [resamples, width], the sums over each draw; complete when all clusters were added.
    """

    def __init__(self, clusters: int, resamples: int, seed: int) -> None:
        self._left_clusters = clusters
        self._rng = np.random.default_rng(seed)
        self._left = np.full(resamples, clusters)
        self._waiting: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self.is_single = clusters < 2
        self.at: dict[str, NDArray[np.int64]] = {}

    def add(self, named: Mapping[str, ArrayLike]) -> None:
        """The next cluster's sums, in arrays of the same names and shapes for each cluster."""
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
        """The ratio of two of the sums with its percentile interval."""
        return self._with_ends(lambda sums: sums[..., over] / sums[..., under])

    def difference(self, first: tuple[int, int], second: tuple[int, int]) -> Interval:
        """One ratio minus another, each (over, under), of the same draws."""
        (a, b), (c, d) = first, second
        return self._with_ends(lambda sums: sums[..., a] / sums[..., b] - sums[..., c] / sums[..., d])

    def _with_ends(self, of: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Interval:
        with np.errstate(invalid="ignore", divide="ignore"):  # a draw without any such token has no ratio
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
    """The KS distance of two distributions with what the clusters allow to say of it; None where one of them is empty.

    Returns d, an `Interval`; p_naive, the p-value as if tokens were independent; p_clustered, as if clusters were, None with fewer than two.

    fine: the counts over BINS of all tokens, from which D is taken. first, second: where the counts over COARSE bins stand among the
    sums of `bootstrap`.

    A drawn D is too large on average, for it adds the draw's noise to the data's, most where D is small. So the interval is the basic
    one, 2 D minus the quantiles of the drawn D (Davison and Hinkley 1997, 5.2), cut to [0, 1]. The p-value is the share of draws whose
    F* - G* is as far from the data's F - G as that is from 0 (the same, 4.4): no D of a null hypothesis is drawn.
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
    coarse_d = float(np.abs(observed).max())  # within COARSE's resolution of d
    ends = np.clip([d + coarse_d - upper, d + coarse_d - lower], 0, 1)
    as_far = np.count_nonzero(np.abs(drawn - observed).max(axis=1) >= coarse_d)
    p_clustered = (1 + as_far) / (1 + len(drawn))
    return {"d": _interval(d, *map(float, ends)), "p_naive": naive, "p_clustered": p_clustered}


class Windows(NamedTuple):
    """The windows of a sample, stride 1, as in Fig. 2 of arXiv 2606.16231: tokens [start, start + size) with their mean confidence."""

    size: int  # `window`, or the sample's length where that is less
    means: NDArray[np.float64]  # [count], in [0, 1]

    def on(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """[3, count]: by each of `READINGS`, the windows on the tokens of `mask` [tokens].

        The middle is token start + size // 2, so that the window around t is Eq. 5's R_t.
        """
        inside = _sums(mask, self.size)
        first = self.size // 2
        return np.stack([mask[first : first + len(self.means)], 2 * inside > self.size, inside > 0])


def windows(confidence: NDArray[np.float32], window: int) -> Windows:
    """The windows of a sample's tokens [tokens], all of them inside it; a sample shorter than `window` is one window."""
    size = min(window, len(confidence))
    return Windows(size, np.clip(_sums(confidence, size) / size, 0.0, 1.0))  # differences of sums round


def _sums(values: NDArray, size: int) -> NDArray[np.float64]:
    """The sum over each window, [len(values) - size + 1]."""
    sums = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))
    return sums[size:] - sums[:-size]
