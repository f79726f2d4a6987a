"""Whether the outputs of a program are right.

First the same for every task, whatever compare.py would say: each output is there, has exactly its number of bytes, is NaN nowhere but
where its reference is, and is finite wherever that is. (compare.py may ask for `abs(y - r) > tol`, which is false for NaN.)
Then what the task says: |actual - expected| <= atol + rtol * |expected| for a ReferenceOracle, compare.py for a ScriptOracle.

compare.py passes an output when it prints a T and no F and does not end with a traceback; exit() is no traceback, what was
printed before it counts. Neither T nor F, or a traceback, is a mismatch when compare.py accepts the reference itself (it is run
on it once, when the case is made, and not again for outputs that are the same to the byte): then the output is to blame. So it is
when compare.py is stopped at a limit and accepts the reference right after, or a program could choose not to be charged. A
compare.py that does not accept the reference is not asked: right and wrong outputs alike are an OracleError.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..files import is_regular
from ..sandbox import Isolation, SandboxError
from ..tasks.base import FILE_BYTES, Case, ProgramTask, ScriptOracle, Tensor
from .closeness import Distance, distance, element_at, first_nan
from .oracle import BROKEN, OracleError, OracleStopped, PreparedCase, run_compare


@dataclass(frozen=True)
class Comparison:
    """max_abs_error and max_rel_error are over all outputs and, for the latter, over expected values other than 0; None where
    nothing could be compared."""

    passed: bool
    message: str
    max_abs_error: float | None = None
    max_rel_error: float | None = None


def compare_outputs(
    task: ProgramTask,
    case: Case,
    prepared: PreparedCase,
    outputs: Mapping[str, Path],
    *,
    isolation: Isolation = Isolation.AUTO,
) -> Comparison:
    """Judge `outputs` ("data/<name>.bin" -> file, as run_program gives them) for one case.

    Raises OracleError for a compare.py that cannot judge, SandboxError for a reference that is gone.
    """
    by_script = isinstance(task.oracle, ScriptOracle)
    if by_script:
        check_oracle(task, prepared)  # before the outputs are looked at: all answers are treated alike
    try:
        if problem := _wrong_size(case, prepared, outputs):
            return Comparison(False, problem)
        distances, nan = _look_at_values(case, prepared, outputs)
    except OSError as error:
        raise SandboxError(f"task {task.id}, case {case.name}: a file cannot be read: {error}") from error

    def named(tensor: Tensor, count: int, what: str, position: int) -> str:
        """Returns the message about `count` wrong values of an output, which shows the first of them."""
        files = (prepared.expected[tensor.file], outputs[tensor.file])
        values = _values_in(tensor, files[1].stat().st_size)
        shape = tensor.shape if values == math.prod(tensor.shape) else (values,)
        index, expected, actual = element_at(position, shape, *files, tensor.dtype)
        return (
            f"{tensor.file}: {count} of {values} values {what}, first at {index}: expected {expected}, found {actual}"
        )

    for tensor, diff in distances:
        if diff.not_finite:
            return Comparison(False, named(tensor, diff.not_finite, "are not finite", diff.first_not_finite))
    if nan is not None:
        return Comparison(False, nan)
    max_abs = max((diff.max_abs for _, diff in distances), default=None)
    max_rel = max((diff.max_rel for _, diff in distances), default=None)
    passed, message = True, ""
    same = len(distances) == len(case.outputs) and all(diff.same for _, diff in distances)
    if by_script and not (same and prepared.self_check is not None and prepared.self_check.passed):
        passed, message = _judge_by_script(task, prepared, outputs, isolation)
    wrong = next(((tensor, diff) for tensor, diff in distances if diff.wrong), None)
    if wrong is None or (by_script and passed):
        return Comparison(passed, message, max_abs, max_rel)
    tensor, diff = wrong
    if by_script:  # for people: compare.py may allow a difference, so the largest is named too
        message, what = f"{message}; ", f"differ from the reference (by {diff.max_abs:.3g} at most)"
    else:
        what = "are wrong (rtol {:g}, atol {:g})".format(*prepared.tolerance[tensor.name])
    return Comparison(False, message + named(tensor, diff.wrong, what, diff.first_wrong), max_abs, max_rel)


def check_oracle(task: ProgramTask, prepared: PreparedCase) -> None:
    """Raises OracleError when compare.py does not accept gen.py's own reference."""
    check = prepared.self_check
    if check is None or not check.broken:
        return
    details = f" ({check.message})" if check.message else ""
    raise OracleError(
        f"task {task.id}: its compare.py {BROKEN[check.state]}{details} when it is given gen.py's own reference as the output, "
        "so it can judge no answer; the oracle is at fault and no answer is charged: leave the task out, or mend its scripts"
    )


