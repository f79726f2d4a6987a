"""Compute the results of a pairs run and print them on the terminal.

The results are accuracies with an interval over tasks, also by kind of error and by length, and comparisons of two
models.
"""

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


MEASURES = ("whole", "from_change", "changed", "following", "per_token")  # attributes of `Difference`
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
    """Return which response of each pair the model prefers by one of `MEASURES`.

    Returns:
        [pairs], with 1 for the right response, 0 for the wrong one, and a half where the model prefers neither.
    """
    return (np.sign([getattr(difference, measure) for difference in differences]) + 1) / 2


def summarise(pairs: Sequence[Pair], differences: Sequence[Difference], seed: int = 0) -> dict[str, Any]:
    """Return one model's results on the pairs.

    An accuracy is the mean over tasks of each task's share of pairs whose right response is preferred. It comes with a
    95 % percentile bootstrap interval over tasks.

    Returns:
        A dictionary with the groups `accuracy` (by measure), `kinds` (by kind of error) and `lengths` (by which
        response is longer), and each task's share under `tasks`. `floor` is the same share over the pairs of two right
        programs. There the response called `right` counts as the right one, which is the task's own program, also for
        the kind `alternative`. `floor_kinds` has the two kinds of such pairs separately.
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
    """Return the mean of each column in each task, without its NaNs: [tasks, columns], with tasks as they first occur.

    It is NaN where a task has no other values.
    """
    return pd.DataFrame(dict(enumerate(columns))).groupby(np.array(tasks, dtype=object), sort=False).mean()


def mean_over_tasks(tasks: Sequence[str], values: Sequence[float]) -> float:
    """Return the mean of the tasks' means, or NaN if there is no pair."""
    return float(_task_means(tasks, [np.array(values, dtype=np.float64)])[0].mean())


def compare_models(
    pairs: Sequence[Pair], models: Mapping[str, Sequence[Difference]], seed: int = 0
) -> list[dict[str, Any]]:
    """Compare every later model with every earlier one, on the pairs with a wrong program.

    Args:
        pairs: the pairs.
        models: name -> the model's difference for each pair.
        seed: seed of the bootstrap and of the permutation test.

    Returns:
        A dictionary for each comparison, with these keys:

        - first, second: the names of the later and of the earlier model.
        - difference: first minus second in accuracy, with a paired bootstrap over tasks.
        - p_value: two-sided p-value of the tasks' differences with their signs exchanged at random, as they may be if
          neither model is better (Fisher's test, with all 2^tasks signs where these are few).
        - p_holm: p_value adjusted by Holm's method over the comparisons.
        - p_pairs: p-value of McNemar's exact test. It treats pairs of one task as independent, so it is too small.
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
    """Return the two-sided p-value of paired differences [tasks] whose signs are exchanged at random.

    It is 1 if all differences are 0, or if there are fewer than two.
    """
    if not np.any(gaps) or len(gaps) < 2:
        return 1.0
    test = permutation_test((gaps,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, random_state=seed)
    return float(test.pvalue)


def print_tables(record: Mapping[str, Any]) -> None:
    """Print the accuracies in percent with their intervals, one column per model, and the comparisons."""
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
