"""How a command is shut in: bubblewrap where it works, else processes with what the kernel grants."""

from __future__ import annotations

import functools
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from .gpus import Gpu, minor_number
from .verdicts import SandboxError


class Isolation(StrEnum):
    """AUTO takes BUBBLEWRAP where it works, else PROCESSES with one loud warning."""

    AUTO = "auto"
    BUBBLEWRAP = "bubblewrap"
    """namespaces of its own: no network, no other process in sight, only system folders, read-only, and its own folder"""
    PROCESSES = "processes"
    """limits and a reaper; as root a user of its own; no network (seccomp); files closed by Landlock where the kernel has it"""


SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
# What the loader, gcc (through alternatives) and time zones need; no user, key or host of this machine.
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ld.so.preload")
ETC_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "ssl")
GPU_SYSTEM = ("/sys/devices", "/sys/bus", "/sys/module", "/sys/class")
SHARED_MEMORY_BYTES = 256 * 2**20
PROBE_USER = 60577


@dataclass(frozen=True)
class Bubblewrap:
    """How bubblewrap works on this machine.

    own_user: the judge is root, so no user namespace is needed, and setpriv (in the sandbox) gives the program a user id that
    nobody else has: the kernel then counts its processes, and its files are not root's. Else a user namespace maps the judge's
    user. sizes: --size and --disable-userns are known (bubblewrap 0.8).
    """

    program: str
    own_user: bool
    sizes: bool


def _bubblewrap() -> str | None:
    return shutil.which(os.environ.get("CUSET_BWRAP") or "bwrap")


def _folders_above(paths: Sequence[Path]) -> list[str]:
    """Arguments that make the folders above mount points, open to pass through; bubblewrap's own would be closed."""
    above = {parent for path in paths for parent in path.parents if parent != Path("/")}
    return [part for path in sorted(above) for part in ("--dir", str(path))]


def _base(how: Bubblewrap, *, network: bool) -> list[str]:
    command = [
        how.program,
        "--die-with-parent",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]
    command += [] if network else ["--unshare-net"]
    if how.own_user:
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", *(["--disable-userns"] if how.sizes else []), "--cap-drop", "ALL"]
    for place in SYSTEM:
        if os.path.islink(place):
            command += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            command += ["--ro-bind", place, place]
    command += ["--dir", "/etc"]
    for name in (*ETC, *(ETC_NETWORK if network else ())):
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    if how.sizes:
        command += ["--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"]
    return command


def _closed(command: list[str]) -> list[str]:
    """Both are file systems in memory that a program could fill."""
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/"]


def _become(how: Bubblewrap, uid: int | None, gpu: Gpu | None = None) -> list[str]:
    if not how.own_user or uid is None:
        return []
    groups = _device_groups(gpu) if gpu is not None else []
    extra = f"--groups={','.join(map(str, groups))}" if groups else "--clear-groups"
    return [shutil.which("setpriv") or "setpriv", f"--reuid={uid}", f"--regid={uid}", extra, "--"]


def _device_groups(gpu: Gpu) -> list[int]:
    """The groups that may use the GPU's device nodes where not everybody may."""
    nodes = [os.stat(node) for node in gpu_devices(gpu)]
    return sorted({node.st_gid for node in nodes if stat.S_ISCHR(node.st_mode) and node.st_mode & 0o006 != 0o006})


@functools.lru_cache(maxsize=8)
def _probe(program: str) -> tuple[Bubblewrap | None, str]:
    """How bubblewrap really works here (None: not at all), and what it said when it did not."""
    ways = [Bubblewrap(program, False, True), Bubblewrap(program, False, False)]
    if os.geteuid() == 0 and shutil.which("setpriv"):
        ways = [Bubblewrap(program, True, True), Bubblewrap(program, True, False), *ways]
    said = ""
    for how in ways:
        with tempfile.TemporaryDirectory(prefix="cuset-probe-") as name:
            folder = Path(name).resolve()
            if how.own_user:
                os.chown(folder, PROBE_USER, PROBE_USER)
            command = [*_base(how, network=False), *_folders_above([folder])]
            command = _closed([*command, "--bind", str(folder), str(folder)])
            command += ["--", *_become(how, PROBE_USER), "/bin/sh", "-c", f": > {folder}/written"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=20)
            except (OSError, subprocess.TimeoutExpired) as error:
                return None, str(error)
            if done.returncode == 0 and (folder / "written").exists():
                return how, ""
            said = done.stderr.strip()
    return None, said


# In the sandbox, as the program's user: say on descriptor 9 that all is set up (of a command that can be run), wait on 8 until it may
# begin (never, when the supervisor is gone), close both, become the command. (A shell knows descriptors of one digit.)
_GATE = 'command -v -- "$0" >/dev/null && echo >&9 && { read -r go <&8 || exit; }; exec 8<&- 9>&-; exec "$0" "$@"'


