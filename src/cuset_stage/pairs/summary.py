"""The numbers of a pairs run: accuracy with an interval over tasks, by kind of error, by length, and two models compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import permutation_test, spearmanr

from ..report.statistics import estimate_means, holm, mcnemar_exact
from .likelihood import Difference
from .rows import Pair


MEASURES = ("whole", "from_change", "changed", "following", "per_token")
LENGTHS = {"wrong_longer": 1, "same_length": 0, "wrong_shorter": -1}
RESAMPLES = 10_000


def preferences(found: Sequence[Difference], measure: str = "whole") -> NDArray[np.float64]:
    """Of each pair 1 where the model prefers the right response, 0 where the wrong one, a half where neither: [pairs].

    measure: a field of `Difference`, or `from_change`: changed and following together. That is `whole` but for what the common beginning
    differs by in arithmetic of few bits, which depends on what stands beside it in the batch.
    """
    values = [one.changed + one.following if measure == "from_change" else getattr(one, measure) for one in found]
    return (np.sign(values) + 1) / 2


def summarise(pairs: Sequence[Pair], found: Sequence[Difference], seed: int = 0) -> dict[str, Any]:
    """What one model made of the pairs.

    An accuracy is the mean over tasks of each task's share of pairs whose right response is preferred, with the percentile bootstrap
    interval over tasks (95 %); `floor` is the same share over pairs of two right programs, in which the one called right counts as right:
    the task's own one, of kind `alternative` either. `floor_kinds` has the two kinds apart.
    """
    wrong = np.array([not pair.is_floor for pair in pairs])
    tasks = [pair.task for pair in pairs]
    columns = {}
    for measure in MEASURES:
        preferred = preferences(found, measure)
        columns["accuracy", measure] = np.where(wrong, preferred, np.nan)
        columns["floor", measure] = np.where(wrong, np.nan, preferred)
    main = columns["accuracy", "from_change"]
    kinds = np.array([pair.kind for pair in pairs])
    for kind in dict.fromkeys(kinds[wrong]):
        columns["kind", kind] = np.where(kinds == kind, main, np.nan)
    longer = np.array([np.sign(one.longer) for one in found])
    for name, sign in LENGTHS.items():
        columns["length", name] = np.where(longer == sign, main, np.nan)
    columns["length", "prefer_shorter"] = np.where(wrong, (longer + 1) / 2, np.nan)
    for kind in dict.fromkeys(kinds[~wrong]):
        columns["floor_kind", kind] = np.where(kinds == kind, columns["floor", "from_change"], np.nan)
    estimates = dict(zip(columns, estimate_means(_by_task(tasks, list(columns.values())), seed=seed), strict=True))

    def group(name: str, keys: Sequence[str]) -> dict[str, Any]:
        return {key: estimates[name, key] and asdict(estimates[name, key]) for key in keys}

    def by_kind(name: str) -> dict[str, Any]:
        found = group(name, [key for group_name, key in columns if group_name == name])
        return {str(kind): {"pairs": int((kinds == kind).sum()), **(value or {})} for kind, value in found.items()}

    gaps, extra = ([value for value, is_wrong in zip(values, wrong, strict=True) if is_wrong] for values in (
        [one.changed + one.following for one in found], [one.longer for one in found]
    ))  # fmt: skip
    return {
        "accuracy": group("accuracy", MEASURES),
        "floor": group("floor", MEASURES),
        "kinds": by_kind("kind"),
        "floor_kinds": by_kind("floor_kind"),
        "lengths": {
            **group("length", [*LENGTHS, "prefer_shorter"]),
            "pairs": {name: int(((longer == sign) & wrong).sum()) for name, sign in LENGTHS.items()},
            "mean_tokens_longer": float(np.mean(extra)) if extra else None,
            "rank_correlation": _correlation(extra, gaps),
        },
        "tasks": _task_means(tasks, main),
    }


def _correlation(extra: Sequence[int], gaps: Sequence[float]) -> float | None:
    """Spearman's, of the tokens that the wrong response has more and how much the right one is preferred; None where one does not vary."""
    if len(set(extra)) < 2 or len(set(gaps)) < 2:
        return None
    return float(spearmanr(extra, gaps).statistic)


def _by_task(tasks: Sequence[str], columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean of each column's known values in each task, NaN where there are none: [tasks, columns]."""
    means = [_task_means(tasks, column) for column in columns]
    return np.array([[mean.get(task, np.nan) for mean in means] for task in dict.fromkeys(tasks)])


def _task_means(tasks: Sequence[str], column: NDArray[np.float64]) -> dict[str, float]:
    known: dict[str, list[float]] = {}
    for task, value in zip(tasks, column, strict=True):
        if not np.isnan(value):
            known.setdefault(task, []).append(float(value))
    return {task: float(np.mean(values)) for task, values in known.items()}


def mean_over_tasks(tasks: Sequence[str], values: Sequence[float]) -> float:
    """The mean of the tasks' means; NaN without a pair."""
    means = _task_means(tasks, np.asarray(values, dtype=np.float64))
    return float(np.mean(list(means.values()))) if means else float("nan")


def compare_models(
    pairs: Sequence[Pair], models: Mapping[str, Sequence[Difference]], seed: int = 0
) -> list[dict[str, Any]]:
    """Every later model against every earlier one, on the pairs with a wrong program.

    difference: of the accuracies, with a paired bootstrap over tasks. p_value: two-sided, of the tasks' differences with their signs
    exchanged at random, as they may be if neither model is better (Fisher's test; all 2^tasks signs where these are few). p_holm: by
    Holm's method over the comparisons. p_pairs: McNemar's exact test, which takes pairs of one task for independent and is too sure.
    """
    at = [index for index, pair in enumerate(pairs) if not pair.is_floor]
    tasks = [pairs[index].task for index in at]
    preferred = {name: preferences([found[index] for index in at], "from_change") for name, found in models.items()}
    names = list(models)
    results = []
    for later, second in enumerate(names):
        for first in names[:later]:
            gaps = _by_task(tasks, [preferred[second] - preferred[first]])
            (estimate,) = estimate_means(gaps, bounds=(-1.0, 1.0), seed=seed)
            decided = [np.where(preferred[name] == 0.5, np.nan, preferred[name]) for name in (second, first)]
            results.append(
                {
                    "first": second,
                    "second": first,
                    "difference": asdict(estimate),
                    "p_value": sign_flip_test(gaps[:, 0], seed),
                    "p_pairs": mcnemar_exact(*decided).p_value,
                }
            )
    for result, adjusted in zip(results, holm([one["p_value"] for one in results]), strict=True):
        result["p_holm"] = adjusted
    return results


def sign_flip_test(gaps: NDArray[np.float64], seed: int = 0) -> float:
    """The two-sided p-value of paired differences [tasks] with exchangeable signs; 1 where all are 0."""
    if not np.any(gaps) or len(gaps) < 2:
        return 1.0
    test = permutation_test(
        (gaps,),
        lambda values, axis: np.mean(values, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        random_state=seed,
    )
    return float(test.pvalue)
