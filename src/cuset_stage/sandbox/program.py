"""Run a compiled program on files, and take its output files without trusting anything it left."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from .folders import out_of_room, scratch_folder, take_output
from .gpus import Gpu
from .isolation import Isolation
from .limits import Limits, SandboxError, Verdict
from .process import run_sandboxed
from .supervision import Finished


_TAIL_CHARS = 2000


@dataclass(frozen=True)
class Ran:
    """One run of a program.

    verdict: None when it returned 0 and every output is there with its exact size; else RUNTIME_ERROR, TIMEOUT,
    MISSING_OUTPUT, MISMATCH (wrong size) or INFRA_ERROR. outputs: name -> file, only the good ones, taken out of the program's
    reach; they go when the `with` block ends. message: why, with the end of stderr.
    """

    verdict: Verdict | None
    finished: Finished
    outputs: Mapping[str, Path]
    message: str


@contextmanager
def run_program(
    binary: Path,
    *,
    inputs: Mapping[str, Path],
    outputs: Mapping[str, int | None],
    limits: Limits = Limits(),  # noqa: B008  a frozen record
    gpu: Gpu | None = None,
    isolation: Isolation | str = Isolation.AUTO,
) -> Iterator[Ran]:
    """Run `binary` in a fresh folder that holds `program`, the inputs (read-only), `data/` and `tmp/`; yield what came out.

    inputs: name relative to the working directory ("data/a.bin") -> file. outputs: name -> exact number of bytes, None: any.
    gpu: see run_sandboxed; hold a lease (lease_gpu) around the run.
    Raises SandboxError for a binary that is not there, and as run_sandboxed does.
    """
    for name in outputs:
        if Path(name).is_absolute() or ".." in Path(name).parts or name in inputs:
            raise ValueError(f"outputs[{name!r}]: a name relative to the folder, without '..', that is no input")
    if not os.access(binary, os.X_OK):
        raise SandboxError(f"{binary}: no program that may be run")
    with scratch_folder() as scratch:
        folder = scratch / "run"
        for name in ("data", *(str(Path(name).parent) for name in outputs)):
            (folder / name).mkdir(parents=True, exist_ok=True)
        finished = run_sandboxed(
            ["./program"],
            folder=folder,
            readonly={"program": binary, **inputs},
            limits=limits,
            gpu=gpu,
            isolation=isolation,
        )
        yield _collect(finished, scratch, outputs, limits)


def _collect(finished: Finished, scratch: Path, outputs: Mapping[str, int | None], limits: Limits) -> Ran:
    """The outputs of a program that has ended, moved out of its reach, or else the verdict."""
    if finished.infra is not None:
        return Ran(Verdict.INFRA_ERROR, finished, {}, finished.infra)
    taken: dict[str, Path] = {}
    verdict, message = None, ""
    if finished.stopped is not None or finished.returncode != 0:
        verdict = Verdict.TIMEOUT if finished.out_of_time else Verdict.RUNTIME_ERROR
        said = (finished.stderr.strip() or finished.stdout.strip())[-_TAIL_CHARS:]
        message = f"the program {finished.ending(limits)}\n{said}".strip()
    else:
        problems = []
        for name, size in outputs.items():
            target = scratch / "outputs" / name
            if refused := take_output(scratch / "run", name, target, size=size):
                problems.append(refused)
            else:
                taken[name] = target
        if problems:
            problems.sort(key=lambda problem: problem.wrong_size)  # the missing ones first
            verdict = Verdict.MISMATCH if problems[0].wrong_size else Verdict.MISSING_OUTPUT
            message = "; ".join(problem.reason for problem in problems)
    need = sum(size or 0 for size in outputs.values())
    if verdict is not None and finished.stopped is None and (lacking := out_of_room(scratch / "run", need)):
        return Ran(Verdict.INFRA_ERROR, replace(finished, infra=lacking), {}, lacking)
    return Ran(verdict, finished, taken, message)
