"""The numbers of a pairs run, and these on the terminal: accuracy with an interval over tasks, by kind of error, by length, and two models compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import permutation_test

from ..report.cells import Column, Table, interval_cell, p_cell, percent, points, print_table, text_column
from ..report.statistics import RESAMPLES, estimate_means, holm, mcnemar_exact
from .likelihood import Difference
from .rows import FLOOR, Pair


MEASURES = ("whole", "from_change", "changed", "following", "per_token")  # of `Difference`
LENGTHS = {"wrong_longer": 1, "same_length": 0, "wrong_shorter": -1}
LENGTH_NAMES = {
    "wrong_longer": "wrong is longer",
    "same_length": "same length",
    "wrong_shorter": "wrong is shorter",
    "prefer_shorter": "always the shorter",
}
MEASURE_NAMES = {
    "from_change": "right preferred",
    "whole": "  over the whole response",
    "changed": "  over the changed tokens",
    "following": "  over what follows them",
    "per_token": "  by the mean over tokens",
}


def preferences(differences: Sequence[Difference], measure: str = "whole") -> NDArray[np.float64]:
    """Of each pair 1 where the model prefers the right response, 0 where the wrong one, a half where neither: [pairs].

    measure: one of `MEASURES`.
    """
    values = [getattr(difference, measure) for difference in differences]
    return (np.sign(values) + 1) / 2


def summarise(pairs: Sequence[Pair], differences: Sequence[Difference], seed: int = 0) -> dict[str, Any]:
    """What one model made of the pairs.

    An accuracy is the mean over tasks of each task's share of pairs whose right response is preferred, with the percentile bootstrap
    interval over tasks (95 %); `floor` is the same share over pairs of two right programs, in which the one called right counts as right:
    the task's own one, of kind `alternative` either. `floor_kinds` has the two kinds apart.
    """
    kinds = np.array([pair.kind for pair in pairs])
    tasks = [pair.task for pair in pairs]
    is_wrong = np.array([not pair.is_floor for pair in pairs])
    longer = np.array([difference.longer for difference in differences])
    preferred = {measure: preferences(differences, measure) for measure in MEASURES}
    main = preferred["from_change"]
    counted = {("lengths", name): (main, is_wrong & (np.sign(longer) == sign)) for name, sign in LENGTHS.items()}
    counted["lengths", "prefer_shorter"] = (np.sign(longer) + 1) / 2, is_wrong
    for measure, values in preferred.items():
        counted["accuracy", measure], counted["floor", measure] = (values, is_wrong), (values, ~is_wrong)
    for kind in dict.fromkeys(pair.kind for pair in pairs):
        counted["floor_kinds" if kind in FLOOR else "kinds", kind] = main, kinds == kind

    columns = _task_means(tasks, [np.where(which, values, np.nan) for values, which in counted.values()])
    record: dict[str, Any] = {group: {} for group in ("accuracy", "floor", "kinds", "floor_kinds", "lengths")}
    for (group, name), estimate in zip(counted, estimate_means(columns, seed=seed), strict=True):
        value = estimate and asdict(estimate)
        is_kind = group in ("kinds", "floor_kinds")
        record[group][name] = {"pairs": int((kinds == name).sum()), **(value or {})} if is_kind else value
    record["lengths"]["pairs"] = {name: int(counted["lengths", name][1].sum()) for name in LENGTHS}
    shares = columns.iloc[:, list(counted).index(("accuracy", "from_change"))].dropna()
    return record | {"tasks": shares.to_dict()}


def _task_means(tasks: Sequence[str], columns: Sequence[NDArray[np.float64]]) -> pd.DataFrame:
    """The mean of each column's known values in each task, NaN where there are none; tasks as they first occur."""
    return pd.DataFrame(dict(enumerate(columns))).groupby(np.array(tasks, dtype=object), sort=False).mean()


def mean_over_tasks(tasks: Sequence[str], values: Sequence[float]) -> float:
    """The mean of the tasks' means; NaN without a pair."""
    return float(_task_means(tasks, [np.array(values, dtype=np.float64)])[0].mean())


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
    preferred = {name: preferences(differences, "from_change")[at] for name, differences in models.items()}
    names = list(models)
    results = []
    for later, second in enumerate(names):
        for first in names[:later]:
            gaps = _task_means(tasks, [preferred[second] - preferred[first]]).to_numpy()
            (estimate,) = estimate_means(gaps, bounds=(-1.0, 1.0), seed=seed)
            decided = [np.where(preferred[name] == 0.5, np.nan, preferred[name]) for name in (second, first)]
            results.append(
                {
                    "first": second,
                    "second": first,
                    "difference": estimate and asdict(estimate),
                    "p_value": sign_flip_test(gaps[:, 0], seed),
                    "p_pairs": mcnemar_exact(*decided).p_value,
                }
            )
    for result, adjusted in zip(results, holm([result["p_value"] for result in results]), strict=True):
        result["p_holm"] = adjusted
    return results


def sign_flip_test(gaps: NDArray[np.float64], seed: int = 0) -> float:
    """The two-sided p-value of paired differences [tasks] with exchangeable signs; 1 where all are 0."""
    if not np.any(gaps) or len(gaps) < 2:
        return 1.0
    test = permutation_test((gaps,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, random_state=seed)
    return float(test.pvalue)


def print_tables(record: Mapping[str, Any]) -> None:
    """Accuracies in percent with their intervals, a column a model, and the comparisons."""
    models, comparisons = record["models"], record["comparisons"]
    first = next(iter(models.values()))
    places = {label: ("accuracy", key) for key, label in MEASURE_NAMES.items()}
    places["two right programs: the one called right"] = ("floor", "from_change")
    for group, indent in (("floor_kinds", "  "), ("kinds", "")):
        places |= {f"{indent}{kind} ({of['pairs']})": (group, kind) for kind, of in first[group].items()}
    places |= {label: ("lengths", key) for key, label in LENGTH_NAMES.items()}
    columns = [text_column("percent", places)]
    for name, model in models.items():
        columns.append(Column(name, [interval_cell(model[group][key], percent) for group, key in places.values()]))
    print_table(Table("pairs", "", columns))
    if comparisons:
        names = [f"{comparison['first']} - {comparison['second']}" for comparison in comparisons]
        gaps = [interval_cell(comparison["difference"], points, 100) for comparison in comparisons]
        columns = [text_column("compared", names), Column("points", gaps)]
        for key, heading in (("p_value", "p"), ("p_holm", "p, Holm")):
            columns.append(Column(heading, [p_cell(comparison[key]) for comparison in comparisons]))
        print_table(Table("comparisons", "", columns))
