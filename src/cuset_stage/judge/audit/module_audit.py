"""The checks of a KernelBench task: what its model gives on the CPU, for two draws of inputs."""

import time
from collections.abc import Sequence

from ...files import file_sha256
from ...sandbox import Isolation, scratch_folder
from ...tasks.base import ModuleTask
from ..closeness import MODULE_TOLERANCES, read_values
from ..modules.process import ModuleRunner
from ..modules.session import Content, Saved
from ..oracle_runs import OracleError
from .findings import Code, Finding, Severity
from .wrong_outputs import profile


TOLERANCE = MODULE_TOLERANCES["float32"]  # absolute and relative
SEEDS = (0, 1)


def audit_module(task: ModuleTask, *, isolation: Isolation = Isolation.AUTO) -> list[Finding]:
    """Outputs that zeros, a constant or a copy of the inputs would match, or that do not depend on the inputs
    (robust-kbench's filters), and inputs that differ when they are drawn again.

    Raises OracleError when the model cannot be run here.
    """
    found: list[tuple[Code, Severity, str]] = []
    runner = ModuleRunner("cpu", isolation=isolation)
    with scratch_folder() as files, runner.reference(task, None) as model:
        init = model.draw(None, files / "init")
        given = [model.draw(seed, files / f"given-{seed}") for seed in SEEDS]
        if "time" in task.reference:
            time.sleep(1.1)  # a generator may be seeded with the time in seconds
        with runner.reference(task, None) as other:
            again = [other.draw(None, files / "again"), *(other.draw(seed, files / f"again-{seed}") for seed in SEEDS)]
        if _digests([init, *given]) != _digests(again):
            text = "get_inputs or get_init_inputs gives other values when it is run again from the same seed"
            fix = "draw from the global generators of torch, numpy.random or random, without a seed from the clock"
            found.append((Code.NOT_REPRODUCIBLE, Severity.WARNING, f"{text}: {fix}"))
        model.build("Model", init)
        outputs = [
            model.outputs(model.call(content, seed, fresh=True), files / f"outputs-{seed}").outputs
            for seed, content in zip(SEEDS, given, strict=True)
        ]
        copies = all(
            any(_is_copy(output, tensor) for tensor in content.tensors)
            for rows, content in zip(outputs, given, strict=True)
            for output in rows
        )
        digests = [[file_sha256(output.path) for output in rows] for rows in outputs]
        seen = []
        for rows in outputs:
            values = [read_values(output.path, output.dtype.removeprefix("torch.")) for output in rows]
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


def _digests(contents: Sequence[Content]) -> list[tuple[str, list[str]]]:
    return [(str(one.arguments), [file_sha256(tensor.path) for tensor in one.tensors]) for one in contents]


def _is_copy(output: Saved, given: Saved) -> bool:
    alike = (given.dtype, given.shape) == (output.dtype, output.shape) and 0 not in output.shape
    return alike and output.distance(given.path).close
