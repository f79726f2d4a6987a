"""Which contents a module is given in which calls, and whether what it returned is right.

A content is a seed's arguments, or "permuted": those of seed 0 with the batch in another order, so that their first row, their
sums and their shapes are those of seed 0 and the right output is another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...sandbox import Verdict
from ...sandbox.folders import take_output
from ..closeness import first_difference, module_distance
from ..judgement import CaseResult
from .runs import Report


PERMUTED = "permuted"
POOL = ("0", "1")  # what the timed calls are given, in an order drawn for every run
UNSEEN = 3  # contents that a timed run holds back, each for one call


@dataclass(frozen=True)
class Call:
    """A call whose output is saved in the folder `label` and compared with the reference's for `content`."""

    label: str
    content: str
    title: str


@dataclass(frozen=True)
class Expected:
    """The reference's outputs: content -> its tensors (name, dtype, shape), and their files in the same order.

    stateful: when called again with the same content they differ, so that only calls in the same order can be compared.
    constant: for all seeds they are equal within the tolerance, so that any one of them would pass for all.
    """

    rows: Mapping[str, list[Mapping[str, Any]]]
    files: Mapping[str, Sequence[Path]]
    changed_inputs: tuple[int, ...]
    stateful: bool
    constant: bool


def unseen(seeds: int) -> tuple[str, ...]:
    """The contents of the timed run alone: the seeds after those of the comparison."""
    return tuple(str(seeds + i) for i in range(UNSEEN))


def in_place(seeds: int, permuted: bool) -> tuple[str, ...]:
    """The contents that are written over seed 0's arguments, one after the other; the first is another than seed 0."""
    return (str(seeds - 1), PERMUTED, "0") if permuted else (str(seeds - 1), "0")


def compared_calls(seeds: int, again: Sequence[str]) -> list[Call]:
    fresh = [Call(str(seed), str(seed), f"seed {seed}") for seed in range(seeds)]
    return [*fresh, *(Call(f"again-{name}", name, f"{_title(name)} in the same tensors") for name in again)]


def timed_calls(seeds: int) -> list[Call]:
    return [Call(f"timed-{name}", name, f"{_title(name)}, timed") for name in (*POOL, *unseen(seeds))]


def _title(content: str) -> str:
    return "seed 0 permuted" if content == PERMUTED else f"seed {content}"


def compare_run(
    report: Report, calls: Sequence[Call], expected: Expected
) -> tuple[Verdict, str, tuple[CaseResult, ...]]:
    """The verdict on a run that came to its end, what is to say about it, and a result for each call that was looked at.

    Every output of every call is compared, up to the first that differs; then inputs that the candidate changed and the
    reference did not, and outputs that a later call wrote over. Raw bytes are read here, never by the candidate.
    """
    results: list[CaseResult] = []
    for call in calls:
        verdict, message, largest, relative = _compare_call(report, call, expected)
        results.append(CaseResult(call.title, verdict, 0.0, largest, relative))
        if message:
            return verdict, f"{call.title}: {message}", tuple(results)
    message = ""
    if changed := set(report.record["changed_inputs"]) - set(expected.changed_inputs):
        message = f"changes its inputs {sorted(changed)}, which the reference leaves alone"
    elif places := report.record["overwritten"]:
        message = f"a later call overwrote what an earlier one returned: {', '.join(places[:5])}"
    return Verdict.MISMATCH if message else Verdict.PASSED, message, tuple(results)


def _compare_call(report: Report, call: Call, expected: Expected) -> tuple[Verdict, str, float | None, float | None]:
    """Verdict, message ("": right), largest absolute and relative error."""
    rows = expected.rows[call.content]
    if message := _shapes_differ(report.record["outputs"].get(call.label), rows):
        return Verdict.MISMATCH, message, None, None
    largest = relative = 0.0
    taken = report.work.parent / "taken.bin"
    for number, (path, row) in enumerate(zip(expected.files[call.content], rows, strict=True)):
        left = f"out/{report.name}/{call.label}/{number}.bin"
        refused = take_output(report.work, left, taken, size=path.stat().st_size)
        if refused is not None:
            verdict = Verdict.MISMATCH if refused.wrong_size else Verdict.MISSING_OUTPUT
            return verdict, f"{row['name']}: {refused.reason}", largest, relative
        found = module_distance(path, taken, row["dtype"], row["shape"])
        largest, relative = max(largest, found.max_abs), max(relative, found.max_rel)
        if not found.close:
            dtype = row["dtype"].removeprefix("torch.")
            first = first_difference(row["name"], row["shape"], path, taken, dtype, found.first_wrong)
            message = (
                f"{row['name']}{first['index']} is {first['actual']}, expected {first['expected']}; "
                f"largest error {found.max_abs:.6g}, relative {found.max_rel:.6g}"
            )
            return Verdict.MISMATCH, message, largest, relative
        taken.unlink()
    return Verdict.PASSED, "", largest, relative


def _shapes_differ(got: list[Mapping[str, Any]] | None, want: list[Mapping[str, Any]]) -> str:
    if got is None or len(got) != len(want):
        return f"returns {len(got or ())} tensors, expected {len(want)}"
    for one, other in zip(got, want, strict=True):
        if one["shape"] != other["shape"] or one["dtype"] != other["dtype"]:
            return f"{other['name']} is {one['dtype']} {one['shape']}, expected {other['dtype']} {other['shape']}"
    return ""
