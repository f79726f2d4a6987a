"""Whether the outputs of a program are right.

Some checks are the same for every task, whatever compare.py would say. Each output is there and has exactly its number
of bytes. It is NaN only where its reference is NaN, and finite wherever its reference is finite. (A compare.py may
test `abs(y - r) > tol`, which is false for NaN.)

Then the task decides: |actual - expected| <= atol + rtol * |expected| for a ReferenceOracle, compare.py for a
ScriptOracle.

compare.py passes an output if it prints a T and no F and does not end with a traceback. A call of exit() is no
traceback, and what was printed before it counts. If compare.py prints neither T nor F, or ends with a traceback, this
is a mismatch, provided that it accepts the reference itself: then the output is to blame. It is run on the reference
once, when the case is made. It is not run on outputs that are the same as the reference to the byte.

If compare.py is stopped at a limit on an output, but accepts the reference right after, this is a mismatch as well.
Otherwise a program could choose not to be charged. A compare.py that does not accept the reference is not asked at
all: right and wrong outputs alike are an OracleError.
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
    """The result of comparing the outputs of one case.

    Attributes:
        passed: Whether the outputs are right.
        message: Explanation for the user, empty if they are right.
        max_abs_error: Largest absolute error over all outputs, None where nothing could be compared.
        max_rel_error: Largest relative error over all expected values other than 0, None where nothing could be
            compared.
    """

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
    """Judge the outputs of a program for one case.

    Args:
        prepared: The case's files, with the right outputs.
        outputs: "data/<name>.bin" -> file, as run_program returns them.
        isolation: The sandbox in which compare.py runs.

    Raises:
        OracleError: compare.py cannot judge.
        SandboxError: A file cannot be read, such as a reference that is gone.
    """
    check_oracle(task, prepared)  # checked before any output is looked at, so that all answers are treated alike
    by_script = isinstance(task.oracle, ScriptOracle)
    try:
        if problem := wrong_size(case, prepared, outputs):
            return Comparison(False, problem)
        distances, nan = _look_at_values(case, prepared, outputs)
    except OSError as error:
        raise SandboxError(f"task {task.id}, case {case.name}: a file cannot be read: {error}") from error

    def named(tensor: Tensor, count: int, what: str, position: int) -> str:
        """Return the message about `count` wrong values of an output, which shows the first of them."""
        files = (prepared.expected[tensor.file], outputs[tensor.file])
        values = _values_in(tensor, files[1].stat().st_size)
        shape = tensor.shape if values == math.prod(tensor.shape) else (values,)
        index, expected, actual = element_at(position, shape, *files, tensor.dtype)
        counted = f"{tensor.file}: {count} of {values} values {what}"
        return f"{counted}, first at {index}: expected {expected}, found {actual}"

    for tensor, diff in distances:
        if diff.not_finite:
            return Comparison(False, named(tensor, diff.not_finite, "are not finite", diff.first_not_finite))
    if nan is not None:
        return Comparison(False, nan)
    max_abs = max((diff.max_abs for _, diff in distances), default=None)
    max_rel = max((diff.max_rel for _, diff in distances), default=None)
    same = len(distances) == len(case.outputs) and all(diff.same for _, diff in distances)
    accepted = not by_script or (same and prepared.self_check.passed)
    message = "" if accepted else _problem_by_script(task, prepared, outputs, isolation)
    wrong = next(((tensor, diff) for tensor, diff in distances if diff.wrong), None)
    if wrong is None or (by_script and not message):
        return Comparison(not message, message, max_abs, max_rel)
    tensor, diff = wrong
    if by_script:  # compare.py may tolerate differences, so the message also states the largest one
        message, what = f"{message}; ", f"differ from the reference (by {diff.max_abs:.3g} at most)"
    else:
        what = "are wrong (rtol {:g}, atol {:g})".format(*prepared.tolerance[tensor.name])
    return Comparison(False, message + named(tensor, diff.wrong, what, diff.first_wrong), max_abs, max_rel)


def check_oracle(task: ProgramTask, prepared: PreparedCase) -> None:
    """Raise OracleError if compare.py does not accept gen.py's own reference."""
    check = prepared.self_check
    if check is None or not check.broken:
        return
    details = f" ({check.message})" if check.message else ""
    raise OracleError(
        f"task {task.id}: its compare.py {BROKEN[check.state]}{details} when it is given gen.py's own reference as the output, "
        "so it can judge no answer; the oracle is at fault and no answer is charged: leave the task out, or mend its scripts"
    )


