"""Whether the outputs of a program are right.

First the same for every task: each output is there, has exactly its number of bytes, and, where NumPy has its dtype and there is a
reference, is finite wherever that is.
Then what the task says: |actual - expected| <= atol + rtol * |expected| for a ReferenceOracle, compare.py for a ScriptOracle.

compare.py passes an output when it prints a T and no F and does not end with a traceback; exit() is no traceback, what was
printed before it counts. Neither T nor F, or a traceback, is a mismatch when compare.py accepts the reference itself (it is run
on it once, when the case is made): then the output is to blame. So it is when compare.py is stopped at a limit and accepts the
reference right after, or a program could choose not to be charged. A compare.py that does not accept the reference is asked
nothing: right and wrong outputs alike are an OracleError.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..sandbox import Isolation, Limits
from ..tasks.base import DTYPE_BYTES, Case, ProgramTask, ScriptOracle, Tensor
from .oracle import OracleError, PreparedCase
from .oracle_runs import COMPARE_LIMITS, OracleStopped, OracleUnavailable, run_compare
from .script_references import BROKEN


CHUNK = 1 << 16  # elements read at a time, few enough for a processor's cache: outputs may be larger than the memory


@dataclass(frozen=True)
class Comparison:
    """max_abs_error and max_rel_error are over all outputs and, for the latter, over expected values other than 0; None where
    nothing could be compared. first_mismatch: {output, index, expected, actual}, values that are not finite as text."""

    passed: bool
    message: str
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    first_mismatch: dict[str, Any] | None = None


@dataclass
class _Errors:
    """What one pass over an output and its reference found."""

    max_abs: float = 0.0
    max_rel: float = 0.0
    mismatches: int = 0
    not_finite: int = 0
    first_mismatch: int | None = None
    first_not_finite: int | None = None


def compare_outputs(
    task: ProgramTask,
    case: Case,
    prepared: PreparedCase,
    outputs: Mapping[str, Path],
    *,
    limits: Limits = COMPARE_LIMITS,
    isolation: Isolation = Isolation.AUTO,
) -> Comparison:
    """Judge `outputs` ("data/<name>.bin" -> file, as run_program gives them) for one case.

    Raises OracleError when the judge's side fails: a reference that is gone, a compare.py that cannot judge.
    """
    if isinstance(task.oracle, ScriptOracle):
        check_oracle(task, prepared)  # before the outputs are looked at: all answers are treated alike
    try:
        early, errors = _check_files(case, prepared, outputs)
    except OSError as error:
        raise OracleUnavailable(f"task {task.id}, case {case.name}: a file cannot be read: {error}") from error
    if early is not None:
        return early
    max_abs = max((found.max_abs for found in errors.values()), default=None)
    max_rel = max((found.max_rel for found in errors.values()), default=None)
    if isinstance(task.oracle, ScriptOracle):
        passed, message = _judge_by_script(task, task.oracle, prepared, outputs, limits, isolation)
        if passed:
            return Comparison(True, message, max_abs, max_rel)
        where, first = _first_difference(case, prepared, outputs, errors)
        return Comparison(False, message + where, max_abs, max_rel, first)
    for tensor in case.outputs:
        found = errors[tensor.file]
        if found.mismatches:
            first = _describe(tensor, prepared.expected[tensor.file], outputs[tensor.file], found.first_mismatch)
            rtol, atol = prepared.tolerance[tensor.name]
            message = (
                f"{tensor.file}: {found.mismatches} of {math.prod(tensor.shape)} values are wrong (rtol {rtol:g}, atol "
                f"{atol:g}), first at {tuple(first['index'])}: expected {first['expected']}, found {first['actual']}"
            )
            return Comparison(False, message, max_abs, max_rel, first)
    return Comparison(True, "", max_abs, max_rel)


def check_oracle(task: ProgramTask, prepared: PreparedCase) -> None:
    """Raises OracleError when compare.py does not accept gen.py's own reference."""
    check = prepared.self_check
    if check is None or not check.broken:
        return
    said = f" ({check.message})" if check.message else ""
    raise OracleError(
        f"task {task.id}: its compare.py {BROKEN[check.state]}{said} when it is given gen.py's own reference as the output, "
        "so it can judge no answer; the oracle is at fault and no answer is charged: leave the task out, or mend its scripts"
    )


