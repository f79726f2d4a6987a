"""`cuset study run`: write the jobs of a study, say what is left, and have Snakemake run them."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .. import attention
from ..files import take_lock, write_atomically
from ..sandbox import list_gpus
from ..settings import load_yaml, read_yaml
from ..text import shown
from .checks import inputs_of
from .job import lock_of
from .plan import NEEDS, OUTPUTS, Job, Run, StudyError, command_of, cores_of, processors
from .settings import SHARES, Kind, StudySettings


# Keys of commands that change how fast a job is, or whether it fits, and neither answers nor verdicts: these may change after it has begun.
SPEED = frozenset({"batch_size", "batch_tokens", "jobs", "per_gpu", "record_gpu", "retries", "retry_infra", "timeout"})
# Kinds whose output has to stay: models and answers may go once they have been used.
KEPT = frozenset({"evaluate", "pairs", "analyze"})
SNAKEFILE = Path(__file__).with_name("Snakefile")


@dataclass(frozen=True)
class Left:
    """Jobs of a kind and model.

    gpus: of one job. hours: of one job, measured where some are done, else the study's forecast, else None. gpu_hours, disk_left: GPU
    hours that the jobs which are left take, and GiB that they write; None where that is not known.
    """

    kind: str
    model: str
    done: int
    total: int
    gpus: float
    hours: float | None
    gpu_hours: float | None
    disk_left: float | None


def what_is_left(settings: StudySettings, jobs: Sequence[Job]) -> list[Left]:
    """The jobs by model and kind, with what is done and what the rest will take."""
    groups: list[Left] = []
    for (name, model), kind in itertools.product(settings.models.items(), NEEDS):
        members = [job for job in jobs if job.run.model == name and job.kind == kind]
        if not members:
            continue
        records = [record for job in members if (record := record_of(settings.output, job.name)) is not None]
        gpus, left = members[0].gpus, len(members) - len(records)
        # A job with half of the share takes twice as long.
        seconds = [record["seconds"] * (record["gpus"] / gpus if gpus else 1) for record in records]
        hours = sum(seconds) / len(seconds) / 3600 if seconds else model.hours.get(kind)
        gpu_hours = 0.0 if not gpus else None if hours is None else left * hours * gpus
        disk = left * model.disk_gib if kind == "train" and model.disk_gib is not None else None
        groups.append(Left(kind, name, len(records), len(members), gpus, hours, gpu_hours, disk))
    return groups


def gpu_hours(settings: StudySettings, run: Run, kind: Kind) -> float | None:
    """What a job of a run has taken; None while it is not done."""
    record = record_of(settings.output, f"{kind}/{run.name}")
    return None if record is None else record["seconds"] / 3600 * record["gpus"]


def record_of(output: Path, job: str) -> dict[str, Any] | None:
    """The record of a job that is done; None of another, of a record that is broken, and where an output that has to stay is gone."""
    kind, _, run = job.partition("/")
    try:
        record = json.loads((output / "done" / f"{job}.json").read_text(encoding="utf-8"))
        float(record["seconds"]), float(record["gpus"])
    except (FileNotFoundError, KeyError, TypeError, ValueError):
        return None
    return record if kind not in KEPT or (output / "runs" / run / OUTPUTS[kind]).exists() else None


def forecast(groups: Sequence[Left], gpus: int = 0) -> Iterator[str]:
    """Lines of a table: jobs, GPU hours and disk of what is left, by model and kind; `?` where nothing is known. gpus: to run it on."""

    def amount(value: float | None, digits: int = 1) -> str:
        return "?" if value is None else f"{value:,.{digits}f}"

    yield f"{'model':24} {'jobs':10} {'done':>6} {'of':>6} {'GPUs':>6} {'hours each':>11} {'GPU hours left':>15} {'GiB to write':>13}"
    for group in groups:
        disk_text = amount(group.disk_left) if group.kind == "train" else ""
        yield (
            f"{group.model:24} {group.kind:10} {group.done:6,} {group.total:6,} {group.gpus:6g} {amount(group.hours, 2):>11} "
            f"{amount(group.gpu_hours):>15} {disk_text:>13}".rstrip()
        )
    hours = sum(group.gpu_hours or 0 for group in groups)
    unknown = sum(group.total - group.done for group in groups if group.gpu_hours is None)
    rest = f" and those of {unknown:,} jobs that no `hours` are known of" if unknown else ""
    models = [group.disk_left for group in groups if group.kind == "train" and group.done < group.total]
    disk = "? GiB" if None in models else f"{sum(filter(None, models)):,.1f} GiB"
    yield f"left: {sum(group.total - group.done for group in groups):,} jobs, {hours:,.1f} GPU hours{rest}, {disk} of models"
    if gpus and hours:
        yield f"On {gpus} GPUs that is at least {hours / gpus:,.1f} hours."


def jobs_left(settings: StudySettings, jobs: Sequence[Job]) -> list[Job]:
    """Jobs that are not done."""
    return [job for job in jobs if record_of(settings.output, job.name) is None]


def check_begun(settings: StudySettings, jobs: Sequence[Job]) -> None:
    """A study may grow; what it has begun keeps its settings, and what it reads.

    Raises:
        StudyError: a job that has begun would run with other settings, or on another base model, other training data or other tasks.
        SettingsError: a file of settings in the study's folder is broken.
    """
    read_before = _inputs_before(settings)
    for job in jobs:
        file = _file(settings, job)
        if not file.exists() or not _has_begun(settings, job):
            continue
        run, records = settings.output / "runs" / job.run.name, settings.output / "done"
        anew = f"Give the study another output=, or remove {run} and its records in {records}."
        for path, digest in inputs_of(settings, job).items():
            if read_before.get(job.name, {}).get(path, digest) != digest:
                raise StudyError(f"{path}: it has changed since {job.name} began. {anew} Or put back what was there.")
        old, new = read_yaml(file), load_yaml(_text(job))
        if changed := sorted(key for key in {*old, *new} - SPEED if old.get(key) != new.get(key)):
            differing = (f"{key} ({shown(old.get(key))}, now {shown(new.get(key))})" for key in changed)
            raise StudyError(f"{file}: this job has begun with another {', '.join(differing)}. {anew}")


def _inputs_before(settings: StudySettings) -> Mapping[str, Mapping[str, str]]:
    """What the jobs of a study that was started before read, as `inputs_of` has it."""
    try:
        jobs = json.loads((settings.output / "study.json").read_text(encoding="utf-8"))["jobs"]
    except (FileNotFoundError, ValueError):
        return {}
    return {name: job.get("inputs", {}) for name, job in jobs.items()}


def _has_begun(settings: StudySettings, job: Job) -> bool:
    """Whether it is done, runs, or has left what it would go on from; one that failed before may be put right."""
    if (lock := lock_of(settings.output, job.name)).exists():
        held = take_lock(lock, wait=False)
        if held is None:
            return True
        os.close(held)
    if job.kind == "train":
        left = any(Path(job.settings["output_dir"]).glob("checkpoint-*"))
    else:
        left = Path(job.settings["output"]).is_file()
    return left or record_of(settings.output, job.name) is not None


def write_study(settings: StudySettings, jobs: Sequence[Job]) -> None:
    """Write study.json and a file of settings for each job."""
    entries, gpus, read_before = {}, gpu_names(settings), _inputs_before(settings)
    for job in jobs:
        file = _file(settings, job)
        earlier = read_before.get(job.name, {}) if _has_begun(settings, job) else {}
        write_atomically(file, _text(job))
        _log(settings, job).parent.mkdir(parents=True, exist_ok=True)
        command, cores = command_of(job.kind, str(file)), cores_of(settings, job, len(gpus))
        if job.kind == "evaluate" and settings.executor == "local" and not job.settings.get("jobs"):
            command.append(f"jobs={cores}")
        is_sft = job.kind == "train" and job.settings.get("stage", "sft") != "cuset"
        entries[job.name] = {
            "kind": job.kind,
            "model": str(settings.output / "runs" / job.run.name / OUTPUTS["train"]),
            "needs": [f"{kind}/{job.run.name}" for kind in job.needs],
            "shares": round(job.gpus * SHARES),
            "gpus": _gpus_of(settings, job, gpus),
            "resource": _resource(settings, job),
            # Shares alone would let four jobs of 0.75 begin on three GPUs; the one that finds no room would keep its shares from the others.
            "whole": max(1, int(job.gpus)) if job.gpus > 0.5 and _resource(settings, job) == "gpu" else 0,
            "cores": cores,
            "command": command,
            "inputs": {**earlier, **inputs_of(settings, job)},
            "module": ["cuset_stage" if job.kind == "train" else "cuset_stage.cli", *command[1:]],
            "environment": attention.OFF_IN_SFT if is_sft else {},
            "run": {"model": job.run.model, "method": job.run.method, "seed": job.run.seed},
        }
    study = {
        "python": sys.executable,
        "cwd": os.getcwd(),
        "executor": settings.executor,
        # what Snakemake counts GPUs in: on this machine the shares of jobs, on a cluster whole ones
        "shares": 1 if settings.executor == "local" else SHARES,
        "trainings_first": settings.executor == "local" and _fill_the_machine(jobs, len(gpus) - settings.judge_gpus),
        "jobs": entries,
    }
    write_atomically(settings.output / "study.json", json.dumps(study, indent=1) + "\n")


def _fill_the_machine(jobs: Sequence[Job], gpus: int) -> bool:
    """Whether a training takes more than half of the machine's `gpus`, and some other job fewer: that one would keep the rest idle."""
    trainings = max((job.gpus for job in jobs if job.kind == "train"), default=0)
    others = min((job.gpus for job in jobs if job.kind != "train"), default=trainings)
    return trainings > gpus / 2 > 0 and others < trainings


