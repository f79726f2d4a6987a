"""Processes in the sandbox that have imported NumPy (and torch) and fork for each script: importing takes longer than most of a task set's
scripts. The scripts are the task set's own; what an answer wrote is never near."""

import atexit
import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import psutil

from ..sandbox import Finished, Isolation, Limits, python_paths, scratch_folder
from ..sandbox.background import BackgroundRun


DRIVER = Path(__file__).with_name("oracle_driver.py")
ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONPATH": "", "CUSET_STAGE_DISABLE": "1"}
A_DAY_S = 86400.0  # each script has its own time limit


def bounded(limits: Limits) -> Limits:
    """Where there is no limit on memory: what the machine has, less a tenth."""
    return limits if limits.memory_bytes else replace(limits, memory_bytes=psutil.virtual_memory().total * 9 // 10)


class ScriptServer:
    """One such process: a script at a time, each in a folder of its own and ended with all that it started."""

    def __init__(self, limits: Limits, isolation: Isolation) -> None:
        self.limits = limits
        self._folders = ExitStack()
        self._folder = self._folders.enter_context(scratch_folder()) / "work"
        self._folder.mkdir()
        self._process = BackgroundRun(
            [sys.executable, "-s", "-B", "oracle_driver.py", "serve"],
            folder=self._folder,
            readonly={"oracle_driver.py": DRIVER},
            visible=python_paths(),
            limits=replace(bounded(limits), wall_s=A_DAY_S),
            environment=ENVIRONMENT,
            isolation=isolation,
        )
        self._process.start()
        self._channel = self._process.socket
        self._answers = self._channel.makefile("rb")
        atexit.register(self.close)
        self._scripts = 0

    def run(self, arguments: Sequence[str], scripts: Mapping[str, str], work: Path) -> Finished:
        """Run the driver with these arguments beside these files. `work`, an empty folder, is replaced by the one in which it ran."""
        self._scripts += 1
        name = str(self._scripts)
        request = {"folder": name, "arguments": list(arguments), "files": dict(scripts)}
        answer = b""
        with suppress(OSError):  # it has ended; or a time-out
            self._channel.settimeout(self.limits.wall_s)
            self._channel.sendall(json.dumps(request).encode() + b"\n")
            answer = self._answers.readline()
        if not answer.endswith(b"\n"):
            out_of_time = self._process.alive and not self.hung_up()
            ended = self.close()
            return Finished(stopped="wall") if out_of_time else ended
        os.rename(self._folder / name, work)
        return Finished(**json.loads(answer))

    def hung_up(self) -> bool:
        """Whether its end of the channel is closed: then it ends by itself."""
        self._channel.settimeout(0)
        try:
            return not self._channel.recv(1)
        except BlockingIOError:
            return False
        except OSError:
            return True

    @property
    def alive(self) -> bool:
        return self._process.alive

    def close(self) -> Finished:
        """End it; how it ended."""
        atexit.unregister(self.close)
        by_itself = self._channel.fileno() >= 0 and self.hung_up()
        ended = self._process.end(5.0 if by_itself else 0.0)  # so that what ended it is known
        self._answers.close()
        self._channel.close()
        self._folders.close()
        return ended


_idle: list[tuple[object, ScriptServer]] = []  # with what each was made for; the last has waited least
_changing = threading.Lock()
MOST_IDLE = 2 * len(os.sched_getaffinity(0))  # watching an idle one takes 4 % of a core


def run_script(
    arguments: Sequence[str], scripts: Mapping[str, str], work: Path, limits: Limits, isolation: Isolation
) -> Finished:
    """`ScriptServer.run` in one that has nothing to do, or a new one; scripts with torch, which takes seconds to import, have theirs."""
    made_for = (limits, isolation, any("torch" in text for text in scripts.values()))
    while server := _idle_server(made_for):
        if server.alive and not server.hung_up():
            break
        server.close()  # it was ended while it had nothing to do
    server = server or ScriptServer(limits, isolation)
    finished = server.run(arguments, scripts, work)
    if server.alive:
        with _changing:
            _idle.append((made_for, server))
            unused = _idle[:-MOST_IDLE]
            del _idle[:-MOST_IDLE]
        for _, longest_idle in unused:
            longest_idle.close()
    return finished


def _idle_server(made_for: object) -> ScriptServer | None:
    with _changing:
        for place in reversed(range(len(_idle))):
            if _idle[place][0] == made_for:
                return _idle.pop(place)[1]
    return None


def _forget() -> None:
    """In a fork: the servers are its parent's, and another thread of that may have been changing the list."""
    global _changing
    _changing = threading.Lock()
    _idle.clear()


os.register_at_fork(after_in_child=_forget)
