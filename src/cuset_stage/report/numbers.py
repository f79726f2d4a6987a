"""The numbers of a report: rates with intervals, paired comparisons, rewards, tokens, times. No text, no layout."""

import itertools
import statistics as stdlib_statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import rewards
from .collection import INFRA_ERROR, NO_ANSWER, Collection, Run
from .statistics import Estimate, McNemar, Rule, estimate_means, fast_p, holm, mcnemar_exact, task_scores


RESAMPLES = 10_000
FAST_P = (0.0, 1.0, 2.0)


@dataclass(frozen=True)
class Rate:
    """One number of the main table. `estimate` is None when the run has fewer than k samples a task, or was not judged on it."""

    run: str
    rule: Rule
    k: int
    criterion: str
    estimate: Estimate | None


@dataclass(frozen=True)
class Difference:
    """pass@k of `first` minus `second` over the tasks where both are known, with a paired bootstrap interval."""

    rule: Rule
    k: int
    estimate: Estimate


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same tasks."""

    first: str
    second: str
    criterion: str
    test: McNemar  # on first samples
    adjusted: float  # Holm, over the comparisons of this criterion
    differences: tuple[Difference, ...]
    only_first: tuple[int, ...]  # rows of the tasks that `first` alone solves with its first sample
    only_second: tuple[int, ...]


def rates(
    collection: Collection, ks: Sequence[int], *, seed: int = 0, rows: NDArray[np.bool_] | None = None
) -> dict[tuple[str, Rule, int, str], Rate]:
    """pass@k of every run under both rules, with one bootstrap for all. `rows` [T] restricts the tasks."""
    chosen = np.ones(len(collection.tasks), dtype=bool) if rows is None else rows
    keys, columns = [], []
    results: dict[tuple[str, Rule, int, str], Rate] = {}
    for run in collection.runs:
        for criterion in collection.criteria:
            outcomes = collection.outcomes(run, criterion)[chosen]
            for rule, k in itertools.product(Rule, ks):
                key = (run.label, rule, k, criterion)
                results[key] = Rate(*key, None)
                if run.width >= k and not (criterion == "passed" and run.compile_only):
                    keys.append(key)
                    columns.append(task_scores(outcomes, k, rule))
    if columns:
        for key, estimate in zip(
            keys, estimate_means(np.stack(columns, axis=1), resamples=RESAMPLES, seed=seed), strict=True
        ):
            results[key] = Rate(*key, estimate)
    return results


def comparisons(
    collection: Collection, ks: Sequence[int], *, baseline: str | None = None, seed: int = 0
) -> list[Comparison]:
    """Every run against the baseline, or without one every pair; for each criterion both were judged on."""
    by_label = {run.label: run for run in collection.runs}
    if baseline is None:
        pairs = [(second, first) for first, second in itertools.combinations(by_label, 2)]
    else:
        pairs = [(label, baseline) for label in by_label if label != baseline]
    results: list[Comparison] = []
    for criterion in reversed(collection.criteria):
        judged = [
            pair
            for pair in pairs
            if criterion == "compiled" or not any(by_label[label].compile_only for label in pair)
        ]
        judged = [pair for pair in judged if all(by_label[label].width for label in pair)]
        outcomes = {label: collection.outcomes(by_label[label], criterion) for pair in judged for label in pair}
        tests = [mcnemar_exact(*(outcomes[label][:, 0] for label in pair)) for pair in judged]
        keys, columns = [], []
        for pair in judged:
            for rule, k in itertools.product(Rule, ks):
                if min(by_label[label].width for label in pair) >= k:
                    first, second = (task_scores(outcomes[label], k, rule) for label in pair)
                    keys.append((pair, rule, k))
                    columns.append(first - second)
        estimates = (
            estimate_means(np.stack(columns, axis=1), bounds=(-1.0, 1.0), resamples=RESAMPLES, seed=seed)
            if columns
            else []
        )
        for pair, test, adjusted in zip(judged, tests, holm([test.p_value for test in tests]), strict=True):
            gap = outcomes[pair[0]][:, 0] - outcomes[pair[1]][:, 0]
            results.append(
                Comparison(
                    *pair,
                    criterion,
                    test,
                    adjusted,
                    tuple(
                        Difference(rule, k, estimate)
                        for (of, rule, k), estimate in zip(keys, estimates, strict=True)
                        if of == pair
                    ),
                    tuple(np.flatnonzero(gap > 0).tolist()),
                    tuple(np.flatnonzero(gap < 0).tolist()),
                )
            )
    return results


@dataclass(frozen=True)
class Spread:
    """Quantiles of what was measured; None without a measurement."""

    count: int
    mean: float
    p5: float
    p25: float
    median: float
    p75: float
    p95: float
    largest: float
    total: float


def spread(values: Iterable[float | None]) -> Spread | None:
    """The spread of the values that are there."""
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if not len(known):
        return None
    quantiles = np.quantile(known, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
    return Spread(len(known), float(known.mean()), *quantiles, float(known.max()), float(known.sum()))


@dataclass(frozen=True)
class Tokens:
    """Tokens of the answers of a run, prompt not counted."""

    spread: Spread | None
    unknown: int  # answers without a count
    cut: int  # answers that ended at the token limit
    answers: int


def tokens(collection: Collection, run: Run) -> Tokens:
    """Over every answer of the run, whatever its verdict: they were all generated."""
    samples = list(collection.judged(run))
    counts = [sample.get("tokens") for sample in samples]
    return Tokens(
        spread(counts),
        counts.count(None),
        sum(sample.get("finish_reason") == "length" for sample in samples),
        len(samples),
    )


@dataclass(frozen=True)
class Scores:
    """Published scores of a run over the judged samples; fast_p over first samples, None without measured speed-ups."""

    kevin: float | None
    grpo: float | None
    fast: Mapping[float, Estimate] | None
    speedup: Spread | None  # of right samples


def scores(collection: Collection, run: Run, *, seed: int = 0) -> Scores:
    """A task's reward is the mean of its samples; an answer that was never given is worth 0, an infra_error is left out."""

    def mean(reward: Callable[[Mapping[str, Any]], float]) -> float | None:
        means = []
        for task in collection.tasks:
            values = []
            for number in range(run.width):
                sample = run.samples.get((task.id, number))
                if sample is None and run.absence(task.id) == NO_ANSWER:
                    values.append(0.0)
                elif sample is not None and sample["verdict"] != INFRA_ERROR:
                    values.append(reward(sample))
            if values:
                means.append(stdlib_statistics.fmean(values))
        return stdlib_statistics.fmean(means) if means else None

    if run.compile_only or not run.width:
        return Scores(None, None, None, None)
    measured = spread(sample.get("speedup") for sample in collection.judged(run) if sample["passed"])
    fast = None
    if measured:
        right = collection.outcomes(run, "passed")[:, 0]
        first = [run.samples.get((task.id, 0)) or {} for task in collection.tasks]
        gains = np.array(
            [np.nan if sample.get("speedup") is None else sample["speedup"] for sample in first], dtype=float
        )
        columns = np.stack([fast_p(right, gains, p) for p in FAST_P], axis=1)
        fast = dict(zip(FAST_P, estimate_means(columns, resamples=RESAMPLES, seed=seed), strict=True))
    return Scores(mean(rewards.kevin), mean(rewards.grpo), fast, measured)