def gpu_names(settings: StudySettings) -> list[str]:
    """GPUs of this machine that the study may use, as CUDA_VISIBLE_DEVICES names them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [str(gpu.index) for gpu in list_gpus()] if visible is None else list(filter(None, visible.split(",")))
    return names[: settings.gpus]


def _resource(settings: StudySettings, job: Job) -> str:
    """What Snakemake counts the job's shares of a GPU as."""
    return "judge_gpu" if settings.judge_gpus and job.kind == "evaluate" else "gpu"


def _gpus_of(settings: StudySettings, job: Job, gpus: Sequence[str]) -> Sequence[str]:
    """Those of `gpus` that the job may have: the last ones are for judging."""
    first = max(0, len(gpus) - settings.judge_gpus)
    return gpus[first:] if _resource(settings, job) == "judge_gpu" else gpus[:first]


def run_study(settings: StudySettings, every: Sequence[Job], jobs: Sequence[Job]) -> int:
    """Write every job of the study and run what is left of these jobs under Snakemake. Returns its exit status: not 0 when a job failed;
    those that do not need it have run all the same.

    Raises:
        StudyError: snakemake or its executor is missing, the machine has fewer GPUs than a job takes, or the study is running already.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise StudyError("a study runs under Snakemake, which is not installed: pip install 'cuset-stage[study]'.")
    executor = settings.executor
    plugin = f"snakemake_executor_plugin_{executor.replace('-', '_')}"
    if executor != "local" and importlib.util.find_spec(plugin) is None:
        raise StudyError(
            f"executor={executor}: Snakemake has no such executor here: pip install snakemake-executor-plugin-{executor}."
        )
    if (short := short_of_gpus(settings, jobs_left(settings, jobs))) is not None:
        raise StudyError(short)
    gpus = gpu_names(settings)
    if executor == "local":
        others = max(0, len(gpus) - settings.judge_gpus)
        shares = {"judge_gpu": settings.judge_gpus * SHARES, "gpu": others * SHARES, "whole": others}
        counts = (f"{name}={count}" for name, count in shares.items())
        limits = ["--cores", str(processors(settings)), "--resources", *counts]
    else:  # there `--cores` is the most that a job may ask for, whatever this machine has
        limits = [] if settings.cores is None else ["--cores", str(settings.cores)]
    targets = () if settings.only is None else (f"done/{job.name}.json" for job in jobs)
    command = [
        *(sys.executable, "-m", "snakemake", *targets),
        *("--snakefile", str(SNAKEFILE), "--directory", str(settings.output)),
        *("--executor", executor),
        # A record is whole and a job's last act: it counts, even where Snakemake was killed before it had noted the job's end.
        *("--keep-going", "--ignore-incomplete", "--rerun-triggers", "mtime", "--nolock", "--quiet", "host", "reason"),
        *limits,
        *settings.snakemake,
    ]
    file = settings.output / "locks" / "study"
    lock = take_lock(file, wait=False)  # Snakemake's own outlives a process that was killed
    if lock is None:
        raise StudyError(f"{settings.output}: this study is running already; `fuser {file}` names its processes.")
    try:
        write_study(settings, every)
        for job in jobs:
            record = settings.output / "done" / f"{job.name}.json"
            if record.exists() and record_of(settings.output, job.name) is None:
                record.unlink()  # broken; Snakemake would take it for whole
        # Snakemake has the lock as well: should this process be killed, the study runs until Snakemake has ended.
        with subprocess.Popen(command, pass_fds=(lock,)) as process:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.wait()  # it has had the signal too, and ends its jobs, on a cluster those that are queued
                raise
    finally:
        os.close(lock)


def short_of_gpus(settings: StudySettings, jobs: Sequence[Job]) -> str | None:
    """Of jobs on this machine, the first that takes more GPUs than there are, as a sentence."""
    gpus = gpu_names(settings)
    for job in jobs if settings.executor == "local" else ():
        if job.gpus > (known := len(_gpus_of(settings, job, gpus))):
            return (
                f"{job.name} takes {job.gpus:g} GPUs and {known} of {len(gpus)} can be used; lower `gpus` of the models, where 0 is a "
                "CPU, or `judge_gpus`."
            )
    return None


def failed_jobs(settings: StudySettings, jobs: Sequence[Job]) -> Mapping[str, Path]:
    """Jobs that have run and not ended well, with their logs."""
    return {job.name: log for job in jobs_left(settings, jobs) if (log := _log(settings, job)).exists()}


def _file(settings: StudySettings, job: Job) -> Path:
    return settings.output / "jobs" / f"{job.name}.yaml"


def _text(job: Job) -> str:
    return yaml.safe_dump(dict(job.settings), sort_keys=False, allow_unicode=True)


def _log(settings: StudySettings, job: Job) -> Path:
    return settings.output / "logs" / f"{job.name}.log"
