"""Errors that cross tasks and seeds, held to simulation and to what is known exactly."""

import numpy as np
import pytest
from scipy import stats

from cuset_stage.report.statistics import crossed


def test_where_seeds_agree_it_is_the_error_over_tasks():
    tasks = np.random.default_rng(0).random(40)
    found = crossed(np.tile(tasks, (5, 1)))
    assert found.by_seed == pytest.approx([tasks.mean()] * 5) and found.seeds == 5
    assert found.se == pytest.approx(stats.sem(tasks)) and found.value == pytest.approx(tasks.mean())
    alone = crossed(tasks[None])
    test = stats.ttest_1samp(tasks, 0)
    assert alone.p_value == pytest.approx(test.pvalue) and alone.interval() == pytest.approx(
        tuple(test.confidence_interval())
    )


def test_the_interval_holds_the_true_difference_where_one_over_tasks_does_not():
    random, held, over_tasks = np.random.default_rng(1), 0, 0
    for _ in range(400):
        scores = random.normal(0, 0.3, (1, 100)) + random.normal(0, 0.1, (6, 1)) + random.normal(0, 0.3, (6, 100))
        low, high = crossed(scores).interval()
        held += low <= 0 <= high
        over_tasks += abs(stats.ttest_1samp(scores.mean(axis=0), 0).statistic) < 1.98
    assert 0.93 <= held / 400 <= 0.99 and over_tasks / 400 < 0.75


def test_equivalence_and_what_could_have_been_seen():
    found = crossed(np.random.default_rng(2).normal(0.01, 0.1, (8, 300)))
    low, high = found.interval(0.9)  # two one-sided tests at 5 % are the 90 % interval
    for bound in (max(-low, high) * 0.99, max(-low, high) * 1.01):
        assert (found.equivalence_p(bound) < 0.05) == (-bound < low and high < bound)
    shifted = stats.nct.sf(stats.t.ppf(0.975, found.df), found.df, found.detectable() / found.se)
    assert shifted == pytest.approx(0.8, abs=0.06)


def test_scores_without_spread_prove_nothing():
    for seeds, tasks, equal in ((2, 4, 2), (1, 4, 4)):
        found = crossed(np.ones((seeds, tasks)))
        assert found.p_value == 1 and found.equivalence_p(0.05) == 1
        exact = stats.binomtest(equal, equal).proportion_ci(0.95, method="exact")
        assert found.rate_interval() == pytest.approx((exact.low, exact.high))
    assert crossed(np.full((2, 3), np.nan)) is None
