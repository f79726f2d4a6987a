"""Runs the NumPy references of data/kernels/: inputs, expected outputs, tolerance, and what makes an oracle weak."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from data_tasks import Case, DataError, Task, Tensor, load_module


@dataclass(frozen=True)
class Reference:
    """The NumPy oracle of a task, from its reference.py."""

    make_inputs: Callable[..., dict[str, np.ndarray]]
    reference: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]
    tolerance: dict[str, tuple[float, float]]


def load_reference(task: Task) -> Reference:
    """Import the task's reference.py and check its names and tolerances."""
    path = task.folder / "reference.py"
    module = load_module(f"cuset_reference_{task.name}", path)
    for key in ("make_inputs", "reference", "TOLERANCE"):
        if key not in vars(module):
            raise DataError(f"{path}: {key}: missing")
    tolerance = module.TOLERANCE
    if set(tolerance) != {tensor.name for tensor in task.outputs}:
        raise DataError(f"{path}: TOLERANCE: names {sorted(tolerance)}, expected one (rtol, atol) for every output")
    return Reference(module.make_inputs, module.reference, tolerance)


def case_rng(task: Task, case: Case) -> np.random.Generator:
    """The case's own generator: its inputs stay the same when other tasks or cases come or go."""
    return np.random.default_rng(zlib.crc32(f"{task.name}/{case.name}".encode()))


def compare(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> tuple[bool, float, float]:
    """Whether |actual - expected| <= atol + rtol * |expected| everywhere, with the largest absolute and relative error."""
    got, want = actual.astype(np.float64), expected.astype(np.float64)
    error = np.abs(got - want)
    nonzero = want != 0
    relative = error[nonzero] / np.abs(want[nonzero])
    equal = bool((error <= atol + rtol * np.abs(want)).all())
    if rtol == 0 and atol == 0:  # float64 does not hold every int64
        equal = np.array_equal(actual, expected)
    return equal, float(error.max()), float(relative.max()) if relative.size else 0.0


def _check_arrays(where: str, tensors: tuple[Tensor, ...], arrays: dict[str, np.ndarray]) -> None:
    if set(arrays) != {tensor.name for tensor in tensors}:
        raise DataError(f"{where}: returns {sorted(arrays)}, task.json has {[t.name for t in tensors]}")
    for tensor in tensors:
        array = arrays[tensor.name]
        if array.dtype != np.dtype(tensor.dtype) or array.shape != tensor.shape:
            raise DataError(
                f"{where}: {tensor.name}: {array.dtype} {array.shape}, task.json has {tensor.dtype} {tensor.shape}"
            )
        if not np.isfinite(array).all():
            raise DataError(f"{where}: {tensor.name}: holds values that are not finite")


def make_case(task: Task, case: Case, reference: Reference) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Inputs and expected outputs of one case, checked: names, dtypes, shapes, finite values, the entries of sizes."""
    where = f"{task.folder / 'reference.py'}: {case.name}"
    inputs = reference.make_inputs(case_rng(task, case), **case.parameters)
    _check_arrays(f"{where}: make_inputs", case.inputs, inputs)
    entries = [case.parameters[name] for name in task.sizes]
    if inputs["sizes"].tolist() != entries:
        raise DataError(
            f"{where}: make_inputs: sizes is {inputs['sizes'].tolist()}, expected {entries} ({list(task.sizes)})"
        )
    kept = {name: array.copy() for name, array in inputs.items()}
    outputs = reference.reference(inputs)
    _check_arrays(f"{where}: reference", case.outputs, outputs)
    for name, array in kept.items():
        if not np.array_equal(array, inputs[name]):
            raise DataError(f"{where}: reference: changes its input {name}; work on a copy")
    return inputs, outputs


def check_oracle(task: Task, case: Case, reference: Reference) -> None:
    """The inputs are the same every time, and no constant and no input passes for an output.

    The small and the special case may have constant outputs: zeros in, zeros out.
    """
    where = f"{task.folder / 'reference.py'}: {case.name}"
    inputs, outputs = make_case(task, case, reference)
    for name, array in reference.make_inputs(case_rng(task, case), **case.parameters).items():
        if not np.array_equal(array, inputs[name]):
            raise DataError(f"{where}: make_inputs: {name} differs from call to call; draw from rng only")
    if case.name in ("small", "special"):
        return
    for name, expected in outputs.items():
        guesses = {"zeros": np.zeros_like(expected)}
        if expected.size > 1:
            guesses["its median"] = np.full_like(expected, np.median(expected))
            guesses["its first value"] = np.full_like(expected, expected.flat[0])
        same = {k: a for k, a in inputs.items() if a.shape == expected.shape and a.dtype == expected.dtype}
        for guess, array in (guesses | same).items():
            if compare(array, expected, *reference.tolerance[name])[0]:
                raise DataError(f"{where}: {name}: {guess} alone is within the tolerance; draw inputs that tell more")
