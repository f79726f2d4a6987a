"""How a command is shut in: bubblewrap where it works, else processes with what the kernel grants (a user, Landlock)."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
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
    """limits and a reaper; as root a user of its own; files and TCP closed by Landlock where the kernel has it"""


SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
# What the loader, gcc (through alternatives) and time zones need; no user, key or host of this machine.
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ld.so.preload")
GPU_SYSTEM = ("/sys/devices", "/sys/bus", "/sys/module", "/sys/class")
SHARED_MEMORY_BYTES = 256 * 2**20
_EXTRAS = ("--disable-userns", "--size")  # of bubblewrap 0.8; older ones do without


class IsolationWarning(UserWarning):
    """Untrusted code is about to run with less around it than there could be."""


def _bubblewrap() -> str | None:
    named = os.environ.get("CUSET_BWRAP")
    return shutil.which(named or "bwrap")


def _base(program: str, extras: Sequence[str], *, network: bool) -> list[str]:
    command = [program, "--unshare-all", "--unshare-user", "--die-with-parent", "--cap-drop", "ALL"]
    command += ["--share-net"] if network else []
    command += ["--disable-userns"] if "--disable-userns" in extras else []
    for place in SYSTEM:
        if os.path.islink(place):
            command += ["--symlink", os.readlink(place), place]
        elif os.path.isdir(place):
            command += ["--ro-bind", place, place]
    etc = (*ETC, *(("resolv.conf", "hosts", "nsswitch.conf", "ssl") if network else ()))
    for name in etc:
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    if "--size" in extras:
        command += ["--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]
    return command


def _closed(command: list[str]) -> list[str]:
    """Both are file systems in memory that a program could fill."""
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/"]


@functools.lru_cache(maxsize=8)
def _probe(program: str) -> tuple[tuple[str, ...] | None, str]:
    """The extras with which bubblewrap really works here (None: not at all), and what it said."""
    said = ""
    with tempfile.TemporaryDirectory(prefix="cuset-probe-") as folder:
        for extras in (_EXTRAS, ()):
            command = _closed([*_base(program, extras, network=False), "--bind", folder, folder])
            try:
                done = subprocess.run(
                    [*command, "/bin/sh", "-c", f": > {folder}/written"], capture_output=True, text=True, timeout=20
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return None, str(error)
            if done.returncode == 0 and os.path.exists(f"{folder}/written"):
                return extras, ""
            said = done.stderr.strip()
    return None, said


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
        extras, said = _probe(program)
        if extras is not None:
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
            "may read what others may read, and may reach the network.",
            IsolationWarning,
            stacklevel=2,
        )
    return Isolation.PROCESSES


def python_paths() -> tuple[Path, ...]:
    """What a command needs to see (run_sandboxed's `visible`) when it is this very Python with its installed packages."""
    found = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent}
    return tuple(sorted(path for path in found if not path.is_relative_to("/usr") and path != Path("/")))


def gpu_devices(gpu: Gpu) -> list[str]:
    """The device nodes one GPU needs; those of the other GPUs are left out when the driver says which is which."""
    minor = minor_number(gpu)
    nodes = []
    for path in sorted([*Path("/dev").glob("nvidia*"), *Path("/dev").glob("dxg")]):
        number = path.name.removeprefix("nvidia")
        if minor is None or not number.isdigit() or int(number) == minor:
            nodes.append(str(path))
    return nodes


def bubblewrap_prefix(
    folder: Path,
    readonly: Mapping[str, Path],
    visible: Sequence[Path],
    hidden: Sequence[Path],
    gpu: Gpu | None,
    *,
    network: bool,
) -> list[str]:
    """bubblewrap and its arguments up to the command. STATUS_FD stands for the descriptor that the supervisor opens."""
    program = _bubblewrap()
    extras = _probe(program)[0] if program is not None else None
    if program is None or extras is None:
        raise SandboxError("bubblewrap is gone; it worked a moment ago")
    command = [*_base(program, extras, network=network), "--json-status-fd", "STATUS_FD"]
    if gpu is not None:
        for place in GPU_SYSTEM:
            command += ["--ro-bind-try", place, place]
        for node in gpu_devices(gpu):
            command += ["--dev-bind-try", node, node]
    for path in hidden:
        if path.is_dir() and any(path.is_relative_to(place) for place in SYSTEM):
            command += ["--tmpfs", str(path), "--remount-ro", str(path)]
    for path in dict.fromkeys(visible):
        command += ["--ro-bind", str(path), str(path)]
    command += ["--bind", str(folder), str(folder)]
    for name, path in readonly.items():
        command += ["--ro-bind", str(path), str(folder / name)]
    return [*_closed(command), "--chdir", str(folder), "--"]


def landlock_rules(folder: Path, visible: Sequence[Path], gpu: Gpu | None, *, network: bool) -> dict[str, object]:
    """What a program may reach without bubblewrap, for kernels that can hold it to that (Landlock, Linux 5.19)."""
    readable = [*SYSTEM, *(f"/etc/{name}" for name in ETC), "/proc", *map(str, visible)]
    readable += [*GPU_SYSTEM, "/dev"] if gpu is not None else []
    readable += ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl"] if network else []
    writable = [str(folder), *(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))]
    writable += gpu_devices(gpu) if gpu is not None else []
    return {"readable": readable, "writable": writable, "network": network}
