"""`cuset study run`: write the files of a study's jobs, forecast what is left, and run the jobs under Snakemake."""

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from .. import attention
from ..files import file_lock, read_json, take_lock, write_atomically
from ..jsonl import read_objects
from ..report.cells import Table, number_column, text_column
from ..sandbox import list_gpus
from ..settings import load_yaml, read_yaml
from ..text import shown
from .job import lock_of
from .plan import DATA_SETS, INPUTS, NEEDS, OUTPUTS, Job, StudyError, inputs_of, wanted
from .settings import SHARES, StudySettings


# Keys of commands that change how fast a job is or whether it fits into memory, but neither answers nor verdicts. They
# may change after the job has begun.
SPEED = frozenset({"batch_size", "jobs", "per_gpu", "record_gpu", "retry_infra", "timeout"})
CLUSTER_CORES = 8  # cores that a job on a cluster asks for per GPU, and without a GPU
SNAKEFILE = Path(__file__).with_name("Snakefile")


def records_of(settings: StudySettings, jobs: Sequence[Job]) -> dict[str, dict[str, Any]]:
    """Return the records of the jobs that are done, by name. A record has the seconds and the GPUs of its job.

    A job is not done, in spite of its record, if its output is lost, if it is now asked for more samples, or if a job
    that it needs is not done. A model may be removed, to save disk, once there are answers of it.

    Args:
        jobs: jobs of whole runs, each after the jobs that it needs.
    """
    records: dict[str, dict[str, Any]] = {}
    for job in jobs:
        file = _record(settings, job)
        if job.kind == "train":
            model = Path(job.settings["output_dir"])
            has_output = model.with_name(OUTPUTS["generate"]).exists() or any(model.glob("*model*.*"))
        else:
            has_output = Path(job.settings["output"]).exists()
        if not file.exists() or not has_output or any(f"{kind}/{job.run.name}" not in records for kind in job.needs):
            continue
        written = _file(settings, job)
        if job.kind != "generate" or not written.exists() or not _asks_for_more(job, read_yaml(written)):
            records[job.name] = read_written(file, "seconds", "gpus")
    return records


def read_written(file: Path, *numbers: str) -> Any:
    """Return the object that a job wrote as JSON. Raises StudyError if it is damaged, or these keys are not numbers."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if wrong := [key for key in numbers if not isinstance(dict(content).get(key), int | float)]:
            raise ValueError(f"expected a number as {wrong[0]}")
    except (ValueError, TypeError) as error:
        raise StudyError(f"{file} is cut off or damaged ({error}). Remove it, and run the study.") from None
    return content


def jobs_left(settings: StudySettings, jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs that are not done, and judging jobs in which the judge itself failed."""
    done = records_of(settings, jobs)
    return [job for job in jobs if _is_left(done.get(job.name))]


def _is_left(record: Mapping[str, Any] | None) -> bool:
    """Return whether the job with this record, None if it has none, is to run."""
    return record is None or record.get("infra_error", False)


def forecast(settings: StudySettings, jobs: Sequence[Job], gpus: int = 0) -> tuple[Table, list[str]]:
    """Return what is left of a study.

    The hours of a job are the mean of the finished jobs of the same model and kind. If there are none, they are taken
    from the study's file.

    Args:
        gpus: number of GPUs on which the study will run. 0 if it is not known.

    Returns:
        A table of jobs, GPU hours and disk space by model and kind, and sentences with their sums.
    """
    rows, done = [], records_of(settings, jobs)
    for (name, model), kind in itertools.product(settings.models.items(), NEEDS):
        members = [job for job in jobs if job.run.model == name and job.kind == kind]
        if not members:
            continue
        records = [done[job.name] for job in members if not _is_left(done.get(job.name))]
        gpus_per_job, left = members[0].gpus, len(members) - len(records)
        seconds = sum(record["seconds"] for record in records)
        hours = seconds / 3600 / len(records) if records else model.hours.get(kind)
        total = 0.0 if not gpus_per_job else None if hours is None else left * hours * gpus_per_job
        disk = 0.0 if kind != "train" or not left else None if model.disk_gib is None else left * model.disk_gib
        rows.append((name, kind, len(records), len(members), left, gpus_per_job, hours, total, disk))
    names = ("model", "jobs", "done", "of", "left", "GPUs", "hours each", "GPU hours left", "GiB to write")
    frame = pd.DataFrame(rows, columns=names)
    digits = {"GPUs": 2, "hours each": 2, "GPU hours left": 1, "GiB to write": 1}
    columns = [text_column(name, frame[name]) for name in names[:2]]
    columns += [number_column(name, frame[name], digits=digits.get(name, 0)) for name in names[2:]]

    hours = frame["GPU hours left"].astype(float)
    unknown = frame["left"][hours.isna()].sum()
    rest = f" and those of {unknown:,} jobs that no `hours` are known of" if unknown else ""
    disk = "?" if frame["GiB to write"].isna().any() else f"{frame['GiB to write'].sum():,.1f}"
    sentences = [f"left: {frame['left'].sum():,} jobs, {hours.sum():,.1f} GPU hours{rest}, {disk} GiB of models"]
    if gpus and hours.sum():
        sentences.append(f"On {gpus} GPUs that is at least {hours.sum() / gpus:,.1f} hours.")
    return Table("forecast", "", columns), sentences


