"""What a child process does to itself before it becomes the program.

It resets its signals and descriptors, sets resource limits, changes to another user, and applies Landlock and a
seccomp filter. With bubblewrap, the last three are left to bubblewrap, which installs the filter that `build_filter`
makes. Constants of the kernel are written out here, because the supervisor uses the standard library only.
"""

import contextlib
import ctypes
import os
import resource
import signal
import socket
import stat
import struct
from collections.abc import Iterable, Sequence


_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_LAST_CAPABILITY = 63
_LANDLOCK_CREATE, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT = 444, 445, 446
# The versions of Landlock that are needed. Version 3 is in Linux 6.2: earlier ones do not restrict truncation, or
# forbid moving a file between two folders. Version 6 is in Linux 6.12: it keeps signals inside, which nothing else
# does if the program has the judge's user.
LEAST_LANDLOCK, LEAST_FOR_SAME_USER = 3, 6

# linux/landlock.h: access rights to files
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_ALL_RIGHTS = (1 << 15) - 1
_DEVICE_NODES = 1 << 6 | 1 << 11  # making device nodes: restricted everywhere, granted nowhere
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_TCP = 0b11
_SCOPES = 0b11  # abstract Unix sockets and signals, which then reach no process outside

# The seccomp filter. No program under test needs what it refuses: new namespaces and mounts, other processes' memory
# and limits, memory and messages that outlive the process or that nobody counts (System V, POSIX queues, memfd,
# threads with descriptors of their own), and kernel interfaces with a long record of holes. With Landlock, the filter
# also covers what bubblewrap solves by mounts: `attributes` and `changes`.
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_EPERM, _ENOEXEC, _EINVAL, _ENOSYS, _EOPNOTSUPP, _ECONNREFUSED = 1, 8, 22, 38, 95, 111
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in seccomp_data
_X32 = 0x40000000  # the first system call number of the x32 interface
_CLONE_FILES, _CLONE_THREAD, _CLONE_NEWUSER = 0x400, 0x10000, 0x10000000
_CLOSE_RANGE, _CLOSE_ON_EXEC = 436, 4  # its other flag would give a thread descriptors of its own
_SET_VMA = 0x53564D41  # an option of prctl: it names anonymous memory, which would hide that the memory is shared
_CLONE3 = 435  # its flags lie in memory, where a filter cannot look. If it is missing, glibc falls back to clone.
# open_tree to fspick, io_uring, pidfd_getfd, mount_setattr, memfd_secret, landlock_create_ruleset. These newer calls
# have the same number on all machines.
_NEWER = (*range(428, 434), 425, 426, 427, 438, 442, 447, 444)
_NEWER_ATTRIBUTES, _NEWER_CHANGES = (463, 466), (452, 469)  # setxattrat, removexattrat; fchmodat2, file_setattr
# Requests of ioctl that act on files. FS_IOC_RESVSP, RESVSP64 and ZERO_RANGE do what fallocate does.
# FS_IOC_FSSETXATTR, SETFLAGS and SETFLAGS32 can keep a file from being moved or removed. So can a read-only snapshot
# of btrfs: SNAP_CREATE, SUBVOL_CREATE, their second versions, and SUBVOL_SETFLAGS.
_OF_FILES = (0x40305828, 0x4030582A, 0x40305839, 0x401C5820, 0x40086602, 0x40046602)
_OF_FILES += (0x50009401, 0x5000940E, 0x50009417, 0x50009418, 0x4008941A)
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_BUFFERS = (7, 8)  # SO_SNDBUF, SO_RCVBUF


