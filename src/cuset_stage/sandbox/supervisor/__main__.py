"""The process between the judge and what it runs, started as `python -I -S __main__.py`: it takes one run after another.

A fork of it watches each run (loop.py), alone in its process (one thread, the standard library), so that it can be the reaper of every
orphan the program leaves, and may fork safely. Starting Python for each run would take longer than all the rest. The judge has as many
of these processes as it has runs at a time (supervision.py).

stdin is a socket: a request comes in, its length before it and with that, where it is not empty, the program's stdin; an answer goes out,
its length before it. Both are as `marshal` writes them: the two ends are the same Python. When it closes, the judge is gone, and the fork
kills what it watches. What is left of a fork that was killed itself comes to this process, which ends it and goes: the judge then finds the
socket closed instead of an answer.

`__main__.py probe` tries instead whether Landlock and seccomp hold here, and says what does not on stderr; `__main__.py memory` prints
"cgroup v2" where a control group counts the memory of runs, else nothing.
"""

import marshal
import os
import signal
import socket
import sys
import traceback


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out

from confine import become_subreaper, probe
from group import Group, enter_group
from loop import run
from tree import kill_all


def serve() -> None:
    """Until the judge is gone, or a supervisor was killed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the judge decides; when it goes, its socket closes
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # the judge's thread that started this may have blocked some
    become_subreaper()
    channel = socket.socket(fileno=0)
    group = enter_group()
    try:
        answer_runs(channel, group)
    finally:
        if group is not None:
            group.leave()


def answer_runs(channel: socket.socket, group: Group | None) -> None:
    while True:
        head, stdin, _, _ = socket.recv_fds(channel, 8, 1)
        if not head:
            return
        for fd in stdin:
            os.set_inheritable(fd, False)
        request = marshal.loads(channel.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
        pid = os.fork()
        if pid == 0:
            supervise(channel, request | {"stdin": stdin}, group)
        for fd in stdin:
            os.close(fd)
        _, status = os.waitpid(pid, 0)
        if not kill_all(request["uid"], {}) or status:
            return


def supervise(channel: socket.socket, request: dict, group: Group | None) -> None:
    """In the fork: one run, and its answer. Never returns; the exit status is 0 when the judge has been answered."""
    status = 1
    try:
        become_subreaper()
        try:
            answer = run(request, group)
        except Exception:
            kill_all(request["uid"], {})
            answer = {"infra": f"the supervisor failed: {traceback.format_exc()[-1000:]}"}
        written = marshal.dumps(answer)
        channel.sendall(len(written).to_bytes(8, "big") + written)
        status = 0
    finally:
        os._exit(status)


if sys.argv[1:] == ["probe"]:
    sys.exit(probe())
if sys.argv[1:] == ["memory"]:
    if (group := enter_group()) is not None:
        print("cgroup v2")
        group.leave()
    sys.exit()
serve()
