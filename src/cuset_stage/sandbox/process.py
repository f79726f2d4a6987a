"""Run one untrusted command or program, leave none of its processes behind, and take its output files.

`run_sandboxed` runs any command in a folder. `run_program` runs a compiled program on input files and collects its
outputs. Neither returns before all processes of the run are dead, so its files can no longer change.
"""

import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..files import file_lock
from .folders import cache_root, out_of_room, scratch_folder, scratch_root, take_output
from .gpus import Gpu, gpu_devices
from .isolation import (
    Isolation,
    bubblewrap_here,
    bubblewrap_prefix,
    is_system,
    landlock_holds_same_user,
    landlock_rules,
    may_look_at_others,
    resolve_isolation,
)
from .limits import Limits, SandboxError, Verdict
from .supervision import Finished, alone, supervise


FIRST_USER, USERS = 60578, 600
"""The range of user ids for programs, which systemd's table of ranges assigns to nobody. Each run has one of them to itself."""
_TAIL_CHARS = 2000


def _clean_environment(folder: Path, visible: Sequence[Path], gpu: Gpu | None) -> dict[str, str]:
    """Return a fixed environment, which takes only LD_LIBRARY_PATH and TZ from the judge's own."""
    scratch = str(folder / "tmp")
    programs = [str(path / "bin") for path in visible if (path / "bin").is_dir()] + ["/usr/local/cuda/bin"]
    programs += [f"{prefix}/{kind}" for prefix in ("/usr/local", "/usr", "") for kind in ("sbin", "bin")]
    environment = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), scratch) | {
        "PATH": ":".join(programs),
        "CUDA_CACHE_PATH": f"{scratch}/cuda",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": gpu.uuid if gpu is not None else "",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "USER": "nobody",
    }
    return environment | {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "TZ") if name in os.environ}


def _library_folders() -> list[Path]:
    """Return the absolute, existing entries of LD_LIBRARY_PATH, which the program needs to see."""
    entries = (Path(part) for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part.startswith("/"))
    return [path for path in entries if path.is_dir() and path not in (Path("/"), Path.home())]


def _user_locks() -> Path | None:
    """Return a lock folder that all judges of the machine share, or None.

    It does not depend on their caches, because two runs with the same user id would kill each other.
    """
    for place in ("/run/lock", "/var/lock", "/tmp"):
        folder = Path(place, "cuset-users")
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            if folder.lstat().st_uid == 0 and not folder.is_symlink():
                return folder
    return None


@contextmanager
def user_of_its_own() -> Iterator[int | None]:
    """Yield a user id that no other run has now if the judge is root, else None.

    With a user id of its own, the kernel knows which processes and files are the program's, and what it may touch.
    """
    locks = _user_locks() if os.geteuid() == 0 else None
    start = (os.getpid() * 7 + threading.get_ident() // 4096) % USERS  # so that two judges seldom try the same ids
    for step in range(USERS if locks is not None else 0):
        uid = FIRST_USER + (start + step) % USERS
        with file_lock(locks / f"{uid}.lock", wait=False) as held:
            if held:
                yield uid
                return
    yield None


def _open_to_all(path: Path) -> bool:
    """Check that other users may read a path, and execute or enter it if its owner may."""
    mode = path.stat().st_mode
    return bool(mode & stat.S_IROTH) and bool(mode & stat.S_IXOTH or not mode & stat.S_IXUSR)


def _linked(path: Path, target: Path) -> bool:
    """Put a file of the cache into a program's folder as a hard link, and say whether that was possible.

    Large inputs are not copied in this way. Only a program with a user of its own may have a link: the file belongs to
    the judge, so such a program can read it but change neither it nor its mode. Files that somebody may write to are
    not linked, as they are no finished entries: a cache may lie above other files of the user, or above the scratch
    folders.
    """
    if not path.is_relative_to(cache_root().resolve()):
        return False
    try:
        status = path.stat()
        if status.st_uid != os.geteuid() or status.st_mode & 0o222 or not _open_to_all(path):
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, target)
    except OSError:  # on another disk, or gone
        return False
    return True


