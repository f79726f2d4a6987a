"""Run one untrusted command or program, be sure that nothing of it is left when it returns, and take its output files."""

import os
import socket
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ..files import file_lock
from .folders import cache_root, out_of_room, scratch_folder, scratch_root, take_output
from .gpus import Gpu, gpu_devices
from .isolation import (
    HOLDS_SAME_USER,
    SHELL,
    Isolation,
    bubblewrap_here,
    bubblewrap_prefix,
    is_system,
    landlock_rules,
    landlock_version,
    may_look_at_others,
    resolve_isolation,
)
from .limits import Limits, SandboxError, Verdict
from .supervision import Finished, alone, supervise


FIRST_USER, USERS = 60578, 600
"""User ids that systemd's table of ranges leaves to nobody: one for each run that is on at a time."""
_TAIL_CHARS = 2000


def _clean_environment(folder: Path, visible: Sequence[Path], gpu: Gpu | None) -> dict[str, str]:
    """Nothing of the judge's own but where libraries lie and the time zone."""
    scratch = str(folder / "tmp")
    programs = [str(path / "bin") for path in visible if (path / "bin").is_dir()] + ["/usr/local/cuda/bin"]
    programs += [f"{place}/{kind}" for place in ("/usr/local", "/usr", "") for kind in ("sbin", "bin")]
    environment = {
        "PATH": ":".join(programs),
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
    return environment | {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "TZ") if name in os.environ}


def _library_folders() -> list[Path]:
    """Absolute, existing entries of LD_LIBRARY_PATH: the program needs to see them."""
    entries = (Path(part) for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part.startswith("/"))
    return [path for path in entries if path.is_dir() and path not in (Path("/"), Path.home())]


def _user_locks() -> Path | None:
    """One folder for all judges of the machine, whatever their caches: two runs with one user would end each other."""
    for place in ("/run/lock", "/var/lock", "/tmp"):
        folder = Path(place, "cuset-users")
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            if folder.lstat().st_uid == 0 and not folder.is_symlink():
                return folder
    return None