def _first_difference(
    case: Case, prepared: PreparedCase, outputs: Mapping[str, Path], errors: Mapping[str, _Errors]
) -> tuple[str, dict[str, Any] | None]:
    """For people: where an output that compare.py refuses first differs at all from its reference; ("", None) when nothing
    does or no reference is known. compare.py may allow a difference, so the largest one is named too."""
    for tensor in case.outputs:
        found = errors.get(tensor.file)
        if found is not None and found.mismatches:
            first = _describe(tensor, prepared.expected[tensor.file], outputs[tensor.file], found.first_mismatch)
            text = (
                f"; {tensor.file}: {found.mismatches} of {math.prod(tensor.shape)} values differ from the reference (by "
                f"{found.max_abs:.3g} at most), first at {tuple(first['index'])}: expected {first['expected']}, found "
                f"{first['actual']}"
            )
            return text, first
    return "", None


def _check_files(
    case: Case, prepared: PreparedCase, outputs: Mapping[str, Path]
) -> tuple[Comparison | None, dict[str, _Errors]]:
    """The verdict when a file alone decides it, and the errors of each output that has a reference of its size."""
    for tensor in case.outputs:
        path = outputs.get(tensor.file)
        if path is None or path.is_symlink() or not path.is_file():
            return Comparison(False, f"{tensor.file}: not written"), {}
        size, right = path.stat().st_size, prepared.sizes(tensor.file)
        if not right and not size:
            return Comparison(False, f"{tensor.file}: 0 bytes, expected at least one value"), {}
        if right and size not in right:
            return Comparison(False, f"{tensor.file}: {size} bytes, expected {' or '.join(map(str, right))}"), {}
    errors = {}
    for tensor in case.outputs:
        reference = prepared.expected.get(tensor.file)
        if tensor.dtype not in DTYPE_BYTES or reference is None:
            continue
        if not reference.stat().st_size == outputs[tensor.file].stat().st_size == tensor.nbytes:
            continue  # the row's shape is not the reference's; compare.py judges, and the audit says so
        rtol, atol = prepared.tolerance.get(tensor.name, (0.0, 0.0))
        found = _errors(tensor, reference, outputs[tensor.file], rtol, atol)
        if found.not_finite:
            first = _describe(tensor, reference, outputs[tensor.file], found.first_not_finite)
            message = (
                f"{tensor.file}: {found.not_finite} of {math.prod(tensor.shape)} values are not finite, first at "
                f"{tuple(first['index'])}: expected {first['expected']}, found {first['actual']}"
            )
            return Comparison(False, message, first_mismatch=first), {}
        errors[tensor.file] = found
    return None, errors


def _judge_by_script(
    task: ProgramTask,
    oracle: ScriptOracle,
    prepared: PreparedCase,
    outputs: Mapping[str, Path],
    limits: Limits,
    isolation: Isolation,
) -> tuple[bool, str]:
    files = {**prepared.inputs, **prepared.references}
    try:
        printed = run_compare(task, oracle, {**files, **outputs}, limits, isolation)
    except OracleStopped as stopped:
        if prepared.self_check is None or not prepared.self_check.passed:
            raise
        again = run_compare(task, oracle, {**files, **prepared.expected}, limits, isolation)  # is it this machine?
        if not again.verdict or again.crashed:
            raise
        return False, f"{stopped}, where the reference passes"
    if printed.verdict is False:
        return False, f"compare.py: {printed.message}"
    if printed.verdict and not printed.crashed:
        return True, ""
    what = f"stopped with {printed.message}" if printed.crashed else "printed neither T nor F"
    if prepared.self_check is None or not prepared.self_check.passed:
        raise OracleError(
            f"task {task.id}: compare.py {what}, and there is no reference on which it could be tried: the oracle may be at "
            "fault, and the answer is not charged"
        )
    return False, f"compare.py {what}"


