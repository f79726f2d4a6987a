#!/usr/bin/env python3
"""Verifies the bundled programs on a GPU: compiles each once, runs it on every case twice, compares with its reference.

    python scripts/verify_data.py --json benchmarks/bundled_kernels_h200.json
    python scripts/verify_data.py --only tiled_sgemm --sanitizer memcheck racecheck initcheck synccheck

Needs numpy, an NVIDIA GPU and nvcc. Compiles and references run in --jobs processes, programs --gpu-jobs at a time.
scripts/data_tasks.py reads the tasks; data/README.md says what is in one.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from data_references import Reference, compare, load_reference, make_case
from data_tasks import CASES, Case, DataError, Task, load_tasks


@dataclass(frozen=True)
class Finished:
    """A process that ended, or was killed at its time limit (returncode None)."""

    returncode: int | None
    seconds: float
    output: str


class Failed(Exception):
    """A program is not right; `verdict` is one of the judge's names."""

    def __init__(self, verdict: str, detail: str):
        super().__init__(detail.strip()[-1000:])
        self.verdict = verdict


def run_limited(command: list[str], cwd: Path, timeout: float) -> Finished:
    """Run a command in a session of its own and kill the whole session at the time limit."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=cwd, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            returncode = process.wait(timeout)
        except subprocess.TimeoutExpired:
            returncode = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        seconds = time.perf_counter() - begin
        log.seek(max(0, log.seek(0, os.SEEK_END) - 2000))
        return Finished(returncode, seconds, log.read().decode(errors="replace"))


def _sha256(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + b"\0" + arrays[name].tobytes())
    return digest.hexdigest()


def _compile(task: Task, folder: Path, arch: str, timeout: float) -> float:
    (folder / "data").mkdir()
    (folder / "kernel.cu").write_text(task.source + "\n", encoding="utf-8")
    command = ["nvcc", "-O3", "-std=c++17", f"-arch={arch}", "kernel.cu", "-o", "kernel"]
    compiled = run_limited(command, folder, timeout)
    if compiled.returncode != 0:
        verdict = "compile_timeout" if compiled.returncode is None else "compile_error"
        raise Failed(verdict, compiled.output)
    return compiled.seconds


def _run(command: list[str], folder: Path, inputs: Mapping[str, np.ndarray], case: Case, timeout: float) -> float:
    for name, array in inputs.items():  # written anew: a program may have changed them
        (folder / "data" / f"{name}.bin").write_bytes(array.tobytes())
    for tensor in case.outputs:
        (folder / "data" / f"{tensor.name}.bin").unlink(missing_ok=True)
    with _gpu_slots:
        finished = run_limited(command, folder, timeout)
    if finished.returncode is None:
        raise Failed("timeout", f"{' '.join(command)}: {finished.output}")
    if finished.returncode != 0:
        verdict = "runtime_error" if command == ["./kernel"] else "sanitizer_error"
        raise Failed(verdict, f"{' '.join(command)}: exit {finished.returncode}: {finished.output}")
    return finished.seconds


def _read_outputs(folder: Path, case: Case) -> dict[str, np.ndarray]:
    outputs = {}
    for tensor in case.outputs:
        path = folder / "data" / f"{tensor.name}.bin"
        if not path.is_file():
            raise Failed("missing_output", f"data/{tensor.name}.bin was not written")
        if path.stat().st_size != tensor.nbytes:
            raise Failed("mismatch", f"data/{tensor.name}.bin: {path.stat().st_size} bytes, expected {tensor.nbytes}")
        outputs[tensor.name] = np.fromfile(path, dtype=tensor.dtype).reshape(tensor.shape)
        if not np.isfinite(outputs[tensor.name]).all():
            raise Failed("mismatch", f"data/{tensor.name}.bin: holds values that are not finite")
    return outputs


def verify_case(
    task: Task, case: Case, reference: Reference, folder: Path, options: argparse.Namespace, result: dict[str, Any]
) -> None:
    """Run the compiled program on one case, repeatedly, and fill in `result`. Raises Failed at the first wrong run."""
    inputs, expected = make_case(task, case, reference)
    result |= {"inputs_sha256": _sha256(inputs), "run_s": [], "outputs_sha256": []}
    commands = [["./kernel"]] * options.repeats
    for tool in options.sanitizer:
        commands.append(["compute-sanitizer", "--tool", tool, "--error-exitcode", "99", "./kernel"])
    for command in commands:
        seconds = _run(command, folder, inputs, case, options.timeout)
        outputs = _read_outputs(folder, case)
        if command == ["./kernel"]:
            result["run_s"].append(round(seconds, 3))
            result["outputs_sha256"].append(_sha256(outputs))
        for name, actual in outputs.items():
            rtol, atol = reference.tolerance[name]
            equal, worst_abs, worst_rel = compare(actual, expected[name], rtol, atol)
            result["max_abs_error"] = max(result["max_abs_error"] or 0.0, worst_abs)
            result["max_rel_error"] = max(result["max_rel_error"] or 0.0, worst_rel)
            if not equal:
                raise Failed("mismatch", f"{name}: beyond rtol {rtol:g}, atol {atol:g}")
    result["identical_runs"] = len(set(result["outputs_sha256"])) == 1
    result["outputs_sha256"] = result["outputs_sha256"][0]


def verify_task(task: Task, arch: str, options: argparse.Namespace) -> dict[str, Any]:
    """Compile one task's program in a fresh folder, and judge it on the chosen cases; stops at the first failure."""
    result: dict[str, Any] = {
        "name": task.name,
        "family": task.family,
        "split": task.split,
        "sha256": hashlib.sha256(task.source.encode()).hexdigest(),
        "verdict": "passed",
        "detail": "",
        "compile_s": None,
        "cases": [],
    }
    reference = load_reference(task)
    with tempfile.TemporaryDirectory(prefix=f"cuset_{task.name}_") as name:
        folder = Path(name)
        try:
            result["compile_s"] = round(_compile(task, folder, arch, options.timeout), 3)
            for case in task.cases:
                if options.cases and case.name not in options.cases:
                    continue
                record = {
                    "name": case.name,
                    "parameters": case.parameters,
                    "max_abs_error": None,
                    "max_rel_error": None,
                }
                result["cases"].append(record)
                verify_case(task, case, reference, folder, options, record)
        except Failed as failure:
            where = f"{result['cases'][-1]['name']}: " if result["cases"] else ""
            result |= {"verdict": failure.verdict, "detail": f"{where}{failure}"}
    return result