# fmt: off
_CALLS = {  # system call numbers on x86_64 and on aarch64
    "architecture": (0xC000003E, 0xC00000B7),  # AUDIT_ARCH_*, the kernel's number of the architecture
    "clone": (56, 220),
    "socket": (41, 198),
    "setsockopt": (54, 208),
    "ioctl": (16, 29),
    "prlimit": (302, 261),
    "prctl": (157, 167),
    "fallocate": (285, 47),
    "memfd_create": (319, 279),
    # Act on a process: sched_setparam, sched_setscheduler, sched_setaffinity, sched_setattr.
    "scheduling": ((142, 144, 203, 314), (118, 119, 122, 274)),
    # setpriority, ioprio_set, and setsid. The last because the kernel divides the processors equally among sessions,
    # and the judge's is one of them.
    "priority": ((141, 251, 112), (140, 30, 157)),
    "connect": (42, 203),
    "sendto": (44, 206),
    "messages": ((46, 307), (211, 269)),  # sendmsg and sendmmsg, which can also pass descriptors
    "serving": ((43, 288), (202, 242)),  # accept and accept4, but not listen, which the CUDA driver calls when it starts
    "into_pipes": ((40, 275, 276, 278), (71, 76, 77, 75)),  # sendfile, splice, tee, vmsplice
    # Act on a file: setxattr, lsetxattr, fsetxattr, removexattr, lremovexattr, fremovexattr.
    "attributes": ((188, 189, 190, 197, 198, 199), (5, 6, 7, 14, 15, 16)),
    # Act on a file: fchmod, fchmodat, fchown, fchownat, utimensat, and on machines that have them chmod, chown,
    # lchown, utime, utimes, futimesat.
    "changes": ((91, 268, 93, 260, 280, 90, 92, 94, 132, 235, 261), (52, 53, 55, 54, 88)),
    # shmget, semget, msgget, mq_open, unshare, setns, mount, umount2, pivot_root, ptrace, process_vm_readv,
    # process_vm_writev, bpf, perf_event_open, userfaultfd, add_key, request_key, keyctl, kexec_load, init_module,
    # finit_module, delete_module. Also io_setup, by which a closed socket lives on, mknodat and mknod, because named
    # pipes hold data, and fanotify_init, inotify_init1 and inotify_init, because waiting events take memory.
    "refused": (
        (29, 64, 68, 240, 272, 308, 165, 166, 155, 101, 310, 311, 321, 298, 323, 248, 249, 250, 246, 175, 313, 176,
         206, 259, 133, 300, 294, 253),
        (194, 190, 186, 180, 97, 268, 40, 39, 41, 117, 270, 271, 280, 241, 282, 217, 218, 219, 104, 105, 273, 106,
         0, 33, 262, 26),
    ),
}
# fmt: on


OPEN_FILES = 1024  # limit per process, since each may be a socket or a pipe full of data
NICER = 10  # added to a program's niceness, so that the judge gets its turn even among a thousand processes


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def become_subreaper() -> None:
    """Make orphans below this process its children, and let nobody trace it or read its memory."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_DUMPABLE, 0)


def _landlock(call: int, *arguments: object) -> int:
    """Make a system call of Landlock and return its result. Raises OSError if it fails."""
    result = _LIBC.syscall(call, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result


def landlock_version() -> int:
    """Return the version of this kernel's Landlock. Raises OSError if it has none."""
    return _landlock(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))


