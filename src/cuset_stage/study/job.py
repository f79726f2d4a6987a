"""One job of a study: its command on GPUs that nobody else has, and a record of how long it took.

    python -m cuset_stage.study.job train/MODEL/METHOD/seed0        in the study's folder; what Snakemake calls

Snakemake only counts GPUs. Which ones a job has is decided here, by locks on files, four to a GPU. The command holds these locks, too: should
this process be killed, its GPUs are free when the command has ended, not before. So is the job itself: after a killed study no second process
trains into a folder beside the first.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ..files import drop_torn_checkpoints, file_lock, take_lock, write_atomically
from .plan import OUTPUTS
from .settings import SHARES


POLL_S = 1.0


def try_lease(folder: Path, gpus: Sequence[str], shares: int, pack: bool) -> tuple[list[str], list[int]] | None:
    """GPUs and the descriptors that hold them, or None when too few are free.

    gpus: what CUDA_VISIBLE_DEVICES may name. shares: of a GPU, SHARES for a whole one. pack: shares go to the GPU that is fullest, and not
    to the one that has most room.
    """
    of_each = min(shares, SHARES)
    with file_lock(folder / "lock"):
        free: dict[str, list[int]] = {}
        for gpu in gpus:
            places = (take_lock(folder / f"{gpu}-{share}", wait=False) for share in range(SHARES))
            free[gpu] = [place for place in places if place is not None]
        having_room = [gpu for gpu in gpus if len(free[gpu]) >= of_each]
        taken = sorted(having_room, key=lambda gpu: len(free[gpu]), reverse=not pack)[: max(1, shares // SHARES)]
        held = [place for gpu in taken for place in free[gpu][:of_each]]
        if len(held) < shares:
            held = []
        for place in (place for places in free.values() for place in places if place not in held):
            os.close(place)
    return (taken, held) if held else None


def run_job(name: str) -> int:
    """Run a job of the study in this folder; returns the exit status of its command."""
    study = json.loads(Path("study.json").read_text(encoding="utf-8"))
    job, root = study["jobs"][name], Path.cwd()
    record = root / "done" / f"{name}.json"
    own = take_lock(root / "locks" / name.replace("/", "%"))
    if record.exists():  # what a killed study had left running has ended by now
        return 0
    kind, _, run = name.partition("/")
    if kind == "train":
        drop_torn_checkpoints(root / "runs" / run / OUTPUTS["train"])
    environment, gpus, held = {**job["environment"], **os.environ}, [], []
    if study["executor"] == "local":  # another executor, such as Slurm, has given out GPUs itself
        folder = Path(tempfile.gettempdir()) / f"cuset-gpus-{os.getuid()}"
        while job["shares"] and not held:
            if (leased := try_lease(folder, study["gpus"], job["shares"], study["pack"])) is None:
                time.sleep(POLL_S)
            else:
                gpus, held = leased
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    command = [study["python"], "-m", *job["module"]]
    print(f"+ CUDA_VISIBLE_DEVICES={','.join(gpus)} {' '.join(command)}", flush=True)
    began = time.time()
    code = subprocess.run(command, cwd=study["cwd"], env=environment, pass_fds=(own, *held)).returncode
    if code == 0:
        took = {"job": name, "seconds": round(time.time() - began, 1), "gpus": job["shares"] / SHARES}
        write_atomically(record, json.dumps(took) + "\n")
    if code < 0:
        why = " (often for want of memory)" if -code == signal.SIGKILL else ""
        print(f"{name}: its process was ended by {signal.Signals(-code).name}{why}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(run_job(sys.argv[1]))
