"""How fast CUDABench's references are judged, beside a harness that works as CUDABench's own does, and both sides' verdicts.

    python scripts/bench_cudabench.py CUDABench-Set.jsonl --rows 100    # the first 100 rows of your copy of the data set
    python scripts/bench_cudabench.py CUDABench-Set.jsonl --rows 500 --side ours
    python scripts/bench_cudabench.py CUDABench-Set.jsonl --rows 500 --side harness --slices 8    # again, until it is done
    python scripts/bench_cudabench.py --rows 100                        # a look-alike: element-wise programs, 5 sizes each

harness   what CUDABench's evaluation does: one row after the other, in one Python process: `nvcc kernel.cu -o kernel`, gen.py, ./kernel,
          compare.py; a row is right when the program returns 0 and compare.py prints no F. No sandbox, nothing is kept.
ours      `cuset evaluate`'s pipeline as it is by default, with empty caches (below TMPDIR).

The harness takes about 4 s a row. --slices N judges N rows at a time, each in a process of its own, and harness_s is the sum of the rows' times;
a run that is stopped is taken up again by the same command, from OUTPUT.harness.jsonl. --beside N runs it at the same time as ours, on the last
N cores and on the last GPU, where ours has the others. The JSON has the verdicts of every row that a side has judged so far, and those on
which they differ.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cuset_stage.judge.bench import Bench
from cuset_stage.judge.judge_spec import JudgeSpec
from cuset_stage.judge.judgement import Judgement
from cuset_stage.judge.pipeline import Job
from cuset_stage.sandbox import list_gpus
from cuset_stage.tasks import load_tasks


ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, Any]

SIZES = tuple(1 << power for power in (17, 20, 22, 24, 27))  # 1e5 to 1e8 elements
FUNCTIONS = {  # name -> (CUDA, NumPy), of x and y
    "relu": ("fmaxf(x, 0.f)", "np.maximum(x, 0)"),
    "leaky_relu": ("x > 0.f ? x : 0.1f * x", "np.where(x > 0, x, 0.1 * x)"),
    "sigmoid": ("1.f / (1.f + expf(-x))", "1 / (1 + np.exp(-x))"),
    "tanh": ("tanhf(x)", "np.tanh(x)"),
    "silu": ("x / (1.f + expf(-x))", "x / (1 + np.exp(-x))"),
    "softplus": ("log1pf(expf(x))", "np.log1p(np.exp(x))"),
    "elu": ("x > 0.f ? x : expm1f(x)", "np.where(x > 0, x, np.expm1(x))"),
    "softsign": ("x / (1.f + fabsf(x))", "x / (1 + np.abs(x))"),
    "square": ("x * x", "x * x"),
    "absolute": ("fabsf(x)", "np.abs(x)"),
    "cube": ("x * x * x", "x * x * x"),
    "clip": ("fminf(fmaxf(x, -1.f), 1.f)", "np.clip(x, -1, 1)"),
    "add": ("x + y", "x + y"),
    "subtract": ("x - y", "x - y"),
    "multiply": ("x * y", "x * y"),
    "maximum": ("fmaxf(x, y)", "np.maximum(x, y)"),
    "axpy": ("2.5f * x + y", "2.5 * x + y"),
    "hypotenuse": ("hypotf(x, y)", "np.hypot(x, y)"),
    "squared_error": ("(x - y) * (x - y)", "(x - y) ** 2"),
    "gated": ("x / (1.f + expf(-y))", "x / (1 + np.exp(-y))"),
}
PROGRAM = r"""
#include <cuda_runtime.h>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

__global__ void apply(const float* xs, const float* ys, float* out, size_t n) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) { float x = xs[i], y = ys[i]; out[i] = EXPRESSION; (void)y; }
}

static std::vector<float> load(const std::string& path, size_t n) {
  std::vector<float> values(n);
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(values.data()), n * sizeof(float));
  return values;
}

