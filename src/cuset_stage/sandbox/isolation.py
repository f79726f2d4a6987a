"""Choose and build the sandbox around a command.

bubblewrap is used where it works, else Landlock with seccomp where the kernel has them. If neither works, the command
is refused. To find out what works, a process is really confined. This module builds the command line of bubblewrap and
the lists of paths for Landlock. The supervisor applies them.
"""

import functools
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ..files import file_sha256
from .folders import cache_root, scratch_folder
from .gpus import Gpu, gpu_devices
from .limits import SandboxError
from .supervision import SUPERVISOR
from .supervisor.confine import LEAST_FOR_SAME_USER, landlock_version


class Isolation(StrEnum):
    """The sandbox around untrusted code.

    Whatever is chosen, the limits hold, no process is left behind, and where the judge is root, the code has a user of
    its own.
    """

    AUTO = "auto"  # BUBBLEWRAP where it works, else LANDLOCK where it holds, else SandboxError
    # Own namespaces: no network, no other process is visible, and of the files only its own folder and, read-only, the
    # system folders.
    BUBBLEWRAP = "bubblewrap"
    # The code reads the contents of the same files and no others (Landlock, Linux 6.2), and has no sockets that leave
    # the machine (seccomp). It can still see which other files and processes exist, and Unix sockets that its user may
    # connect to.
    LANDLOCK = "landlock"
    # Plain processes, for code you trust: they may read and write what their user may. AUTO never chooses this.
    NONE = "none"


SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
# The entries of /etc that the loader, gcc (through alternatives) and time zones need. None names a user, key or host.
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ld.so.preload")
GPU_SYSTEM = ("/sys/devices", "/sys/bus", "/sys/module", "/sys/class")
SHARED_MEMORY_BYTES = 256 * 2**20
PROBE_USER = 60577
SHELL = "/etc/cuset-sh"  # path of `closed_shell` inside bubblewrap


@dataclass(frozen=True)
class Bubblewrap:
    """How bubblewrap works on this machine.

    Attributes:
        program: Path of bubblewrap.
        own_user: The judge is root, so no user namespace is needed, and setpriv (inside the sandbox) gives the program
            a user id that nobody else has. The kernel then counts its processes, and its files are not root's. If
            False, a user namespace maps the judge's user.
        sizes: bubblewrap knows --size and --disable-userns (version 0.8).
    """

    program: str
    own_user: bool
    sizes: bool


@functools.cache
def may_look_at_others() -> bool:
    """Check that this process may look at other users' processes (CAP_SYS_PTRACE).

    Root has this right, but not in many containers.
    """
    status = Path("/proc/self/status").read_text()
    return bool(int(status.split("CapEff:")[1].split()[0], 16) & 1 << 19)


def bubblewrap_here() -> Bubblewrap | str:
    """Return how bubblewrap works on this machine, or a text that says what is wrong with it."""
    return _probe_bubblewrap(os.environ.get("CUSET_BWRAP") or "bwrap")


def resolve_isolation(wanted: Isolation | str = Isolation.AUTO) -> Isolation:
    """Return the sandbox that will be used.

    BUBBLEWRAP and LANDLOCK are tried by really confining a process, once per judge. NONE warns, once.
    CUSET_BWRAP=/path/to/bwrap names another bubblewrap.

    Raises:
        SandboxError: The sandbox that was asked for does not work here.
        ValueError: `wanted` is not the name of a sandbox.
    """
    wanted = Isolation(wanted)
    if wanted is Isolation.NONE:
        _warn()
        return wanted
    problems = []
    if wanted is not Isolation.LANDLOCK:
        if isinstance(problem := bubblewrap_here(), Bubblewrap):
            return Isolation.BUBBLEWRAP
        problems.append(problem)
    if wanted is not Isolation.BUBBLEWRAP:
        if (problem := _probe_landlock()) is None:
            return Isolation.LANDLOCK
        problems.append(f"Landlock with seccomp does not work here: {problem}")
    raise SandboxError(
        f"isolation={wanted}: {'; '.join(problems)}. Install bubblewrap (apt-get install bubblewrap) and allow user namespaces, or name "
        "it with CUSET_BWRAP=/path/to/bwrap; or use a kernel with Landlock (Linux 6.12, as root 6.2); or, for code you trust, choose isolation=none: "
        "plain processes without a sandbox."
    )


@functools.cache
def _warn() -> None:
    warnings.warn(
        "UNTRUSTED CODE RUNS WITHOUT A SANDBOX (isolation=none): limits hold and no process is left behind, but it may read and "
        "change whatever its user may.",
        RuntimeWarning,
        stacklevel=3,
    )