# ------------------------------------------------------------------------------------------------------ the whole set

_gpu_slots: AbstractContextManager = contextlib.nullcontext()  # a worker process has a semaphore here


def _start_worker(slots: Any) -> None:
    global _gpu_slots
    _gpu_slots = slots
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the workers


def verify_tasks(tasks: list[Task], arch: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The results in the order of `tasks`; a line is printed as each ends."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read by the workers' NumPy: --jobs is the parallelism
    context = multiprocessing.get_context("spawn")
    jobs = min(options.jobs, len(tasks))
    initializer = {"initializer": _start_worker, "initargs": (context.Semaphore(options.gpu_jobs),)}
    with ProcessPoolExecutor(jobs, mp_context=context, **initializer) as pool:
        futures = {pool.submit(verify_task, task, arch, options): task.name for task in tasks}
        results = {}
        try:
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                _print_result(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [results[task.name] for task in tasks]


def _print_result(result: dict[str, Any]) -> None:
    runs = [seconds for case in result["cases"] for seconds in case.get("run_s", [])]
    errors = [
        max((case[key] for case in result["cases"] if case[key] is not None), default=None)
        for key in ("max_abs_error", "max_rel_error")
    ]
    cells = [
        (result["compile_s"], "10.2f"),
        (max(runs, default=None), "8.2f"),
        *((error, "11.2e") for error in errors),
    ]
    identical = all(case.get("identical_runs", False) for case in result["cases"])
    line = "".join("-".rjust(int(form.split(".")[0])) if x is None else f"{x:{form}}" for x, form in cells)
    print(f"{result['name']:<32}{result['verdict']:<16}{line}  {'same bits' if identical else 'differs'}", flush=True)
    if result["detail"]:
        print(f"    {result['detail'].splitlines()[0]}", flush=True)


def _tool_output(*command: str) -> str:
    if shutil.which(command[0]) is None:
        raise DataError(f"{command[0]}: not found; verify needs an NVIDIA GPU with its driver, and nvcc in PATH")
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


def verify(options: argparse.Namespace) -> int:
    tasks = load_tasks(only=tuple(options.only))
    query = _tool_output("nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader")
    gpu, driver, capability = (part.strip() for part in query.splitlines()[0].split(","))
    arch = options.arch or f"sm_{capability.replace('.', '')}"
    nvcc = re.search(r"release \S+, V(\S+)", _tool_output("nvcc", "--version"))
    for _ in options.sanitizer[:1]:
        _tool_output("compute-sanitizer", "--version")

    print(f"{gpu}, driver {driver}, {arch}, {len(tasks)} tasks")
    print(f"{'task':<32}{'verdict':<16}{'compile s':>10}{'run s':>8}{'max abs':>11}{'max rel':>11}  two runs")
    begin = time.perf_counter()
    results = verify_tasks(tasks, arch, options)
    seconds = time.perf_counter() - begin
    passed = sum(result["verdict"] == "passed" for result in results)
    cases = sum(len(result["cases"]) for result in results)
    print(f"{passed} of {len(results)} tasks passed ({cases} cases) in {seconds:.0f} s")
    if options.json:
        record = {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "gpu": gpu,
            "driver": driver,
            "arch": arch,
            "nvcc": nvcc.group(1) if nvcc else "unknown",
            "numpy": np.__version__,
            "repeats": options.repeats,
            "sanitizer": options.sanitizer,
            "jobs": options.jobs,
            "gpu_jobs": options.gpu_jobs,
            "seconds": round(seconds, 1),
            "passed": passed,
            "total": len(results),
            "cases": cases,
            "tasks": results,
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0 if passed == len(results) else 1


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the record here")
    parser.add_argument("--only", nargs="+", default=[], metavar="TASK", help="names of tasks; default: all")
    parser.add_argument("--cases", nargs="+", default=[], choices=CASES, help="names of cases; default: all")
    parser.add_argument("--arch", help="nvcc -arch value; default: the first GPU's own")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for a compile and for a run (120)")
    parser.add_argument("--repeats", type=int, default=2, help="runs of a case, each judged; races show so (2)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="tasks at a time; default: the CPU count"
    )
    parser.add_argument("--gpu-jobs", type=int, default=4, help="programs on the GPU at a time (4)")
    parser.add_argument(
        "--sanitizer",
        nargs="+",
        default=[],
        choices=("memcheck", "racecheck", "initcheck", "synccheck"),
        help="run these compute-sanitizer tools as well; their findings fail the task",
    )
    options = parser.parse_args(arguments)
    try:
        return verify(options)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
