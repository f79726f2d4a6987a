"""Run one job of a study: start its command on free GPUs, and record how long it took.

Snakemake calls this module in the study's folder:

    python -m cuset_stage.study.job train/MODEL/METHOD/seed0

Snakemake only counts GPUs. This module decides which GPUs a job gets, by locks on files, four per GPU. The job itself
is locked as well. The command inherits all these locks. If this process is killed, the GPUs and the job stay locked
until the command has ended. So after a killed study, no second process trains into the same folder beside the first.
"""

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
from ..settings import read_yaml
from .plan import INPUTS, OUTPUTS, inputs_of
from .settings import SHARES


POLL_S = 1.0


def try_lease(folder: Path, gpus: Sequence[str], shares: int, pack: bool) -> tuple[list[str], list[int]] | None:
    """Take GPUs for a job, if enough of them are free.

    Args:
        folder: folder of the lock files.
        gpus: names of GPUs for CUDA_VISIBLE_DEVICES.
        shares: shares of GPUs that the job takes. SHARES is a whole GPU.
        pack: whether to prefer the fullest GPUs that still have room. Otherwise those with the most room are
            preferred.

    Returns:
        The names of the GPUs and the file descriptors of the locks that hold them, or None if too few are free.
    """
    shares_per_gpu = min(shares, SHARES)
    with file_lock(folder / "lock"):
        free: dict[str, list[int]] = {}
        for gpu in gpus:
            places = (take_lock(folder / f"{gpu}-{share}", wait=False) for share in range(SHARES))
            free[gpu] = [place for place in places if place is not None]
        gpus_with_room = [gpu for gpu in gpus if len(free[gpu]) >= shares_per_gpu]
        taken = sorted(gpus_with_room, key=lambda gpu: len(free[gpu]), reverse=not pack)[: max(1, shares // SHARES)]
        leased_places = [place for gpu in taken for place in free[gpu][:shares_per_gpu]]
        if len(leased_places) < shares:
            leased_places = []
        for place in (place for places in free.values() for place in places if place not in leased_places):
            os.close(place)
    return (taken, leased_places) if leased_places else None


def lock_of(output: Path, name: str) -> Path:
    """Return the file that a job of the study in the folder `output` locks while it runs."""
    return output / "locks" / name.replace("/", "%")


def run_job(name: str) -> int:
    """Run a job of the study in the current folder, and return the exit status of its command.

    A negative status is the number of the signal that ended the command. A job that has a record already is not run
    again. A judging job has also ended if the judge itself failed on some samples (status 3). Its record then says
    so (`infra_error`), and the status is 0.
    """
    study = json.loads(Path("study.json").read_text(encoding="utf-8"))
    job, root = study["jobs"][name], Path.cwd()
    record = root / "done" / f"{name}.json"
    job_lock = take_lock(lock_of(root, name))
    if record.exists():  # a command left over from a killed study had the lock, and has finished the job
        return 0
    kind, _, run = name.partition("/")
    os.chdir(study["cwd"])
    if kind == "train":
        model = root / "runs" / run / OUTPUTS["train"]
        drop_torn_checkpoints(model)
        if not model.exists():  # else the training goes on
            inputs = inputs_of(read_yaml(Path(job["module"][-1])))
            write_atomically(model.with_name(INPUTS), json.dumps(inputs) + "\n")
    environment, gpus, held = {**job["environment"], **os.environ}, [], []
    if study["executor"] == "local":  # another executor, such as Slurm, assigns GPUs itself
        folder = Path(tempfile.gettempdir()) / f"cuset-gpus-{os.getuid()}"
        while job["shares"] and not held:
            if (leased := try_lease(folder, study["gpus"], job["shares"], study["pack"])) is None:
                time.sleep(POLL_S)
            else:
                gpus, held = leased
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    command = [study["python"], "-m", *job["module"]]
    print(f"+ CUDA_VISIBLE_DEVICES={environment.get('CUDA_VISIBLE_DEVICES', '')} {' '.join(command)}", flush=True)
    began = time.time()
    code = subprocess.run(command, env=environment, pass_fds=(job_lock, *held)).returncode
    infra_error = kind == "evaluate" and code == 3
    if code == 0 or infra_error:
        duration = {"job": name, "seconds": round(time.time() - began, 1), "gpus": job["shares"] / SHARES}
        write_atomically(record, json.dumps({**duration, "infra_error": infra_error}) + "\n")
        return 0
    if code < 0:
        why = " (often for want of memory)" if -code == signal.SIGKILL else ""
        print(f"{name}: its process was ended by {signal.Signals(-code).name}{why}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(run_job(sys.argv[1]))
