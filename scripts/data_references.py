"""Runs the NumPy references of data/kernels/ and looks for what makes an oracle weak.

References run in this process, unlike in the judge, which treats them as untrusted: these are our own, and hundreds of cases
take seconds this way.
"""

from __future__ import annotations

import runpy
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from data_tasks import BundledTask

from cuset_stage.tasks.base import Case, TaskError, Tensor


Arrays = dict[str, np.ndarray]


def load_reference(task: BundledTask) -> dict[str, Any]:
    """make_inputs, reference and TOLERANCE of the task's reference.py."""
    path = task.folder / "reference.py"
    module = runpy.run_path(str(path))
    if missing := {"make_inputs", "reference", "TOLERANCE"} - set(module):
        raise TaskError(f"{path}: does not define {', '.join(sorted(missing))}")
    if set(module["TOLERANCE"]) != {tensor["name"] for tensor in task.meta["outputs"]}:
        raise TaskError(
            f"{path}: TOLERANCE: names {sorted(module['TOLERANCE'])}, expected (rtol, atol) of every output"
        )
    return module


def make_inputs(task: BundledTask, case: Case, reference: Mapping[str, Any]) -> Arrays:
    """The inputs of a case from its own generator: they stay the same when other tasks or cases come or go."""
    rng = np.random.default_rng(zlib.crc32(f"{task.name}/{case.name}".encode()))
    return reference["make_inputs"](rng, **case.parameters)


def check_case(task: BundledTask, case: Case, reference: Mapping[str, Any]) -> None:
    """Raise TaskError unless inputs and outputs are as declared and finite, the same every time, and tell right from wrong.

    No constant and no input passes for an output, but in the small and the special case: zeros in, zeros out.
    """
    where = f"{task.folder / 'reference.py'}: {case.name}"
    inputs = make_inputs(task, case, reference)
    _check_arrays(f"{where}: make_inputs", case.inputs, inputs)
    entries = [case.parameters[name] for name in task.sizes]
    if inputs["sizes"].tolist() != entries:
        raise TaskError(f"{where}: make_inputs: sizes is {inputs['sizes'].tolist()}, expected {entries}")
    outputs = reference["reference"](inputs)
    _check_arrays(f"{where}: reference", case.outputs, outputs)
    for name, array in make_inputs(task, case, reference).items():
        if not np.array_equal(array, inputs[name]):
            raise TaskError(f"{where}: {name} differs from call to call (draw from rng only), or reference changes it")
    if case.name in ("small", "special"):
        return
    for name, expected in outputs.items():
        guesses = {"zeros": np.zeros_like(expected)}
        if expected.size > 1:
            guesses["its median"] = np.full_like(expected, np.median(expected))
            guesses["its first value"] = np.full_like(expected, expected.flat[0])
        same = {k: a for k, a in inputs.items() if a.shape == expected.shape and a.dtype == expected.dtype}
        for guess, array in (guesses | same).items():
            if is_close(array, expected, *reference["TOLERANCE"][name]):
                raise TaskError(
                    f"{where}: {name}: {guess} alone is within the tolerance; draw inputs that tell right from wrong"
                )


def is_close(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> bool:
    """The contract of data/README.md on arrays; cuset_stage.judge.comparison is the judge's, on files."""
    if rtol == 0 and atol == 0:  # float64 does not hold every int64
        return np.array_equal(actual, expected)
    want = expected.astype(np.float64)
    return bool((np.abs(actual.astype(np.float64) - want) <= atol + rtol * np.abs(want)).all())


def _check_arrays(where: str, tensors: tuple[Tensor, ...], arrays: Arrays) -> None:
    if set(arrays) != {tensor.name for tensor in tensors}:
        raise TaskError(f"{where}: returns {sorted(arrays)}, task.json has {[tensor.name for tensor in tensors]}")
    for tensor in tensors:
        array = arrays[tensor.name]
        if array.dtype != np.dtype(tensor.dtype) or array.shape != tensor.shape:
            raise TaskError(
                f"{where}: {tensor.name}: {array.dtype} {array.shape}, task.json has {tensor.dtype} {tensor.shape}"
            )
        if not np.isfinite(array).all():
            raise TaskError(f"{where}: {tensor.name}: holds values that are not finite")