@contextmanager
def user_of_its_own() -> Iterator[int | None]:
    """As root, a user id that no other run has now: what the program may touch, and what belongs to it, is then clear. Else None."""
    locks = _user_locks() if os.geteuid() == 0 else None
    start = (os.getpid() * 7 + threading.get_ident() // 4096) % USERS  # two judges seldom try the same ones
    for step in range(USERS if locks is not None else 0):
        uid = FIRST_USER + (start + step) % USERS
        with file_lock(locks / f"{uid}.lock", wait=False) as held:
            if held:
                yield uid
                return
    yield None


def _open_to_all(path: Path) -> bool:
    """Whether its mode lets others read it, and run it or look into it where its owner may."""
    mode = path.stat().st_mode
    return bool(mode & stat.S_IROTH) and bool(mode & stat.S_IXOTH or not mode & stat.S_IXUSR)


def _works_as_another(command: str, folder: Path, visible: Sequence[Path], gpu: Gpu | None) -> bool:
    """Without mounts: whether a user of its own could use all that a run needs. Else it runs as the judge's user.

    So it does, too, where we may not look at another user's files, unless it needs a GPU: CUDA works for its first process alone then.
    """
    if gpu is None and not may_look_at_others() and landlock_version() >= HOLDS_SAME_USER:
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
    """Run a command in `folder`, the only place it may write to, and return when it and all it started are dead.

    command: a program and its arguments; a relative program is relative to the folder.
    folder: exists; has the same path inside. TMPDIR and HOME are folder/tmp. Nothing in it is trusted afterwards.
    readonly: name inside the folder -> a file, mounted read-only or copied: the original cannot be changed.
    visible: further folders the command may read, at the same path (see `python_paths`).
    environment: added to a clean one; nothing of the judge's own environment is passed on.
    gpu: makes that GPU the only one; None hides all.
    channel: its stdin, instead of nothing; closed here, so that the other end sees when nobody has it any more.
    stop: ends the command when it is set ("judge" in `Finished.stopped`).
    network: allows TCP and UDP, in the network of its own that bubblewrap gives it; under Landlock there are none.
    What the command does raises nothing. Raises SandboxError when this machine lacks the isolation, a user id or a file of `readonly`,
    ValueError for a name in `readonly` that leaves the folder.
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
    visible = [
        path
        for path in map(Path, (*_library_folders(), *visible))
        if not is_system(path) or any(path.is_relative_to(place) for place in hidden)
    ]
    (folder / "tmp").mkdir(exist_ok=True)
    how = bubblewrap_here() if isolation is Isolation.BUBBLEWRAP else None
    has_user = how.own_user if how is not None else _works_as_another(command[0], folder, visible, gpu)
    with user_of_its_own() if has_user else nullcontext() as uid:
        if how is not None and how.own_user and uid is None:
            raise SandboxError("no user id is free for this run, or none can be locked")
        mounted = {name: path for name, path in readonly.items() if how and (uid is None or _open_to_all(path))}
        for name in mounted:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        prefix, landlock = [], None
        if how is not None:
            prefix = bubblewrap_prefix(how, folder, mounted, visible, hidden, gpu, uid)
        elif isolation is Isolation.LANDLOCK:
            landlock = landlock_rules(folder, visible, hidden, gpu, uid)
        request = {
            "command": command,
            "folder": str(folder),
            "control": str(scratch_root()),
            "environment": environment,
            "limits": asdict(limits),
            "threads": max(256, 2 * (os.cpu_count() or 1) + 64, 2 * limits.processes),
            "copies": {name: str(path) for name, path in readonly.items() if name not in mounted},
            "prefix": prefix,
            "shell": SHELL,
            "landlock": landlock,
            "network": network,
            "uid": uid,
        }
        return supervise(request, gpu, limits, channel, stop)


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
    outputs: Mapping[str, Sequence[int]],
    optional: Sequence[str] = (),
    under: Sequence[str] = (),
    visible: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    limits: Limits = Limits(),  # noqa: B008  a frozen record
    gpu: Gpu | None = None,
    isolation: Isolation | str = Isolation.AUTO,
    network: bool = False,
) -> Iterator[Ran]:
    """Run `binary` in a fresh folder that holds `program`, the inputs (read-only), `data/` and `tmp/`; yield what came out.

    inputs: name relative to the working directory ("data/a.bin") -> file. outputs: name -> numbers of bytes that it may have, none: any.
    optional: further files that are taken when they are there, however the program ended. environment: "{folder}" in a value becomes that folder. under: a tool and its options that start the program.
    stdin: less than 100 KiB.
    gpu, visible, network: see run_sandboxed; hold a lease (lease_gpu) around the run.
    Raises SandboxError for a binary that is not there, and as run_sandboxed does.
    """
    for name in outputs:
        if Path(name).is_absolute() or ".." in Path(name).parts or name in inputs:
            raise ValueError(f"outputs[{name!r}]: a name relative to the folder, without '..', that is no input")
    if not os.access(binary, os.X_OK):
        raise SandboxError(f"{binary}: no program that may be run")
    with ExitStack() as ends:
        # where the judge does not learn in time how a program ended, it runs once more, alone
        for turn in (nullcontext(), alone(10.0)):
            scratch, channel = ends.enter_context(scratch_folder()), None
            folder = scratch / "run"
            if stdin:
                own, channel = map(ends.enter_context, socket.socketpair())
                own.sendall(stdin)
                own.close()
            for name in ("data", *(str(Path(name).parent) for name in (*outputs, *optional))):
                (folder / name).mkdir(parents=True, exist_ok=True)
            place = str(folder.resolve())
            with turn:
                finished = run_sandboxed(
                    [*under, "./program"],
                    folder=folder,
                    readonly={"program": binary, **inputs},
                    visible=visible,
                    limits=limits,
                    environment={
                        name: value.replace("{folder}", place) for name, value in (environment or {}).items()
                    },
                    gpu=gpu,
                    isolation=isolation,
                    channel=channel,
                    network=network,
                )
            if not finished.late:
                break
        else:
            finished = replace(finished, infra=None, stopped="wall")
        yield _collect(finished, scratch, outputs, optional, limits)


def _collect(
    finished: Finished, scratch: Path, outputs: Mapping[str, Sequence[int]], optional: Sequence[str], limits: Limits
) -> Ran:
    """The outputs of a program that has ended, moved out of its reach, or else the verdict."""
    if finished.infra is not None:
        return Ran(Verdict.INFRA_ERROR, finished, {}, finished.infra)
    taken = {
        name: target
        for name in optional
        if not take_output(scratch / "run", name, target := scratch / "outputs" / name)
    }
    verdict, message = None, ""
    if finished.stopped is not None or finished.returncode != 0:
        verdict = Verdict.TIMEOUT if finished.out_of_time else Verdict.RUNTIME_ERROR
        said = (finished.stderr.strip() or finished.stdout.strip())[-_TAIL_CHARS:]
        message = f"the program {finished.ending(limits)}\n{said}".strip()
    else:
        problems = []
        for name, sizes in outputs.items():
            target = scratch / "outputs" / name
            if refused := take_output(scratch / "run", name, target, sizes=sizes):
                problems.append(refused)
            else:
                taken[name] = target
        if problems:
            problems.sort(key=lambda problem: problem.wrong_size)  # the missing ones first
            verdict = Verdict.MISMATCH if problems[0].wrong_size else Verdict.MISSING_OUTPUT
            message = "; ".join(problem.reason for problem in problems)
    if verdict is not None and finished.stopped is None:
        need = sum(max(sizes, default=0) for sizes in outputs.values())
        kept = sum(512 * path.stat().st_blocks for path in taken.values())
        if lacking := out_of_room(scratch / "run", need, kept):
            return Ran(Verdict.INFRA_ERROR, replace(finished, infra=lacking), {}, lacking)
    return Ran(verdict, finished, taken, message)