def wrong_size(case: Case, prepared: PreparedCase, outputs: Mapping[str, Path]) -> str | None:
    """Return the message about an output that is missing or has a wrong size, or None."""
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
    """Return how many values of an output's dtype a file of `size` bytes holds.

    None if the file cannot be read as that dtype: the dtype is not known, or the size is that of the declared shape in
    another dtype.
    """
    width, values = FILE_BYTES.get(tensor.dtype), math.prod(tensor.shape)
    if not width or size % width:
        return None
    is_of_another = size != values * width and size in [values * other for other in (1, 2, 4, 8, 16)]
    return None if is_of_another else size // width


def _look_at_values(
    case: Case, prepared: PreparedCase, outputs: Mapping[str, Path]
) -> tuple[list[tuple[Tensor, Distance]], str | None]:
    """Compare outputs with their references, and look for NaN in outputs that have no comparable reference.

    Returns:
        Each output that has a reference of its own size, with its distance. The message about a NaN in one of the
        other outputs, or None. NaN is allowed there if some reference of the same size holds NaN.
    """
    distances, problem = [], None
    for tensor in case.outputs:
        reference, output = prepared.expected.get(tensor.file), outputs[tensor.file]
        size = output.stat().st_size
        count = _values_in(tensor, size)
        if count is not None and reference is not None and reference.stat().st_size == size:
            rtol, atol = prepared.tolerance.get(tensor.name, (0.0, 0.0))
            distances.append((tensor, distance(reference, output, tensor.dtype, count, rtol, atol)))
        # Two sizes may be right, and the output has the one that the reference has not. compare.py judges it, and the
        # audit warns about such tasks.
        elif dtype := _other_float(tensor, size) if count is None else tensor.dtype:
            nan = first_nan(output, dtype)
            alike = [path for path in prepared.references.values() if path.stat().st_size == size]
            if problem is None and nan is not None and all(first_nan(path, dtype) is None for path in alike):
                problem = f"{tensor.file}: value {nan} is NaN, which no reference is"
    return distances, problem


def _other_float(tensor: Tensor, size: int) -> str | None:
    """Return the float dtype in which a file of this size holds the declared shape, or None.

    Some scripts write another float precision than the task declares.
    """
    widths = {math.prod(tensor.shape) * FILE_BYTES[name]: name for name in ("float32", "float64")}
    return widths.get(size) if tensor.dtype.startswith("float") else None


def _problem_by_script(
    task: ProgramTask, prepared: PreparedCase, outputs: Mapping[str, Path], isolation: Isolation
) -> str:
    """Return the message about outputs that compare.py does not accept, or "" if it accepts them."""
    files = {**prepared.inputs, **prepared.references}
    accepts_reference = prepared.self_check.passed
    try:
        verdict = run_compare(task, {**files, **outputs}, isolation)
    except OracleStopped as stopped:
        # If the reference passes right after, the output is the cause and not a slow machine.
        if accepts_reference and run_compare(task, {**files, **prepared.expected}, isolation).passed:
            return f"{stopped}, where the reference passes"
        raise
    if verdict.passed:
        return ""
    if verdict.state == "refused":
        return f"compare.py: {verdict.message}"
    what = f"stopped with {verdict.message}" if verdict.state == "crashed" else "printed neither T nor F"
    if not accepts_reference:
        raise OracleError(
            f"task {task.id}: compare.py {what}, and there is no reference on which it could be tried: the oracle may be at "
            "fault, and the answer is not charged"
        )
    return f"compare.py {what}"