def bubblewrap_here() -> Bubblewrap | None:
    """How bubblewrap works on this machine; None when it does not."""
    program = _bubblewrap()
    return _probe(program)[0] if program is not None else None


class IsolationWarning(UserWarning):
    """Untrusted code is about to run with less around it than there could be."""


_warned: set[str] = set()


def resolve_isolation(wanted: Isolation | str = Isolation.AUTO) -> Isolation:
    """What will be used: AUTO tries bubblewrap by really running it once, and falls back with one IsolationWarning.

    CUSET_BWRAP=/path/to/bwrap names the program. Raises SandboxError when BUBBLEWRAP is asked for and does not work.
    """
    wanted = Isolation(wanted)
    if wanted is Isolation.PROCESSES:
        return wanted
    program = _bubblewrap()
    if program is None:
        reason = "bubblewrap is not installed"
    else:
        how, said = _probe(program)
        if how is not None:
            return Isolation.BUBBLEWRAP
        reason = f"bubblewrap ({program}) does not work here: {said or 'no reason given'}"
    if wanted is Isolation.BUBBLEWRAP:
        raise SandboxError(
            f"{reason}. Install it (apt-get install bubblewrap) and allow user namespaces, name it with "
            "CUSET_BWRAP=/path/to/bwrap, or choose --isolation processes for code you trust."
        )
    if reason not in _warned:
        _warned.add(reason)
        warnings.warn(
            f"CODE NOBODY TRUSTS RUNS WITHOUT A SANDBOX: {reason}. Limits hold and no process is left behind, but such code "
            "may read what others may read.",
            IsolationWarning,
            stacklevel=2,
        )
    return Isolation.PROCESSES


def is_system(path: Path) -> bool:
    """Whether a path lies in a folder that every command sees anyhow."""
    return any(path.is_relative_to(place) for place in SYSTEM)


def python_paths() -> tuple[Path, ...]:
    """What a command needs to see (run_sandboxed's `visible`) when it is this very Python with its installed packages."""
    found = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent}
    return tuple(sorted(path for path in found if not path.is_relative_to("/usr") and path != Path("/")))


def gpu_devices(gpu: Gpu) -> list[str]:
    """The device nodes one GPU needs; those of the other GPUs are left out when the driver says which is which."""
    minor = minor_number(gpu)
    nodes = []
    for name in sorted(os.listdir("/dev")):
        number = name.removeprefix("nvidia")
        other = number.isdigit() and minor is not None and int(number) != minor
        if (name.startswith("nvidia") and not other) or name == "dxg":
            nodes.append(f"/dev/{name}")
    return nodes


def bubblewrap_prefix(
    folder: Path,
    readonly: Mapping[str, Path],
    visible: Sequence[Path],
    hidden: Sequence[Path],
    gpu: Gpu | None,
    uid: int | None,
    *,
    network: bool,
) -> list[str]:
    """bubblewrap and its arguments up to the command. STATUS_FD and FILTER_FD stand for what the supervisor opens."""
    how = bubblewrap_here()
    if how is None:
        raise SandboxError("bubblewrap is gone; it worked a moment ago")
    command = _base(how, network=network)
    command += ["--json-status-fd", "STATUS_FD", "--seccomp", "FILTER_FD"]
    if gpu is not None:
        for place in GPU_SYSTEM:
            command += ["--ro-bind-try", place, place]
        for node in gpu_devices(gpu):
            command += ["--dev-bind-try", node, node]
    covered = [str(path) for path in hidden if path.is_dir() and is_system(path)]
    for place in covered:
        command += ["--tmpfs", place]
    command += _folders_above([folder, *visible])
    for path in dict.fromkeys(visible):
        command += ["--ro-bind", str(path), str(path)]
    command += ["--bind", str(folder), str(folder)]
    for name, path in readonly.items():
        command += ["--ro-bind", str(path), str(folder / name)]
    for place in covered:
        command += ["--remount-ro", place]
    return [*_closed(command), "--chdir", str(folder), "--", *_become(how, uid, gpu), "/bin/sh", "-c", _GATE]


def landlock_rules(
    folder: Path, visible: Sequence[Path], gpu: Gpu | None, uid: int | None, *, network: bool
) -> dict[str, object]:
    """What a program may reach without bubblewrap, for kernels that can hold it to that (Landlock, Linux 5.19)."""
    readable = [*SYSTEM, *(f"/etc/{name}" for name in ETC), "/proc", *map(str, visible)]
    readable += [*GPU_SYSTEM, "/dev"] if gpu is not None else []
    readable += [f"/etc/{name}" for name in ETC_NETWORK] if network else []
    writable = [str(folder), *(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))]
    if gpu is not None:
        # CUDA's driver names its threads there. A user of its own may write below no other's processes; else the program
        # is held to itself, and a process that it forks finds no GPU.
        writable += [*gpu_devices(gpu), "/proc" if uid is not None else "/proc/self"]
    return {"readable": readable, "writable": writable, "network": network}