def _fails(command: Sequence[str]) -> str | None:
    """Return None if a command returns 0, else its stderr, or how it ended."""
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if process.returncode == 0 else process.stderr.strip() or f"trying it ended with {process.returncode}"


@functools.lru_cache(maxsize=8)
def _probe_bubblewrap(wanted: str) -> Bubblewrap | str:
    """Try the ways in which bubblewrap may work, and return the first that does, or what is wrong with the last."""
    program = shutil.which(wanted)
    if program is None:
        return "bubblewrap is not installed"
    users, problem = [False], ""
    if os.geteuid() == 0 and shutil.which("setpriv"):
        users = [True, False] if may_look_at_others() else [False, True]
    for how in [Bubblewrap(program, own_user, sizes) for own_user in users for sizes in (True, False)]:
        with scratch_folder() as folder:
            if how.own_user:
                os.chown(folder, PROBE_USER, PROBE_USER)
            try:
                prefix = bubblewrap_prefix(how, folder, {}, [], [], None, PROBE_USER)
            except (OSError, SandboxError) as error:
                return f"bubblewrap ({program}) does not work here: {error}"
            problem = _fails([*prefix, "-c", f": > {folder}/written"]) or ""
            if not problem and (folder / "written").exists():
                return how
    return f"bubblewrap ({program}) does not work here: {problem or 'it wrote to another folder'}"


@functools.cache
def landlock_holds_same_user() -> bool:
    """Check that this kernel's Landlock holds a program of the judge's own user."""
    with suppress(OSError):
        return landlock_version() >= LEAST_FOR_SAME_USER
    return False


@functools.cache
def _probe_landlock() -> str | None:
    """Return None if a process under Landlock and seccomp can do nothing that it must not, else the reason."""
    return _fails([*SUPERVISOR, "probe"])


@functools.cache
def memory_account() -> str:
    """Return what counts the memory of runs on this machine.

    "cgroup v2" is the kernel's account. "watcher" is the supervisor, which adds up what /proc shows now and then.
    """
    command = [*SUPERVISOR, "memory"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "watcher"


def is_system(path: Path) -> bool:
    """Check that a path lies in a system folder, which every sandboxed command sees."""
    return any(path.is_relative_to(place) for place in SYSTEM)


def python_paths() -> tuple[Path, ...]:
    """Return the folders that a command needs to see if it is this Python with its installed packages.

    They are meant for `visible` of `run_sandboxed`.
    """
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent}
    return tuple(sorted(path for path in prefixes if not path.is_relative_to("/usr") and path != Path("/")))


_shell_digest = functools.cache(file_sha256)


def closed_shell() -> Path:
    """Return the path of a copy of /bin/sh that nobody may read, and make the copy if it is missing.

    The shell starts the program in the sandbox, waits for it and reports how it ended. Because its file cannot be
    read, the kernel lets no process of the same user look into it or write to its memory meanwhile.
    """
    # The digest is part of the path, because the cache may be shared with machines that have another shell.
    shell = cache_root() / f"sh-{_shell_digest(Path('/bin/sh'))[:16]}" / "sh"
    if not shell.exists():
        shell.parent.mkdir(parents=True, exist_ok=True)
        copy = Path(tempfile.mkdtemp(dir=shell.parent), "sh")
        shutil.copyfile("/bin/sh", copy)
        copy.chmod(0o111)
        copy.replace(shell)
        copy.parent.rmdir()
    return shell


