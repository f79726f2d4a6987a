"""What `cuset curate run` makes of public data sets as they are published, format by format, without a GPU and without a model.

    python scripts/curate_formats.py CLONES WORK --json benchmarks/curate_formats.json [--only NAME ...] [--alone 60]

CLONES holds a clone of each repository of `SOURCES` under its name: `git clone https://github.com/OWNER/NAME CLONES/NAME`. Each source is
run as a user would, and its rows are held once more against the benchmarks among the sources. --alone compiles so many of a source's
kernels, drawn with a fixed seed, each with what `split` left it, to an object file: whether they compile without a program around them.

WORK keeps the curations. A source that --only leaves out stays in the record as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench_curate import curate, environment

from cuset_stage.files import write_atomically
from cuset_stage.jsonl import read_objects


# licence: what the repository and the data set state. path: within the clone. settings: what is said beside it; `against=...`: the
# benchmarks, as of a source that is only shown to be caught.
SOURCES: dict[str, dict[str, Any]] = {
    "cuda-l1": {
        "repository": "deepreinforce-ai/CUDA-L1",
        "what": "PyTorch modules with optimised answers",
        "format": "JSON lines",
        "path": "optimized_cuda_code/h100.json",
        "licence": "GPL-3.0 (Hugging Face), MIT (GitHub)",
        "settings": ["preset=cuda-l1"],
    },
    "ai-cuda-engineer": {
        "repository": "PJLAB-CHIP/HPCTransCompile",
        "what": "torch extensions with their modules: the archive's best of each task",
        "format": "CSV, made Parquet",
        "path": "InferenceEngine/benchmark/cuda",
        "licence": "CC-BY-4.0 (the archive)",
        "settings": ["preset=ai-cuda-engineer"],
    },
    "babeltower": {
        "repository": "openeuler-mirror/AI4C",
        "what": "CUDA kernels beside C functions",
        "format": "JSON lines",
        "path": "LLM4Compiler/G2CTrans/BabelTower/test/mono_cases.jsonl",
        "licence": "Apache-2.0",
        "settings": ["preset=babeltower"],
    },
    "hecbench": {
        "repository": "zjin-lcf/HeCBench",
        "what": "CUDA programs",
        "format": "tree of sources",
        "path": "",
        "licence": "BSD-3-Clause, others by file",
        "settings": [],
    },
    "robust-kbench": {
        "repository": "SakanaAI/robust-kbench",
        "what": "tasks, most without an answer",
        "format": "folders of tasks",
        "path": "",
        "licence": "Apache-2.0",
        "settings": ["format=robust-kbench"],
    },
    "kernelbench": {
        "repository": "ScalingIntelligence/KernelBench",
        "what": "PyTorch modules without answers, a benchmark",
        "format": "tree of Python files",
        "path": "KernelBench",
        "licence": "MIT",
        "settings": ["preset=kernelbench"],
    },
    "cudabench": {
        "repository": "CUDA-Bench/CUDABench",
        "what": "programs with tests, a benchmark",
        "format": "JSON lines",
        "path": "Datasets/CUDABench-Set.jsonl",
        "licence": "none stated",
        "settings": ["preset=cudabench", "allow_unknown=true", "against=..."],
    },
}
BENCHMARKS = ("kernelbench", "cudabench")
STEP = ("stage", "read", "kept", "dropped", "unsettled", "reasons", "seconds")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--json", type=Path, dest="target", required=True)
    parser.add_argument("--only", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--alone", type=int, default=0, help="kernels of a source to compile on their own")
    args = parser.parse_args()
    record = json.loads(args.target.read_text(encoding="utf-8")) if args.target.is_file() else {"sources": {}}
    against = ",".join(f"{name}={args.clones / place(name)}" for name in BENCHMARKS)
    for name in args.only:
        made = record["sources"] | {name: funnel_of(name, args.clones, args.work, against, args.alone)}
        record["sources"] = {each: made[each] for each in SOURCES if each in made}
        record |= {"date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine()}
        write_atomically(args.target, [json.dumps(record, indent=2) + "\n"])
    return 0


def place(name: str) -> Path:
    source = SOURCES[name]
    return Path(source["repository"].split("/")[1], source["path"])


def funnel_of(name: str, clones: Path, work: Path, against: str, alone: int) -> dict[str, Any]:
    """A source's funnel, what of it the benchmarks have, and how many of its kernels compile on their own."""
    source, path, folder = SOURCES[name], clones / place(name), work / name
    revision = subprocess.run(
        ["git", "-C", clones / place(name).parts[0], "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if name == "ai-cuda-engineer":
        path = as_parquet(path, work / "archive.parquet")
    said = [f"against={against}" if setting == "against=..." else setting for setting in source["settings"]]
    stated = [*said, f"revision={revision}", "compile_only=true", "fresh=true"]
    # Status 1 is a stage that keeps nothing: without a model and a GPU most sources end so.
    subprocess.run(curate("run", folder, f"sources={name}={path}", *stated), env=environment(), check=False)
    shown = subprocess.run(
        curate("funnel", folder, "format=json"), env=environment(), capture_output=True, text=True, check=True
    )
    funnel = [{key: step[key] for key in STEP} for step in json.loads(shown.stdout)]
    rows = folder / "split" / "rows.jsonl"
    held = curate("deduplicate", work / "against" / name, f"input={rows}", f"against={against}")
    subprocess.run(held, env=environment(), check=False)
    found = read_objects(work / "against" / name / "deduplicate" / "contamination.jsonl")
    benchmarks = [row["benchmark"] for _, row in found]
    return {
        **{key: source[key] for key in ("repository", "what", "format", "licence", "settings")},
        "path": str(place(name).relative_to(place(name).parts[0])),
        "revision": revision,
        "rows": funnel[0]["read"],
        "funnel": funnel,
        "contaminated": {each: benchmarks.count(each) for each in BENCHMARKS},
        "answers": answers(folder / "answer" / "rows.jsonl"),
        **({"alone": compiled_alone(folder, alone)} if alone and not is_task(rows) else {}),
    }


def answers(rows: Path) -> dict[str, int]:
    """Answers of modules, and how many hold a kernel and do not call torch alone."""
    found = [row.get("answer_code") or "" for _, row in read_objects(rows)] if rows.is_file() else []
    return {"all": len(found), "with_kernel": sum("__global__" in each for each in found)}


def is_task(rows: Path) -> bool:
    _, first = next(read_objects(rows))
    return "kernel" not in first


def as_parquet(folder: Path, target: Path) -> Path:
    """The archive's CSV files as Parquet, the form in which it is published."""
    import pyarrow as arrow
    from pyarrow import csv, parquet

    options = csv.ParseOptions(newlines_in_values=True)
    tables = [csv.read_csv(file, parse_options=options) for file in sorted(folder.glob("level*_optimal.csv"))]
    target.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(arrow.concat_tables(tables, promote_options="permissive"), target)
    return target


def compiled_alone(folder: Path, count: int) -> dict[str, Any]:
    """How many of `count` kernels that are no duplicates compile, and what the others lack."""
    rows = [row for _, row in read_objects(folder / "deduplicate" / "rows.jsonl")]
    chosen = random.Random(0).sample(rows, min(count, len(rows)))
    begun, failed = time.perf_counter(), {}
    source, made = folder / "alone.cu", folder / "alone.o"
    for row in chosen:
        source.write_text(row["code"], encoding="utf-8")
        command = ["nvcc", "-c", "-arch=sm_90", "-o", str(made), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            said = (line.split(": ", 1)[-1] for line in done.stderr.splitlines() if "error" in line)
            failed[row["id"]] = next(said, f"status {done.returncode}")[:160]
    seconds = round(time.perf_counter() - begun, 1)
    return {"kernels": len(chosen), "compiled": len(chosen) - len(failed), "failed": failed, "seconds": seconds}


def machine() -> dict[str, Any]:
    said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    release = next(line.split("release ")[1].split(",")[0] for line in said.splitlines() if "release " in line)
    return {"cpus": len(os.sched_getaffinity(0)), "python": platform.python_version(), "nvcc": release, "gpus": []}


if __name__ == "__main__":
    sys.exit(main())