int main() {
  const size_t n = SIZE;
  std::vector<float> x = load("data/x.bin", n), y = load("data/y.bin", n);
  float* d[3];
  for (float*& one : d)
    if (cudaMalloc(&one, n * sizeof(float)) != cudaSuccess) { std::cerr << "no memory\n"; return 1; }
  cudaMemcpy(d[0], x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d[1], y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  apply<<<(n + 255) / 256, 256>>>(d[0], d[1], d[2], n);
  if (cudaMemcpy(x.data(), d[2], n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  std::ofstream("data/out.bin", std::ios::binary).write(reinterpret_cast<char*>(x.data()), n * sizeof(float));
  return 0;
}
"""
GENERATE = """
import os
import numpy as np

os.makedirs("data", exist_ok=True)
np.random.seed(42)
x = np.random.randn(SIZE).astype(np.float32)
y = np.random.randn(SIZE).astype(np.float32)
x.tofile("data/x.bin")
y.tofile("data/y.bin")
(EXPRESSION).astype(np.float32).tofile("data/out_ref.bin")
"""
COMPARE = """
import numpy as np

out, ref = (np.fromfile(f"data/{name}.bin", dtype=np.float32) for name in ("out", "out_ref"))
print("T" if out.shape == ref.shape and np.allclose(out, ref, rtol=1e-4, atol=1e-5) else "F")
"""


def look_alike(count: int) -> list[Row]:
    """Rows in CUDABench's format, from small to large for each function."""
    rows = []
    for name, (cuda, numpy) in FUNCTIONS.items():
        for size in SIZES:
            tensor = {"dtype": "float32", "shape": f"({size},)"}
            row = {
                "id": len(rows),
                "task_name": name,
                "task_description": name,
                "gpu": "H200",
                "bench.cu": PROGRAM.replace("EXPRESSION", cuda).replace("SIZE", str(size)),
                "gen.py": GENERATE.replace("EXPRESSION", numpy).replace("SIZE", str(size)),
                "compare.py": COMPARE,
                "inputs": [{"name": name, **tensor} for name in "xy"],
                "outputs": [{"name": "out", **tensor}],
            }
            rows.append(row | {f"level{level}_prompt": name for level in (1, 2, 3)})
    return rows[:count]


def run_harness(rows: list[Row], log: Path) -> None:
    """Judge rows one after the other; a line a row, {id, right, seconds}, is added to the log."""
    for row in rows:
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="cuset-harness-") as folder, contextlib.chdir(folder):
            Path("data").mkdir()
            Path("kernel.cu").write_text(row["bench.cu"], encoding="utf-8")
            right = _judge(row)
        line = {"id": str(row["id"]), "right": right, "seconds": round(time.perf_counter() - begin, 3)}
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _judge(row: Row) -> bool:
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 60}
    try:
        subprocess.run(["nvcc", "kernel.cu", "-o", "kernel"], check=True, **quiet)
        _run_script(row["gen.py"])
        subprocess.run(["./kernel"], check=True, **quiet)
    except Exception:
        return False
    return "F" not in _run_script(row["compare.py"])


def _run_script(source: str) -> str:
    """What it prints. Its own harness ends altogether at a script that calls exit(); here the script ends."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        exec(source, {"__name__": "__main__"})
    return printed.getvalue()


def confine(cores: set[int], gpu: str | None) -> None:
    os.sched_setaffinity(0, cores)
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu


def read_log(log: Path) -> dict[str, Row]:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return {row["id"]: row for row in map(json.loads, lines)}


def measure_harness(rows: list[Row], log: Path, slices: int, *place: Any) -> None:
    """Judge the rows that the log does not have. place: what `confine` takes."""
    known = read_log(log)
    left = [row for row in rows if str(row["id"]) not in known]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(slices, mp_context=spawn, initializer=confine, initargs=place) as pool:
        for done in [pool.submit(run_harness, [row], log) for row in left]:
            done.result()


def ours(rows: list[Row], spec: dict[str, Any], write: Callable[[dict[str, Any]], None]) -> None:
    """Judge the rows, and write the record of our side: seconds, and the verdict of each row judged when all are, or it is interrupted."""
    with tempfile.TemporaryDirectory(prefix="cuset-bench-") as folder:
        os.environ["CUSET_CACHE"] = f"{folder}/cache"
        path = Path(folder) / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        tasks = load_tasks(path)
        disk = shutil.disk_usage(folder)
        begin = time.perf_counter()
        bench = Bench(JudgeSpec(**spec), "cuda")
        pipeline = bench.pipeline()
        running = pipeline.run([Job(task, task.solution) for task in tasks])
        judged = {}
        with contextlib.closing(running):
            with contextlib.suppress(KeyboardInterrupt):
                for job, judgement in tqdm(running, total=len(tasks.tasks), desc="ours"):
                    judged[job.task.id] = judgement
            write(
                _record(rows, spec, bench, judged, time.perf_counter() - begin, disk)
            )  # before what still runs has ended
        pipeline.join()


def _record(
    rows: list[Row], spec: dict[str, Any], bench: Bench, judged: dict[str, Judgement], seconds: float, disk: Any
) -> dict[str, Any]:
    described = bench.describe()
    known = [judgement for judgement in judged.values() if not judgement.infra]
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "programs": len(judged),
        "left": len(rows) - len(judged),
        "ours_s": round(seconds, 1),
        "verdicts": dict(Counter(str(judgement.verdict) for judgement in judged.values())),
        "seconds_of": {
            name: round(sum(getattr(judgement, name) or 0.0 for judgement in known), 1)
            for name in ("compile_s", "run_s", "compare_s", "overhead_s")
        },
        "judge_cpu_s": round(time.process_time(), 1),
        "overhead_ms": round(1e3 * statistics.median(judgement.overhead_s for judgement in known), 1),
        "disk_gb": round(disk.total / 1e9, 1),
        "free_gb": round(disk.free / 1e9, 1),
        "options": spec,
        "python": platform.python_version(),
        **{key: described[key] for key in ("gpus", "toolkit", "arch", "flags", "isolation", "per_gpu")},
        "rows": {
            key: {"verdict": str(one.verdict), **({"message": one.message[:300]} if one.message else {})}
            for key, one in sorted(judged.items(), key=lambda item: int(item[0]))
        },
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="CUDABench's JSONL; without it a look-alike")
    parser.add_argument("--rows", type=int, default=100, help="the first so many")
    parser.add_argument(
        "--skip", nargs="*", default=[], help="ids to leave out, such as 4, whose gen.py takes a minute"
    )
    parser.add_argument("--side", choices=["both", "ours", "harness"], default="both")
    parser.add_argument("--slices", type=int, default=1, help="rows that the harness judges at a time")
    parser.add_argument("--beside", type=int, metavar="N", help="run the harness beside ours, on the last N cores")
    parser.add_argument(
        "--no-gpu", action="store_true", help="try the script where there is no GPU: no program passes"
    )
    parser.add_argument("--options", nargs="*", default=[], help="keys of `cuset evaluate`, such as per_gpu=4")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "judge_cudabench.json")
    options = parser.parse_args()

    if options.data is None:
        rows = look_alike(options.rows)
    else:
        rows = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()][: options.rows]
    rows = [row for row in rows if str(row["id"]) not in options.skip]
    spec = {"no_gpu": options.no_gpu, **dict(option.split("=", 1) for option in options.options)}
    log = options.output.with_suffix(".harness.jsonl")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    record = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
    if options.side == "both":
        log.unlink(missing_ok=True)
    cores, gpus = sorted(os.sched_getaffinity(0)), list_gpus()
    theirs, gpu = set(cores[-options.beside :] if options.beside else cores), None
    if options.beside:
        os.sched_setaffinity(0, cores[: -options.beside])
        if len(gpus) > 1:
            gpu = gpus[-1].uuid
            spec["gpus"] = ",".join(str(one.index) for one in gpus[:-1])
    with ThreadPoolExecutor(1) as thread:
        harness: Future[Any] | None = None
        if options.beside:
            harness = thread.submit(measure_harness, rows, log, options.slices, theirs, gpu)
        if options.side != "harness":
            more = {"cores": len(os.sched_getaffinity(0)), "skipped": options.skip}
            more["data"] = (
                options.data.name
                if options.data
                else "a look-alike of CUDABench: element-wise programs, 1e5 to 1e8 elements"
            )

            def write(found: dict[str, Any]) -> None:
                record.clear()
                record.update(found | more)
                options.output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")

            ours(rows, spec, write)
            print(f"ours: {len(rows)} rows in {record['ours_s']:.1f} s", file=sys.stderr, flush=True)
        if options.side != "ours":
            (harness or thread.submit(measure_harness, rows, log, options.slices, theirs, gpu)).result()

    judged = record.get("rows", {})
    wanted = set(judged) or {str(row["id"]) for row in rows}
    known = {key: row for key, row in read_log(log).items() if key in wanted}
    differing = {
        key: {"harness": "right" if row["right"] else "wrong", **judged[key]}
        for key, row in known.items()
        if key in judged and (judged[key]["verdict"] == "passed") != row["right"]
    }
    harness_s = sum(row["seconds"] for row in known.values())
    record |= {
        "harness_programs": len(known),
        "harness_s": round(harness_s, 1),
        "harness_slices": options.slices,
        "beside": bool(options.beside),
        "verdicts_differ": len(differing),
        "differing": differing,
        "harness_right": {key: row["right"] for key, row in sorted(known.items(), key=lambda one: int(one[0]))},
    }
    if len(known) == record.get("programs"):
        record["ratio"] = round(harness_s / record["ours_s"], 2)
    options.output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps({key: value for key, value in record.items() if key not in ("rows", "harness_right")}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