def _wrong_size(case: Case, prepared: PreparedCase, outputs: Mapping[str, Path]) -> str | None:
    """Returns the message about an output that is missing or has a wrong size, or None."""
    for tensor in case.outputs:
        path = outputs.get(tensor.file)
        if path is None or not is_regular(path):
            return f"{tensor.file}: not written"
        size, right = path.stat().st_size, prepared.sizes(tensor)
        if not right and not size:
            return f"{tensor.file}: 0 bytes, expected at least one value"
        if right and size not in right:
            return f"{tensor.file}: {size} bytes, expected {' or '.join(map(str, right))}"
    return None


def _values_in(tensor: Tensor, size: int) -> int | None:
    """Returns how many values of an output's dtype a file of `size` bytes holds.

    None where it is not to be read as that: the dtype is not known, or the size is that of the row's shape in another one.
    """
    width, values = FILE_BYTES.get(tensor.dtype), math.prod(tensor.shape)
    if not width or size % width:
        return None
    is_of_another = size != values * width and size in [values * other for other in (1, 2, 4, 8, 16)]
    return None if is_of_another else size // width


def _look_at_values(
    case: Case, prepared: PreparedCase, outputs: Mapping[str, Path]
) -> tuple[list[tuple[Tensor, Distance]], str | None]:
    """The distance of each output that has a reference of its size; and of the others what is to say about a NaN, unless some reference of
    its size has any."""
    distances, problem = [], None
    for tensor in case.outputs:
        reference, output = prepared.expected.get(tensor.file), outputs[tensor.file]
        size = output.stat().st_size
        count = _values_in(tensor, size)
        if count is not None and reference is not None and reference.stat().st_size == size:
            rtol, atol = prepared.tolerance.get(tensor.name, (0.0, 0.0))
            distances.append((tensor, distance(reference, output, tensor.dtype, count, rtol, atol)))
        # Of two sizes that may be right it has the other one: compare.py judges, and the audit says so.
        elif dtype := _other_float(tensor, size) if count is None else tensor.dtype:
            nan = first_nan(output, dtype)
            alike = [path for path in prepared.references.values() if path.stat().st_size == size]
            if problem is None and nan is not None and all(first_nan(path, dtype) is None for path in alike):
                problem = f"{tensor.file}: value {nan} is NaN, which no reference is"
    return distances, problem


def _other_float(tensor: Tensor, size: int) -> str | None:
    """The dtype of a file that has the row's shape in another precision than the row says, as some scripts write it."""
    widths = {math.prod(tensor.shape) * FILE_BYTES[name]: name for name in ("float32", "float64")}
    return widths.get(size) if tensor.dtype.startswith("float") else None


def _judge_by_script(
    task: ProgramTask, prepared: PreparedCase, outputs: Mapping[str, Path], isolation: Isolation
) -> tuple[bool, str]:
    files = {**prepared.inputs, **prepared.references}
    accepts_reference = prepared.self_check is not None and prepared.self_check.passed
    try:
        verdict = run_compare(task, {**files, **outputs}, isolation)
    except OracleStopped as stopped:
        # Where the reference passes right after, it is not this machine that is slow.
        if accepts_reference and run_compare(task, {**files, **prepared.expected}, isolation).passed:
            return False, f"{stopped}, where the reference passes"
        raise
    if verdict.passed:
        return True, ""
    if verdict.state == "refused":
        return False, f"compare.py: {verdict.message}"
    what = f"stopped with {verdict.message}" if verdict.state == "crashed" else "printed neither T nor F"
    if not accepts_reference:
        raise OracleError(
            f"task {task.id}: compare.py {what}, and there is no reference on which it could be tried: the oracle may be at "
            "fault, and the answer is not charged"
        )
    return False, f"compare.py {what}"
