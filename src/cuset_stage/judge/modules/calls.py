"""Which contents a module is given in which calls, and whether what it returned is right.

A content is a seed's arguments, or "permuted": those of seed 0 with the batch in another order, so that their first row, their
sums and their shapes are those of seed 0 and the right output is another. A call has a label, under which the worker saves
its outputs: the content ("0"), or "again-0" in the tensors of the first call, or "timed-0".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...sandbox import Verdict
from ...sandbox.folders import take_output
from ..closeness import Distance, first_difference, module_distance
from ..judgement import CaseResult
from .runs import Report


PERMUTED = "permuted"
POOL = ("0", "1")  # what the timed calls are given, in an order drawn for every run
UNSEEN = 3  # contents that a timed run holds back, each for one call


@dataclass(frozen=True)
class Saved:
    """A tensor that a call of the reference returned, and the file with its values."""

    name: str
    dtype: str
    shape: list[int]
    path: Path

    def distance(self, other: Path) -> Distance:
        return module_distance(self.path, other, self.dtype, self.shape)


@dataclass(frozen=True)
class Expected:
    """The reference's outputs by label, and the inputs that its calls wrote into.

    stateful: when called again with the same content they differ, so that only calls in the same order can be compared.
    constant: for all seeds they are equal within the tolerance, so that any one of them would pass for all.
    """

    outputs: Mapping[str, Sequence[Saved]]
    changed_inputs: Sequence[int]
    stateful: bool
    constant: bool


def fresh(seeds: int) -> tuple[str, ...]:
    """The contents of the comparison that come in tensors of their own."""
    return tuple(map(str, range(seeds)))


def unseen(seeds: int) -> tuple[str, ...]:
    """The contents of the timed run alone: the seeds after those of the comparison."""
    return tuple(map(str, range(seeds, seeds + UNSEEN)))


def in_place(seeds: int, permuted: bool) -> tuple[str, ...]:
    """The contents that are written over seed 0's arguments, one after the other; the first is another than seed 0."""
    return (str(seeds - 1), PERMUTED, "0") if permuted else (str(seeds - 1), "0")


def _title(label: str) -> str:
    how, _, content = label.rpartition("-")
    what = "seed 0 permuted" if content == PERMUTED else f"seed {content}"
    return what + {"": "", "again": " in the same tensors", "timed": ", timed"}[how]


def compare_run(
    report: Report, labels: Sequence[str], expected: Expected
) -> tuple[Verdict, str, tuple[CaseResult, ...]]:
    """The verdict on a run that came to its end, what is to say about it, and a result for each call that was looked at.

    Every output of every call is compared, up to the first that differs; then inputs that the candidate changed and the
    reference did not, and outputs that a later call wrote over. Raw bytes are read here, never by the candidate.
    """
    results: list[CaseResult] = []
    for label in labels:
        result, message = _compare_call(report, label, expected)
        results.append(result)
        if message:
            return result.verdict, f"{result.name}: {message}", tuple(results)
    message = ""
    if changed := set(report.record["changed_inputs"]) - set(expected.changed_inputs):
        message = f"changes its inputs {sorted(changed)}, which the reference leaves alone"
    elif places := report.record["overwritten"]:
        message = f"a later call overwrote what an earlier one returned: {', '.join(places[:5])}"
    return Verdict.MISMATCH if message else Verdict.PASSED, message, tuple(results)


def _compare_call(report: Report, label: str, expected: Expected) -> tuple[CaseResult, str]:
    """The result, and what is wrong ("": nothing)."""
    content = label.rpartition("-")[2]
    rows, found = expected.outputs[content], report.record["outputs"].get(label)
    worst: list[float | None] = [None, None]  # absolute and relative

    def result(message: str = "", verdict: Verdict = Verdict.MISMATCH) -> tuple[CaseResult, str]:
        return CaseResult(_title(label), verdict if message else Verdict.PASSED, 0.0, *worst), message

    if found is None or len(found) != len(rows):
        return result(f"returns {len(found or ())} tensors, expected {len(rows)}")
    for got, row in zip(found, rows, strict=True):
        if (got["dtype"], got["shape"]) != (row.dtype, row.shape):
            return result(f"{row.name} is {got['dtype']} {got['shape']}, expected {row.dtype} {row.shape}")
    worst = [0.0, 0.0]
    taken = report.work.parent / "taken.bin"
    for number, row in enumerate(rows):
        left = f"out/{report.name}/{label}/{number}.bin"
        refused = take_output(report.work, left, taken, size=row.path.stat().st_size)
        if refused is not None:
            verdict = Verdict.MISMATCH if refused.wrong_size else Verdict.MISSING_OUTPUT
            return result(f"{row.name}: {refused.reason}", verdict)
        off = row.distance(taken)
        worst = [max(worst[0], off.max_abs), max(worst[1], off.max_rel)]
        if not off.close:
            dtype = row.dtype.removeprefix("torch.")
            first = first_difference(row.name, row.shape, row.path, taken, dtype, off.first_wrong)
            return result(
                f"{row.name}{first['index']} is {first['actual']}, expected {first['expected']}; "
                f"largest error {off.max_abs:.6g}, relative {off.max_rel:.6g}"
            )
        taken.unlink()
    return result()