def check_begun(settings: StudySettings, jobs: Sequence[Job]) -> None:
    """Check that jobs that have begun keep their settings, data sets, models and tasks. A study may only grow.

    Raises:
        StudyError: a job that has begun would run with other settings, or a data set, model or task set has changed.
        SettingsError: a file of settings in the study's folder is broken.
    """
    for job in jobs:
        file, record = _file(settings, job), _record(settings, job)
        is_running = _is_running(settings, job)
        # The settings of a job that failed before it wrote anything may be corrected.
        if job.kind == "train":
            has_output = _has_trained(settings, job)
        else:
            output = Path(job.settings["output"])
            # Sampling makes the file before it loads the model.
            has_lines = output.is_file() and output.stat().st_size > 0
            has_output = has_lines or (record.exists() and output.exists())
        if not file.exists() or not (is_running or has_output):
            continue
        old, new = read_yaml(file), load_yaml(_text(job))
        free = SPEED if is_running or not _asks_for_more(job, old) else SPEED | {"samples"}
        changed = sorted(key for key in {*old, *new} - free if old.get(key) != new.get(key))
        if changed == ["samples"] and _asks_for_more(job, old):
            raise StudyError(
                f"{file}: this job is running with samples={old.get('samples', 1)}. Once it has ended, the same command "
                "makes the missing ones."
            )
        if changed:
            differing = (f"{key} ({shown(old.get(key))}, now {shown(new.get(key))})" for key in changed)
            folder = settings.output / "runs" / job.run.name
            # All that a run has comes from its training, whose record counts even without its model.
            outputs = [folder / OUTPUTS[kind] for kind, needs in NEEDS.items() if job.kind in (kind, *needs)]
            to_remove = " and ".join(map(str, [folder, record] if job.kind == "train" else outputs))
            raise StudyError(
                f"{file}: this job has begun with another {', '.join(differing)}. Give the study another output=, or "
                f"remove {to_remove} when the job has ended."
            )
    check_inputs(settings, jobs)


def check_inputs(settings: StudySettings, jobs: Iterable[Job]) -> None:
    """Check that runs of a model have the same weights, trainings on a data set the same rows, and all the same tasks.

    Answers of an endpoint, and what an earlier version made, do not tell what they are of.

    Raises:
        StudyError: what has begun differs, or a run that is left would have others. The message names the fix.
    """
    now: dict[str, dict[str, str]] = {}
    found: dict[tuple[str, str], dict[str, Job]] = {}  # key=value, its fingerprint now: a job with each fingerprint
    for job in jobs:
        if job.kind not in ("train", "evaluate") and (job.kind, job.run.keys) != ("generate", None):
            continue
        keys = {"model_name_or_path": job.settings["model"]} if job.kind == "generate" else job.settings
        named = {key: str(keys.get(key)) for key in ("dataset_dir", *DATA_SETS, "model_name_or_path", "tasks")}
        here = now[str(named)] = now.get(str(named)) or inputs_of(keys)
        begun = _begun_with(settings, job)
        for key, digest in (here if begun is None else begun).items():
            found.setdefault((f"{key}={named[key]}", here.get(key, "")), {}).setdefault(digest, job)
    for (what, latest), jobs_with in found.items():
        if len(jobs_with) > 1:
            run = next(job.run.name for digest, job in jobs_with.items() if digest != latest)
            part = "/results.jsonl (and answers.jsonl, if prompts changed)" if what.startswith("tasks=") else ""
            raise StudyError(
                f"{what}: has changed since {run} began, and the study compares this run with others. Put it back, give "
                f"the study another output=, or remove {settings.output / 'runs' / run}{part}, as of all runs from "
                "before the change, and run the study."
            )