def _works_as_another(command: str, folder: Path, visible: Sequence[Path], gpu: Gpu | None) -> bool:
    """Check, for a run without mounts, that a user of its own could use all it needs. Else it has the judge's user.

    A run also has the judge's user where the judge may not look at another user's files and Landlock holds a program
    of the judge's user. A run with a GPU is the exception, because CUDA would then work in its first process only.
    """
    if gpu is None and not may_look_at_others() and landlock_holds_same_user():
        return False
    used = [path for path in visible if path.exists()] + ([Path(command)] if os.path.isabs(command) else [])
    above = {parent for path in (folder, *used) for place in (path, path.resolve()) for parent in place.parents}
    nodes = [os.stat(node) for node in gpu_devices(gpu) if not node.endswith(("modeset", "tools"))] if gpu else []
    return (
        all(_open_to_all(path) for path in used)
        and all(parent.stat().st_mode & stat.S_IXOTH for parent in above)
        and all(node.st_mode & 0o006 == 0o006 for node in nodes if stat.S_ISCHR(node.st_mode))
    )


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
    channel: socket.socket | None = None,
    stop: threading.Event | None = None,
    network: bool = False,
) -> Finished:
    """Run a command in `folder`, the only place it may write to, and return when all its processes are dead.

    Nothing that the command does raises an exception.

    Args:
        command: A program and its arguments. A relative program is relative to the folder.
        folder: An existing folder, which has the same path inside the sandbox. TMPDIR and HOME are folder/tmp. Do not
            trust anything in it afterwards.
        readonly: Name inside the folder -> a file, mounted read-only or copied. The original cannot be changed.
        visible: Further folders that the command may read, at the same path (see `python_paths`).
        environment: Variables added to a clean environment. Of the judge's own, only LD_LIBRARY_PATH and TZ are kept.
        gpu: The only GPU that the command sees. None hides all GPUs.
        isolation: The sandbox to use (see `resolve_isolation`).
        channel: A socket that becomes the command's stdin. None means an empty stdin. It is closed here, so that the
            other end notices when nobody holds it any more.
        stop: Ends the command when it is set. `Finished.stopped` is "judge" then.
        network: Allow TCP and UDP inside the command's own network, which bubblewrap gives it. Under Landlock neither
            is available.

    Raises:
        SandboxError: This machine lacks the isolation, a user id or a file of `readonly`.
        ValueError: A name in `readonly` leaves the folder.
    """
    folder = folder.resolve()
    isolation = resolve_isolation(isolation)
    command = [str(part) for part in command]
    readonly = {name: Path(path).resolve() for name, path in (readonly or {}).items()}
    for name, path in readonly.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"readonly[{name!r}]: a name relative to the folder, without '..'")
        if not path.is_file():
            raise SandboxError(f"{path}: this file, meant for {name}, does not exist")
    environment = _clean_environment(folder, [Path(path) for path in visible], gpu) | dict(environment or {})
    hidden = [path.resolve() for path in (Path.home(), cache_root(), scratch_root())]
    visible = map(Path, (*_library_folders(), *visible))
    visible = [path for path in visible if not is_system(path) or any(map(path.is_relative_to, hidden))]
    (folder / "tmp").mkdir(exist_ok=True)
    bubblewrap = bubblewrap_here() if isolation is Isolation.BUBBLEWRAP else None
    has_user = bubblewrap.own_user if bubblewrap is not None else _works_as_another(command[0], folder, visible, gpu)
    with user_of_its_own() if has_user else nullcontext() as uid:
        if bubblewrap is not None and bubblewrap.own_user and uid is None:
            raise SandboxError("no user id is free for this run, or none can be locked")
        # Only what the program's user may read can be mounted. Other files are linked, or copied by the supervisor.
        mounted = {name: path for name, path in readonly.items() if bubblewrap and (uid is None or _open_to_all(path))}
        for name in mounted:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copies = {}
        for name, path in readonly.items():
            if name not in mounted and (uid is None or not _linked(path, folder / name)):
                copies[name] = str(path)
        prefix, landlock = [], None
        if bubblewrap is not None:
            prefix = bubblewrap_prefix(bubblewrap, folder, mounted, visible, hidden, gpu, uid)
        elif isolation is Isolation.LANDLOCK:
            landlock = landlock_rules(folder, visible, hidden, gpu, uid)
        request = {
            "command": command,
            "folder": str(folder),
            "control": str(scratch_root()),
            "environment": environment,
            "limits": asdict(limits),
            "threads": max(256, 2 * (os.cpu_count() or 1) + 64, 2 * limits.processes),
            "copies": copies,
            "prefix": prefix,
            "landlock": landlock,
            "network": network,
            "uid": uid,
        }
        return supervise(request, gpu, limits, channel, stop)