@functools.cache
def special_files() -> tuple[str, ...]:
    """Return the sockets, named pipes and devices that are in system folders when this is called first.

    They must be hidden from programs, because a read-only mount does not close them.
    """
    places = [place for place in SYSTEM if os.path.isdir(place) and not os.path.islink(place)]
    try:
        completed = subprocess.run(
            ["find", *places, "(", "-type", "s", "-o", "-type", "p", "-o", "-type", "b", "-o", "-type", "c", ")", "-print0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(
            f"find: {error}. It looks for sockets and named pipes in {', '.join(places)}, to hide them from programs: install findutils; a "
            "folder on a disk that does not answer must not be among them"
        ) from error
    return tuple(map(os.fsdecode, filter(None, completed.stdout.split(b"\0"))))


def _become(how: Bubblewrap, uid: int | None, gpu: Gpu | None) -> list[str]:
    """Return the setpriv command that gives the program its own user inside bubblewrap, or [] if it has none."""
    if not how.own_user or uid is None:
        return []
    nodes = [os.stat(node) for node in (gpu_devices(gpu) if gpu is not None else [])]
    # Where not everybody may use the GPU's device nodes, the program needs the groups that may.
    groups = sorted({node.st_gid for node in nodes if stat.S_ISCHR(node.st_mode) and node.st_mode & 0o006 != 0o006})
    extra = f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups"
    become = [shutil.which("setpriv") or "setpriv", f"--reuid={uid}", f"--regid={uid}", extra]
    return [*become, "--pdeathsig", "KILL", "--"]  # another user's process forgets bubblewrap's --die-with-parent


def _binds(option: str, *places: str | Path) -> list[str]:
    """Return the arguments that mount each of these places at its own path."""
    return [part for place in places for part in (option, str(place), str(place))]


def bubblewrap_prefix(
    how: Bubblewrap,
    folder: Path,
    readonly: Mapping[str, Path],
    visible: Sequence[Path],
    hidden: Sequence[Path],
    gpu: Gpu | None,
    uid: int | None,
) -> list[str]:
    """Return bubblewrap and its arguments, up to the shell in the sandbox, whose script and arguments may follow.

    Args:
        folder: The folder that the command may write to.
        readonly: Name inside the folder -> file that is mounted there read-only.
        visible: Further folders that the command may read.
        hidden: Folders that are covered by an empty one if they lie in a system folder.
        gpu: The GPU whose device nodes are mounted, or None.
        uid: The user that the program becomes if `how.own_user`.
    """
    # A session of its own: signals to the program's group must not reach bubblewrap outside, which has the same user.
    command = [how.program, "--die-with-parent", "--new-session", "--as-pid-1", "--unshare-ipc", "--unshare-pid"]
    command += ["--unshare-uts", "--unshare-net", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if how.own_user:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", *(["--disable-userns"] if how.sizes else [])]
    for place in SYSTEM:
        if os.path.islink(place):
            command += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            command += _binds("--ro-bind", place)
    for file in filter(os.path.lexists, special_files()):
        command += ["--ro-bind", "/dev/null", file]
    command += ["--dir", "/etc", *_binds("--ro-bind-try", *(f"/etc/{name}" for name in ETC))]
    command += ["--ro-bind", str(closed_shell()), SHELL, "--proc", "/proc", "--dev", "/dev"]
    if how.sizes:
        command += ["--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"]
    if gpu is not None:
        # Made explicitly, so that it is open to pass through: CUPTI ends a program that may not look there.
        command += ["--dir", "/sys"]
        command += _binds("--ro-bind-try", *GPU_SYSTEM) + _binds("--dev-bind-try", *gpu_devices(gpu))
    covered = [str(path) for path in hidden if path.is_dir() and is_system(path)]
    for place in covered:
        command += ["--tmpfs", place]
    # Make the parents of mount points explicitly, so that the program may pass through them. Those that bubblewrap
    # makes by itself would be closed.
    for above in sorted({parent for path in (folder, *visible) for parent in path.parents[:-1]}):
        command += ["--dir", str(above)]
    command += _binds("--ro-bind", *dict.fromkeys(visible)) + _binds("--bind", folder)
    for name, path in readonly.items():
        command += ["--ro-bind", str(path), str(folder / name)]
    for place in (*covered, "/dev", "/"):  # these are file systems in memory, which a program could fill
        command += ["--remount-ro", place]
    return [*command, "--chdir", str(folder), "--", *_become(how, uid, gpu), SHELL]


def _without(place: str, hidden: Sequence[Path]) -> Iterator[str]:
    """Yield paths that cover `place` without the hidden ones.

    Landlock allows whole trees and cannot exclude a part. So a folder with hidden parts is replaced by its other
    entries.
    """
    inside = [path for path in hidden if path.is_relative_to(place)]
    if not inside:
        yield place
    elif Path(place) not in inside and os.path.isdir(place):
        for entry in os.scandir(place):
            if not entry.is_symlink():
                yield from _without(entry.path, inside)


def landlock_rules(
    folder: Path, visible: Sequence[Path], hidden: Sequence[Path], gpu: Gpu | None, uid: int | None
) -> dict[str, list[str]]:
    """Return the paths for Landlock: {"readable": paths to read only, "writable": paths to read and write}."""
    closed = [*hidden, *map(Path, special_files())]
    readable = [part for place in (*SYSTEM, *visible) for part in _without(os.path.realpath(place), closed)]
    readable += [*(f"/etc/{name}" for name in ETC), "/proc"]
    writable = [str(folder), *(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))]
    if gpu is not None:
        readable += [*GPU_SYSTEM, "/dev"]
        # CUDA's driver names its threads below /proc. A program with a user of its own cannot write to other users'
        # entries there, so it gets all of /proc. Otherwise it gets only its own entry, and a process that it forks
        # finds no GPU.
        writable += [*gpu_devices(gpu), "/proc" if uid is not None else "/proc/self"]
    return {"readable": readable, "writable": writable}
