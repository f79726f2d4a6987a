"""Accuracies, lengths and comparisons on differences that are written down."""

import itertools

import numpy as np
import pytest

from cuset_stage.pairs.likelihood import Difference
from cuset_stage.pairs.rows import Pair
from cuset_stage.pairs.summary import compare_models, mean_over_tasks, preferences, sign_flip_test, summarise


def pair(task, kind="x"):
    return Pair(task=task, right="r", wrong="w", kind=kind)


def gap(nats, longer=0):
    """A difference of which half is in the changed tokens."""
    return Difference(nats, nats / 2, nats / 2, nats / 100, longer)


PAIRS = [pair("a"), pair("a", "y"), pair("a"), pair("b"), pair("b", "equivalent")]
FOUND = [gap(3, 1), gap(-1, -1), gap(0), gap(2), gap(-5)]


def test_an_accuracy_is_the_mean_of_the_tasks_shares():
    summary = summarise(PAIRS, FOUND)
    assert summary["accuracy"]["whole"]["value"] == pytest.approx(((1 + 0 + 0.5) / 3 + 1) / 2)
    assert summary["tasks"] == {"a": pytest.approx(0.5), "b": 1.0}
    assert summary["floor"]["whole"]["value"] == 0.0 and summary["floor"]["whole"]["tasks"] == 1
    assert summary["kinds"]["x"]["value"] == pytest.approx((0.75 + 1) / 2) and summary["kinds"]["x"]["pairs"] == 3
    assert set(summary["kinds"]) == {"x", "y"}
    assert mean_over_tasks(["a", "a", "b"], [1, 0, 1]) == 0.75


def test_the_two_kinds_of_floor_are_told_apart():
    pairs = [pair("a"), *(pair(task, "alternative") for task in "abc"), pair("a", "equivalent")]
    summary = summarise(pairs, [gap(1), gap(1), gap(-1), gap(-1), gap(1)])
    found = {kind: (one["pairs"], one["value"]) for kind, one in summary["floor_kinds"].items()}
    assert found == {"alternative": (3, pytest.approx(1 / 3)), "equivalent": (1, 1.0)}
    without = summarise(PAIRS[:1], FOUND[:1])
    assert without["floor_kinds"] == {} and without["floor"]["whole"] is without["lengths"]["wrong_shorter"] is None


def test_lengths():
    lengths = summarise(PAIRS, FOUND)["lengths"]
    assert (lengths["wrong_longer"]["value"], lengths["wrong_shorter"]["value"]) == (1.0, 0.0)
    assert lengths["pairs"] == {"wrong_longer": 1, "same_length": 2, "wrong_shorter": 1}
    assert lengths["prefer_shorter"]["value"] == pytest.approx((0.5 + 0.5) / 2)


def test_measures_prefer_each_for_itself():
    one = Difference(whole=1.0, changed=-1.0, following=0.5, per_token=0.0, longer=0)
    expected = {"whole": 1, "changed": 0, "following": 1, "per_token": 0.5, "from_change": 0}
    assert {name: preferences([one], name)[0] for name in expected} == expected


def test_the_sign_flip_test_counts_all_signs():
    gaps = np.array([0.3, 0.1, -0.1, 0.4, 0.2, 0.25])
    sums = [abs(np.dot(signs, gaps)) for signs in itertools.product((-1, 1), repeat=len(gaps))]
    exact = np.mean(np.array(sums) >= abs(gaps.sum()) - 1e-12)
    assert sign_flip_test(gaps) == pytest.approx(exact)
    assert sign_flip_test(np.zeros(6)) == 1.0


def test_two_models_are_compared_on_tasks():
    tasks = [f"t{n}" for n in range(12)]
    pairs = [pair(task) for task in tasks for _ in range(4)] + [pair("t0", "equivalent")]
    worse = [gap(1 if n % 2 else -1) for n in range(48)] + [gap(1)]
    better = [gap(1 if n % 4 else -1) for n in range(48)] + [gap(-1)]
    (same,) = compare_models(pairs, {"a": worse, "b": worse})
    assert same["difference"]["value"] == 0 and same["p_value"] == same["p_pairs"] == same["p_holm"] == 1
    (found,) = compare_models(pairs, {"a": worse, "b": better})
    assert (found["first"], found["second"]) == ("b", "a")
    assert found["difference"]["value"] == pytest.approx(0.25)  # the pair of two right programs does not count
    assert found["p_value"] == pytest.approx(2 / 2**12, abs=1e-3)
    assert len(compare_models(pairs, {"a": worse, "b": better, "c": worse})) == 3
