"""One job of a study: its command on GPUs that nobody else has, and a record of how long it took.

    python -m cuset_stage.study.job train/MODEL/METHOD/seed0        in the study's folder; what Snakemake calls

GPUs are given out by locks on files, eight to a GPU, which the command holds as well: should this process be killed, they are free when the
command has ended, not before. So is the job itself: no second process trains into a folder beside the first.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files import drop_torn_checkpoints, file_lock, take_lock, write_atomically
from .settings import SHARES


POLL_S = 1.0
BEAT_S = 10.0  # a try that is killed is counted up to its last beat


def lock_of(study: Path, name: str) -> Path:
    """What a job holds while it runs. It holds the seconds of earlier tries, too, until one succeeds."""
    return study / "locks" / name.replace("/", "%")


def _run_counted(command: Sequence[str], lock: int, **popen: Any) -> tuple[int, float]:
    """Exit status of a command, and its seconds with those of earlier tries, which are kept in the job's lock on the way."""
    try:
        earlier = float(os.pread(lock, 32, 0))
    except ValueError:  # the first try, or another kind of content
        earlier = 0.0
    began = time.time()
    with subprocess.Popen(command, **popen) as process:
        try:
            while True:
                try:
                    code = process.wait(BEAT_S)
                    return code, earlier + time.time() - began
                except subprocess.TimeoutExpired:
                    pass
                finally:
                    with contextlib.suppress(OSError):  # a full disk is no reason to end a training
                        os.pwrite(lock, f"{earlier + time.time() - began:15.1f}\n".encode(), 0)
        except BaseException:
            process.kill()
            raise


def _try_lease(folder: Path, gpus: Sequence[str], shares: int, pack: bool) -> tuple[list[str], list[int]] | None:
    """GPUs and the descriptors that hold them, or None when too few are free. pack: shares go to the GPU that is fullest, and not to the
    one that has most room."""
    free: dict[str, list[int]] = {}
    for gpu in gpus:
        places = (take_lock(folder / f"{gpu}-{share}", wait=False) for share in range(SHARES))
        free[gpu] = [place for place in places if place is not None]
    ordered = sorted(gpus, key=lambda gpu: len(free[gpu]), reverse=not pack)
    taken = [gpu for gpu in ordered if len(free[gpu]) >= min(shares, SHARES)][: max(1, shares // SHARES)]
    complete = len(taken) * SHARES >= shares
    kept = [place for gpu in taken for place in free[gpu][: min(shares, SHARES)]] if complete else []
    for place in (place for places in free.values() for place in places if place not in kept):
        os.close(place)
    return (taken, kept) if complete else None


@contextlib.contextmanager
def leased(gpus: Sequence[str], shares: int, *, pack: bool = True) -> Iterator[tuple[list[str], list[int]]]:
    """Wait for GPUs of this machine and hold them. gpus: what CUDA_VISIBLE_DEVICES may name; shares: of a GPU, SHARES for a whole one;
    pack: see `_try_lease`.

    Yields:
        The GPUs, and descriptors whose locks hold them, for the command to inherit.
    """
    if not shares:
        yield [], []
        return
    folder = Path(tempfile.gettempdir()) / f"cuset-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    while True:
        with file_lock(folder / "lock"):
            got = _try_lease(folder, gpus, shares, pack)
        if got is not None:
            break
        time.sleep(POLL_S)
    try:
        yield got
    finally:
        for place in got[1]:
            os.close(place)


def must_pack(jobs: Iterable[Mapping[str, Any]], resource: str) -> bool:
    """Whether jobs on these GPUs are of several sizes, the largest over half a GPU: spread, small ones would leave no GPU with room for it."""
    sizes = {job["shares"] for job in jobs if job["shares"] and job["resource"] == resource}
    return len(sizes) > 1 and max(sizes) > SHARES // 2


def run_job(name: str) -> int:
    """Run a job of the study in this folder; returns the exit status of its command."""
    study = json.loads(Path("study.json").read_text(encoding="utf-8"))
    job, root = study["jobs"][name], Path.cwd()
    record, lock = root / "done" / f"{name}.json", lock_of(root, name)
    own = take_lock(lock, wait=False)
    if own is None:
        text = "a study that was stopped has left a process that goes on with it; waiting for its end"
        print(f"{name}: {text}", flush=True)
        own = take_lock(lock)
        if record.exists():
            return 0
    if job["kind"] == "train":
        drop_torn_checkpoints(Path(study["cwd"], job["model"]))
    environment, start = {**job["environment"], **os.environ}, time.time()
    # Another executor, such as Slurm, has given out GPUs itself.
    shares = job["shares"] if study["executor"] == "local" else 0
    with leased(job["gpus"], shares, pack=must_pack(study["jobs"].values(), job["resource"])) as (gpus, held):
        if study["executor"] == "local":
            environment["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
        visible = environment.get("CUDA_VISIBLE_DEVICES", "")
        print(f"+ CUDA_VISIBLE_DEVICES={visible} {' '.join(job['command'])}", flush=True)
        waited = time.time() - start
        command = [study["python"], "-m", *job["module"]]
        code, seconds = _run_counted(command, own, cwd=study["cwd"], env=environment, pass_fds=(own, *held))
    if code == 0:
        took = {"job": name, "seconds": round(seconds, 1), "waited_s": round(waited, 1)}
        write_atomically(record, json.dumps({**took, "gpus": job["shares"] / SHARES}) + "\n")
        os.ftruncate(own, 0)
    if code < 0:
        why = " (often for want of memory)" if -code == signal.SIGKILL else ""
        print(f"{name}: its process was ended by {signal.Signals(-code).name}{why}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(run_job(sys.argv[1]))
