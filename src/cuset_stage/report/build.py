"""Everything a report says, computed once; the writers only lay it out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from . import numbers
from .collect import ReportError
from .collection import Collection
from .statistics import Rule


RULE_NAMES = {
    Rule.FIRST: "first samples (CUDABench's rule)",
    Rule.UNBIASED: "unbiased estimator (Chen et al. 2021)",
}
RULE_TEXTS = {
    Rule.FIRST: "pass@k by CUDABench's rule, the one behind the CuSeT paper's tables: a task counts when any of its first k samples passes.",
    Rule.UNBIASED: "pass@k by the unbiased estimator of Chen et al. 2021: 1 − C(n−c, k) / C(n, k) for c right ones of n samples, "
    "the mean over all choices of k.",
}


@dataclass(frozen=True)
class Report:
    """The collection and its numbers."""

    title: str
    created: str
    version: str
    collection: Collection
    ks: tuple[int, ...]
    seed: int
    baseline: str | None
    rates: dict[tuple[str, Rule, int, str], numbers.Rate]
    unflagged_rates: dict[tuple[str, Rule, int, str], numbers.Rate] | None  # None when no task is flagged
    comparisons: list[numbers.Comparison]

    @property
    def methods(self) -> str:
        """How the numbers were made, in words that can stand in a paper."""
        text = (
            f"The task is the unit: intervals are 95% percentile bootstrap intervals over tasks ({numbers.RESAMPLES:,} resamples, seed "
            f"{self.seed}), the samples of a task kept together; where all tasks agree, the exact binomial interval. "
            "Samples on which the judge itself failed (infra_error) are not charged to the model: one that had compiled counts as "
            "compiled, and a task is left out of every other number that needs one. A task or sample without an answer counts as a failure."
        )
        if self.comparisons:
            number = sum(comparison.criterion == self.comparisons[0].criterion for comparison in self.comparisons)
            text += (
                " Methods are compared on the same tasks: exact two-sided McNemar test on first samples, and a paired bootstrap of "
                "the difference in pass@k."
            )
            if number > 1:
                text += f" p is adjusted by Holm's method over the {number} comparisons of each criterion."
        return text


def build_report(
    collection: Collection,
    *,
    ks: Sequence[int] = (1, 3),
    baseline: str | None = None,
    seed: int = 0,
    title: str | None = None,
) -> Report:
    """Compute a report. ReportError for an unknown baseline, a negative seed or a k that is no positive integer."""
    from .. import __version__

    labels = [run.label for run in collection.runs]
    if baseline is not None and baseline not in labels:
        raise ReportError(f"--baseline {baseline}: no such run; it is one of {', '.join(labels)}.")
    if not ks or any(k < 1 for k in ks):
        raise ReportError(f"--k {','.join(map(str, ks))}: positive integers, such as 1,3.")
    if seed < 0:
        raise ReportError(f"--seed {seed}: an integer from 0, such as 0.")
    ks = tuple(sorted(set(ks)))
    flagged = not collection.unflagged.all()
    header = collection.runs[0].header.get("tasks") or {}
    name = str(header.get("path") or "").rstrip("/").rsplit("/", 1)[-1]
    return Report(
        title=title or f"Evaluation on {name or 'a task set'}",
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        collection=collection,
        ks=ks,
        seed=seed,
        baseline=baseline,
        rates=numbers.rates(collection, ks, seed=seed),
        unflagged_rates=numbers.rates(collection, ks, seed=seed, rows=collection.unflagged) if flagged else None,
        comparisons=numbers.comparisons(collection, ks, baseline=baseline, seed=seed),
    )
