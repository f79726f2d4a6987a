"""Run a compiled program on files, and take its output files without trusting anything it left."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .folders import out_of_room, scratch_folder, take_output
from .gpus import Gpu
from .isolation import Isolation
from .limits import Limits, SandboxError, Verdict
from .process import start_sandboxed
from .supervision import Finished, Supervised


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


@dataclass
class Started:
    """A program whose folder and sandbox are there, or about to be. See start_program for `outputs`."""

    running: Supervised
    scratch: Path
    outputs: Mapping[str, int | None]
    limits: Limits

    def go(self) -> None:
        """Let it begin. Returns at once; a second call does nothing."""
        self.running.go()

    def wait(self) -> Ran:
        """Let it begin, and return what came out, when everything of the program is dead. Once."""
        finished = self.running.wait()
        if finished.infra is not None:
            return Ran(Verdict.INFRA_ERROR, finished, {}, finished.infra)
        taken: dict[str, Path] = {}
        if finished.stopped is not None or finished.returncode != 0:
            verdict = Verdict.TIMEOUT if finished.out_of_time else Verdict.RUNTIME_ERROR
            said = (finished.stderr.strip() or finished.stdout.strip())[-_TAIL_CHARS:]
            message = f"the program {finished.ending(self.limits)}\n{said}".strip()
        else:
            verdict, message = self._take(taken)
        if verdict is not None and finished.stopped is None:
            need = sum(size or 0 for size in self.outputs.values())
            if lacking := out_of_room(self.scratch / "run", need):
                return Ran(Verdict.INFRA_ERROR, replace(finished, infra=lacking), {}, lacking)
        return Ran(verdict, finished, taken, message)

    def _take(self, taken: dict[str, Path]) -> tuple[Verdict | None, str]:
        """Move the outputs into `taken`; what is wrong with the others, the missing ones first."""
        problems = []
        for name, size in self.outputs.items():
            target = self.scratch / "outputs" / name
            if refused := take_output(self.scratch / "run", name, target, size=size):
                problems.append(refused)
            else:
                taken[name] = target
        problems.sort(key=lambda problem: problem.wrong_size)
        verdict = None
        if problems:
            verdict = Verdict.MISMATCH if problems[0].wrong_size else Verdict.MISSING_OUTPUT
        return verdict, "; ".join(problem.reason for problem in problems)


@contextmanager
def run_program(binary: Path, **options: Any) -> Iterator[Ran]:
    """Run `binary` in a fresh folder that holds `program`, the inputs (read-only), `data/` and `tmp/`; yield what came out.

    options, and what is raised: see start_program.
    """
    with start_program(binary, **options) as started:
        yield started.wait()


@contextmanager
def start_program(
    binary: Path,
    *,
    inputs: Mapping[str, Path],
    outputs: Mapping[str, int | None],
    limits: Limits = Limits(),  # noqa: B008  a frozen record
    gpu: Gpu | None = None,
    isolation: Isolation | str = Isolation.AUTO,
) -> Iterator[Started]:
    """run_program in two steps: the folder and the sandbox are made while the caller does something else, such as waiting for a GPU.

    inputs: name relative to the working directory ("data/a.bin") -> file. outputs: name -> exact number of bytes, None: any.
    gpu: see start_sandboxed; hold a lease (lease_gpu) around the run.
    Leaving the block ends what has not ended. Raises SandboxError for a binary that is not there, and as start_sandboxed does.
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
        readonly = {"program": binary, **inputs}
        with start_sandboxed(
            ["./program"], folder=folder, readonly=readonly, limits=limits, gpu=gpu, isolation=isolation
        ) as running:
            yield Started(running, scratch, outputs, limits)
