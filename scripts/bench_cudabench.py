"""How fast CUDABench's references are judged, beside a harness that works as CUDABench's own does.

    python scripts/bench_cudabench.py CUDABench-Set.jsonl --rows 100    # your copy of the data set
    python scripts/bench_cudabench.py --rows 100                        # a look-alike: element-wise programs, 5 sizes each

harness   what CUDABench's evaluation does: one row after the other, in one Python process: `nvcc kernel.cu -o kernel`, gen.py, ./kernel,
          compare.py; a row is right when the program returns 0 and compare.py prints no F. No sandbox, nothing is kept.
ours      `cuset evaluate`'s pipeline as it is by default, with empty caches.

--slices N runs the harness on N shares of the rows at a time, and harness_s is the sum of their times; --beside N runs it at the same
time as ours, on the last N cores and on the last GPU, where ours has the others: for a machine that is lent for minutes. Both have the
same neighbours then, and what is to be compared is their ratio. The JSON names the rows on which verdicts differ.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cuset_stage.judge.bench import Bench
from cuset_stage.judge.judge_spec import JudgeSpec
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


def run_harness(rows: list[Row]) -> tuple[float, dict[str, bool]]:
    """Seconds, and whether each row is right."""
    right = {}
    begin = time.perf_counter()
    for row in rows:
        with tempfile.TemporaryDirectory(prefix="cuset-harness-") as folder, contextlib.chdir(folder):
            Path("data").mkdir()
            Path("kernel.cu").write_text(row["bench.cu"], encoding="utf-8")
            right[str(row["id"])] = _judge(row)
    return time.perf_counter() - begin, right


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


def measure_harness(rows: list[Row], slices: int, *place: Any) -> tuple[float, dict[str, bool]]:
    """The sum of the slices' seconds, and whether each row is right. place: what `confine` takes."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(slices, mp_context=spawn, initializer=confine, initargs=place) as pool:
        shares = list(pool.map(run_harness, [rows[start::slices] for start in range(slices)]))
    return sum(seconds for seconds, _ in shares), {key: one for _, right in shares for key, one in right.items()}


def measure_ours(path: Path, folder: Path, options: dict[str, Any]) -> tuple[float, dict[str, Any], dict[str, Any]]:
    """Seconds, the judgement of each row, and what the results file's header would say."""
    os.environ["CUSET_CACHE"] = str(folder / "cache")
    tasks = load_tasks(path)
    begin = time.perf_counter()
    bench = Bench(JudgeSpec(**options), "cuda")
    pipeline = bench.pipeline()
    running = pipeline.run([Job(task, task.solution) for task in tasks])
    judged = {job.task.id: judgement for job, judgement in tqdm(running, total=len(tasks.tasks), desc="ours")}
    seconds = time.perf_counter() - begin
    pipeline.join()
    return seconds, judged, bench.describe()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="CUDABench's JSONL; without it a look-alike")
    parser.add_argument("--rows", type=int, default=100, help="the first so many")
    parser.add_argument(
        "--skip", nargs="*", default=[], help="ids to leave out, such as 4, whose gen.py takes a minute"
    )
    parser.add_argument("--slices", type=int, default=1, help="shares of the rows that the harness judges at a time")
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
    with tempfile.TemporaryDirectory(prefix="cuset-bench-") as name:
        path = Path(name) / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
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
                harness = thread.submit(measure_harness, rows, options.slices, theirs, gpu)
            ours_s, judged, described = measure_ours(path, Path(name), spec)
            print(f"ours: {len(rows)} rows in {ours_s:.1f} s", file=sys.stderr, flush=True)
            harness = harness or thread.submit(measure_harness, rows, options.slices, theirs, gpu)
            harness_s, right = harness.result()

    differing = {
        key: {
            "harness": "right" if right[key] else "wrong",
            "ours": str(judgement.verdict),
            "message": judgement.message[:300],
        }
        for key, judgement in judged.items()
        if judgement.passed != right[key]
    }
    known = [judgement for judgement in judged.values() if not judgement.infra]
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": "a look-alike of CUDABench: element-wise programs, 1e5 to 1e8 elements" if options.data is None else options.data.name,
        "programs": len(rows),
        "skipped": options.skip,
        "cores": len(os.sched_getaffinity(0)),
        "harness_s": round(harness_s, 1),
        "harness_slices": options.slices,
        "beside": bool(options.beside),
        "ours_s": round(ours_s, 1),
        "ratio": round(harness_s / ours_s, 2),
        "verdicts_differ": len(differing),
        "differing": differing,
        "verdicts": dict(Counter(str(judgement.verdict) for judgement in judged.values())),
        "seconds_of": {
            name: round(sum(getattr(judgement, name) or 0.0 for judgement in known), 1)
            for name in ("compile_s", "run_s", "compare_s", "overhead_s")
        },
        "options": spec,
        "python": platform.python_version(),
        **{key: described[key] for key in ("gpus", "toolkit", "arch", "flags", "isolation", "per_gpu")},
    }  # fmt: skip
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
