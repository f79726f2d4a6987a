"""The numbers of a report, computed once: rates with intervals, paired comparisons, published scores. No text, no layout."""

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from . import rewards
from .collect import ReportError
from .collection import INFRA_ERROR, Collection, Run
from .statistics import Estimate, McNemar, Rule, estimate_means, fast_p, holm, mcnemar_exact, task_scores


FAST_P = (0.0, 1.0, 2.0)
Key = TypeVar("Key", bound=Hashable)
Rates = dict[tuple[str, Rule, int, str], Estimate | None]
"""(run's label, rule, k, criterion) -> pass@k; None for a run with fewer than k samples a task, or not judged on the criterion."""


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same tasks."""

    first: str
    second: str
    criterion: str
    test: McNemar  # on first samples
    adjusted: float  # the p-value, by Holm's method over the comparisons of this criterion
    differences: Mapping[tuple[Rule, int], Estimate | None]  # pass@k of first minus second, with a paired bootstrap
    only_first: list[int]  # rows of the tasks that `first` alone solves with its first sample
    only_second: list[int]


@dataclass(frozen=True)
class Scores:
    """Published scores of a run: mean rewards a sample, and fast_p over first samples, empty without measured speed-ups."""

    kevin: float | None
    grpo: float | None
    fast: Mapping[float, Estimate | None]


@dataclass(frozen=True)
class Report:
    """The collection and its numbers."""

    title: str
    created: str
    version: str
    collection: Collection
    ks: tuple[int, ...]
    seed: int
    rates: Rates
    unflagged_rates: Rates | None  # None when no task is flagged
    comparisons: list[Comparison]
    scores: dict[str, Scores]  # run's label -> scores


def build_report(
    collection: Collection,
    *,
    ks: Sequence[int] = (1, 3),
    baseline: str | None = None,
    seed: int = 0,
    title: str | None = None,
) -> Report:
    """Compute a report. ReportError for an unknown baseline."""
    labels = [run.label for run in collection.runs]
    if baseline is not None and baseline not in labels:
        raise ReportError(f"baseline={baseline}: no such run; it is one of {', '.join(labels)}.")
    ks = tuple(sorted(set(ks)))
    name = (collection.runs[0].told("tasks", "path") or "").rstrip("/").rsplit("/", 1)[-1]
    every, unflagged = np.ones(len(collection.tasks), dtype=bool), collection.unflagged
    return Report(
        title=title or f"Evaluation on {name or 'a task set'}",
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        collection=collection,
        ks=ks,
        seed=seed,
        rates=pass_rates(collection, ks, every, seed),
        unflagged_rates=None if unflagged.all() else pass_rates(collection, ks, unflagged, seed),
        comparisons=compare(collection, ks, baseline, seed),
        scores=published_scores(collection, seed),
    )


def pass_rates(collection: Collection, ks: Sequence[int], rows: NDArray[np.bool_], seed: int) -> Rates:
    """pass@k of every run under both rules, over the tasks of `rows` [T]."""
    rates: Rates = {}
    columns = {}
    for run, criterion in itertools.product(collection.runs, collection.criteria):
        outcomes = collection.outcomes(run, criterion)[rows]
        for rule, k in itertools.product(Rule, ks):
            rates[run.label, rule, k, criterion] = None
            if run.offers(criterion, k):
                columns[run.label, rule, k, criterion] = task_scores(outcomes, k, rule)
    return rates | _estimates(columns, seed)


def compare(collection: Collection, ks: Sequence[int], baseline: str | None, seed: int) -> list[Comparison]:
    """Every run against the baseline, or without one every pair; for each criterion both were judged on."""
    if baseline is None:
        pairs = [(second, first) for first, second in itertools.combinations(collection.runs, 2)]
    else:
        base = next(run for run in collection.runs if run.label == baseline)
        pairs = [(run, base) for run in collection.runs if run is not base]
    results: list[Comparison] = []
    for criterion in reversed(collection.criteria):
        judged = [pair for pair in pairs if all(run.offers(criterion, 1) for run in pair)]
        outcomes = {run.label: collection.outcomes(run, criterion) for pair in judged for run in pair}
        tests = [mcnemar_exact(outcomes[a.label][:, 0], outcomes[b.label][:, 0]) for a, b in judged]
        columns = {
            (a.label, b.label, rule, k): task_scores(outcomes[a.label], k, rule)
            - task_scores(outcomes[b.label], k, rule)
            for a, b in judged
            for rule, k in itertools.product(Rule, ks)
            if min(a.width, b.width) >= k
        }
        estimates = _estimates(columns, seed, bounds=(-1.0, 1.0))
        for (a, b), test, adjusted in zip(judged, tests, holm([test.p_value for test in tests]), strict=True):
            pair = (a.label, b.label)
            gap = outcomes[a.label][:, 0] - outcomes[b.label][:, 0]
            differences = {key[2:]: estimate for key, estimate in estimates.items() if key[:2] == pair}
            only = (np.flatnonzero(gap > 0).tolist(), np.flatnonzero(gap < 0).tolist())
            results.append(Comparison(*pair, criterion, test, adjusted, differences, *only))
    return results


def published_scores(collection: Collection, seed: int) -> dict[str, Scores]:
    """The scores of every run that was run at all."""
    runs = [run for run in collection.runs if run.offers("passed", 1)]
    columns = {}
    for run in runs:
        speedups = collection.measure(run, lambda sample: sample.get("speedup") or np.nan)
        right = collection.outcomes(run, "passed")
        if ((right > 0) & (speedups > 0)).any():
            columns |= {(run.label, p): fast_p(right[:, 0], speedups[:, 0], p) for p in FAST_P}
    estimates = _estimates(columns, seed)
    return {
        run.label: Scores(
            _mean_reward(collection, run, rewards.kevin),
            _mean_reward(collection, run, rewards.grpo),
            {p: estimates[label, p] for label, p in estimates if label == run.label},
        )
        for run in runs
    }


def _mean_reward(collection: Collection, run: Run, reward: Callable[[Mapping[str, Any]], float]) -> float | None:
    """The mean over tasks of their samples' mean; an infra_error is left out."""
    values = collection.measure(run, lambda one: np.nan if one["verdict"] == INFRA_ERROR else reward(one))
    values = values[~np.isnan(values).all(axis=1)]
    return float(np.nanmean(values, axis=1).mean()) if len(values) else None


def _estimates(
    columns: Mapping[Key, NDArray[np.float64]], seed: int, bounds: tuple[float, float] = (0.0, 1.0)
) -> dict[Key, Estimate | None]:
    """One bootstrap for all columns [T]."""
    if not columns:
        return {}
    estimates = estimate_means(np.stack(list(columns.values()), axis=1), bounds=bounds, seed=seed)
    return dict(zip(columns, estimates, strict=True))
