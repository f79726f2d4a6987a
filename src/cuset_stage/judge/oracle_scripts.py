"""Runs the scripts of a task's oracle, each in the sandbox, in a process and a folder of its own: gen.py, compare.py, a reference.

Most of them run in processes that have imported NumPy (and torch) and fork for each script: importing takes longer than most scripts. The
scripts are the task set's own; what an answer wrote is never near.
"""

import atexit
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from ..sandbox import (
    Finished,
    Gpu,
    Isolation,
    Limits,
    SandboxError,
    lease_gpu,
    list_gpus,
    python_paths,
    run_sandboxed,
    scratch_folder,
)
from ..sandbox.background import BackgroundRun
from ..tasks.base import ProgramTask


GIB = 2**30
DRIVER = Path(__file__).with_name("oracle_driver.py")
# On 32 cores, importing NumPy takes 3 s of processor time, and a compare.py multiplies no matrices.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONPATH": "", "CUSET_STAGE_DISABLE": "1"}
# For making inputs and references: the slowest scripts of CUDABench take minutes and the largest writes 8 GiB. Memory: what the machine
# has, less a tenth.
ORACLE_LIMITS = Limits(wall_s=600.0, memory_bytes=None, file_bytes=16 * GIB, folder_bytes=32 * GIB, processes=1024)
COMPARE_LIMITS = replace(ORACLE_LIMITS, wall_s=300.0)
A_DAY_S = 86400.0  # of a server: each script has its own time limit
BROKEN = {"refused": "prints F", "crashed": "stops with a traceback", "silent": "prints neither T nor F"}

_TRUE = re.compile(r"(?<![A-Za-z])T(?![A-Za-z])")


class OracleError(RuntimeError):
    """A task's oracle failed: its reference cannot be made, its compare.py cannot judge. Never charged to a model.

    Where something of this machine failed (no space, no process), so that another try may work, it is a SandboxError.
    """


class OracleStopped(OracleError):
    """A script of the task was stopped at one of its limits."""


@dataclass(frozen=True)
class Said:
    """The verdict of compare.py on outputs.

    state: "passed" (a T, no F), "refused" (an F), "crashed" (a traceback, its last line is `message`; also after a T: it may have
    stopped before another output), "silent" (neither); of the references themselves also "unpaired": it is not known which is
    whose.
    """

    state: str
    message: str

    @property
    def passed(self) -> bool:
        return self.state == "passed"

    @property
    def broken(self) -> bool:
        """True if compare.py does not accept the references themselves, so that its verdict on other outputs is worth nothing."""
        return self.state in BROKEN


def run_generate(
    task: ProgramTask, folder: Path, limits: Limits, isolation: Isolation, *, seeded: bool = True
) -> None:
    """Run gen.py in `folder`; what it writes is in data/. A script that asks for a CUDA device gets one, where there is one.

    seeded: whether a generator that gen.py leaves unseeded (random, numpy.random, numpy's default_rng, torch) starts from a seed of
    the task, so that the data can be made again elsewhere. A script that seeds itself sees no difference.
    """
    seed = [str(int(task.fingerprint[:8], 16))] if seeded else []
    script = task.oracle.generate
    needs_gpu = re.search(r"""["']cuda\b|\.cuda\(""", script) is not None
    gpus = list_gpus() if needs_gpu else []
    if gpus:
        with lease_gpu(gpus) as gpu:
            finished = _run_alone("gen.py", script, {}, folder, limits, isolation, seed, gpu)
    else:
        finished = run_script(["script", "gen.py", *seed], {"gen.py": script}, folder, limits, isolation)
    lacking = "; it asks for a CUDA device, and there is none here" if needs_gpu and not gpus else ""
    check_finished(finished, f"task {task.id}: gen.py", limits, lacking)


def run_compare(task: ProgramTask, files: Mapping[str, Path], isolation: Isolation) -> Said:
    """Run compare.py on read-only files ("data/x.bin" -> host file): inputs, references and outputs.

    Raises OracleStopped at a limit, SandboxError when the sandbox fails.
    """
    with oracle_folder() as folder:
        finished = _run_alone("compare.py", task.oracle.compare, files, folder, COMPARE_LIMITS, isolation)
    crashed = finished.returncode != 0
    if finished.infra is not None or finished.stopped is not None:
        check_finished(finished, f"task {task.id}: compare.py", COMPARE_LIMITS)
    said = finished.stdout
    message = last_line(finished.stderr)[:500] if crashed else said.strip()[-300:]
    if "F" in said:
        return Said("refused", message)
    return Said("crashed" if crashed else "passed" if _TRUE.search(said) else "silent", message)


def written_files(folder: Path) -> dict[str, int]:
    """The regular files under folder/data, "data/x.bin" -> bytes. Links are not followed, and other kinds left out."""
    files = sorted(path for path in (folder / "data").rglob("*") if not path.is_symlink() and path.is_file())
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}


