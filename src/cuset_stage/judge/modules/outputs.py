"""Hold what a candidate returned against the reference's outputs: raw bytes, read here, never by the candidate."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...sandbox import Verdict
from ...sandbox.folders import take_output
from ..programs import CaseResult
from .closeness import compare_raw
from .plan import Call
from .reference import Expected
from .runs import Report


def compare_run(
    report: Report, calls: Sequence[Call], expected: Expected
) -> tuple[Verdict, str, tuple[CaseResult, ...]]:
    """The verdict on a run that came to its end, what is to say about it, and a result for each call that was looked at.

    Every output of every call is compared, up to the first that differs; then inputs that the candidate changed and the
    reference did not, and outputs that a later call wrote over.
    """
    results: list[CaseResult] = []
    for call in calls:
        verdict, message, largest, relative = _compare_call(report, call, expected)
        results.append(CaseResult(call.title, verdict, 0.0, largest, relative))
        if message:
            return verdict, message, tuple(results)
    changed = set(report.record["changed_inputs"]) - set(expected.changed_inputs)
    if changed:
        message = f"changes its inputs {sorted(changed)}, which the reference leaves alone"
        return Verdict.MISMATCH, message, tuple(results)
    if report.record["overwritten"]:
        places = ", ".join(report.record["overwritten"][:5])
        return Verdict.MISMATCH, f"a later call overwrote what an earlier one returned: {places}", tuple(results)
    return Verdict.PASSED, "", tuple(results)


def _compare_call(report: Report, call: Call, expected: Expected) -> tuple[Verdict, str, float | None, float | None]:
    """Verdict, message ("": right), largest absolute and relative error."""
    rows = expected.rows[call.content]
    message = _shapes_differ(report.record["outputs"].get(call.label), rows)
    if message:
        return Verdict.MISMATCH, f"{call.title}: {message}", None, None
    largest = relative = 0.0
    taken = report.work.parent / "taken.bin"
    for number, (path, row) in enumerate(zip(expected.files[call.content], rows, strict=True)):
        refused = take_output(
            report.work, f"out/{report.name}/{call.label}/{number}.bin", taken, size=path.stat().st_size
        )
        if refused is not None:
            verdict = Verdict.MISMATCH if refused.wrong_size else Verdict.MISSING_OUTPUT
            return verdict, f"{call.title}: {row['name']}: {refused.reason}", largest, relative
        found = compare_raw(taken, path, row["dtype"], row["shape"])
        taken.unlink()
        largest, relative = max(largest, found.max_abs_error), max(relative, found.max_rel_error)
        if not found.close:
            message = (
                f"{call.title}: {row['name']}{list(found.first or ())} is {found.actual}, expected {found.expected}; "
                f"largest error {found.max_abs_error:.6g}, relative {found.max_rel_error:.6g}"
            )
            return Verdict.MISMATCH, message, largest, relative
    return Verdict.PASSED, "", largest, relative


def _shapes_differ(got: list[Mapping[str, Any]] | None, want: list[Mapping[str, Any]]) -> str:
    if got is None or len(got) != len(want):
        return f"returns {len(got or ())} tensors, expected {len(want)}"
    for one, other in zip(got, want, strict=True):
        if one["shape"] != other["shape"] or one["dtype"] != other["dtype"]:
            return f"{other['name']} is {one['dtype']} {one['shape']}, expected {other['dtype']} {other['shape']}"
    return ""
