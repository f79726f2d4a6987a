"""How fast answers are judged: compiled in parallel with caches, against one at a time without.

    python scripts/bench_judge.py data/kernels --samples 24    # a task set's own programs, on the GPU
    python scripts/bench_judge.py --no-gpu --samples 24        # programs for the CPU, anywhere

Every sample has a different source (by a comment), so that caches help only where they should: with data that is
made once per task, and with programs that were compiled before. Runs over the same samples:

    alone   once, one at a time, caches emptied before each: nvcc, the inputs and the reference every time
    single  once, `cuset evaluate`'s pipeline as it is by default: one program at a time on each GPU; empty caches
    cold    the same with --per-gpu programs at a time on each GPU
    warm    the same as cold, with the caches of that run

The JSON has samples a second of each and the ratios to `alone`. own_ms is the judge's own time a sample
(`Judgement.overhead_s`): the wall time of `build` and `execute` less nvcc, less the program from the moment its sandbox is up and
hands over to it until it ends, and less waiting for the GPU. Making and removing folders, starting and ending bubblewrap, passing
inputs, taking outputs and comparing them are the judge's own. Under
`alone` nothing else runs; the others show it under load. Without a GPU nothing limits the programs at a time to one, and there is no
`single`. With --alone N, `alone` is over N of the samples, spread evenly, and the ratios to it are of different samples. With
--repeat, cold and warm are repeated: seconds are medians of the runs, own_ms is over all samples of all runs.
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
from cuset_stage.judge.pipeline import Job
from cuset_stage.tasks import ProgramTask, load_tasks


ROOT = Path(__file__).resolve().parents[1]

HOST_PROGRAM = r"""
#include <algorithm>
#include <cstdio>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

static std::vector<float> load(const char* path) {
  std::vector<float> values(1 << 16);
  FILE* file = fopen(path, "rb");
  values.resize(file ? fread(values.data(), sizeof(float), values.size(), file) : 0);
  if (file) fclose(file);
  return values;
}

int main() {
  std::vector<float> a = load("data/a.bin"), b = load("data/b.bin"), c(a.size());
  std::transform(a.begin(), a.end(), b.begin(), c.begin(), [](float x, float y) { return x + y; });
  FILE* file = fopen("data/c.bin", "wb");
  fwrite(c.data(), sizeof(float), c.size(), file);
  fclose(file);
  return 0;
}
"""
HOST_REFERENCE = """
import numpy as np

TOLERANCE = {"c": (1e-6, 1e-6)}


def make_inputs(rng, n):
    return {name: rng.normal(size=n).astype(np.float32) for name in "ab"}


def reference(inputs):
    return {"c": inputs["a"] + inputs["b"]}
"""


def host_tasks(folder: Path, count: int) -> list[ProgramTask]:
    """Tasks that are solved on the CPU: the compiler has a kernel to compile, which is never launched."""
    rows = [
        {
            "id": f"add_{number}", "family": "element-wise", "prompt": "Add two vectors.",
            "inputs": [{"name": name, "dtype": "float32", "shape": ["n"]} for name in "ab"],
            "outputs": [{"name": "c", "dtype": "float32", "shape": ["n"]}],
            "cases": [{"name": f"n{n}", "parameters": {"n": n + number}} for n in (1, 1_000, 10_000, 30_000, 60_000)],
            "reference": HOST_REFERENCE, "solution": HOST_PROGRAM,
        }
        for number in range(count)
    ]  # fmt: skip
    path = folder / "tasks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return list(load_tasks(path))


def make_jobs(tasks: list[ProgramTask], samples: int) -> list[Job]:
    """`samples` jobs over the tasks in turn, each with a source of its own."""
    jobs = []
    for number in range(samples):
        task = tasks[number % len(tasks)]
        code = f"{task.solution}\n// {number}\n"
        jobs.append(Job(task, code))
    return jobs


def spread_evenly(jobs: list[Job], count: int | None) -> list[Job]:
    """`count` of the jobs; all of them when there are no more, or with None."""
    count = min(count or len(jobs), len(jobs))
    return jobs[:: len(jobs) // count][:count]


class Caches:
    """A folder that every cache lies in, emptied at will."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        os.environ["CUSET_CACHE"] = str(folder)

    def empty(self) -> None:
        for name in ("programs", "cases"):
            shutil.rmtree(self.folder / name, ignore_errors=True)


def run_alone(spec: JudgeSpec, jobs: list[Job], caches: Caches) -> dict[str, Any]:
    judged = []
    seconds = cpu = 0.0
    for job in tqdm(jobs, desc="alone"):
        caches.empty()
        judge = Bench(spec, "cuda").judge
        begin, begin_cpu = time.perf_counter(), time.process_time()
        judged.append(judge.judge(job.task, job.code))
        seconds += time.perf_counter() - begin
        cpu += time.process_time() - begin_cpu
    return {"judged": judged, "seconds": seconds, "cpu": cpu}


