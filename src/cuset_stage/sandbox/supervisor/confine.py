"""What a child does to itself before it becomes the program: limits, another user, Landlock, a clean slate."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import socket
import stat
import struct

from seccomp import install_filter


_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_LAST_CAPABILITY = 63
_LANDLOCK_CREATE, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT = 444, 445, 446
LEAST_LANDLOCK = 3  # Linux 6.2: earlier versions do not hold truncation, or forbid moving a file between two folders

# linux/landlock.h: access rights to files
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_ALL_RIGHTS = (1 << 15) - 1
_DEVICE_NODES = 1 << 6 | 1 << 11  # to make one: handled, and granted nowhere
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_TCP = 0b11
_SCOPES = 0b11  # abstract sockets and signals reach no process outside


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def become_subreaper() -> None:
    """Orphans below this process become its children; nobody may trace it or read its memory."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_DUMPABLE, 0)


def _landlock(call: int, *arguments: object) -> int:
    result = _LIBC.syscall(call, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result


def restrict_files(readable: list[str], writable: list[str]) -> None:
    """Landlock: from here on this process reaches only these paths, and where the version has that, no TCP and no process outside.

    A readable path that is missing or out of reach is left out. Raises OSError where the kernel's Landlock does not hold enough.
    """
    version = _landlock(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    if version < LEAST_LANDLOCK:
        raise OSError(0, f"Landlock: version {version}, {LEAST_LANDLOCK} is needed (Linux 6.2)")
    attributes = struct.pack("QQQ", _ALL_RIGHTS, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _landlock(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint(0))
    reading, writing = _EXECUTE | _READ_FILE | _READ_DIR, _ALL_RIGHTS & ~_DEVICE_NODES
    for paths, rights in ((readable, reading), (writable, writing)):
        for path in paths:
            with contextlib.suppress(FileNotFoundError, PermissionError):
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
                allowed = rights if stat.S_ISDIR(os.fstat(place).st_mode) else rights & _FILE_RIGHTS
                rule = struct.pack("=Qi", allowed, place)
                _landlock(_LANDLOCK_ADD_RULE, ruleset, ctypes.c_uint(1), rule, ctypes.c_uint(0))
                os.close(place)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _landlock(_LANDLOCK_RESTRICT, ruleset, ctypes.c_uint(0))
    os.close(ruleset)


def probe() -> str | None:
    """Confine this process as a program would be and try what must fail then: None when it does, else the reason."""
    try:
        restrict_files([], [])
        install_filter((os.getppid(),))
        for what, attempt in (
            ("open a file", lambda: os.open("/", os.O_RDONLY)),
            ("open a socket", lambda: socket.socket(socket.AF_INET)),
            ("signal the judge", lambda: os.kill(os.getppid(), 0)),
        ):
            with contextlib.suppress(PermissionError):
                attempt()
                raise OSError(0, f"a process under Landlock and seccomp can still {what}")
    except OSError as error:
        return error.strerror
    return None


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _limit(kind: int, most: int | None, grace: int = 0) -> None:
    if most is not None:
        ceiling = resource.getrlimit(kind)[1]
        above = most + grace if ceiling == resource.RLIM_INFINITY else min(most + grace, ceiling)
        resource.setrlimit(kind, (min(most, above), above))


def _most_threads(request: dict) -> int | None:
    """RLIMIT_NPROC, which counts all threads of a user and not of a program. Root is not held to it."""
    if request["uid"] is not None:  # a user of its own: exactly this program
        return request["threads"]
    if os.geteuid() == 0:
        return None
    mine = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.geteuid():
                mine += os.stat(f"/proc/{name}/task").st_nlink - 2
    return mine + request["threads"]


def _confine(request: dict) -> None:
    """All that bubblewrap would do: another user or no capabilities, Landlock (unless `isolation: none`), seccomp."""
    if request["uid"] is not None:
        _become(request["uid"])
    elif os.geteuid() == 0:
        for capability in range(_LAST_CAPABILITY + 1):
            with contextlib.suppress(OSError):  # more than this kernel has
                _prctl(_PR_CAPBSET_DROP, capability)
    if request["landlock"] is not None:
        restrict_files(**request["landlock"])
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        install_filter((os.getppid(), request["server"], request["judge"]))
    except OSError:
        if request["landlock"] is not None:
            raise


def become_program(request: dict, stdout: int, stderr: int, report: int, own: list[int]) -> None:
    """In the child: confined as asked, then exec. Never returns; a failure goes to the pipe `report` as text, which exec closes.

    own: descriptors that stay open for bubblewrap and its prefix.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.setsid()
        limits = request["limits"]
        for number in signal.valid_signals():
            with contextlib.suppress(OSError):
                signal.signal(number, signal.SIG_DFL)  # Python ignores SIGPIPE and SIGXFSZ; a program expects neither
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.umask(0o022)
        _prctl(_PR_SET_DUMPABLE, 1)  # else /proc/self belongs to root
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # when memory runs out, the kernel ends the program and not the judge
        for number, fd in enumerate((os.open("/dev/null", os.O_RDONLY), stdout, stderr)):
            os.dup2(fd, number)
        kept = sorted({report, *own})
        for begin, end in zip([2, *kept], [*kept, os.sysconf("SC_OPEN_MAX")], strict=True):
            os.closerange(begin + 1, end)
        for fd in own:
            os.set_inheritable(fd, True)
        os.chdir(request["folder"])
        _limit(resource.RLIMIT_NPROC, _most_threads(request))
        if not request["prefix"]:
            _confine(request)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
        _limit(resource.RLIMIT_AS, limits["address_space_bytes"])
        _limit(resource.RLIMIT_CPU, limits["cpu_s"] and int(limits["cpu_s"]) + 1, grace=1)
        command = [*request["prefix"], *request["command"]]
        os.execvpe(command[0], command, request["environment"])
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(report, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(127)
