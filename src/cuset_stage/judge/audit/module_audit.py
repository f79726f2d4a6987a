"""The checks of a KernelBench task: what its model gives on the CPU, for two draws of inputs."""

import json
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from ...files import file_sha256
from ...sandbox import Isolation
from ...tasks.base import ModuleTask
from ..closeness import MODULE_TOLERANCES, read_values
from ..modules.calls import Saved
from ..modules.reference import Reference
from ..modules.runs import Worker
from ..oracle_runs import OracleError
from .findings import Code, Finding, Severity
from .wrong_outputs import profile


TOLERANCE = MODULE_TOLERANCES["float32"]  # absolute and relative
SEEDS = ("0", "1")


def audit_module(task: ModuleTask, *, isolation: Isolation = Isolation.AUTO) -> list[Finding]:
    """Outputs that zeros, a constant or a copy of the inputs would match, or that do not depend on the inputs
    (robust-kbench's filters), and inputs that differ when they are drawn again.

    Raises OracleError when the model cannot be run here.
    """
    found: list[tuple[Code, Severity, str]] = []
    with closing(Reference(Worker("cpu", isolation=isolation), task)) as reference:
        inputs = reference.draw(SEEDS)
        if "time" in task.reference:
            time.sleep(1.1)  # a generator may be seeded with the time in seconds
        if _digests(inputs) != _digests(reference.draw(SEEDS)):
            text = "get_inputs or get_init_inputs gives other values when it is run again from the same seed"
            fix = "draw from the global generators of torch, numpy.random or random, without a seed from the clock"
            found.append((Code.NOT_REPRODUCIBLE, Severity.WARNING, f"{text}: {fix}"))
        outputs, _ = reference.forward(inputs, SEEDS, ())
        given = {
            seed: json.loads(inputs[f"inputs/{seed}/arguments.json"].read_text(encoding="utf-8")) for seed in SEEDS
        }
        copies = all(
            any(
                _is_copy(output, row, inputs[f"inputs/{seed}/{n}.bin"]) for n, row in enumerate(given[seed]["tensors"])
            )
            for seed in SEEDS
            for output in outputs[seed]
        )
        digests = [[file_sha256(output.path) for output in outputs[seed]] for seed in SEEDS]
        seen = []
        for seed in SEEDS:
            values = [read_values(output.path, output.dtype.removeprefix("torch.")) for output in outputs[seed]]
            seen.append(profile(part.view(part.real.dtype) for part in values))

    if not all(trial.elements for trial in seen):
        raise OracleError(f"task {task.id}: the model's forward returns no values")
    largest = max(trial.largest for trial in seen)
    if not all(trial.finite for trial in seen):
        found.append((Code.NOT_FINITE, Severity.WARNING, "the model's output holds values that are not finite"))
        return [Finding(task.id, *finding) for finding in found]
    if largest <= TOLERANCE:
        text = f"the largest output is {largest:.3g}, within the tolerance of {TOLERANCE:g}: zeros pass"
        found.append((Code.ZEROS_PASS, Severity.ERROR, text))
    elif all(trial.elements > 1 and trial.std <= TOLERANCE * (1 + abs(trial.mean)) for trial in seen):
        text = f"all outputs are {seen[0].mean:.6g} within the tolerance: a constant passes"
        found.append((Code.CONSTANT_PASSES, Severity.ERROR, text))
    if copies:
        text = "each output is a copy of an input within the tolerance: a model that returns its inputs passes"
        found.append((Code.INPUT_PASSES, Severity.ERROR, text))
    if digests[0] == digests[1]:
        text = "the output is the same for other inputs: it does not depend on them, or get_inputs does not draw them"
        found.append((Code.INPUT_INDEPENDENT, Severity.WARNING, text))
    return [Finding(task.id, *finding) for finding in found]


def _digests(files: Mapping[str, Path]) -> dict[str, str]:
    return {name: file_sha256(path) for name, path in files.items()}


def _is_copy(output: Saved, given: Mapping[str, Any], path: Path) -> bool:
    alike = (given["dtype"], given["shape"]) == (output.dtype, output.shape) and 0 not in output.shape
    return alike and output.distance(path).close
