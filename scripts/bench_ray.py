"""How much faster two machines of a Ray cluster judge than one.

    pip install ray; python scripts/bench_ray.py --samples 24

Both are on this machine, with an actor each, as on machines of their own. Programs sleep for 2 s in all, as if they waited for a GPU, and a worker runs
--programs of them at a time, so that the two do not share what they wait for. They are compiled, and their inputs made, before.
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
from bench_judge import HOST_PROGRAM, host_tasks
from ray.cluster_utils import Cluster

from cuset_stage.judge.bench import Bench
from cuset_stage.judge.distributed import RayBackend
from cuset_stage.judge.judge_spec import JudgeSpec
from cuset_stage.judge.pipeline import Job


ROOT = Path(__file__).resolve().parents[1]
SPEC = {"no_gpu": True, "flags": "-O0 -std=c++17"}
PROGRAM = HOST_PROGRAM.replace("#include <cstdio>", "#include <chrono>\n#include <cstdio>\n#include <thread>").replace(
    "  return 0;", "  std::this_thread::sleep_for(std::chrono::milliseconds(400));  // of five cases\n  return 0;"
)


def measure(jobs: list[Job], workers: int, programs: int) -> dict[str, Any]:
    """Judge the jobs on a cluster of so many workers, each with so many programs at a time."""
    cluster = Cluster()
    for _ in range(workers):
        cluster.add_node(num_cpus=programs, include_dashboard=False)
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        backend = RayBackend(JudgeSpec(**SPEC), "cuda", jobs=programs)
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
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--programs", type=int, default=2, help="at a time on a worker")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "judge_ray.json")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="cuset-bench-") as folder:
        os.environ["CUSET_CACHE"] = f"{folder}/cache"
        jobs = [Job(task, PROGRAM) for task in host_tasks(Path(folder), options.samples)]
        judge = Bench(JudgeSpec(**SPEC), "cuda").judge
        for job in jobs:
            judge.build(job.task, job.code)
            judge.prepare(job.task)
        runs = [measure(jobs, workers, options.programs) for workers in (1, 2)]
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "samples": len(jobs),
        "programs_at_a_time": options.programs,
        "runs": runs,
        "ratio": round(runs[0]["seconds"] / runs[1]["seconds"], 2),
        "ray": ray.__version__,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