def run_pipeline(spec: JudgeSpec, jobs: list[Job], at_a_time: int, name: str) -> dict[str, Any]:
    pipeline = Bench(spec, "cuda").pipeline(jobs=at_a_time)
    begin, begin_cpu = time.perf_counter(), time.process_time()
    judged = [judgement for _, judgement in tqdm(pipeline.run(jobs), total=len(jobs), desc=name)]
    seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
    pipeline.join()
    return {"judged": judged, "seconds": seconds, "cpu": cpu}


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    judged = [judgement for run in runs for judgement in run["judged"]]
    seconds = statistics.median(run["seconds"] for run in runs)
    own = sorted(1e3 * judgement.overhead_s for judgement in judged)
    cases = sum(len(judgement.cases) for judgement in judged)
    return {
        "samples": len(runs[0]["judged"]),
        "seconds": round(seconds, 3),
        "seconds_of_each": [round(run["seconds"], 3) for run in runs],
        "samples_per_s": round(len(runs[0]["judged"]) / seconds, 3),
        "verdicts": dict(Counter(str(judgement.verdict) for judgement in judged)),
        "own_ms": {
            "median": round(statistics.median(own), 1),
            "p95": round(own[max(0, math.ceil(0.95 * len(own)) - 1)], 1),
            "max": round(own[-1], 1),
            "mean_a_case": round(sum(own) / cases, 1) if cases else None,
        },
        "judge_cpu_ms_a_sample": round(1e3 * sum(run["cpu"] for run in runs) / len(judged), 1),
        "compile_s_median": round(statistics.median(judgement.compile_s or 0.0 for judgement in judged), 3),
        "run_s_median": round(statistics.median(judgement.run_s or 0.0 for judgement in judged), 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path, nargs="?", help="a task set with programs; with --no-gpu none is needed")
    parser.add_argument("--samples", type=int, help="how many; without it one a task, or 24 with --no-gpu")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="compilations at a time")
    parser.add_argument("--alone", type=int, metavar="N", help="judge only N of the samples alone; without it all")
    parser.add_argument("--per-gpu", type=int, default=4, help="programs at a time on one GPU, for cold and warm")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--no-gpu", action="store_true", help="judge programs for the CPU")
    parser.add_argument("--isolation", default="auto", choices=["auto", "bubblewrap", "landlock"])
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "judge.json")
    options = parser.parse_args()
    if options.tasks is None and not options.no_gpu:
        parser.error("give a task set, such as data/kernels, or --no-gpu")

    with tempfile.TemporaryDirectory(prefix="cuset-bench-") as name:
        caches = Caches(Path(name) / "cache")
        if options.tasks is None:
            tasks = host_tasks(Path(name), count=8)
        else:
            tasks = [task for task in load_tasks(options.tasks) if isinstance(task, ProgramTask) and task.solution]
        jobs = make_jobs(tasks, options.samples or (24 if options.tasks is None else len(tasks)))
        spec = JudgeSpec(no_gpu=options.no_gpu, isolation=options.isolation)
        described = Bench(spec, "cuda").describe()
        loaded = spec.model_copy(update={"per_gpu": options.per_gpu})
        found: dict[str, list[dict[str, Any]]] = {
            "alone": [run_alone(spec, spread_evenly(jobs, options.alone), caches)]
        }
        if not options.no_gpu:
            caches.empty()
            found["single"] = [run_pipeline(spec, jobs, options.jobs, "single")]
        found |= {"cold": [], "warm": []}
        for _ in range(options.repeat):
            caches.empty()
            found["cold"].append(run_pipeline(loaded, jobs, options.jobs, "cold"))
            found["warm"].append(run_pipeline(loaded, jobs, options.jobs, "warm"))

    runs = {key: summary(values) for key, values in found.items()}
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "cuset_stage": metadata.version("cuset-stage"),
        "cpus": len(os.sched_getaffinity(0)),
        "jobs": options.jobs,
        **{key: described[key] for key in ("gpus", "toolkit", "arch", "flags", "isolation")},
        "tasks": "host programs" if options.tasks is None else str(options.tasks),
        "samples": len(jobs),
        "cases": sum(len(job.task.cases) for job in jobs),
        "repeat": options.repeat,
        **runs,
        "per_gpu": options.per_gpu if not options.no_gpu else None,
        **{
            f"speedup_{name}": round(run["samples_per_s"] / runs["alone"]["samples_per_s"], 2)
            for name, run in runs.items()
            if name != "alone"
        },
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))
    wrong = sum(count for run in runs.values() for verdict, count in run["verdicts"].items() if verdict != "passed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
