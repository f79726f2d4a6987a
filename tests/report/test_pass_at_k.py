"""report/statistics.py against independent oracles: enumeration, exact fractions, SciPy, and simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from cuset_stage.report.statistics import (
    Rule,
    crossed,
    estimate_means,
    fast_p,
    holm,
    mcnemar_exact,
    pass_at_k_unbiased,
    task_scores,
)


NAN = math.nan


@pytest.mark.parametrize("n", range(1, 9))
def test_unbiased_is_the_mean_over_all_subsets(n):
    for c, k in itertools.product(range(n + 1), range(1, n + 1)):
        subsets = list(itertools.combinations([True] * c + [False] * (n - c), k))
        assert pass_at_k_unbiased(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets), rel=1e-13, abs=0)


@pytest.mark.parametrize("n", [100, 10_000])
@pytest.mark.parametrize("k", [1, 3, 50])
def test_unbiased_is_stable_for_many_samples(n, k):
    for c in (round(n * share) for share in (0, 1e-4, 0.03, 0.5, 0.999, 1)):
        wrong = Fraction(math.comb(n - c, k), math.comb(n, k))
        assert pass_at_k_unbiased(n, c, k) == pytest.approx(float(1 - wrong), rel=1e-12, abs=0)
    tiny = Fraction(math.comb(9_990, 5_000), math.comb(10_000, 5_000))
    assert 1 - pass_at_k_unbiased(10_000, 10, 5_000) == pytest.approx(float(tiny), rel=1e-9)


def test_task_scores_agree_with_the_scalar_functions():
    outcomes = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    for k in (1, 2, 3, 4):
        assert task_scores(outcomes, k, Rule.FIRST).tolist() == [any(row[:k]) for row in outcomes]
        expected = [pass_at_k_unbiased(4, int(row.sum()), k) for row in outcomes]
        assert task_scores(outcomes, k, Rule.UNBIASED) == pytest.approx(expected)


def test_unknown_samples_leave_their_task_out_also_when_another_passed():
    outcomes = [[NAN, 1, 1], [0, NAN, 1], [0, 1, NAN], [NAN, NAN, NAN]]
    np.testing.assert_array_equal(task_scores(outcomes, 1, Rule.FIRST), [NAN, 0, 0, NAN])
    np.testing.assert_array_equal(task_scores(outcomes, 3, Rule.FIRST), [NAN] * 4)
    np.testing.assert_allclose(task_scores(outcomes, 1, Rule.UNBIASED), [1, 0.5, 0.5, NAN])
    np.testing.assert_allclose(task_scores(outcomes, 2, Rule.UNBIASED), [1, 1, 1, NAN])


def test_no_tasks_and_all_unknown_have_no_estimate():
    for rule in Rule:
        assert task_scores(np.zeros((0, 3)), 3, rule).shape == (0,)
    assert estimate_means(np.zeros((0, 1))) == [None]
    assert estimate_means([[NAN, 1.0], [NAN, 0.0]])[0] is None


@pytest.mark.parametrize("tasks", [1, 7, 500])
@pytest.mark.parametrize("outcome", [0, 1])
def test_all_alike_gives_the_exact_interval(tasks, outcome):
    found = estimate_means(np.full((tasks, 1), outcome))[0]
    exact = stats.binomtest(outcome * tasks, tasks).proportion_ci(0.95, method="exact")
    assert found.value == outcome
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_equal_methods_still_have_an_interval_of_their_difference():
    (found,) = estimate_means(np.zeros((100, 1)), bounds=(-1, 1))
    assert found.high == -found.low == pytest.approx(1 - 0.025 ** (1 / 100))


def test_interval_agrees_with_scipys_bootstrap():
    rng = np.random.default_rng(3)
    scores = rng.choice([0, 1 / 3, 2 / 3, 1], size=200)
    found = estimate_means(scores[:, None])[0]
    reference = stats.bootstrap((scores,), np.mean, n_resamples=20_000, method="percentile", rng=rng)
    assert found.value == pytest.approx(scores.mean())
    assert (found.low, found.high) == pytest.approx(tuple(reference.confidence_interval), abs=0.004)


def test_interval_covers_the_truth_as_often_as_it_says():
    truth, tasks, runs = 0.35, 120, 600
    found = estimate_means(np.random.default_rng(0).random((tasks, runs)) < truth)
    assert 0.92 <= np.mean([each.low <= truth <= each.high for each in found]) <= 0.975


def test_clusters_are_drawn_whole():
    """Five sizes of an operation that pass or fail together say no more than one; a cluster of one is a task."""
    outcomes = (np.random.default_rng(5).random((40, 1)) < 0.3).astype(float)
    sizes = np.arange(40).repeat(5)
    (alone,), (together,) = estimate_means(outcomes), estimate_means(outcomes[sizes], clusters=sizes)
    assert (alone.value, alone.low, alone.high) == pytest.approx((together.value, together.low, together.high))
    assert estimate_means(outcomes, clusters=np.arange(40)) == [alone]
    (equal,) = estimate_means(np.where(sizes < 3, NAN, 1.0)[:, None], clusters=sizes)
    assert equal.low == pytest.approx(0.025 ** (1 / 37))
    (thirds,) = estimate_means([[2 / 3 - 1 / 3], [1 / 3], [1 - 2 / 3]], bounds=(-1, 1))  # equal but for rounding
    assert thirds.low < 0 < thirds.value < thirds.high


def test_one_seed_gives_one_result_and_columns_do_not_disturb_each_other():
    scores = np.random.default_rng(2).random((50, 3))
    scores[:20, 1] = NAN
    together = estimate_means(scores, seed=5)
    assert together == estimate_means(scores, seed=5)
    assert together != estimate_means(scores, seed=6)
    alone = estimate_means(scores[:, 2:], seed=5)[0]
    assert (together[2].low, together[2].high) == pytest.approx((alone.low, alone.high), rel=1e-12)
    (known,) = estimate_means(scores[20:, 1:2])
    assert (together[1].tasks, together[1].left_out, together[1].value) == (30, 20, pytest.approx(known.value))
    assert (together[1].low, together[1].high) == pytest.approx((known.low, known.high), abs=0.02)


def exact_mcnemar(b: int, c: int) -> float:
    """Every way the discordant tasks could have fallen, counted: the share that is at most as likely as what was seen."""
    counts = [math.comb(b + c, i) for i in range(b + c + 1)]
    return sum(count for count in counts if count <= counts[b]) / sum(counts)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (1, 0), (5, 0), (3, 9), (12, 12), (30, 11), (11, 30)])
def test_mcnemar_against_enumeration(b, c):
    first = [1] * b + [0] * c + [1] * 4 + [0] * 3 + [NAN, 1]
    second = [0] * b + [1] * c + [1] * 4 + [0] * 3 + [1, NAN]
    found = mcnemar_exact(first, second)
    assert (found.only_first, found.only_second, found.both, found.neither) == (b, c, 4, 3)
    assert found.p_value == pytest.approx(exact_mcnemar(b, c))


def test_holm():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == [] and holm([0.2]) == [0.2]
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_fast_p():
    right, speedups = [1, 1, 1, 0, NAN], [2.5, 1.0, NAN, 9.0, 9.0]
    for p, expected in ((0, [1, 1, 1, 0, NAN]), (1, [1, 0, 0, 0, NAN]), (2, [1, 0, 0, 0, NAN])):
        np.testing.assert_array_equal(fast_p(right, speedups, p), expected)


def test_where_seeds_agree_it_is_the_error_over_tasks():
    tasks = np.random.default_rng(0).random(40)
    found = crossed(np.tile(tasks, (5, 1)))
    assert found.by_seed == pytest.approx([tasks.mean()] * 5) and (found.seeds, found.tasks) == (5, 40)
    assert found.se == pytest.approx(stats.sem(tasks)) and found.value == pytest.approx(tasks.mean())
    alone = crossed(tasks[None])
    test = stats.ttest_1samp(tasks, 0)
    assert alone.p_value == pytest.approx(test.pvalue)
    assert alone.interval() == pytest.approx(tuple(test.confidence_interval()))


def test_the_interval_holds_the_true_difference_where_one_over_tasks_does_not():
    random, held, over_tasks = np.random.default_rng(1), 0, 0
    for _ in range(400):
        scores = random.normal(0, 0.3, (1, 100)) + random.normal(0, 0.1, (6, 1)) + random.normal(0, 0.3, (6, 100))
        low, high = crossed(scores).interval()
        held += low <= 0 <= high
        over_tasks += abs(stats.ttest_1samp(scores.mean(axis=0), 0).statistic) < 1.98
    assert 0.93 <= held / 400 <= 0.99 and over_tasks / 400 < 0.75


def test_equivalence_and_what_could_have_been_seen():
    few, found = (crossed(np.random.default_rng(2).normal(0.01, 0.1, (seeds, 300))) for seeds in (2, 8))
    # Two one-sided tests at 5 % are the 90 % interval.
    low, high = stats.t.interval(0.9, found.df, found.value, found.se)
    for bound in (max(-low, high) * 0.99, max(-low, high) * 1.01):
        assert (found.equivalence_p(bound) < 0.05) == (-bound < low and high < bound)
    for mean in (few, found):
        assert stats.nct.sf(stats.t.ppf(0.975, mean.df), mean.df, mean.detectable() / mean.se) == pytest.approx(0.8)


def test_scores_without_spread_prove_nothing():
    for seeds, tasks, equal in ((2, 4, 2), (1, 4, 4)):
        found = crossed(np.ones((seeds, tasks)))
        assert found.p_value == 1 and found.equivalence_p(0.05) == 1
        exact = stats.binomtest(equal, equal).proportion_ci(0.95, method="exact")
        assert found.rate_interval() == pytest.approx((exact.low, exact.high))
    assert crossed(np.full((3, 4), 0.1)).se == 0  # though their mean is rounded to another number
    assert crossed(np.full((2, 3), np.nan)) is None
