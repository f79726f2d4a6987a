"""A replacement for the sandbox that runs the judge's scripts in forks of a process that has imported numpy, or torch.

A run takes a twentieth of the time. To fork the test process itself, which has a gigabyte, would take a tenth of a
second. Everything but the sandbox is the same. Tests that need the real sandbox ask for the fixture `sandboxed`.
"""

import functools
import gc
import os
import pickle
import runpy
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.forkserver import ForkServer, read_signed
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple


if TYPE_CHECKING:
    from cuset_stage.sandbox import Finished, Limits


@functools.cache
def _server(preload: str) -> ForkServer:
    server = ForkServer()
    server.set_forkserver_preload([preload, "pathlib", "traceback"])
    return server


def run_forked(
    command: list[str],
    *,
    folder: Path,
    readonly: Mapping[str, Path],
    limits: "Limits",
    environment: Mapping[str, str],
    channel: socket.socket | None = None,
    stop: threading.Event | None = None,
    **_: Any,
) -> "Finished":
    """Do what `sandbox.run_sandboxed` does for a command `python [options] SCRIPT [arguments]`, without any
    confinement.

    Of the limits only the wall time is enforced. Files in `readonly` become symbolic links in the folder while the
    script runs.
    """
    from cuset_stage.sandbox import Finished  # not above: each fork imports this module

    links = [folder / name for name in readonly]
    for link, source in zip(links, readonly.values(), strict=True):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source)
    said = [folder.parent / name for name in ("stdout.txt", "stderr.txt")]
    for path in said:
        path.touch()  # it may be stopped before it has begun
    own = [path for name, path in readonly.items() if path.suffix == ".py" and name != "oracle_driver.py"]
    server = _server("torch" if any(b"torch" in path.read_bytes() for path in own) else "numpy")
    start = time.monotonic()
    status, request = server.connect_to_new_process([channel.fileno()] if channel else [])
    if channel:
        channel.close()
    with open(request, "wb") as to_child:
        script = Script(command, folder, said, {**os.environ, **environment})
        to_child.write(pickle.dumps({"sys_path": sys.path}) + pickle.dumps(script))
    child, stopped = read_signed(status), None
    while not select.select([status], [], [], 0.002)[0]:
        if (stop_requested := stop is not None and stop.is_set()) or time.monotonic() - start > limits.wall_s:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(child, signal.SIGKILL)
            stopped = "judge" if stop_requested else "wall"
    returncode = read_signed(status)
    os.close(status)
    for link in links:
        link.unlink()
    texts = [path.read_text(errors="replace") for path in said]
    return Finished(None if stopped else returncode, stopped, time.monotonic() - start, *texts)


class Script(NamedTuple):
    """A run in the fork, which calls `_bootstrap` as it would that of a multiprocessing.Process.

    `said` are the files for stdout and stderr.
    """

    command: list[str]
    folder: Path
    said: list[Path]
    environment: dict[str, str]

    def _bootstrap(self, parent_sentinel: int) -> int:
        """Run the script and return its exit code."""
        from multiprocessing.forkserver import _forkserver

        for descriptor in _forkserver.get_inherited_fds():
            os.dup2(descriptor, 0)
        for number, path in enumerate(self.said, start=1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_TRUNC), number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        gc.freeze()  # otherwise a collection copies all pages of what was imported
        os.chdir(self.folder)
        os.environ.clear()  # the server has that of the test which began it
        os.environ.update(self.environment)
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)  # torch's worker threads do not survive the fork
        script_index = next(number for number, part in enumerate(self.command) if part.endswith(".py"))
        sys.argv = self.command[script_index:]
        sys.path.insert(0, str(self.folder))
        code: object = 0
        try:
            runpy.run_path(self.command[script_index], run_name="__main__")
        except SystemExit as stop:
            code = stop.code or 0
            if isinstance(code, str):
                print(code, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        return code if isinstance(code, int) else 1
