"""The supervisor: the process between the judge and the programs it runs. It takes one run after another.

It is started as `python -I -S __main__.py`. For each run it forks, and the fork starts and watches the program
(loop.py). The fork has a process to itself (one thread, standard library only), so that it can reap every orphan the
program leaves and may fork safely. A fork is used because starting Python for each run would take longer than
everything else. The judge has as many supervisors as it has runs at the same time (supervision.py).

stdin is a socket. A request comes in with its length before it. If the program's stdin is not empty, its descriptor
comes with the length. An answer goes out, also with its length before it. Both are written by `marshal`, since both
ends are the same Python. If the socket closes, the judge is gone, and the fork kills what it watches. If a fork is
killed, what it leaves is reparented to this process, which kills it and exits. The judge then finds the socket closed
and no answer.

`__main__.py probe` instead tests whether Landlock and seccomp hold on this machine, and says on stderr what does not.
`__main__.py memory` prints "cgroup v2" if a control group counts the memory of runs, else nothing.
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
    """Take runs until the judge is gone or a fork was killed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # only the judge ends this process, by closing its socket
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # the judge's thread that started this may have blocked signals
    become_subreaper()
    channel = socket.socket(fileno=0)
    group = enter_group()
    try:
        answer_runs(channel, group)
    finally:
        if group is not None:
            group.leave()


def answer_runs(channel: socket.socket, group: Group | None) -> None:
    """Fork for each request from the socket. Return if the judge is gone, a fork failed or processes are left."""
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
    """Do one run in the fork and send its answer. Never returns. The exit status is 0 if the judge got an answer."""
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
