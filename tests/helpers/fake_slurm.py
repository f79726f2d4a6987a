"""Slurm's commands on one machine: sbatch starts a job at once, srun runs its command, sacct says how it ended. What sbatch was asked for
is kept. A node can fail under a job, and sbatch can turn every job away."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


COMMANDS = ("sbatch", "srun", "sacct", "squeue", "scancel", "scontrol", "sinfo", "sacctmgr")
ACCOUNT = "lab"
OF_ONE_JOB = r"--(job-name|output|comment) \S+ |-D \S+"  # options that say nothing of what a job needs


def install(folder: Path) -> Mapping[str, str]:
    """Write the commands into `folder`; returns the environment in which they are Slurm."""
    commands = folder / "bin"
    commands.mkdir(parents=True)
    for kept in ("numbers", "jobs"):
        (folder / kept).mkdir()
    for name in COMMANDS:
        path = commands / name
        path.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-IS", __file__])} {name} "$@"\n')
        path.chmod(0o755)
    others = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "SNAKEMAKE_"))}
    return {**others, "PATH": f"{commands}:{os.environ['PATH']}", "FAKE_SLURM": str(folder)}


def refuse(folder: Path) -> None:
    """Turn every job away."""
    (folder / "refuse").touch()


def lose(folder: Path, job: str, when: Path) -> None:
    """Kill this job of a study once the file `when` is there, as a node does that fails; its next try is left alone."""
    (folder / "lose").write_text(json.dumps([job, str(when)]))


def submitted(folder: Path) -> list[dict[str, Any]]:
    """The jobs in their order: `job` of the study, `options` that sbatch was given, and `state` as sacct has it."""
    return [
        json.loads(path.read_text()) for path in sorted((folder / "jobs").iterdir(), key=lambda one: int(one.name))
    ]


def _sbatch(folder: Path, arguments: list[str]) -> int:
    *options, wrapped = arguments
    kind, run = re.search(r"--target-jobs '?(\w+):run=([^' ]+)", wrapped).groups()
    text = " ".join(re.sub(OF_ONE_JOB, "", shlex.join(options)).split())
    number = 1
    while True:  # several are called at a time
        try:
            os.close(os.open(folder / "numbers" / str(number), os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            number += 1
    run_id = options[options.index("--job-name") + 1]
    job = {"number": number, "job": f"{kind}/{run}", "options": text, "run_id": run_id}
    if (folder / "refuse").exists():
        _note(folder, {**job, "state": "FAILED"})
        print("sbatch: error: refused", file=sys.stderr)
        return 1
    _note(folder, {**job, "state": "RUNNING"})
    print(number, flush=True)
    if os.fork() == 0:
        os.setsid()
        with open(options[options.index("--output") + 1].replace("%j", str(number)), "w") as log:
            for stream in (0, 1, 2):
                os.dup2(log.fileno(), stream)
        _note(folder, {**job, "state": _run(folder, number, job["job"], wrapped.removeprefix("--wrap="))})
    return 0


def _run(folder: Path, number: int, name: str, command: str) -> str:
    """Run a job to its end, or to that of its node; returns its state."""
    environment = {**os.environ, "SLURM_JOB_ID": str(number)}
    with subprocess.Popen(["sh", "-c", command], env=environment, start_new_session=True) as process:
        while process.poll() is None:
            time.sleep(0.05)
            if (folder / "lose").exists():
                lost, when = json.loads((folder / "lose").read_text())
                if name == lost and Path(when).exists():
                    (folder / "lose").unlink()
                    os.killpg(process.pid, signal.SIGKILL)
                    return "NODE_FAIL"
    return "FAILED" if process.returncode else "COMPLETED"


def _note(folder: Path, job: Mapping[str, Any]) -> None:
    part = folder / f"{job['number']}.part"
    part.write_text(json.dumps(job))
    part.replace(folder / "jobs" / str(job["number"]))


def _sacct(folder: Path, arguments: list[str]) -> int:
    if "--name" in arguments:
        run_id = arguments[arguments.index("--name") + 1]
        for job in submitted(folder):
            if job["run_id"] == run_id:
                print(f"{job['number']}|{job['state']}")
    elif "nodelist%-256" in arguments:
        print("node1")
    return 0


def main(name: str, arguments: list[str]) -> int:
    """Be the command `name`."""
    folder = Path(os.environ["FAKE_SLURM"])
    if name == "sbatch":
        return _sbatch(folder, arguments)
    if name == "srun":
        first = next(at for at, argument in enumerate(arguments) if not argument.startswith("-"))
        os.execvp(arguments[first], arguments[first:])
    if name == "sacct":
        return _sacct(folder, arguments)
    if name == "sacctmgr":
        print(ACCOUNT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
