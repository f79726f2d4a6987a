"""Counts, distances and the bootstrap of files, against scipy on the values themselves and against draws made one by one; windows against
their slices."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

from cuset_stage.analysis.distribution import (
    BINS,
    COARSE,
    READINGS,
    ClusterBootstrap,
    clustered_ks,
    coarse_bins,
    cumulated_gap,
    log_odds_bins,
    naive_p,
    window_means,
    windows_on,
)


def counts_of(log_p):
    return np.bincount(log_odds_bins(log_p), minlength=BINS)


def log_probabilities(rng, location, size):
    """Log odds around `location`, as float32 log p."""
    return -np.log1p(np.exp(-rng.normal(location, 2.0, size))).astype(np.float32)


def measure(files, resamples=300, seed=0):
    """clustered_ks of files, each a pair of arrays of log p."""
    fine = [sum(counts_of(file[number]) for file in files) for number in (0, 1)]
    coarse = coarse_bins(*fine)
    bootstrap = ClusterBootstrap(len(files), resamples, seed)
    for file in files:
        bootstrap.add({"c": [np.bincount(coarse[log_odds_bins(values)], minlength=COARSE) for values in file]})
    return clustered_ks(fine, bootstrap, *bootstrap.at["c"])


def test_bins_keep_the_order_and_a_probability_that_rounds_above_1_is_in_the_last():
    log_p = np.array([-np.inf, -200, -30, -1e-3, -1e-6, -6e-8, -0.0, 0, 1e-12, 3e-7, 0.06], dtype=np.float32)
    bins = log_odds_bins(log_p)
    assert bins[:2].tolist() == [0, 0] and bins[6:].tolist() == [BINS - 1] * 5
    assert (np.diff(bins[1:7]) > 0).all()


def test_draws_without_one_of_the_two_say_nothing():
    """Of two files only one has tokens of the second kind: a quarter of the draws has none."""
    rng = np.random.default_rng(1)
    files = [(log_probabilities(rng, 0.0, 500), log_probabilities(rng, 4.0, size)) for size in (500, 0)]
    found = measure(files)
    assert 0 < found["d"]["low"] <= found["d"]["high"] <= 1 and 1 / 300 < found["p_clustered"] < 0.02


@pytest.mark.parametrize("location", [-11.0, 0.0, 9.0])  # an untrained model, one between, and one that knows the code
def test_d_and_p_are_scipys(location):
    rng = np.random.default_rng(1)
    first, second = log_probabilities(rng, location, 4000), log_probabilities(rng, location + 0.3, 2500)
    expected = ks_2samp(first, second, method="asymp")
    d = float(np.abs(cumulated_gap(counts_of(first), counts_of(second))).max())
    assert d == pytest.approx(expected.statistic, abs=2e-3)  # a bin holds a few tokens of each
    binned = ks_2samp(log_odds_bins(first), log_odds_bins(second), method="asymp")
    assert d == pytest.approx(binned.statistic, rel=1e-12)
    assert naive_p(d, 4000, 2500) == pytest.approx(binned.pvalue, rel=1e-9)


def test_a_draw_is_as_many_files_with_replacement():
    rng = np.random.default_rng(2)
    files = rng.normal((3, 0), size=(150, 2))
    bootstrap = ClusterBootstrap(150, 4000, seed=0)
    for values in files:
        bootstrap.add({"sums": values, "files": 1.0})
    assert (bootstrap.draws[:, 2] == 150).all()
    np.testing.assert_allclose(bootstrap.total, [*files.sum(axis=0), 150])
    chosen = files[rng.integers(0, 150, (4000, 150))].sum(axis=1)
    np.testing.assert_allclose(bootstrap.draws[:, :2].mean(axis=0), chosen.mean(axis=0), atol=0.8)
    np.testing.assert_allclose(np.cov(bootstrap.draws[:, :2].T), np.cov(chosen.T), atol=12)
    found = bootstrap.ratio(0, 2)
    assert found["value"] == pytest.approx(files[:, 0].mean())
    ends = np.quantile(chosen[:, 0] / 150, [0.025, 0.975])
    np.testing.assert_allclose([found["low"], found["high"]], ends, atol=0.015)


def make_files(rng, shift, files=40, spread=1.0):
    """Files with levels of their own: the tokens of a file depend on each other."""
    levels = rng.normal(0, spread, (files, 2))
    return [(log_probabilities(rng, a, 60), log_probabilities(rng, b + shift, 60)) for a, b in levels]


def test_the_interval_is_that_of_files_drawn_one_by_one():
    rng = np.random.default_rng(3)
    files = make_files(rng, 1.0)
    found = measure(files, resamples=2000)
    pooled = [np.concatenate([file[number] for file in files]) for number in (0, 1)]
    d = ks_2samp(*pooled).statistic
    drawn = []
    for _ in range(1000):
        chosen = [files[index] for index in rng.integers(0, len(files), len(files))]
        both = (np.concatenate([file[number] for file in chosen]) for number in (0, 1))
        drawn.append(ks_2samp(*both, method="asymp").statistic)
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found["d"]["value"] == pytest.approx(d, abs=2e-3)
    np.testing.assert_allclose([found["d"]["low"], found["d"]["high"]], [2 * d - high, 2 * d - low], atol=0.012)


def test_without_a_difference_the_clustered_p_is_right_and_the_naive_one_is_not():
    rng = np.random.default_rng(4)
    found = [measure(make_files(rng, 0.0)) for _ in range(60)]
    assert np.mean([one["p_naive"] < 0.05 for one in found]) > 0.4
    assert np.mean([one["p_clustered"] < 0.05 for one in found]) < 0.15
    assert np.mean([one["d"]["low"] == 0 for one in found]) > 0.8


def test_one_file_has_no_interval_and_no_token_no_distance():
    rng = np.random.default_rng(6)
    found = measure(make_files(rng, 1.0, files=1))
    assert found["d"]["value"] and found["d"]["low"] is None and found["p_clustered"] is None
    assert measure([(np.array([], dtype=np.float32), np.array([-1.0], dtype=np.float32))] * 3) is None


@pytest.mark.parametrize("value", [1.0, 1 - 2**-24, 0.1, 1e-300, 0.0])
def test_means_of_sure_tokens_stay_in_range(value):
    rng = np.random.default_rng(0)
    for size in (1, 3, 64, 255):
        confidence = np.concatenate([rng.random(500), np.full(2000, value)])
        means = window_means(confidence, size)
        assert means.min() >= 0 and means.max() <= 1
        np.testing.assert_allclose(means[-1700:], value, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("tokens", "window"), [(200, 64), (65, 64), (64, 64), (63, 64), (1, 64), (30, 7), (9, 1)])
def test_every_window_against_its_slice(tokens, window):
    rng = np.random.default_rng(tokens)
    confidence, mask = rng.random(tokens), rng.random(tokens) < 0.3
    size = min(tokens, window)
    starts = range(tokens - size + 1)
    means = [confidence[s : s + size].mean() for s in starts]
    np.testing.assert_allclose(window_means(confidence, window), means, rtol=1e-12)
    expected = {
        "centre": [mask[s + size // 2] for s in starts],
        "majority": [mask[s : s + size].sum() > size / 2 for s in starts],
        "any": [mask[s : s + size].any() for s in starts],
    }
    for reading, on in zip(READINGS, windows_on(mask, window), strict=True):
        assert on.tolist() == [bool(value) for value in expected[reading]]
