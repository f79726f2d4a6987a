"""`cuset study run`: write the jobs of a study, say what is left, and have Snakemake run them."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from .. import attention
from ..files import take_lock, write_atomically
from ..report.cells import Table, number_column, text_column
from ..sandbox import list_gpus
from ..settings import load_yaml, read_yaml
from ..text import shown
from .plan import NEEDS, Job, Run, StudyError
from .settings import SHARES, Kind, StudySettings


# Keys of commands that change how fast a job is, or whether it fits, and neither answers nor verdicts: these may change after it has begun.
SPEED = frozenset({"batch_size", "batch_tokens", "jobs", "per_gpu", "record_gpu", "retries", "retry_infra", "timeout"})
CLUSTER_CORES = 8  # what a job asks a cluster for with each GPU, or without any
SNAKEFILE = Path(__file__).with_name("Snakefile")


def record_of(output: Path, job: str) -> dict[str, Any] | None:
    """The record of a job, which says seconds and GPUs; None of one that is not done."""
    file = output / "done" / f"{job}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def gpu_hours(settings: StudySettings, run: Run, kind: Kind) -> float | None:
    """What a job of a run has taken; None while it is not done."""
    record = record_of(settings.output, f"{kind}/{run.name}")
    return None if record is None else record["seconds"] / 3600 * record["gpus"]


def jobs_left(settings: StudySettings, jobs: Sequence[Job]) -> list[Job]:
    """Jobs that are not done."""
    return [job for job in jobs if record_of(settings.output, job.name) is None]


def forecast(settings: StudySettings, jobs: Sequence[Job], gpus: int = 0) -> tuple[Table, list[str]]:
    """What is left: a table of jobs, GPU hours and disk by model and kind, and sentences with the sums.

    Hours are measured where jobs of the model and kind are done, else the file's. gpus: how many it is to run on.
    """
    rows = []
    for (name, model), kind in itertools.product(settings.models.items(), NEEDS):
        members = [job for job in jobs if job.run.model == name and job.kind == kind]
        if not members:
            continue
        records = [record for job in members if (record := record_of(settings.output, job.name)) is not None]
        share, left = members[0].gpus, len(members) - len(records)
        seconds = sum(record["seconds"] for record in records)
        hours = seconds / 3600 / len(records) if records else model.hours.get(kind)
        total = 0.0 if not share else None if hours is None else left * hours * share
        disk = 0.0 if kind != "train" or not left else None if model.disk_gib is None else left * model.disk_gib
        rows.append((name, kind, len(records), len(members), left, share, hours, total, disk))
    names = ("model", "jobs", "done", "of", "left", "GPUs", "hours each", "GPU hours left", "GiB to write")
    frame = pd.DataFrame(rows, columns=names)
    digits = {"GPUs": 2, "hours each": 2, "GPU hours left": 1, "GiB to write": 1}
    columns = [text_column(name, frame[name]) for name in names[:2]]
    columns += [number_column(name, frame[name], digits=digits.get(name, 0)) for name in names[2:]]

    hours = frame["GPU hours left"].astype(float)
    unknown = frame["left"][hours.isna()].sum()
    rest = f" and those of {unknown:,} jobs that no `hours` are known of" if unknown else ""
    disk = "?" if frame["GiB to write"].isna().any() else f"{frame['GiB to write'].sum():,.1f}"
    said = [f"left: {frame['left'].sum():,} jobs, {hours.sum():,.1f} GPU hours{rest}, {disk} GiB of models"]
    if gpus and hours.sum():
        said.append(f"On {gpus} GPUs that is at least {hours.sum() / gpus:,.1f} hours.")
    return Table("forecast", "", columns), said


def check_begun(settings: StudySettings, jobs: Sequence[Job]) -> None:
    """A study may grow; what it has begun keeps its settings.

    Raises:
        StudyError: a job that has begun would run with other settings.
        SettingsError: a file of settings in the study's folder is broken.
    """
    for job in jobs:
        file, place = _file(settings, job), Path(job.settings["output_dir" if job.kind == "train" else "output"])
        # One that failed before it wrote anything may be put right.
        has_output = any(place.glob("checkpoint-*")) if job.kind == "train" else place.is_file()
        if not file.exists() or not (has_output or record_of(settings.output, job.name)):
            continue
        old, new = read_yaml(file), load_yaml(_text(job))
        if changed := sorted(key for key in {*old, *new} - SPEED if old.get(key) != new.get(key)):
            differing = (f"{key} ({shown(old.get(key))}, now {shown(new.get(key))})" for key in changed)
            raise StudyError(
                f"{file}: this job has begun with another {', '.join(differing)}. Give the study another output=, or remove "
                f"{settings.output / 'runs' / job.run.name} and its records in {settings.output / 'done'}."
            )


def write_study(settings: StudySettings, jobs: Sequence[Job]) -> None:
    """Write study.json and a file of settings for each job."""
    entries, gpus, is_local = {}, gpu_names(settings), settings.executor == "local"
    cores = settings.cores or len(os.sched_getaffinity(0))
    for job in jobs:
        file = _file(settings, job)
        write_atomically(file, _text(job))
        _log(settings, job).parent.mkdir(parents=True, exist_ok=True)
        module = ["cuset_stage", "train"] if job.kind == "train" else ["cuset_stage.cli", job.kind]
        module.append(str(file))
        # Judging compiles on all processors that it is given; the rest waits for the GPU. A judging job that takes all would wait until no other
        # runs, so it has those that there are for a GPU, without GPUs half of them. A cluster may hold a job to what it asks for.
        given = int(job.settings.get("jobs") or 0) if job.kind == "evaluate" else 0
        threads = given or CLUSTER_CORES * max(1, int(job.gpus))
        if is_local:
            threads = min(given or max(1, cores // (len(gpus) or 2)), cores) if job.kind == "evaluate" else 1
            module += [f"jobs={threads}"] if job.kind == "evaluate" and not given else []
        is_sft = job.kind == "train" and job.settings.get("stage", "sft") != "cuset"
        shares = round(job.gpus * SHARES)
        entries[job.name] = {
            "needs": [f"{kind}/{job.run.name}" for kind in job.needs],
            "shares": shares,
            # what Snakemake counts GPUs in: on this machine the shares of jobs, on a cluster whole ones
            "gpu": shares if is_local else shares // SHARES,
            # Shares alone would let four jobs of 0.75 begin on three GPUs; the one that finds no room would keep its shares from the others.
            "whole": max(1, int(job.gpus)) if job.gpus > 0.5 else 0,
            "cores": threads,
            "module": module,
            "environment": attention.OFF_IN_SFT if is_sft else {},
        }
    # Answers before further trainings: what is stopped has more whole runs. But trainings first where one answer would keep GPUs idle that a
    # training needs: by far, as Snakemake adds up the priorities of jobs that it can start together.
    priority = {kind: place for place, kind in enumerate(("train", "analyze", "pairs", "generate", "evaluate"))}
    training = max((job.gpus for job in jobs if job.kind == "train"), default=0)
    if is_local and training > len(gpus) / 2 > 0 and any(job.gpus < training for job in jobs):
        priority["train"] = 1000
    sizes = {entry["shares"] for entry in entries.values()} - {0}
    study = {
        "python": sys.executable,
        "cwd": os.getcwd(),
        "executor": settings.executor,
        "gpus": gpus,
        # Spread, small jobs would leave no GPU with room for one of more than half of it.
        "pack": len(sizes) > 1 and max(sizes) > SHARES // 2,
        "priority": priority,
        "jobs": entries,
    }
    write_atomically(settings.output / "study.json", json.dumps(study, indent=1) + "\n")


def gpu_names(settings: StudySettings) -> list[str]:
    """GPUs of this machine that the study may use, as CUDA_VISIBLE_DEVICES names them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [str(gpu.index) for gpu in list_gpus()] if visible is None else list(filter(None, visible.split(",")))
    return names[: settings.gpus]


