"""The numbers of a report, computed once: rates with intervals, paired comparisons, published scores. No text, no layout."""

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
"""(run's label, rule, k, criterion) -> pass@k; None for a run with fewer than k samples a task, or not judged on the criterion."""


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same tasks."""

    first: str
    second: str
    criterion: str
    counts: McNemar  # of tasks, on first samples
    p_value: float  # of McNemar's test, or for CUDABench of the t test over its operations
    adjusted: float  # by Holm's method over the comparisons of this criterion
    differences: Mapping[tuple[Rule, int], Estimate | None]  # pass@k of first minus second, with a paired bootstrap


@dataclass(frozen=True)
class Report:
    """The collection and its numbers."""

    title: str
    collection: Collection
    ks: tuple[int, ...]
    rates: Rates
    comparisons: list[Comparison]
    # (run's label, p) -> fast_p of first samples, where there are speed-ups
    fast: dict[tuple[str, float], Estimate | None]


def build_report(
    collection: Collection, *, ks: Sequence[int] = (1, 3), baseline: str | None = None, title: str | None = None
) -> Report:
    """Compute a report. ReportError for an unknown baseline."""
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
    """pass@k of every run under both rules."""
    rates: Rates = {}
    columns = {}
    for run, criterion in itertools.product(collection.runs, collection.criteria):
        outcomes = run.outcomes(criterion)
        for rule, k in itertools.product(Rule, ks):
            rates[run.label, rule, k, criterion] = None
            if run.offers(criterion, k):
                columns[run.label, rule, k, criterion] = task_scores(outcomes, k, rule)
    return rates | _estimates(columns, collection)


def compare(collection: Collection, ks: Sequence[int], baseline: str | None) -> list[Comparison]:
    """Every run against the baseline, or without one every pair; for each criterion both were judged on."""
    pairs = [(second, first) for first, second in itertools.combinations(collection.runs, 2)]
    if baseline is not None:
        base = next(run for run in collection.runs if run.label == baseline)
        pairs = [(run, base) for run in collection.runs if run is not base]
    results: list[Comparison] = []
    for criterion in reversed(collection.criteria):
        judged = [(a, b) for a, b in pairs if a.offers(criterion, 1) and b.offers(criterion, 1)]
        counts, p_values, columns = [], [], {}
        for a, b in judged:
            first, second = a.outcomes(criterion), b.outcomes(criterion)
            counts.append(mcnemar_exact(first[:, 0], second[:, 0]))
            if collection.clusters is None:
                p_values.append(counts[-1].p_value)
            else:
                gaps = pd.Series(first[:, 0] - second[:, 0]).groupby(collection.clusters).mean()
                mean = crossed(gaps.to_numpy()[None])
                p_values.append(1.0 if mean is None else mean.p_value)
            for rule, k in itertools.product(Rule, ks):
                if min(a.width, b.width) >= k:
                    columns[a.label, b.label, rule, k] = task_scores(first, k, rule) - task_scores(second, k, rule)
        estimates = _estimates(columns, collection, bounds=(-1.0, 1.0))
        for (a, b), *tested in zip(judged, counts, p_values, holm(p_values), strict=True):
            differences = {key[2:]: mean for key, mean in estimates.items() if key[:2] == (a.label, b.label)}
            results.append(Comparison(a.label, b.label, criterion, *tested, differences))
    return results


def fast_rates(collection: Collection) -> dict[tuple[str, float], Estimate | None]:
    """fast_p by run's label and p, of the runs in which a speed-up was measured of a right sample."""
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
    """One bootstrap for all columns [T]. options: as `estimate_means` takes them."""
    if not columns:
        return {}
    scores = np.stack(list(columns.values()), axis=1)
    return dict(zip(columns, estimate_means(scores, clusters=collection.clusters, **options), strict=True))