def _begun_with(settings: StudySettings, job: Job) -> dict[str, str] | None:
    """Return what a training, a judging, or the sampling of an untrained model has begun with, None if it has not."""
    if job.kind == "train":
        file = settings.output / "runs" / job.run.name / INPUTS
        return read_json(file) if _is_running(settings, job) or _has_trained(settings, job) else None
    output = Path(job.settings["output"])
    first = next((line for _, line in read_objects(output)), {}) if output.exists() else {}
    begun = {"model_name_or_path": first.get("weights"), "tasks": (first.get("tasks") or {}).get("sha256")}
    return {key: digest for key, digest in begun.items() if digest} or None


def _has_trained(settings: StudySettings, job: Job) -> bool:
    """Return whether a training is done or has a checkpoint."""
    return _record(settings, job).exists() or any(Path(job.settings["output_dir"]).glob("checkpoint-*"))


def _is_running(settings: StudySettings, job: Job) -> bool:
    """Return whether a process holds the job's lock, which may be one that a killed study has left."""
    lock = lock_of(settings.output, job.name)
    if not lock.exists():
        return False
    with file_lock(lock, wait=False) as is_free:
        return not is_free


def _asks_for_more(job: Job, old: Mapping[str, Any]) -> bool:
    """Return whether a sampling job asks for more samples than its settings `old` did: then it makes those missing."""
    return job.kind == "generate" and int(job.settings.get("samples", 1)) > int(old.get("samples", 1))


def prepare(settings: StudySettings, every: Sequence[Job]) -> None:
    """Check the jobs that have begun, remove the records that no longer count, and write the study's files.

    `every` holds all jobs of the study. What starts them afterwards needs to know of records only.

    Raises:
        StudyError: as `check_begun`.
    """
    check_begun(settings, every)
    # A job that a killed study has left may write its record at any time. Such a record counts, so only those are
    # removed that were there before.
    earlier = {job.name for job in every if _record(settings, job).exists()}
    done, chosen = records_of(settings, every), {job.name for job in wanted(settings, every)}
    for job in every:
        # Where the judge failed, the other verdicts count while this run (`only`) does not judge again.
        is_stale = job.name not in done or (job.name in chosen and _is_left(done[job.name]))
        if job.name in earlier and is_stale:
            _record(settings, job).unlink(missing_ok=True)
    write_study(settings, every)


