"""Run one command that nobody trusts, and be sure that nothing of it is left when it returns."""

from __future__ import annotations

import functools
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from .cache import cache_root, try_lock
from .folders import scratch_root
from .gpus import Gpu, total_used_memory, used_memory
from .isolation import Isolation, bubblewrap_here, bubblewrap_prefix, gpu_devices, landlock_rules, resolve_isolation
from .limits import Limits


SUPERVISOR = Path(__file__).parent / "supervisor" / "__main__.py"
PATIENCE_S = 90.0
"""What the supervisor may need beyond the program's own time: copies before, the end of everything after."""
FIRST_USER, USERS = 60578, 600
"""User ids that systemd's table of ranges leaves to nobody: one for each run that is on at a time."""
GPU_QUERY_S = 1.0
_PASSED_ON = ("LD_LIBRARY_PATH", "TZ")


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    returncode: its exit code, -N for signal N, None when it was stopped or never ran. stopped: the limit at which it was
    stopped: "wall", "cpu", "memory", "disk", "gpu_memory", "processes", or None. seconds: wall time of the command alone.
    cpu_seconds: of it and all it started. peak_memory_bytes: resident, as far as it was seen. stdout, stderr: capped.
    infra: why the judge itself failed, or None; then the rest says nothing about the command.
    """

    returncode: int | None
    stopped: str | None
    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int
    stdout: str
    stderr: str
    infra: str | None


def _failed(reason: str) -> Finished:
    return Finished(None, None, 0.0, 0.0, 0, "", "", reason)


@functools.cache
def _search_path(visible: tuple[Path, ...]) -> str:
    own = [str(path / "bin") for path in visible if (path / "bin").is_dir()]
    return ":".join(
        [*own, "/usr/local/cuda/bin", "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
    )


def clean_environment(folder: Path, visible: Sequence[Path], gpu: Gpu | None) -> dict[str, str]:
    """The whole environment of a command: nothing of the judge's own but where libraries lie and the time zone."""
    scratch = str(folder / "tmp")
    environment = {
        "PATH": _search_path(tuple(visible)),
        "HOME": scratch,
        "TMPDIR": scratch,
        "XDG_CACHE_HOME": scratch,
        "CUDA_CACHE_PATH": f"{scratch}/cuda",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": gpu.uuid if gpu is not None else "",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "USER": "nobody",
    }
    return environment | {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def _library_folders() -> list[Path]:
    """Absolute, existing entries of LD_LIBRARY_PATH that are not system folders: the program needs to see them."""
    entries = (Path(part) for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part.startswith("/"))
    return [path for path in entries if path.is_dir() and path not in (Path("/"), Path.home())]


@contextmanager
def _user_of_its_own() -> Iterator[int | None]:
    """As root, a user id that no other run has now; else None."""
    if os.geteuid() != 0:
        yield None
        return
    start = (os.getpid() * 7 + threading.get_ident() // 4096) % USERS  # two judges seldom try the same ones
    for step in range(USERS):
        uid = FIRST_USER + (start + step) % USERS
        fd = try_lock(cache_root() / "locks" / f"user-{uid}.lock")
        if fd is not None:
            try:
                yield uid
            finally:
                os.close(fd)
            return
    yield None


def _is_public(path: Path) -> bool:
    """A mount shows a file with its own mode: what others may not read (or run, for a program) has to be copied."""
    mode = path.stat().st_mode
    return bool(mode & stat.S_IROTH) and bool(mode & stat.S_IXOTH or not mode & stat.S_IXUSR)


def _needed(command: Sequence[str], folder: Path, visible: Sequence[Path], gpu: Gpu | None) -> list[list[Any]]:
    """What a user of its own must be able to use, else the command runs as the judge's user: [path, access mode]."""
    needed: list[list[Any]] = [[str(folder), os.R_OK | os.W_OK | os.X_OK]]
    needed += [[str(path), os.R_OK | os.X_OK] for path in visible]
    needed += [
        [node, os.R_OK | os.W_OK] for node in (gpu_devices(gpu) if gpu is not None else []) if "caps" not in node
    ]
    if os.path.isabs(str(command[0])):
        needed.append([str(command[0]), os.X_OK])
    return needed


def _watch_gpu(gpu: Gpu, most: int, supervisor: subprocess.Popen, ended: threading.Event) -> None:
    """Ask nvidia-smi now and then; tell the supervisor when the program's device memory passes the limit.

    In a container nvidia-smi may know processes by other ids: then what the whole GPU gained since the start counts, which
    is right while one run at a time has the GPU.
    """
    before = total_used_memory(gpu)
    while not ended.wait(GPU_QUERY_S):
        with suppress(psutil.Error):
            pids = {child.pid for child in psutil.Process(supervisor.pid).children(recursive=True)}
            used = used_memory(gpu, pids)
            if used is None and before is not None:
                now = total_used_memory(gpu)
                used = now - before if now is not None else None
            if used is not None and used > most and not ended.is_set():
                with suppress(OSError, ValueError):
                    supervisor.stdin.write(b"gpu_memory\n")
                    supervisor.stdin.flush()
                return


def _hunt(folder: Path, uid: int | None) -> None:
    """The supervisor itself died (out of memory?): end what it can have left, found by user, folder and environment."""
    for _ in range(100):
        found = False
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                traces = (process.cwd(), process.exe(), process.environ().get("HOME", ""))
                if process.uids().real == uid or any(trace.startswith(f"{folder}/") for trace in traces):
                    process.kill()
                    found = True
        if not found:
            return


def _supervise(request: dict[str, Any], gpu: Gpu | None, limits: Limits) -> dict[str, Any] | str:
    """Start a supervisor, hand it the request, wait for its answer; a string says why there is none."""
    try:
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SUPERVISOR)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the judge alone; when it goes, the supervisor's stdin closes
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")},
            cwd="/",
        )
    except OSError as error:
        return f"the supervisor cannot be started: {error}"
    ended = threading.Event()
    watchdog = None
    overdue = threading.Timer(limits.wall_s + PATIENCE_S, supervisor.kill)
    overdue.daemon = True
    try:
        overdue.start()
        with suppress(BrokenPipeError):
            supervisor.stdin.write(json.dumps(request).encode() + b"\n")
            supervisor.stdin.flush()
        if gpu is not None and limits.gpu_memory_bytes is not None:
            watchdog = threading.Thread(
                target=_watch_gpu, args=(gpu, limits.gpu_memory_bytes, supervisor, ended), daemon=True
            )
            watchdog.start()
        answer = supervisor.stdout.read()
        complaint = supervisor.stderr.read().decode(errors="replace").strip()
    finally:
        ended.set()
        overdue.cancel()
        if watchdog is not None:
            watchdog.join()
        with suppress(OSError):
            supervisor.stdin.close()
        supervisor.stdout.close()
        supervisor.stderr.close()
        supervisor.wait()  # also after Ctrl-C: it kills everything first
    if answer:
        return json.loads(answer)
    if supervisor.returncode < 0:
        return f"the supervisor died by signal {-supervisor.returncode}"
    return f"the supervisor failed: {complaint[-1000:]}"


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
    folder = folder.resolve()
    isolation = resolve_isolation(isolation)
    readonly = {name: Path(path).resolve() for name, path in (readonly or {}).items()}
    for name, path in readonly.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"readonly[{name!r}]: a name relative to the folder, without '..'")
        if not path.is_file():
            return _failed(f"{path}: this file, meant for {name}, does not exist")
    library = _library_folders()
    visible = [Path(path) for path in (*library, *visible)]
    (folder / "tmp").mkdir(exist_ok=True)
    wrapped = isolation is Isolation.BUBBLEWRAP
    how = bubblewrap_here() if wrapped else None
    with _user_of_its_own() if how is None or how.own_user else nullcontext() as uid:
        mounted = {name: path for name, path in readonly.items() if wrapped and (uid is None or _is_public(path))}
        for name in mounted:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        request = {
            "command": [str(part) for part in command],
            "folder": str(folder),
            "control": str(scratch_root()),
            "environment": clean_environment(folder, visible, gpu) | dict(environment or {}),
            "limits": asdict(limits),
            "threads": max(256, 2 * (os.cpu_count() or 1) + 64, 2 * limits.processes),
            "copies": [
                [str(path), str(folder / name), 0o555 if os.access(path, os.X_OK) else 0o444]
                for name, path in readonly.items()
                if name not in mounted
            ],
            "prefix": [],
            "landlock": landlock_rules(folder, visible, gpu, network=network),
            "uid": uid,
            "judge": os.getpid(),
            "needed": _needed(command, folder, visible, gpu),
            "sweep": ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue"],
        }
        if wrapped:
            hidden = [Path.home(), cache_root()]
            request["prefix"] = bubblewrap_prefix(folder, mounted, visible, hidden, gpu, uid, network=network)
        answer = _supervise(request, gpu, limits)
    if isinstance(answer, str):
        _hunt(folder, uid)
        return _failed(answer)
    return Finished(**{name: answer[name] for name in Finished.__dataclass_fields__})