def _run_alone(
    name: str,
    script: str,
    files: Mapping[str, Path],
    folder: Path,
    limits: Limits,
    isolation: Isolation,
    arguments: Sequence[str] = (),
    gpu: Gpu | None = None,
) -> Finished:
    """Run a script in a process that does not outlive it: for those that read files of the host or use a GPU, which no server can give."""
    (folder / "data").mkdir()
    with oracle_folder() as aside:  # the script lies outside the folder that it may write to
        (aside / name).write_text(script, encoding="utf-8", newline="\n")
        return run_sandboxed(
            [sys.executable, "-s", "-B", "oracle_driver.py", "script", name, *arguments],
            folder=folder,
            readonly={"oracle_driver.py": DRIVER, **files, name: aside / name},
            visible=python_paths(),
            limits=bounded(limits),
            environment=ENVIRONMENT | ONE_THREAD,
            gpu=gpu,
            isolation=isolation,
        )


@contextmanager
def oracle_folder() -> Iterator[Path]:
    """A folder that a script may write to, in a scratch folder that holds what it may not."""
    with scratch_folder() as scratch:
        (scratch / "work").mkdir()
        yield scratch / "work"


def check_finished(finished: Finished, what: str, limits: Limits, hint: str = "") -> None:
    """Raise SandboxError, OracleStopped or OracleError for a script that did not end with 0. what: the script, as the message names it."""
    if finished.infra is not None:
        raise SandboxError(f"{what} could not be run: {finished.infra}")
    if finished.stopped is not None:
        raise OracleStopped(f"{what} {finished.ending(limits)}")
    if finished.returncode != 0:
        said = last_line(finished.stderr)[:500]
        raise OracleError(f"{what} failed (exit code {finished.returncode}): {said}{hint}")


def last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2] or "it printed nothing"


def bounded(limits: Limits) -> Limits:
    """Returns the limits, with nine tenths of the machine's memory where they set no limit on memory."""
    return limits if limits.memory_bytes else replace(limits, memory_bytes=psutil.virtual_memory().total * 9 // 10)


class ScriptServer:
    """A process that forks for scripts: one at a time, each in a folder of its own and ended with all that it started."""

    def __init__(self, limits: Limits, isolation: Isolation) -> None:
        self.limits = limits
        self._folders = ExitStack()
        self._folder = self._folders.enter_context(scratch_folder()) / "work"
        self._folder.mkdir()
        self._process = BackgroundRun(
            [sys.executable, "-s", "-B", "oracle_driver.py", "serve"],
            folder=self._folder,
            readonly={"oracle_driver.py": DRIVER},
            visible=python_paths(),
            limits=replace(bounded(limits), wall_s=A_DAY_S),
            environment=ENVIRONMENT,
            isolation=isolation,
        )
        self._process.start()
        self._channel = self._process.socket
        self._answers = self._channel.makefile("rb")
        atexit.register(self.close)
        self._scripts = 0

    def run(self, arguments: Sequence[str], scripts: Mapping[str, str], work: Path) -> Finished:
        """Run the driver with these arguments beside these files. `work`, an empty folder, is replaced by the one in which it ran."""
        self._scripts += 1
        name = str(self._scripts)
        request = {"folder": name, "arguments": list(arguments), "files": dict(scripts)}
        answer, late = b"", False
        try:
            self._channel.settimeout(self.limits.wall_s)
            self._channel.sendall(json.dumps(request).encode() + b"\n")
            answer = self._answers.readline()
        except TimeoutError:
            late = True
        except OSError:
            pass  # it has ended
        if not answer.endswith(b"\n"):
            ended = self.close(0.0 if late else 5.0)  # so that what ended it is known
            return Finished(stopped="wall") if late else ended
        os.rename(self._folder / name, work)
        return Finished(**json.loads(answer))

    @property
    def alive(self) -> bool:
        return self._process.alive

    def close(self, patience_s: float = 0.0) -> Finished:
        """End it, unless it does so by itself within these seconds; how it ended."""
        atexit.unregister(self.close)
        ended = self._process.end(patience_s)
        self._answers.close()
        self._channel.close()
        self._folders.close()
        return ended


_idle: defaultdict[object, list[ScriptServer]] = defaultdict(list)  # by what they were made for
os.register_at_fork(after_in_child=_idle.clear)  # they are the parent's


def run_script(
    arguments: Sequence[str], scripts: Mapping[str, str], work: Path, limits: Limits, isolation: Isolation
) -> Finished:
    """`ScriptServer.run` in one that has nothing to do, or a new one; scripts with torch, which takes seconds to import, have theirs."""
    idle = _idle[limits, isolation, any("torch" in text for text in scripts.values())]
    try:
        while not (server := idle.pop()).alive:  # it was ended while it had nothing to do
            server.close()
    except IndexError:
        server = ScriptServer(limits, isolation)
    finished = server.run(arguments, scripts, work)
    if server.alive:
        idle.append(server)
    return finished