def write_study(settings: StudySettings, jobs: Sequence[Job]) -> None:
    """Write study.json, and a file of settings for each job."""
    entries, gpus, is_local = {}, gpu_names(settings), settings.executor == "local"
    cores = settings.cores or len(os.sched_getaffinity(0))
    for job in jobs:
        file = _file(settings, job)
        write_atomically(file, _text(job))
        _log(settings, job).parent.mkdir(parents=True, exist_ok=True)
        module = ["cuset_stage", "train"] if job.kind == "train" else ["cuset_stage.cli", job.kind]
        module.append(str(file))
        # Judging compiles on all cores that it gets. The other jobs mainly wait for the GPU. A judging job that asks
        # for all cores would wait until no other job runs. So it gets the cores divided by the number of GPUs, or half
        # of them without GPUs. A cluster may limit a job to the cores that it asks for, so there every job asks for
        # some.
        given_threads = int(job.settings.get("jobs") or 0) if job.kind == "evaluate" else 0
        threads = given_threads or CLUSTER_CORES * max(1, int(job.gpus))
        if is_local:
            threads = min(given_threads or max(1, cores // (len(gpus) or 2)), cores) if job.kind == "evaluate" else 1
            module += [f"jobs={threads}"] if job.kind == "evaluate" and not given_threads else []
        is_sft = job.kind == "train" and job.settings.get("stage", "sft") != "cuset"
        shares = round(job.gpus * SHARES)
        entries[job.name] = {
            "needs": [f"{kind}/{job.run.name}" for kind in job.needs],
            "shares": shares,
            # the unit in which Snakemake counts GPUs: shares on this machine, whole GPUs on a cluster
            "gpu": shares if is_local else shares // SHARES,
            # By shares alone, Snakemake would start four jobs of 0.75 on three GPUs. One of them would find no room,
            # and keep its shares from other jobs. So a job of more than half a GPU also counts as a whole one.
            "whole": max(1, int(job.gpus)) if job.gpus > 0.5 else 0,
            "cores": threads,
            "module": module,
            "environment": attention.OFF_IN_SFT if is_sft else {},
        }
    # Sampling and judging come before further trainings, so that a stopped study has more complete runs. Trainings
    # come first where a smaller job would keep GPUs idle that a training needs. Their priority is then much higher,
    # because Snakemake adds up the priorities of the jobs that it can start together.
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
        # If small jobs were spread over the GPUs, no GPU would have room for a job of more than half a GPU.
        "pack": len(sizes) > 1 and max(sizes) > SHARES // 2,
        "priority": priority,
        "jobs": entries,
    }
    write_atomically(settings.output / "study.json", json.dumps(study, indent=1) + "\n")


def gpu_names(settings: StudySettings) -> list[str]:
    """Return the GPUs of this machine that the study may use, as CUDA_VISIBLE_DEVICES names them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [str(gpu.index) for gpu in list_gpus()] if visible is None else visible.split(",")
    # CUDA ignores all from an empty name or a number below 0 on, by which jobs are kept from GPUs.
    return list(itertools.takewhile(lambda name: name and name[0] != "-", names))[: settings.gpus]


def run_study(settings: StudySettings, every: Sequence[Job]) -> int:
    """Write all jobs of the study (`every`), and run under Snakemake those that are left and that `only` selects.

    If the study is already running, this waits until it has ended.

    Returns:
        The exit status of Snakemake. It is not 0 if a job failed. Jobs that do not need the failed one have run
        nevertheless.

    Raises:
        StudyError: snakemake is not installed, or a job has begun with other settings while this waited.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise StudyError("a study runs under Snakemake, which is not installed: pip install 'snakemake>=9,<10'.")
    if settings.executor == "local":
        gpus, cores = len(gpu_names(settings)), settings.cores or len(os.sched_getaffinity(0))
        limits = ["--cores", str(cores), "--resources", f"gpu={gpus * SHARES}", f"whole={gpus}"]
    else:  # here `--cores` limits what one job may ask for, and is independent of this machine
        limits = [] if settings.cores is None else ["--cores", str(settings.cores)]
    targets = () if settings.only is None else (f"done/{job.name}.json" for job in wanted(settings, every))
    command = [
        *(sys.executable, "-m", "snakemake", *targets),
        *("--snakefile", str(SNAKEFILE), "--directory", str(settings.output)),
        *("--executor", settings.executor),
        # A job writes its record at the very end, in one step. So a record counts even if Snakemake was killed before
        # it noted the end of the job.
        *("--keep-going", "--ignore-incomplete", "--rerun-triggers", "mtime", "--nolock", "--quiet", "host", "reason"),
        *limits,
        *settings.snakemake,
    ]
    file = settings.output / "locks" / "study"
    # This lock replaces Snakemake's own one, which stays behind when Snakemake is killed.
    if (lock := take_lock(file, wait=False)) is None:
        running = f"this study is running already (`fuser {file}` names its processes); waiting for its end"
        print(f"{settings.output}: {running}", flush=True)
        lock = take_lock(file)
    try:
        # A study that this one waited for may have begun jobs.
        prepare(settings, every)
        # Snakemake inherits the lock. If this process is killed, the study stays locked until Snakemake has ended.
        with subprocess.Popen(command, pass_fds=(lock,)) as process:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.wait()  # Snakemake got the signal too, and ends its jobs, on a cluster also the queued ones
                raise
    finally:
        os.close(lock)


def short_of_gpus(settings: StudySettings, jobs: Sequence[Job]) -> list[str]:
    """Return a message on the first job that needs more GPUs than this machine has, as a list of at most one sentence.

    Under another executor than `local`, the list is empty.
    """
    gpus = len(gpu_names(settings))
    short = [job for job in jobs if settings.executor == "local" and job.gpus > gpus][:1]
    fix = f"but only {gpus} are available. Lower the model's `gpus` (0 = CPU)."
    return [f"{job.name} needs {job.gpus:g} GPUs, {fix}" for job in short]


def failed_jobs(settings: StudySettings, jobs: Sequence[Job]) -> dict[str, Path]:
    """Return the logs of the jobs that have started but did not succeed, by name of the job."""
    return {job.name: log for job in jobs_left(settings, jobs) if (log := _log(settings, job)).exists()}


def _file(settings: StudySettings, job: Job) -> Path:
    return settings.output / "jobs" / f"{job.name}.yaml"


def _record(settings: StudySettings, job: Job) -> Path:
    return settings.output / "done" / f"{job.name}.json"


def _text(job: Job) -> str:
    return yaml.safe_dump(dict(job.settings), sort_keys=False, allow_unicode=True)


def _log(settings: StudySettings, job: Job) -> Path:
    return settings.output / "logs" / f"{job.name}.log"
