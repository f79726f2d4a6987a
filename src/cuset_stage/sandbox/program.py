"""Run a compiled program on files, and take its output files without trusting anything it left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .folders import Refused, out_of_room, scratch_folder, take_output
from .gpus import Gpu
from .isolation import Isolation
from .limits import Limits, SandboxError, Verdict
from .process import start_sandboxed
from .supervision import Finished, Supervised


_LIMIT_NAMES = {"gpu_memory": "GPU memory", "processes": "number of processes", "wall": "wall time", "cpu": "CPU time"}
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


def _describe(code: int) -> str:
    if code >= 0:
        return f"the program returned {code}"
    try:
        return f"the program died by {signal.Signals(-code).name}"
    except ValueError:
        return f"the program died by signal {-code}"


def _judge(finished: Finished, limits: Limits) -> tuple[Verdict | None, str]:
    if finished.infra is not None:
        return Verdict.INFRA_ERROR, finished.infra
    if finished.stopped is None and finished.returncode == 0:
        return None, ""
    verdict, what = Verdict.RUNTIME_ERROR, _describe(finished.returncode or 0)
    if finished.stopped is not None:
        what = f"the program was stopped at its {_LIMIT_NAMES.get(finished.stopped, finished.stopped)} limit"
    if finished.stopped in ("wall", "cpu"):
        verdict = Verdict.TIMEOUT
        what += f" of {limits.wall_s if finished.stopped == 'wall' else limits.cpu_s:g} s"
    said = (finished.stderr.strip() or finished.stdout.strip())[-_TAIL_CHARS:]
    return verdict, f"{what}\n{said}".strip()


@contextmanager
def run_program(binary: Path, **options: Any) -> Iterator[Ran]:
    """Run `binary` in a fresh folder that holds `program`, the inputs (read-only), `data/` and `tmp/`; yield what came out.

    options: inputs, outputs, limits, gpu, isolation, as start_program has them, which also says what is raised.
    """
    with start_program(binary, **options) as started:
        yield started.wait()


class Started:
    """A program whose folder and sandbox are there, or about to be."""

    def __init__(self, running: Supervised, scratch: Path, outputs: Mapping[str, int | None], limits: Limits) -> None:
        self._running, self._scratch, self._outputs, self._limits = running, scratch, outputs, limits

    def go(self) -> None:
        """Let it begin. Returns at once; a second call does nothing."""
        self._running.go()

    def wait(self) -> Ran:
        """Let it begin, and return what came out, when everything of the program is dead. Once."""
        finished = self._running.wait()
        verdict, message = _judge(finished, self._limits)
        taken: dict[str, Path] = {}
        problems: list[Refused] = []
        for name, size in self._outputs.items() if verdict is None else ():
            target = self._scratch / "outputs" / name
            refused = take_output(self._scratch / "run", name, target, size=size)
            if refused is None:
                taken[name] = target
            else:
                problems.append(refused)
        if problems:
            problems.sort(key=lambda problem: problem.wrong_size)  # the missing ones first
            verdict = Verdict.MISMATCH if problems[0].wrong_size else Verdict.MISSING_OUTPUT
            message = "; ".join(problem.reason for problem in problems)
        if verdict not in (None, Verdict.INFRA_ERROR) and finished.stopped is None:
            need = sum(size or 0 for size in self._outputs.values())
            if lacking := out_of_room(self._scratch / "run", need):
                verdict, message, finished = Verdict.INFRA_ERROR, lacking, replace(finished, infra=lacking)
        return Ran(verdict, finished, taken, message)


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
        folder.mkdir()
        for name in ("data", *(str(Path(name).parent) for name in outputs)):
            (folder / name).mkdir(parents=True, exist_ok=True)
        readonly = {"program": binary, **inputs}
        with start_sandboxed(
            ["./program"], folder=folder, readonly=readonly, limits=limits, gpu=gpu, isolation=isolation
        ) as running:
            yield Started(running, scratch, outputs, limits)
