"""A seccomp filter: system calls that no program under test needs, and that reach past what the sandbox watches.

New namespaces and mounts (memory in file systems that nobody counts), other processes' memory, kernel interfaces with a long
record of holes. They fail with EPERM; everything else is allowed. Without namespaces, the judge's processes are kept from signals,
too, no socket leaves the machine, and there are no System V objects and POSIX queues, which would stay.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence


_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_EPERM, _ENOSYS = 1, 38
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_X32 = 0x40000000  # the first number of x86's third interface
_CLONE_NEWUSER = 0x10000000
_CLONE3 = 435  # its flags lie in memory, where a filter cannot look: glibc falls back to clone
# open_tree to fspick, io_uring, pidfd_getfd, mount_setattr: one number everywhere
_NEWER = (*range(428, 434), 425, 426, 427, 438, 442)
_SIGNALS_BY_HANDLE = 424  # pidfd_send_signal
_LOCAL_SOCKETS = (1, 16)  # AF_UNIX and AF_NETLINK

# machine -> (audit architecture, clone, socket, (kill, tkill, tgkill), what is denied without namespaces, what is always denied).
# In order: rt_sigqueueinfo, rt_tgsigqueueinfo, shmget, semget, msgget, mq_open; unshare, setns, mount, umount2, pivot_root, ptrace,
# process_vm_readv, process_vm_writev, bpf, perf_event_open, userfaultfd, add_key, request_key, keyctl, kexec_load, init_module,
# finit_module, delete_module
# fmt: off
_MACHINES = {
    "x86_64": (
        0xC000003E,
        56,
        41,
        (62, 200, 234),
        (129, 297, 29, 64, 68, 240),
        (272, 308, 165, 166, 155, 101, 310, 311, 321, 298, 323, 248, 249, 250, 246, 175, 313, 176),
    ),
    "aarch64": (
        0xC00000B7,
        220,
        198,
        (129, 130, 131),
        (138, 240, 194, 190, 186, 180),
        (97, 268, 40, 39, 41, 117, 270, 271, 280, 241, 282, 217, 218, 219, 104, 105, 273, 106),
    ),
}
# fmt: on


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


ALLOW_ALL = _step(_RETURN, _ALLOW)


def _by_first_argument(number: int, test: int, values: Sequence[int], then: int, otherwise: int) -> list[bytes]:
    """What becomes of one system call: `then` where the lower half of its first argument passes the test with one of the values."""
    steps = [_step(_EQUAL, number, 0, 2 * len(values) + 2), _step(_LOAD, 16)]
    for value in values:
        steps += [_step(test, value & 0xFFFFFFFF, 0, 1), _step(_RETURN, then)]
    return [*steps, _step(_RETURN, otherwise)]


def build_filter(protected: tuple[int, ...] = ()) -> bytes | None:
    """The filter as the kernel reads it; None for a machine whose numbers are not in the table.

    protected: without namespaces, process ids that may not be signalled; then nobody may signal "everybody", or with a value, or by
    a handle, and there are sockets of `_LOCAL_SOCKETS` alone, which closes TCP, UDP and all else that leaves the machine.
    """
    machine = os.uname().machine
    if machine not in _MACHINES:
        return None
    architecture, clone, socket, kills, unconfined, denied = _MACHINES[machine]
    refused, missing = _ERRNO | _EPERM, _ERRNO | _ENOSYS
    steps = [_step(_LOAD, 4), _step(_EQUAL, architecture, 1, 0), _step(_RETURN, missing)]  # seccomp_data.arch
    steps += [_step(_LOAD, 0), _step(_AT_LEAST, _X32, 0, 1), _step(_RETURN, missing)]  # seccomp_data.nr
    steps += [_step(_EQUAL, _CLONE3, 0, 1), _step(_RETURN, missing)]
    for number in (*denied, *_NEWER, *((*unconfined, _SIGNALS_BY_HANDLE) if protected else ())):
        steps += [_step(_EQUAL, number, 0, 1), _step(_RETURN, refused)]
    if protected:
        targets = [-1, *(sign * pid for pid in protected for sign in (1, -1))]
        for number in kills:
            steps += _by_first_argument(number, _EQUAL, targets, refused, _ALLOW)
        steps += _by_first_argument(socket, _EQUAL, _LOCAL_SOCKETS, _ALLOW, refused)
    return b"".join([*steps, *_by_first_argument(clone, _ANY_BIT, [_CLONE_NEWUSER], refused, _ALLOW), ALLOW_ALL])


def install_filter(protected: tuple[int, ...]) -> None:
    """For this process and all it starts; needs no_new_privs. Raises OSError where there is no filter, or no table for it."""
    program = build_filter(protected)
    if program is None:
        raise OSError(_ENOSYS, f"no table of system calls for {os.uname().machine}")
    steps = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(steps))
    if _LIBC.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_MODE_FILTER), header, 0, 0):
        raise OSError(ctypes.get_errno(), "this kernel takes no seccomp filter")