@dataclass(frozen=True)
class Ran:
    """One run of a program.

    Attributes:
        verdict: None if the program returned 0 and every output exists with its exact size. Otherwise RUNTIME_ERROR,
            TIMEOUT, MISSING_OUTPUT, MISMATCH (wrong size) or INFRA_ERROR.
        outputs: Name -> file, for the good outputs only. The files are out of the program's reach, and are removed
            when the `with` block of `run_program` ends.
        message: The reason for the verdict, with the end of stderr.
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
    outputs: Mapping[str, Sequence[int]],
    optional: Sequence[str] = (),
    under: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    limits: Limits = Limits(),  # noqa: B008  a frozen record
    **how: Any,
) -> Iterator[Ran]:
    """Run a program in a fresh folder, and yield its verdict and outputs.

    The folder holds `program`, the inputs (read-only), `data/` and `tmp/`. Hold a lease (`lease_gpu`) on the GPU
    around the run.

    Args:
        binary: The program, which is copied or mounted as `program`.
        inputs: Name relative to the working directory ("data/a.bin") -> file.
        outputs: Name -> the sizes in bytes that the output may have. An empty sequence allows any size.
        optional: Names of further files, which are taken if they exist, however the program ended.
        under: A tool and its options that start the program.
        environment: Variables for the program. "{folder}" in a value becomes the path of the folder.
        stdin: What the program reads from stdin, less than 100 KiB.
        **how: Further arguments of `run_sandboxed`: visible, gpu, isolation and network.

    Raises:
        SandboxError: The binary is missing or not executable, or for a reason of `run_sandboxed`.
        ValueError: The name of an output leaves the folder, or is also an input.
    """
    for name in outputs:
        if Path(name).is_absolute() or ".." in Path(name).parts or name in inputs:
            raise ValueError(f"outputs[{name!r}]: a name relative to the folder, without '..', that is no input")
    if not os.access(binary, os.X_OK):
        raise SandboxError(f"{binary}: no program that may be run")

    def run(scratch: Path) -> Finished:
        folder = scratch / "run"
        for name in ("data", *(str(Path(name).parent) for name in (*outputs, *optional))):
            (folder / name).mkdir(parents=True, exist_ok=True)
        variables = {name: value.replace("{folder}", str(folder)) for name, value in (environment or {}).items()}
        readonly = {"program": binary, **inputs}
        with ExitStack() as ends:
            channel = None
            if stdin:
                # The socket's buffer takes all of stdin (less than 100 KiB), so no thread is needed to feed it.
                judge_end, channel = map(ends.enter_context, socket.socketpair())
                judge_end.sendall(stdin)
                judge_end.close()
            given = {"readonly": readonly, "limits": limits, "environment": variables, "channel": channel}
            return run_sandboxed([*under, "./program"], folder=folder, **given, **how)

    with in_fresh_folder(run) as (scratch, finished):
        yield _collect(finished, scratch, outputs, optional, limits)


@contextmanager
def in_fresh_folder(run: Callable[[Path], Finished]) -> Iterator[tuple[Path, Finished]]:
    """Call `run` with a scratch folder, and yield the folder and how the run ended.

    If the judge did not learn in time how it ended, it runs once more, in another folder and alone.
    """
    with ExitStack() as ends:
        for turn in (nullcontext(), alone(10.0)):
            scratch = ends.enter_context(scratch_folder())
            with turn:
                finished = run(scratch)
            if not finished.late:
                break
        else:
            finished = replace(finished, infra=None, stopped="wall")
        yield scratch, finished


def _collect(
    finished: Finished, scratch: Path, outputs: Mapping[str, Sequence[int]], optional: Sequence[str], limits: Limits
) -> Ran:
    """Move the outputs of a program that has ended out of its reach, and give the verdict of the run."""
    if finished.infra is not None:
        return Ran(Verdict.INFRA_ERROR, finished, {}, finished.infra)
    run, kept = scratch / "run", scratch / "outputs"
    refusals = {name: take_output(run, name, kept / name) for name in optional}
    verdict, message = None, ""
    if finished.stopped is not None or finished.returncode != 0:
        verdict = Verdict.TIMEOUT if finished.out_of_time else Verdict.RUNTIME_ERROR
        printed = (finished.stderr.strip() or finished.stdout.strip())[-_TAIL_CHARS:]
        message = f"the program {finished.ending(limits)}\n{printed}".strip()
    else:
        of_outputs = {name: take_output(run, name, kept / name, sizes=sizes) for name, sizes in outputs.items()}
        refusals |= of_outputs
        # Missing outputs come first.
        if problems := sorted(filter(None, of_outputs.values()), key=lambda problem: problem.wrong_size):
            verdict = Verdict.MISMATCH if problems[0].wrong_size else Verdict.MISSING_OUTPUT
            message = "; ".join(problem.reason for problem in problems)
    taken = {name: kept / name for name, refused in refusals.items() if refused is None}
    # A program that failed on a full disk is not to blame for it.
    if verdict is not None and finished.stopped is None:
        need = sum(max(sizes, default=0) for sizes in outputs.values())
        written = sum(512 * path.stat().st_blocks for path in taken.values())
        if lacking := out_of_room(run, need, written):
            return Ran(Verdict.INFRA_ERROR, replace(finished, infra=lacking), {}, lacking)
    return Ran(verdict, finished, taken, message)
