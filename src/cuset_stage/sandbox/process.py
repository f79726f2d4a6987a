"""Run one command that nobody trusts, and be sure that nothing of it is left when it returns."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from .cache import cache_root
from .environment import clean_environment, library_folders
from .folders import scratch_root
from .gpus import Gpu
from .isolation import Isolation, bubblewrap_here, bubblewrap_prefix, is_system, landlock_rules, resolve_isolation
from .limits import Limits
from .supervision import Supervised, hunt
from .users import needed_by, user_of_its_own


_KILLED = re.compile(r"\bKilled\b|\b[Ss]ignal 9\b|\bSIGKILL\b")  # as shells, gcc, nvcc and Python say it


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    returncode: its exit code, -N for signal N, None when it was stopped or never ran. stopped: the limit at which it was
    stopped: "wall", "cpu", "memory", "disk", "gpu_memory", "processes", or None. seconds: wall time of the command alone.
    cpu_seconds: of it and all it started. peak_memory_bytes: resident, as far as it was seen. stdout, stderr: capped.
    infra: why the judge itself failed, or None; then the rest says nothing about the command. starved: while it ran, the kernel
    killed some process of this machine for want of memory.
    """

    returncode: int | None
    stopped: str | None
    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    stdout: str
    stderr: str
    infra: str | None
    starved: bool = False

    def lacked_memory(self, said: str = "") -> str | None:
        """What to say when something that the command started was killed for want of memory; None when nothing was.

        said: what it wrote elsewhere than to stdout and stderr. These alone tell whether the kernel hit a part of it or another.
        """
        if not self.starved or not _KILLED.search(f"{self.stderr}\n{self.stdout}\n{said}"):
            return None
        return "a part of it was killed while this machine was out of memory: run fewer at a time (--jobs), or free memory"


def _failed(reason: str) -> Finished:
    return Finished(None, None, 0.0, 0.0, 0, "", "", reason)


def _is_public(path: Path) -> bool:
    """A mount shows a file with its own mode: what others may not read (or run, for a program) has to be copied."""
    mode = path.stat().st_mode
    return bool(mode & stat.S_IROTH) and bool(mode & stat.S_IXOTH or not mode & stat.S_IXUSR)


class Sandboxed:
    """A command that is shut in. `go` lets it begin, `wait` does so too and returns when it and all it started are dead."""

    def __init__(self, run: Supervised | str, folder: Path, uid: int | None) -> None:
        self._run, self._folder, self._uid = run, folder, uid
        self.finished: Finished | None = _failed(run) if isinstance(run, str) else None

    def go(self) -> None:
        """Returns at once. A second call does nothing."""
        if isinstance(self._run, Supervised):
            self._run.go()

    def wait(self) -> Finished:
        self.go()
        if self.finished is None:
            answer = self._run.answer()
            if isinstance(answer, str):
                hunt(self._folder, self._uid)
                self.finished = _failed(answer)
            else:
                self.finished = Finished(**{name: answer[name] for name in Finished.__dataclass_fields__})
        return self.finished


def run_sandboxed(
    command: Sequence[str],
    *,
    folder: Path,
    readonly: Mapping[str, Path] | None = None,
    visible: Sequence[Path] = (),
    limits: Limits = Limits(),  # noqa: B008  a frozen record
    environment: Mapping[str, str] | None = None,
    gpu: Gpu | None = None,
    isolation: Isolation | str = Isolation.AUTO,
    network: bool = False,
) -> Finished:
    """Run a command in `folder`, the only place it may write to, and return when it and all it started are dead.

    command: a program and its arguments; a relative program is relative to the folder.
    folder: exists; has the same path inside. TMPDIR and HOME are folder/tmp. Nothing in it is trusted afterwards.
    readonly: name inside the folder -> a file, mounted read-only or copied: the original cannot be changed.
    visible: further folders the command may read, at the same path (see `python_paths`).
    environment: added to a clean one; nothing of the judge's own environment is passed on.
    gpu: makes that GPU the only one; None hides all.
    network: leaves the network open.
    Never raises for what the command does; `Finished.infra` says when the judge itself failed. Raises SandboxError when
    BUBBLEWRAP is asked for and does not work, ValueError for a name in `readonly` that leaves the folder.
    """
    with start_sandboxed(
        command,
        folder=folder,
        readonly=readonly,
        visible=visible,
        limits=limits,
        environment=environment,
        gpu=gpu,
        isolation=isolation,
        network=network,
    ) as running:
        return running.wait()


@contextmanager
def start_sandboxed(
    command: Sequence[str],
    *,
    folder: Path,
    readonly: Mapping[str, Path] | None = None,
    visible: Sequence[Path] = (),
    limits: Limits = Limits(),  # noqa: B008  a frozen record
    environment: Mapping[str, str] | None = None,
    gpu: Gpu | None = None,
    isolation: Isolation | str = Isolation.AUTO,
    network: bool = False,
) -> Iterator[Sandboxed]:
    """run_sandboxed in two steps: here all is set up, beside what this thread does meanwhile; the command begins at `go`.

    Leaving the block ends what has not ended. Arguments and errors as of run_sandboxed.
    """
    folder = folder.resolve()
    isolation = resolve_isolation(isolation)
    readonly = {name: Path(path).resolve() for name, path in (readonly or {}).items()}
    for name, path in readonly.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"readonly[{name!r}]: a name relative to the folder, without '..'")
        if not path.is_file():
            yield Sandboxed(f"{path}: this file, meant for {name}, does not exist", folder, None)
            return
    environment = clean_environment(folder, [Path(path) for path in visible], gpu) | dict(environment or {})
    visible = [path for path in map(Path, (*library_folders(), *visible)) if not is_system(path)]
    (folder / "tmp").mkdir(exist_ok=True)
    wrapped = isolation is Isolation.BUBBLEWRAP
    how = bubblewrap_here() if wrapped else None
    with user_of_its_own() if how is None or how.own_user else nullcontext() as uid:
        if how is not None and how.own_user and uid is None:
            yield Sandboxed("no user id is free for this run, or none can be locked", folder, None)
            return
        mounted = {name: path for name, path in readonly.items() if wrapped and (uid is None or _is_public(path))}
        for name in mounted:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        request = {
            "command": [str(part) for part in command],
            "folder": str(folder),
            "control": str(scratch_root()),
            "environment": environment,
            "limits": asdict(limits),
            "threads": max(256, 2 * (os.cpu_count() or 1) + 64, 2 * limits.processes),
            "copies": [
                [str(path), str(folder / name), 0o555 if os.access(path, os.X_OK) else 0o444]
                for name, path in readonly.items()
                if name not in mounted
            ],
            "prefix": [],
            "landlock": landlock_rules(folder, visible, gpu, uid, network=network),
            "uid": uid,
            "judge": os.getpid(),
            "needed": needed_by(command, folder, visible, gpu),
            "sweep": ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue"],
        }
        if wrapped:
            hidden = [Path.home(), cache_root()]
            request["prefix"] = bubblewrap_prefix(folder, mounted, visible, hidden, gpu, uid, network=network)
        with Supervised(request, gpu, limits) as run:
            yield Sandboxed(run, folder, uid)
