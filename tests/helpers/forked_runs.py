"""A replacement for the sandbox that runs the judge's scripts in forks of the test process.

numpy and torch are imported there already, so a run takes a twentieth of the time. Everything but the sandbox itself is
the same. Tests that need the real sandbox ask for the fixture `sandboxed`.
"""

import faulthandler
import gc
import os
import runpy
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cuset_stage.sandbox import Finished, Limits


def run_forked(
    command: list[str],
    *,
    folder: Path,
    readonly: Mapping[str, Path],
    limits: Limits,
    environment: Mapping[str, str],
    channel: socket.socket | None = None,
    stop: threading.Event | None = None,
    **_: Any,
) -> Finished:
    """Do what `sandbox.run_sandboxed` does for a command `python [options] SCRIPT [arguments]`, without any
    confinement.

    Of the limits only the wall time is enforced. Files in `readonly` become symbolic links in the folder while the
    script runs.
    """
    links = [folder / name for name in readonly]
    for link, source in zip(links, readonly.values(), strict=True):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source)
    output_paths = [folder.parent / name for name in ("stdout.txt", "stderr.txt")]
    start = time.monotonic()
    child = None
    while child is None:
        with suppress(RuntimeError):  # filelock allows no fork while another thread takes a lock
            child = os.fork()
    if not child:
        if channel:
            os.dup2(channel.fileno(), 0)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # another thread may just have opened files for a child of its own
        os._exit(_run(command, folder, output_paths, environment))
    if channel:
        channel.close()
    stopped = status = None
    while status is None and stopped is None:
        ended, code = os.waitpid(child, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(code)
        elif (stop_requested := stop is not None and stop.is_set()) or time.monotonic() - start > limits.wall_s:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            stopped = "judge" if stop_requested else "wall"
        else:
            time.sleep(0.002)
    for link in links:
        link.unlink()
    texts = [path.read_text(errors="replace") for path in output_paths]
    return Finished(status, stopped, time.monotonic() - start, *texts)


def _run(command: list[str], folder: Path, said: list[Path], environment: Mapping[str, str]) -> int:
    """Run the script in this forked process and return its exit code. `said` are the files for stdout and stderr."""
    for number, path in enumerate(said, start=1):
        os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    gc.freeze()  # otherwise a collection in the child copies all pages of the test process
    faulthandler.disable()
    os.chdir(folder)
    os.environ.update(environment)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # torch's worker threads do not survive the fork
    script_index = next(number for number, part in enumerate(command) if part.endswith(".py"))
    sys.argv = command[script_index:]
    sys.path.insert(0, str(folder))
    code: object = 0
    try:
        runpy.run_path(command[script_index], run_name="__main__")
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
