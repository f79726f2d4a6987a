"""The judge's end of the supervisor: start it, hand it a request, watch the GPU for it, wait for the answer."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from .gpus import Gpu, total_used_memory, used_memory
from .limits import Limits


SUPERVISOR = Path(__file__).parent / "supervisor" / "__main__.py"
PATIENCE_S = 90.0
"""What the supervisor may need beyond the program's own time: copies before, the end of everything after."""
GPU_QUERY_S = 1.0


def _watch_gpu(gpu: Gpu, most: int, supervisor: subprocess.Popen, ended: threading.Event) -> None:
    """Ask nvidia-smi now and then; tell the supervisor when the program's device memory passes the limit.

    In a container nvidia-smi may know processes by other ids: then what the whole GPU gained since the start counts, which
    is right while one run at a time has the GPU.
    """
    before = total_used_memory(gpu)
    while not ended.wait(GPU_QUERY_S):
        with suppress(psutil.Error):
            pids = {child.pid for child in psutil.Process(supervisor.pid).children(recursive=True)}
            used = used_memory(gpu, pids)
            if used is None and before is not None:
                now = total_used_memory(gpu)
                used = now - before if now is not None else None
            if used is not None and used > most and not ended.is_set():
                with suppress(OSError, ValueError):
                    supervisor.stdin.write(b"gpu_memory\n")
                    supervisor.stdin.flush()
                return


def hunt(folder: Path, uid: int | None) -> None:
    """The supervisor itself died (out of memory?): end what it can have left, found by user, folder and environment."""
    for _ in range(100):
        found = False
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                traces = (process.cwd(), process.exe(), process.environ().get("HOME", ""))
                if process.uids().real == uid or any(trace.startswith(f"{folder}/") for trace in traces):
                    process.kill()
                    found = True
        if not found:
            return


def supervise(request: dict[str, Any], gpu: Gpu | None, limits: Limits) -> dict[str, Any] | str:
    """Start a supervisor, hand it the request, wait for its answer; a string says why there is none."""
    try:
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SUPERVISOR)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the judge alone; when it goes, the supervisor's stdin closes
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")},
            cwd="/",
        )
    except OSError as error:
        return f"the supervisor cannot be started: {error}"
    ended = threading.Event()
    overdue = threading.Timer(limits.wall_s + PATIENCE_S, supervisor.kill)
    overdue.daemon = True
    try:
        overdue.start()
        with suppress(BrokenPipeError):
            message = marshal.dumps(request)
            supervisor.stdin.write(len(message).to_bytes(8, "little") + message)
            supervisor.stdin.flush()
        if gpu is not None and limits.gpu_memory_bytes is not None:
            threading.Thread(
                target=_watch_gpu, args=(gpu, limits.gpu_memory_bytes, supervisor, ended), daemon=True
            ).start()
        answer = supervisor.stdout.read()
        complaint = supervisor.stderr.read().decode(errors="replace").strip()
    finally:
        ended.set()
        overdue.cancel()
        with suppress(OSError):
            supervisor.stdin.close()
        supervisor.stdout.close()
        supervisor.stderr.close()
        supervisor.wait()  # also after Ctrl-C: it kills everything first
    if answer and supervisor.returncode == 0:
        return marshal.loads(answer)
    if supervisor.returncode < 0:
        return f"the supervisor died by signal {-supervisor.returncode}"
    return f"the supervisor failed: {complaint[-1000:]}"
