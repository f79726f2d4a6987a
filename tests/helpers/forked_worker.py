"""The judge's worker in a fork of the tests' own process, where torch is imported already: all of it but the sandbox, in a
twentieth of the time."""

import os
import runpy
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from cuset_stage.sandbox import Finished, Limits


def run_forked(
    command: list[str],
    *,
    folder: Path,
    readonly: Mapping[str, Path],
    limits: Limits,
    environment: Mapping[str, str],
    **_: Any,
) -> Finished:
    """As `sandbox.run_sandboxed` for `python [options] SCRIPT`: SCRIPT as __main__ in `folder`, and its time limit."""
    links = []
    for name, source in readonly.items():
        link = folder / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(source)
        links.append(link)
    said = folder.parent / "said.txt"
    begin = time.monotonic()
    child = os.fork()
    if not child:
        try:
            _run(command[-1], folder, said, environment)
        finally:
            os._exit(97)
    stopped = status = None
    while status is None:
        ended, code = os.waitpid(child, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(code)
        elif time.monotonic() - begin > limits.wall_s:
            os.kill(child, signal.SIGKILL)
            stopped = "wall"
            os.waitpid(child, 0)
            break
        else:
            time.sleep(0.002)
    for link in links:
        link.unlink()
    text = said.read_text(errors="replace")
    return Finished(status, stopped, time.monotonic() - begin, 0.0, 0, text, text, None)


def _run(script: str, folder: Path, said: Path, environment: Mapping[str, str]) -> None:
    handle = os.open(said, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.chdir(folder)
    os.environ.update(environment)
    torch.set_num_threads(1)  # threads do not survive the fork
    sys.path.insert(0, str(folder))
    sys.stdout = os.fdopen(1, "w", closefd=False)
    runpy.run_path(script, run_name="__main__")
