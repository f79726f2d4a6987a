"""Measure how fast a task set's own programs are judged: one at a time without caches, and in parallel with caches.

    python scripts/bench_judge.py data/kernels --samples 64 --alone 2 --per-gpu 16 --output outputs/judge.json
    python scripts/bench_judge.py TASKS.jsonl --options '{"no_gpu": true}'    # programs for the CPU, anywhere

Every sample has a different source (by a comment). So caches help only where they should: with inputs, which are made
once per task, and with programs that were compiled before. There are four runs over the same samples:

    alone   --alone of them, one at a time, with caches emptied before each: nvcc, inputs and reference every time
    single  the default of `cuset evaluate`, one program at a time on each GPU, beginning with empty caches
    cold    the same with --per-gpu programs at a time on each GPU
    warm    the same as cold, with the caches of that run

The JSON has the samples per second of each run and the ratios to `alone`. own_ms is the judge's own time per sample
(`Judgement.overhead_s`): wall time without nvcc, without the program (from when its sandbox is up until it ends), and
without waiting for the GPU.
"""

import argparse
import json
import math
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cuset_stage.judge.bench import Bench
from cuset_stage.judge.judge_spec import JudgeSpec
from cuset_stage.judge.judgement import Judgement
from cuset_stage.judge.pipeline import Job
from cuset_stage.sandbox.compiler import compile_library
from cuset_stage.tasks import ProgramTask, load_tasks


def empty_caches() -> None:
    for name in ("programs", "cases"):
        shutil.rmtree(Path(os.environ["CUSET_CACHE"]) / name, ignore_errors=True)
    compile_library.cache_clear()  # it remembers the path of a library that has been removed


def run_alone(spec: JudgeSpec, jobs: list[Job]) -> dict[str, Any]:
    """Judge the jobs one at a time, each with a new judge and empty caches. Only the judging is timed."""
    judged, seconds = [], 0.0
    for job in tqdm(jobs, desc="alone"):
        empty_caches()
        judge = Bench(spec, "cuda").judge
        begin = time.perf_counter()
        judged.append(judge.judge(job.task, job.code))
        seconds += time.perf_counter() - begin
    return summary(judged, seconds)


def run_pipeline(spec: JudgeSpec, jobs: list[Job], name: str) -> dict[str, Any]:
    """Judge the jobs as `cuset evaluate` does, with one compilation at a time on each CPU."""
    pipeline = Bench(spec, "cuda").pipeline()
    begin = time.perf_counter()
    judged = [judgement for _, judgement in tqdm(pipeline.run(jobs), total=len(jobs), desc=name)]
    seconds = time.perf_counter() - begin
    pipeline.join()
    return summary(judged, seconds)


def summary(judged: list[Judgement], seconds: float) -> dict[str, Any]:
    """Return the speed, the verdicts and the times per sample of a run that took `seconds`."""
    overheads_ms = sorted(1e3 * judgement.overhead_s for judgement in judged)
    return {
        "samples": len(judged),
        "seconds": round(seconds, 3),
        "samples_per_s": round(len(judged) / seconds, 3),
        "verdicts": dict(Counter(str(judgement.verdict) for judgement in judged)),
        "own_ms": {
            "median": round(statistics.median(overheads_ms), 1),
            "p95": round(overheads_ms[max(0, math.ceil(0.95 * len(overheads_ms)) - 1)], 1),
            "max": round(overheads_ms[-1], 1),
        },
        "compile_s_median": round(statistics.median(judgement.compile_s or 0.0 for judgement in judged), 3),
        "run_s_median": round(statistics.median(judgement.run_s or 0.0 for judgement in judged), 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path, help="a task set whose tasks have programs")
    parser.add_argument("--samples", type=int, help="how many; without it one a task")
    parser.add_argument("--alone", type=int, default=2, help="samples that are judged alone")
    parser.add_argument("--per-gpu", type=int, default=4, help="programs at a time on one GPU, for cold and warm")
    parser.add_argument("--options", type=json.loads, default={}, help="further settings of the judge, as JSON")
    parser.add_argument("--output", type=Path, default=Path("outputs/judge.json"))
    options = parser.parse_args()
    tasks = [task for task in load_tasks(options.tasks) if isinstance(task, ProgramTask) and task.solution]
    numbers = range(options.samples or len(tasks))
    jobs = [Job(task := tasks[number % len(tasks)], f"{task.solution}\n// {number}\n") for number in numbers]
    spec = JudgeSpec(**options.options)
    loaded = spec.model_copy(update={"per_gpu": options.per_gpu})
    with tempfile.TemporaryDirectory(prefix="cuset-bench-") as folder:
        os.environ["CUSET_CACHE"] = folder
        described = Bench(spec, "cuda").describe()
        runs = {"alone": run_alone(spec, jobs[:: math.ceil(len(jobs) / options.alone)])}
        for name, settings in (("single", spec), ("cold", loaded), ("warm", loaded)):
            if name != "warm":
                empty_caches()
            runs[name] = run_pipeline(settings, jobs, name)
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cuset_stage": metadata.version("cuset-stage"),
        "cpus": len(os.sched_getaffinity(0)),
        **{key: described[key] for key in ("gpus", "toolkit", "arch", "flags", "isolation")},
        "tasks": str(options.tasks),
        "samples": len(jobs),
        "cases": sum(len(job.task.cases) for job in jobs),
        **runs,
        "per_gpu": options.per_gpu,
    }
    for name in ("single", "cold", "warm"):
        record[f"speedup_{name}"] = round(runs[name]["samples_per_s"] / runs["alone"]["samples_per_s"], 2)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))
    return int(any(run["verdicts"].keys() != {"passed"} for run in runs.values()))


if __name__ == "__main__":
    sys.exit(main())