def _dtype(tensor: Tensor) -> np.dtype:
    """Of the file's elements; a bool is the byte that stands for it."""
    return np.dtype("uint8" if tensor.dtype == "bool" else tensor.dtype).newbyteorder("<")


def _elements(tensor: Tensor, path: Path) -> np.ndarray:
    """The file's elements in order, mapped."""
    return np.memmap(path, dtype=_dtype(tensor), mode="r", shape=(math.prod(tensor.shape),))


def _differing_chunks(tensor: Tensor, expected: Path, actual: Path) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """The offset and the next elements of both files, where these are not the same to the byte. Raises OSError for a short one."""
    dtype, count = _dtype(tensor), math.prod(tensor.shape)
    with expected.open("rb") as reference, actual.open("rb") as output:
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start) * dtype.itemsize
            want, got = reference.read(size), output.read(size)
            if not len(want) == len(got) == size:
                raise OSError(f"{actual if len(want) == size else expected} became shorter while it was read")
            if want != got:
                yield start, np.frombuffer(want, dtype), np.frombuffer(got, dtype)


def _errors(tensor: Tensor, expected: Path, actual: Path, rtol: float, atol: float) -> _Errors:
    found = _Errors()
    for start, want, got in _differing_chunks(tensor, expected, actual):
        finite = np.isfinite(want)
        bad = finite & ~np.isfinite(got)
        if bad.any():
            found.not_finite += int(bad.sum())
            if found.first_not_finite is None:
                found.first_not_finite = start + int(bad.argmax())
            continue
        error, size, wrong = _differences(want, got, finite, rtol, atol)
        if wrong.any():
            found.mismatches += int(wrong.sum())
            if found.first_mismatch is None:
                found.first_mismatch = start + int(wrong.argmax())
        if error.size:
            found.max_abs = max(found.max_abs, float(error.max()))
            with np.errstate(over="ignore", invalid="ignore"):  # a subnormal reference: infinitely far off
                relative = np.divide(error, size, out=np.zeros_like(error), where=size > 0)
            found.max_rel = max(found.max_rel, float(relative.max()))
    return found


def _differences(
    want: np.ndarray, got: np.ndarray, finite: np.ndarray, rtol: float, atol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(|got - want|, |want|) as float64 where the reference is finite, and which elements are out of tolerance.

    Integers are subtracted as integers, so that neither a wrap-around nor float64's 53 bits hide a difference.
    """
    if want.dtype.kind not in "fc":
        unsigned = np.dtype(f"uint{8 * want.dtype.itemsize}")
        high, low = np.maximum(want, got).view(unsigned), np.minimum(want, got).view(unsigned)
        error = (high - low).astype(np.float64)  # modulo 2^bits, which is the distance itself
        size = np.abs(want.astype(np.float64))
        wrong = want != got
        if rtol or atol:
            wrong &= error > atol + rtol * size
        return error, size, wrong
    wide = want.astype(np.complex128 if want.dtype.kind == "c" else np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        error, size = np.abs(got - wide), np.abs(wide)
        # a complex number may be finite and its modulus not
        wrong = ~(error <= atol + rtol * size) | np.isinf(error) if rtol or atol else want != got
    if finite.all():
        return error, size, wrong
    same = (want == got) | (np.isnan(want) & np.isnan(got))
    return error[finite], size[finite], np.where(finite, wrong, ~same)


def _describe(tensor: Tensor, expected: Path, actual: Path, position: int | None) -> dict[str, Any]:
    assert position is not None
    values = [_elements(tensor, path)[position] for path in (expected, actual)]
    index = np.unravel_index(position, tensor.shape) if tensor.shape else ()
    return {
        "output": tensor.name,
        "index": [int(part) for part in index],
        "expected": _plain(values[0]),
        "actual": _plain(values[1]),
    }


def _plain(value: np.generic) -> Any:
    """As JSON holds it."""
    plain = value.item()
    if isinstance(plain, complex) or (isinstance(plain, float) and not math.isfinite(plain)):
        return str(plain)
    return plain
