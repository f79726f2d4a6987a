"""How much faster two machines of a Ray cluster judge than one.

    pip install ray; python scripts/bench_ray.py data/kernels --samples 24 --cores 1

Without a second machine the two are on this one: each has --cores processors of its own, to which it is bound, and what is judged needs no GPU
(compile_only). A sample is a bundled program with a source of its own; caches are empty. What starting the workers takes is not counted.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from cuset_stage.judge.distributed import RayBackend
from cuset_stage.judge.judge_spec import JudgeSpec
from cuset_stage.judge.pipeline import Job
from cuset_stage.tasks import ProgramTask, load_tasks


ROOT = Path(__file__).resolve().parents[1]


def measure(jobs: list[Job], workers: int, cores: int) -> dict[str, Any]:
    """Judge the jobs on a cluster of so many workers, each with so many processors."""
    here = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory(prefix="cuset-bench-") as folder:
        os.environ["CUSET_CACHE"] = folder
        cluster = Cluster()
        for number in range(workers):
            os.sched_setaffinity(0, sorted(here)[number * cores : (number + 1) * cores])
            cluster.add_node(num_cpus=cores, include_dashboard=False)
        os.sched_setaffinity(0, here)
        ray.init(address=cluster.address, log_to_driver=False)
        try:
            backend = RayBackend(JudgeSpec(compile_only=True), "cuda", jobs=cores)
            begin = time.perf_counter()
            verdicts = Counter(str(judgement.verdict) for _, judgement in backend.run(jobs))
            seconds = time.perf_counter() - begin
            backend.stop()
        finally:
            ray.shutdown()
            cluster.shutdown()
    return {"workers": workers, "seconds": round(seconds, 1), "verdicts": dict(verdicts)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path, help="a task set with programs, such as data/kernels")
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)) // 2, help="processors of a worker")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "judge_ray.json")
    options = parser.parse_args()
    if not 1 <= options.cores <= len(os.sched_getaffinity(0)) // 2:
        parser.error(
            f"--cores {options.cores}: two workers need twice as many processors, and there are {len(os.sched_getaffinity(0))}"
        )

    tasks = [task for task in load_tasks(options.tasks) if isinstance(task, ProgramTask) and task.solution]
    jobs = [
        Job(tasks[number % len(tasks)], f"{tasks[number % len(tasks)].solution}\n// {number}\n")
        for number in range(options.samples)
    ]
    runs = [measure(jobs, workers, options.cores) for _ in range(options.repeat) for workers in (1, 2)]
    one, two = (min(run["seconds"] for run in runs if run["workers"] == workers) for workers in (1, 2))
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "samples": len(jobs),
        "cores_of_a_worker": options.cores,
        "runs": runs,
        "ratio": round(one / two, 2),
        "ray": ray.__version__,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
