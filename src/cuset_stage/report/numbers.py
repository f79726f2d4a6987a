"""Compute the numbers of a report once: rates with intervals, paired comparisons, and speed-ups.

Text and layout are the task of other modules.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .collection import Collection, ReportError
from .statistics import Estimate, McNemar, Rule, crossed, estimate_means, fast_p, holm, mcnemar_exact, task_scores


FAST_P = (0.0, 1.0, 2.0)
Rates = dict[tuple[str, Rule, int, str], Estimate | None]
"""pass@k by (run's label, rule, k, criterion). It is None if the run has fewer than k samples a task, or was not judged by the criterion."""


@dataclass(frozen=True)
class Comparison:
    """The comparison of two runs on the same tasks.

    Attributes:
        first: label of the first run.
        second: label of the second run.
        criterion: "compiled" or "passed".
        counts: counts of tasks, on first samples.
        p_value: p-value of McNemar's test, or for CUDABench of the t test over its operations.
        adjusted: p-value adjusted by Holm's method over the comparisons of this criterion.
        gap: mean difference, first minus second, that the t test is on. None under McNemar's test.
        differences: pass@k of the first run minus that of the second by (rule, k), with a paired bootstrap interval.
    """

    first: str
    second: str
    criterion: str
    counts: McNemar
    p_value: float
    adjusted: float
    gap: float | None
    differences: Mapping[tuple[Rule, int], Estimate | None]


@dataclass(frozen=True)
class Report:
    """A collection with its numbers.

    Attributes:
        title: title of the report.
        collection: the runs and tasks.
        ks: the k of pass@k, sorted.
        rates: pass@k of every run.
        comparisons: paired comparisons of the runs.
        fast: fast_p of first samples by (run's label, p), for the runs in which speed-ups were measured.
    """

    title: str
    collection: Collection
    ks: tuple[int, ...]
    rates: Rates
    comparisons: list[Comparison]
    fast: dict[tuple[str, float], Estimate | None]


def build_report(
    collection: Collection, *, ks: Sequence[int] = (1, 3), baseline: str | None = None, title: str | None = None
) -> Report:
    """Compute the numbers of a report.

    Args:
        collection: the runs and tasks.
        ks: the k of pass@k.
        baseline: label of the run with which all others are compared. None compares every pair of runs.
        title: title of the report. None takes the name of the task set.

    Raises:
        ReportError: no run has the label `baseline`.
    """
    labels = [run.label for run in collection.runs]
    if baseline is not None and baseline not in labels:
        raise ReportError(f"baseline={baseline}: no such run; it is one of {', '.join(labels)}.")
    ks = tuple(sorted(set(ks)))
    name = (collection.runs[0].told("tasks", "path") or "").rstrip("/").rsplit("/", 1)[-1]
    return Report(
        title=title or f"Evaluation on {name or 'a task set'}",
        collection=collection,
        ks=ks,
        rates=pass_rates(collection, ks),
        comparisons=compare(collection, ks, baseline),
        fast=fast_rates(collection),
    )


def pass_rates(collection: Collection, ks: Sequence[int]) -> Rates:
    """Return pass@k of every run by every criterion, under both rules."""
    rates: Rates = {}
    columns = {}
    for run, criterion, rule, k in itertools.product(collection.runs, collection.criteria, Rule, ks):
        key = run.label, rule, k, criterion
        rates[key] = None
        if run.offers(criterion, k):
            columns[key] = task_scores(run.outcomes(criterion), k, rule)
    return rates | _estimates(columns, collection)


def compare(collection: Collection, ks: Sequence[int], baseline: str | None) -> list[Comparison]:
    """Compare every run with the baseline, or every pair of runs if there is no baseline.

    A pair is compared by each criterion on which both runs were judged. In a pair without a baseline, the run that
    comes later in the collection is the first of the comparison.
    """
    pairs = [(second, first) for first, second in itertools.combinations(collection.runs, 2)]
    if baseline is not None:
        base = next(run for run in collection.runs if run.label == baseline)
        pairs = [(run, base) for run in collection.runs if run is not base]
    comparisons: list[Comparison] = []
    for criterion in reversed(collection.criteria):
        tested, columns = [], {}
        for a, b in ((a, b) for a, b in pairs if a.offers(criterion, 1) and b.offers(criterion, 1)):
            first, second = a.outcomes(criterion), b.outcomes(criterion)
            counts = mcnemar_exact(first[:, 0], second[:, 0])
            p_value, gap = counts.p_value, None
            if collection.clusters is not None:
                gaps = pd.Series(first[:, 0] - second[:, 0]).groupby(collection.clusters).mean()
                mean = crossed(gaps.to_numpy()[None])
                p_value, gap = (1.0, 0.0) if mean is None else (mean.p_value, mean.value)
            tested.append((a.label, b.label, counts, p_value, gap))
            for rule, k in itertools.product(Rule, ks):
                if min(a.width, b.width) >= k:
                    columns[a.label, b.label, rule, k] = task_scores(first, k, rule) - task_scores(second, k, rule)
        estimates = _estimates(columns, collection, bounds=(-1.0, 1.0))
        adjusted_p = holm([p_value for _, _, _, p_value, _ in tested])
        for (a, b, counts, p_value, gap), adjusted in zip(tested, adjusted_p, strict=True):
            differences = {key[2:]: mean for key, mean in estimates.items() if key[:2] == (a, b)}
            comparisons.append(Comparison(a, b, criterion, counts, p_value, adjusted, gap, differences))
    return comparisons


def fast_rates(collection: Collection) -> dict[tuple[str, float], Estimate | None]:
    """Return fast_p by (run's label, p).

    Only runs with a measured speed-up of at least one right sample are included.
    """
    columns = {}
    for run in collection.runs:
        speedups = run.table["speedup"].astype(float)
        if run.offers("passed", 1) and (run.table["passed"].astype(float).gt(0) & speedups.gt(0)).any():
            right = run.outcomes("passed")[:, 0]
            columns |= {(run.label, p): fast_p(right, speedups[run.table["sample"] == 0], p) for p in FAST_P}
    return _estimates(columns, collection)


def _estimates(
    columns: Mapping[Any, NDArray[np.float64]], collection: Collection, **options: Any
) -> dict[Any, Estimate | None]:
    """Return the estimate of each column [T] of scores, from one common bootstrap."""
    if not columns:
        return {}
    scores = np.stack(list(columns.values()), axis=1)
    return dict(zip(columns, estimate_means(scores, clusters=collection.clusters, **options), strict=True))