def verdict_counts(collection: Collection, run: Run) -> Counter[str]:
    """How many samples ended how, those without a line included."""
    return Counter(run.verdict(task.id, number) for task in collection.tasks for number in range(run.width))


def families(collection: Collection) -> dict[str, NDArray[np.bool_]]:
    """Family -> [T] whether a task belongs to it; in the order of the names."""
    names = np.array([task.family for task in collection.tasks])
    return {name: names == name for name in sorted(set(names.tolist()))}


def mean_score(outcomes: NDArray[np.float64], k: int, rule: Rule) -> tuple[float | None, int]:
    """pass@k without an interval, and over how many tasks."""
    values = task_scores(outcomes, k, rule)
    known = values[~np.isnan(values)]
    return (float(known.mean()) if len(known) else None), len(known)


def case_counts(collection: Collection, run: Run) -> dict[str, tuple[int, int]]:
    """Case name -> (samples that passed it, samples it was judged on)."""
    counts: dict[str, tuple[int, int]] = {}
    for sample in collection.judged(run):
        for case in sample.get("cases") or ():
            if case.get("verdict") != INFRA_ERROR:
                passed, judged = counts.get(str(case["name"]), (0, 0))
                counts[str(case["name"])] = (passed + (case.get("verdict") == "passed"), judged + 1)
    return counts


@dataclass(frozen=True)
class Timing:
    """Seconds a sample."""

    compile: Spread | None  # nvcc, cache hits left out
    cached: int
    run: Spread | None
    compare: Spread | None
    overhead: Spread | None  # the judge's own work beyond nvcc and the program


def timing(collection: Collection, run: Run) -> Timing:
    """Over the samples that were judged themselves: those with the code of an earlier sample repeat its times, and an
    answer without code took none."""
    samples = [
        sample
        for sample in collection.judged(run)
        if sample.get("same_as_sample") is None and sample["verdict"] != "no_code"
    ]
    return Timing(
        spread(sample.get("compile_s") for sample in samples if not sample.get("compile_cached")),
        sum(bool(sample.get("compile_cached")) for sample in samples),
        spread(sample.get("run_s") for sample in samples),
        spread(sample.get("compare_s") for sample in samples),
        spread(sample.get("overhead_s") for sample in samples),
    )