def run_study(settings: StudySettings, every: Sequence[Job], jobs: Sequence[Job]) -> int:
    """Write every job of the study and run what is left of these jobs under Snakemake. Returns its exit status: not 0 when a job failed;
    those that do not need it have run all the same.

    Raises:
        StudyError: snakemake is missing.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise StudyError("a study runs under Snakemake, which is not installed: pip install 'snakemake>=9,<10'.")
    if settings.executor == "local":
        gpus, cores = len(gpu_names(settings)), settings.cores or len(os.sched_getaffinity(0))
        limits = ["--cores", str(cores), "--resources", f"gpu={gpus * SHARES}", f"whole={gpus}"]
    else:  # there `--cores` is the most that a job may ask for, whatever this machine has
        limits = [] if settings.cores is None else ["--cores", str(settings.cores)]
    targets = () if settings.only is None else (f"done/{job.name}.json" for job in jobs)
    command = [
        *(sys.executable, "-m", "snakemake", *targets),
        *("--snakefile", str(SNAKEFILE), "--directory", str(settings.output)),
        *("--executor", settings.executor),
        # A record is whole and a job's last act: it counts, even where Snakemake was killed before it had noted the job's end.
        *("--keep-going", "--ignore-incomplete", "--rerun-triggers", "mtime", "--nolock", "--quiet", "host", "reason"),
        *limits,
        *settings.snakemake,
    ]
    file = settings.output / "locks" / "study"
    if (lock := take_lock(file, wait=False)) is None:  # Snakemake's own outlives a process that was killed
        running = f"this study is running already (`fuser {file}` names its processes); waiting for its end"
        print(f"{settings.output}: {running}", flush=True)
        lock = take_lock(file)
    try:
        write_study(settings, every)
        # Snakemake has the lock as well: should this process be killed, the study runs until Snakemake has ended.
        with subprocess.Popen(command, pass_fds=(lock,)) as process:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.wait()  # it has had the signal too, and ends its jobs, on a cluster those that are queued
                raise
    finally:
        os.close(lock)


def short_of_gpus(settings: StudySettings, jobs: Sequence[Job]) -> list[str]:
    """A sentence on the first of the jobs on this machine that takes more GPUs than there are; nothing where none does."""
    gpus = len(gpu_names(settings))
    short = [job for job in jobs if settings.executor == "local" and job.gpus > gpus][:1]
    fix = f"but only {gpus} are available. Lower the model's `gpus` (0 = CPU)."
    return [f"{job.name} needs {job.gpus:g} GPUs, {fix}" for job in short]


def failed_jobs(settings: StudySettings, jobs: Sequence[Job]) -> dict[str, Path]:
    """Jobs that have run and not ended well, with their logs."""
    return {job.name: log for job in jobs_left(settings, jobs) if (log := _log(settings, job)).exists()}


def _file(settings: StudySettings, job: Job) -> Path:
    return settings.output / "jobs" / f"{job.name}.yaml"


def _text(job: Job) -> str:
    return yaml.safe_dump(dict(job.settings), sort_keys=False, allow_unicode=True)


def _log(settings: StudySettings, job: Job) -> Path:
    return settings.output / "logs" / f"{job.name}.log"