def restrict_files(readable: list[str], writable: list[str], *, same_user: bool) -> None:
    """Restrict this process to some paths by Landlock, from here on.

    If the kernel's version supports it, TCP is also refused, and so are signals and abstract sockets to processes
    outside.

    Args:
        readable: Paths that may be read and executed. One that is missing or out of reach is left out.
        writable: Paths that may also be written to, treated likewise.
        same_user: The program runs as the judge's user, which needs a newer version of Landlock.

    Raises:
        OSError: The kernel's Landlock does not restrict enough.
    """
    version = landlock_version()
    least, linux = (LEAST_FOR_SAME_USER, "6.12, or 6.2 for root") if same_user else (LEAST_LANDLOCK, "6.2")
    if version < least:
        raise OSError(0, f"Landlock: version {version}, {least} is needed (Linux {linux})")
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


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Return one BPF instruction. `yes` and `no` are the numbers of instructions to skip after a comparison."""
    return struct.pack("=HBBI", code, yes, no, value)


ALLOW_ALL = _step(_RETURN, _ALLOW)


def _answer(values: Iterable[int], action: int) -> list[bytes]:
    """Return steps that end the filter with `action` if the number loaded before is one of the values."""
    return [step for value in values for step in (_step(_EQUAL, value, 0, 1), _step(_RETURN, action))]


def _by_argument(number: int, index: int, values: Sequence[int], then: int, otherwise: int) -> list[bytes]:
    """Return steps that decide one system call: `then` if the lower half of an argument is one of the values."""
    steps = [_step(_EQUAL, number, 0, 2 * len(values) + 2), _step(_LOAD, _ARGUMENTS + 8 * index)]
    return [*steps, *_answer(values, then), _step(_RETURN, otherwise)]


def build_filter(*, contained: bool, network: bool = False, same_user: bool = False) -> bytes | None:
    """Build the seccomp filter as the kernel reads it.

    Args:
        contained: Namespaces and mounts surround the program. If False, the filter also refuses to change the
            attributes of files, which Landlock does not restrict.
        network: Allow TCP and UDP, descriptors in messages, and connections. If False, the program can use only
            sockets that it makes as a pair. The reasons are that services of the machine and of its user listen on
            Unix sockets, which a read-only mount does not close, and that data in a connection nobody has accepted is
            in no process.
        same_user: The program runs as the judge's user, so the judge's files are its own. If it is not `contained`,
            changes of modes, owners and times are then ignored, too.

    Returns:
        The instructions, or None if the system call numbers of this machine are not known.
    """
    machines = {"x86_64": 0, "aarch64": 1}
    if (machine := os.uname().machine) not in machines:
        return None
    calls = {name: numbers[machines[machine]] for name, numbers in _CALLS.items()}
    refused, missing, nothing_done = _ERRNO | _EPERM, _ERRNO | _ENOSYS, _ERRNO
    steps = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, calls["architecture"], 1, 0), _step(_RETURN, missing)]
    steps += [_step(_LOAD, _NUMBER), _step(_AT_LEAST, _X32, 0, 1), _step(_RETURN, missing)]
    steps += _answer((_CLONE3, calls["memfd_create"]), missing)
    steps += _answer((*calls["refused"], *_NEWER), refused)
    steps += _answer([calls["fallocate"]], _ERRNO | _EOPNOTSUPP)  # gigabytes at once; the C library writes instead
    steps += _by_argument(calls["ioctl"], 1, _OF_FILES, _ERRNO | _EOPNOTSUPP, _ALLOW)
    steps += _by_argument(calls["prlimit"], 0, [0], _ALLOW, refused)
    steps += _by_argument(calls["prctl"], 0, [_SET_VMA], _ERRNO | _EINVAL, _ALLOW)
    steps += _by_argument(_CLOSE_RANGE, 2, [0, _CLOSE_ON_EXEC], _ALLOW, refused)
    steps += _by_argument(calls["setsockopt"], 2, _BUFFERS, nothing_done, _ALLOW)
    # 0 means the calling thread. A call with any other id does nothing and reports success, not an error, because a
    # thread may also name itself by its id.
    for number in calls["scheduling"]:
        steps += _by_argument(number, 0, [0], _ALLOW, nothing_done)
    steps += _answer(calls["priority"], nothing_done)
    families = [_AF_UNIX, _AF_NETLINK, *((_AF_INET, _AF_INET6) if network else ())]
    steps += _by_argument(calls["socket"], 0, families, _ALLOW, refused)
    # A pipe would keep a whole huge page because of one small page in it. Programs that copy fall back to read and
    # write.
    steps += _answer(calls["into_pipes"], _ERRNO | _EINVAL)
    if not network:
        # A file or a socket inside a message belongs to no process, so nobody would count it.
        steps += _answer((*calls["messages"], *calls["serving"]), refused)
        steps += _answer([calls["connect"]], _ERRNO | _ECONNREFUSED)
        steps += _by_argument(calls["sendto"], 5, [0], _ALLOW, refused)  # argument 5 is the length of an address
    if not contained:
        steps += _answer((*calls["attributes"], *_NEWER_ATTRIBUTES), _ERRNO | _EOPNOTSUPP)
        # These report success and do nothing, because a linker makes its output executable. The judge does that
        # instead.
        if same_user:
            steps += _answer((*calls["changes"], *_NEWER_CHANGES), nothing_done)
    steps += [_step(_EQUAL, calls["clone"], 0, 5), _step(_LOAD, _ARGUMENTS), _step(_ANY_BIT, _CLONE_NEWUSER, 2, 0)]
    steps += [_step(_AND, _CLONE_THREAD | _CLONE_FILES), _step(_EQUAL, _CLONE_THREAD, 0, 1), _step(_RETURN, refused)]
    return b"".join([*steps, ALLOW_ALL])


def install_filter(*, same_user: bool) -> None:
    """Install the filter of a run without namespaces, for this process and all it starts. It needs no_new_privs.

    Raises:
        OSError: The kernel takes no filter, or the system call numbers of this machine are not known.
    """
    program = build_filter(contained=False, same_user=same_user)
    if program is None:
        raise OSError(_ENOSYS, f"no table of system calls for {os.uname().machine}")
    steps = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(steps))
    if _LIBC.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), header, 0, 0):
        raise OSError(ctypes.get_errno(), "this kernel takes no seccomp filter")


def probe() -> str | None:
    """Confine this process like a program and try what must fail then. Return None if all fails, else the reason."""
    try:
        judge, same_user = os.getppid(), os.geteuid() != 0
        restrict_files([], [], same_user=same_user)
        install_filter(same_user=same_user)
        for what, attempt in (
            ("open a file", lambda: os.open("/", os.O_RDONLY)),
            ("open a socket", lambda: socket.socket(socket.AF_INET)),
            ("limit the judge", lambda: resource.prlimit(judge, resource.RLIMIT_CORE)),
            *([("signal the judge", lambda: os.kill(judge, 0))] if same_user else ()),
        ):
            with contextlib.suppress(PermissionError):
                attempt()
                raise OSError(0, f"a process under Landlock and seccomp can still {what}")
    except OSError as error:
        return error.strerror
    return None


def _limit(kind: int, most: int | None, grace: int = 0) -> None:
    """Set a resource limit, the hard one `grace` above the soft one, but none above the hard limit of this process."""
    if most is not None:
        ceiling = resource.getrlimit(kind)[1]
        above = most + grace if ceiling == resource.RLIM_INFINITY else min(most + grace, ceiling)
        resource.setrlimit(kind, (min(most, above), above))


def _most_threads(request: dict) -> int:
    """Return the value of RLIMIT_NPROC. It counts all threads of a user, not of a program, and does not bind root."""
    most = request["threads"]
    for name in os.listdir("/proc") if request["uid"] is None else ():  # a user of its own has no other threads
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.geteuid():
                most += os.stat(f"/proc/{name}/task").st_nlink - 2
    return most


def _confine(request: dict) -> None:
    """Do what bubblewrap would do: change the user or drop capabilities, and apply Landlock and seccomp if asked for.

    `request["landlock"]` is None with isolation=none.
    """
    if (uid := request["uid"]) is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    elif os.geteuid() == 0:
        for capability in range(_LAST_CAPABILITY + 1):
            with contextlib.suppress(OSError):  # this kernel may have fewer capabilities
                _prctl(_PR_CAPBSET_DROP, capability)
    if request["landlock"] is not None:
        restrict_files(**request["landlock"], same_user=uid is None)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if request["landlock"] is not None:
        install_filter(same_user=uid is None)


def become_program(request: dict, stdout: int, stderr: int, report: int, own: list[int]) -> None:
    """Confine the child process as asked and exec the program. Never returns.

    Args:
        request: The request, as `process.run_sandboxed` makes it.
        stdout: Descriptor of the file for stdout.
        stderr: Descriptor of the file for stderr.
        report: Descriptor on which a failure is written as text. exec closes it.
        own: Descriptors that stay open for bubblewrap and its prefix.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.setsid()
        os.nice(NICER)
        limits = request["limits"]
        for number in signal.valid_signals():
            with contextlib.suppress(OSError):
                signal.signal(number, signal.SIG_DFL)  # Python ignores SIGPIPE and SIGXFSZ, a program does not
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.umask(0o022)
        _prctl(_PR_SET_DUMPABLE, 1)  # otherwise /proc/self belongs to root
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # if memory runs out, the kernel kills the program and not the judge
        (stdin,) = request["stdin"] or [os.open("/dev/null", os.O_RDONLY)]
        for number, fd in enumerate((stdin, stdout, stderr)):
            os.dup2(fd, number)
        for fd in own:
            os.set_inheritable(fd, True)  # exec closes all others
        os.chdir(request["folder"])
        _limit(resource.RLIMIT_NPROC, _most_threads(request))
        if not request["prefix"]:
            _confine(request)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
        _limit(resource.RLIMIT_FSIZE, limits["file_bytes"])
        _limit(resource.RLIMIT_AS, limits["address_space_bytes"])
        _limit(resource.RLIMIT_CPU, limits["cpu_s"] and int(limits["cpu_s"]) + 1, grace=1)
        command = [*request["prefix"], *request["command"]]
        os.execvpe(command[0], command, request["environment"])
    except BaseException as error:
        # A file that the kernel cannot execute is the program's fault, so the message goes to stderr. It is not
        # reported as a failure of the judge to start the program.
        place = 2 if not request["prefix"] and getattr(error, "errno", None) == _ENOEXEC else report
        with contextlib.suppress(OSError):
            os.write(place, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(127)
