"""`cuset study run`: write the jobs of a study, say what is left, and have Snakemake run them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..files import file_lock, write_atomically
from ..sandbox import list_gpus
from .plan import Job, Run, StudyError, command_of, cores_of, processors
from .settings import SHARES, Kind, StudySettings


SNAKEFILE = Path(__file__).with_name("Snakefile")


@dataclass(frozen=True)
class Left:
    """Jobs of a kind and model. hours: of one, measured where some are done, else the study's forecast, else None; gpus: of one."""

    kind: str
    model: str
    done: int
    total: int
    gpus: float
    hours: float | None
    disk_gib: float | None

    @property
    def gpu_hours(self) -> float | None:
        """What is left of them costs."""
        return None if self.hours is None else (self.total - self.done) * self.hours * self.gpus


def what_is_left(settings: StudySettings, jobs: Sequence[Job]) -> list[Left]:
    """The jobs by model and kind, with what is done and what the rest will take."""
    groups: dict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in jobs:
        groups[job.run.model, job.kind].append(job)
    found = []
    for (name, kind), members in groups.items():
        model = settings.models[name]
        records = [record for job in members if (record := _record(settings.output, job.name)) is not None]
        measured = sum(record["seconds"] for record in records) / len(records) / 3600 if records else None
        hours = measured if measured is not None else model.hours.get(members[0].kind)
        disk = model.disk_gib if kind == "train" else None
        found.append(Left(kind, name, len(records), len(members), members[0].gpus, hours, disk))
    return found


def gpu_hours(settings: StudySettings, run: Run, kind: Kind) -> float | None:
    """What a job of a run has taken; None while it is not done."""
    record = _record(settings.output, f"{kind}/{run.name}")
    return None if record is None else record["seconds"] / 3600 * record["gpus"]


def _record(output: Path, job: str) -> dict[str, Any] | None:
    """What a job that is done has left; None of another, and of a record that is broken."""
    try:
        return json.loads((output / "done" / f"{job}.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def forecast(left: Sequence[Left]) -> Iterator[str]:
    """Lines of a table: jobs, GPU hours and disk of what is left, by model and kind; `?` where nothing is known."""

    def amount(value: float | None, digits: int = 1) -> str:
        return "?" if value is None else f"{value:,.{digits}f}"

    yield f"{'model':24} {'jobs':10} {'done':>6} {'of':>6} {'GPUs':>6} {'hours each':>11} {'GPU hours left':>15} {'GiB left':>9}"
    for one in left:
        disk = None if one.disk_gib is None else one.disk_gib * (one.total - one.done)
        disk_text = amount(disk) if one.kind == "train" else ""
        yield (
            f"{one.model:24} {one.kind:10} {one.done:6,} {one.total:6,} {one.gpus:6g} {amount(one.hours, 2):>11} "
            f"{amount(one.gpu_hours):>15} {disk_text:>9}"
        )
    known = [one.gpu_hours for one in left if one.gpu_hours is not None]
    unknown = sum(one.total > one.done for one in left if one.gpu_hours is None)
    rest = f", and {unknown} kinds of job that no `hours` are known of" if unknown else ""
    yield f"left: {sum(one.total - one.done for one in left):,} jobs, {sum(known):,.1f} GPU hours{rest}"


def write_study(settings: StudySettings, jobs: Sequence[Job]) -> None:
    """Write study.json and a file of settings for each job. A study may grow; what it has begun keeps its settings.

    Raises:
        StudyError: a job that has begun would run with other settings.
    """
    entries = {}
    for job in jobs:
        file = settings.output / "jobs" / f"{job.name}.yaml"
        text = yaml.safe_dump(dict(job.settings), sort_keys=False, allow_unicode=True)
        has_begun = _log(settings, job).exists() or _record(settings.output, job.name) is not None
        old = yaml.safe_load(file.read_text(encoding="utf-8")) if has_begun and file.exists() else None
        if old is not None and old != yaml.safe_load(text):
            differing = sorted(key for key in {*old, *job.settings} if old.get(key) != job.settings.get(key))
            raise StudyError(
                f"{file}: this job has begun with another {', '.join(differing)}. Give the study another output=, or remove "
                f"{settings.output / 'runs' / job.run.name}, its records in {settings.output / 'done'} and its logs."
            )
        write_atomically(file, text)
        command = command_of(job.kind, str(file))
        entries[job.name] = {
            "kind": job.kind,
            "model": str(settings.output / "runs" / job.run.name / "model"),
            "needs": [f"{kind}/{job.run.name}" for kind in job.needs],
            "quarters": round(job.gpus * SHARES),
            "cores": cores_of(job, processors(settings)),
            "command": command,
            "module": ["cuset_stage" if job.kind == "train" else "cuset_stage.cli", *command[1:]],
            "run": {"model": job.run.model, "method": job.run.method, "seed": job.run.seed},
        }
    study = {
        "python": sys.executable,
        "cwd": os.getcwd(),
        "executor": settings.executor,
        "gpus": gpu_names(settings),
        "jobs": entries,
    }
    write_atomically(settings.output / "study.json", json.dumps(study, indent=1) + "\n")


def gpu_names(settings: StudySettings) -> list[str]:
    """GPUs of this machine that the study may use, as CUDA_VISIBLE_DEVICES names them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [str(gpu.index) for gpu in list_gpus()] if visible is None else list(filter(None, visible.split(",")))
    return names[: settings.gpus]


def run_snakemake(settings: StudySettings, jobs: Sequence[Job]) -> int:
    """Run what is left. Returns snakemake's exit status: not 0 when a job failed; those that do not need it have run all the same.

    Raises:
        StudyError: snakemake or the task set is missing, the machine has fewer GPUs than a job takes, or the study is running already.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise StudyError("a study runs under Snakemake, which is not installed: pip install 'cuset-stage[study]'.")
    if not settings.tasks.exists():
        raise StudyError(
            f"tasks={settings.tasks}: no such file or folder; give the path of your copy of the task set."
        )
    gpus, needed = len(gpu_names(settings)), max(job.gpus for job in jobs)
    if settings.executor == "local" and needed > gpus:
        raise StudyError(
            f"a job takes {needed:g} GPUs and {gpus} can be used here; lower `gpus` of the models, where 0 is a CPU."
        )
    targets = () if settings.only is None else (f"done/{job.name}.json" for job in jobs)
    command = [
        *(sys.executable, "-m", "snakemake", *targets),
        *("--snakefile", str(SNAKEFILE), "--directory", str(settings.output)),
        *("--executor", settings.executor, "--cores", str(processors(settings))),
        *("--keep-going", "--rerun-incomplete", "--rerun-triggers", "mtime", "--nolock", "--quiet", "host"),
        *(("--resources", f"gpu={gpus * SHARES}") if settings.executor == "local" else ()),
        *settings.snakemake,
    ]
    # Snakemake's own lock outlives a process that was killed.
    with file_lock(settings.output / "locks" / "study", wait=False) as held:
        if not held:
            raise StudyError(f"{settings.output}: this study is running already.")
        return subprocess.run(command).returncode


def failed_jobs(settings: StudySettings, jobs: Sequence[Job]) -> Mapping[str, Path]:
    """Jobs that have run and not ended well, with their logs."""
    left = [job for job in jobs if _record(settings.output, job.name) is None]
    return {job.name: log for job in left if (log := _log(settings, job)).exists()}


def _log(settings: StudySettings, job: Job) -> Path:
    return settings.output / "logs" / f"{job.name}.log"
