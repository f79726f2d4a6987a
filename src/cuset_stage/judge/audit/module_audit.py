"""The checks of a KernelBench task: what its model gives on the CPU, for two draws of inputs."""

from ...sandbox import Isolation, Limits
from ...tasks.base import ModuleTask
from ..closeness import MODULE_TOLERANCES
from ..oracle_runs import run_module
from .findings import Code, Finding, Severity


TOLERANCE = MODULE_TOLERANCES["float32"]  # absolute and relative
MODULE_LIMITS = Limits(wall_s=300.0, memory_bytes=None, processes=1024)


def audit_module(
    task: ModuleTask, *, limits: Limits = MODULE_LIMITS, isolation: Isolation = Isolation.AUTO
) -> list[Finding]:
    """Outputs that zeros, a constant or a copy of the inputs would match, or that do not depend on the inputs
    (robust-kbench's filters), and inputs that differ when they are drawn again.

    Raises OracleError when the model cannot be run here.
    """
    result = run_module(task.id, task.reference, limits, isolation)
    trials = result["trials"]
    findings = []

    def add(code: Code, severity: Severity, message: str) -> None:
        findings.append(Finding(task.id, code, severity, message))

    if not result["reproducible"]:
        add(
            Code.NOT_REPRODUCIBLE,
            Severity.WARNING,
            "get_inputs or get_init_inputs gives other values when it is run again from the same seed: draw from the global "
            "generators of torch, numpy.random or random, without a seed from the clock",
        )
    if not all(trial["finite"] for trial in trials):
        add(Code.NOT_FINITE, Severity.WARNING, "the model's output holds values that are not finite")
        return findings
    largest = max(trial["max_abs"] for trial in trials)
    if largest <= TOLERANCE:
        text = f"the largest output is {largest:.3g}, within the tolerance of {TOLERANCE:g}: zeros pass"
        add(Code.ZEROS_PASS, Severity.ERROR, text)
    elif all(trial["elements"] > 1 and trial["std"] <= TOLERANCE * (1 + abs(trial["mean"])) for trial in trials):
        text = f"all outputs are {trials[0]['mean']:.6g} within the tolerance: a constant passes"
        add(Code.CONSTANT_PASSES, Severity.ERROR, text)
    if all(trial["copies"] for trial in trials):
        text = "each output is a copy of an input within the tolerance: a model that returns its inputs passes"
        add(Code.INPUT_PASSES, Severity.ERROR, text)
    if len({trial["sha256"] for trial in trials}) == 1:
        text = "the output is the same for other inputs: it does not depend on them, or get_inputs does not draw them"
        add(Code.INPUT_INDEPENDENT, Severity.WARNING, text)
    return findings
