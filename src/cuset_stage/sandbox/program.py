"""Run a compiled program on files, and take its output files without trusting anything it left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from .folders import keep_folder, out_of_room, scratch_folder, take_output
from .gpus import Gpu
from .isolation import Isolation
from .limits import Limits
from .process import Finished, Sandboxed, start_sandboxed
from .verdicts import SandboxError, Verdict


_LIMIT_NAMES = {
    "memory": "memory",
    "disk": "disk",
    "gpu_memory": "GPU memory",
    "processes": "number of processes",
    "wall": "wall time",
    "cpu": "CPU time",
}
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
    said = (finished.stderr.strip() or finished.stdout.strip())[-_TAIL_CHARS:]
    if finished.infra is not None:
        return Verdict.INFRA_ERROR, finished.infra
    if finished.stopped in ("wall", "cpu"):
        limit = limits.wall_s if finished.stopped == "wall" else limits.cpu_s
        what = f"the program was stopped at its {_LIMIT_NAMES[finished.stopped]} limit of {limit:g} s"
        return Verdict.TIMEOUT, f"{what}\n{said}".strip()
    if finished.stopped is not None:
        what = f"the program was stopped at its {_LIMIT_NAMES[finished.stopped]} limit"
        return Verdict.RUNTIME_ERROR, f"{what}\n{said}".strip()
    if finished.returncode != 0:
        return Verdict.RUNTIME_ERROR, f"{_describe(finished.returncode)}\n{said}".strip()
    return None, ""


@contextmanager
def run_program(
    binary: Path,
    *,
    inputs: Mapping[str, Path],
    outputs: Mapping[str, int | None],
    limits: Limits = Limits(),  # noqa: B008  a frozen record
    gpu: Gpu | None = None,
    isolation: Isolation | str = Isolation.AUTO,
    keep: Path | None = None,
) -> Iterator[Ran]:
    """Run `binary` in a fresh folder that holds `program`, the inputs (read-only), `data/` and `tmp/`; yield what came out.

    inputs: name relative to the working directory ("data/a.bin") -> file. outputs: name -> exact number of bytes, None: any.
    gpu: see run_sandboxed; hold a lease (lease_gpu) around the run.
    keep: a folder that the run's own folder becomes afterwards, instead of being removed.
    Raises SandboxError for a binary that is not there, and as run_sandboxed does.
    """
    with start_program(
        binary, inputs=inputs, outputs=outputs, limits=limits, gpu=gpu, isolation=isolation, keep=keep
    ) as started:
        yield started.wait()


class Started:
    """A program whose folder and sandbox are there, or about to be. `go` lets it begin, `wait` does so too."""

    def __init__(self, running: Sandboxed, scratch: Path, outputs: Mapping[str, int | None], limits: Limits) -> None:
        self._running, self._scratch, self._outputs, self._limits = running, scratch, outputs, limits

    def go(self) -> None:
        """Returns at once. A second call does nothing."""
        self._running.go()

    def wait(self) -> Ran:
        """What came out, when everything of the program is dead. Once."""
        finished = self._running.wait()
        verdict, message = _judge(finished, self._limits)
        taken: dict[str, Path] = {}
        problems = []
        for name, size in self._outputs.items() if verdict is None else ():
            target = self._scratch / "outputs" / name
            refused = take_output(self._scratch / "run", name, target, size=size)
            if refused is None:
                taken[name] = target
            else:
                problems.append(refused)
        if problems:
            missing = [problem for problem in problems if not problem.wrong_size]
            verdict = Verdict.MISSING_OUTPUT if missing else Verdict.MISMATCH
            message = "; ".join(problem.reason for problem in (*missing, *(p for p in problems if p.wrong_size)))
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
    keep: Path | None = None,
) -> Iterator[Started]:
    """run_program in two steps: the folder and the sandbox are made while the caller does something else, such as waiting for a GPU
    or for another program. Leaving the block ends what has not ended. Arguments and errors as of run_program.
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
        with start_sandboxed(
            ["./program"],
            folder=folder,
            readonly={"program": binary, **inputs},
            limits=limits,
            gpu=gpu,
            isolation=isolation,
        ) as running:
            try:
                yield Started(running, scratch, outputs, limits)
            finally:
                if keep is not None and running.finished is not None and folder.exists():
                    keep_folder(folder, keep)
