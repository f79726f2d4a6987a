"""The checks of a KernelBench task: what its model gives on the CPU, for two draws of inputs."""

import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...files import file_sha256
from ...sandbox import Isolation
from ...tasks.base import ModuleTask
from ..closeness import MODULE_TOLERANCES, module_distance, read_values
from ..modules.reference import Reference
from ..modules.runs import RUN_LIMITS, Worker
from ..oracle_runs import OracleError
from .findings import Code, Finding, Severity


TOLERANCE = MODULE_TOLERANCES["float32"]  # absolute and relative
SEEDS = ("0", "1")


@dataclass(frozen=True)
class _Trial:
    """What the model returns for one draw, over all its outputs. copies: each is a copy of an input."""

    elements: int
    finite: bool
    max_abs: float
    mean: float
    std: float
    sha256: tuple[str, ...]
    copies: bool


def audit_module(task: ModuleTask, *, isolation: Isolation = Isolation.AUTO) -> list[Finding]:
    """Outputs that zeros, a constant or a copy of the inputs would match, or that do not depend on the inputs
    (robust-kbench's filters), and inputs that differ when they are drawn again.

    Raises OracleError when the model cannot be run here.
    """
    findings = []

    def add(code: Code, severity: Severity, message: str) -> None:
        findings.append(Finding(task.id, code, severity, message))

    worker = Worker("cpu", "sm_90", RUN_LIMITS, isolation, trials=0, budget_s=0.0)
    with closing(Reference(worker, task, len(SEEDS))) as reference:
        inputs = reference.draw(SEEDS)
        if "time" in task.reference:
            time.sleep(1.1)  # a generator may be seeded with the time in seconds
        again = reference.draw(SEEDS)
        reproducible = _digests(inputs) == _digests(again)
        rows, files, _ = reference.forward(inputs, SEEDS, ())
        arguments = json.loads(inputs["inputs/arguments.json"].read_text(encoding="utf-8"))
        given = {seed: list(_tensors(arguments[seed], f"inputs/{seed}", inputs)) for seed in SEEDS}
        trials = [_trial(task, list(zip(rows[seed], files[seed], strict=True)), given[seed]) for seed in SEEDS]

    if not reproducible:
        add(
            Code.NOT_REPRODUCIBLE,
            Severity.WARNING,
            "get_inputs or get_init_inputs gives other values when it is run again from the same seed: draw from the global "
            "generators of torch, numpy.random or random, without a seed from the clock",
        )
    if not all(trial.finite for trial in trials):
        add(Code.NOT_FINITE, Severity.WARNING, "the model's output holds values that are not finite")
        return findings
    largest = max(trial.max_abs for trial in trials)
    if largest <= TOLERANCE:
        text = f"the largest output is {largest:.3g}, within the tolerance of {TOLERANCE:g}: zeros pass"
        add(Code.ZEROS_PASS, Severity.ERROR, text)
    elif all(trial.elements > 1 and trial.std <= TOLERANCE * (1 + abs(trial.mean)) for trial in trials):
        text = f"all outputs are {trials[0].mean:.6g} within the tolerance: a constant passes"
        add(Code.CONSTANT_PASSES, Severity.ERROR, text)
    if all(trial.copies for trial in trials):
        text = "each output is a copy of an input within the tolerance: a model that returns its inputs passes"
        add(Code.INPUT_PASSES, Severity.ERROR, text)
    if trials[0].sha256 == trials[1].sha256:
        text = "the output is the same for other inputs: it does not depend on them, or get_inputs does not draw them"
        add(Code.INPUT_INDEPENDENT, Severity.WARNING, text)
    return findings


def _digests(files: Mapping[str, Path]) -> dict[str, str]:
    return {name: file_sha256(path) for name, path in files.items()}


def _tensors(item: Any, place: str, files: Mapping[str, Path]) -> Iterator[tuple[str, list[int], Path]]:
    """Dtype, shape and file of every tensor among saved arguments (worker.encode)."""
    if isinstance(item, dict) and "tensor" in item:
        yield item["dtype"], item["shape"], files[f"{place}/{item['tensor']}.bin"]
    elif isinstance(item, dict | list):
        for part in item.values() if isinstance(item, dict) else item:
            yield from _tensors(part, place, files)


def _trial(
    task: ModuleTask, outputs: list[tuple[Mapping[str, Any], Path]], given: list[tuple[str, list[int], Path]]
) -> _Trial:
    parts = [read_values(path, row["dtype"].removeprefix("torch.")) for row, path in outputs]
    flat = np.concatenate([part.view(part.real.dtype).astype(np.float64) for part in parts] or [np.empty(0)])
    if not flat.size:
        raise OracleError(f"task {task.id}: the model's forward returns no values")
    with np.errstate(all="ignore"):
        return _Trial(
            elements=flat.size,
            finite=bool(np.isfinite(flat).all()),
            max_abs=float(np.abs(flat).max()),
            mean=float(flat.mean()),
            std=float(flat.std()),
            sha256=tuple(file_sha256(path) for _, path in outputs),
            copies=all(
                any(
                    (dtype, shape) == (row["dtype"], row["shape"])
                    and math.prod(shape)
                    and module_distance(path, source, dtype, shape).close
                    for dtype, shape, source in given
                )
                for row, path in outputs
            ),
        )
