#!/usr/bin/env python3
"""Verifies the bundled programs on a GPU: compiles, runs and compares each with its NumPy reference.

    python scripts/verify_data.py --json benchmarks/bundled_kernels_h200.json
    python scripts/verify_data.py --only tiled_sgemm --sanitizer memcheck racecheck initcheck synccheck

Needs numpy, an NVIDIA GPU and nvcc. scripts/build_data.py reads the tasks; data/README.md says what is in one.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from build_data import DataError, Task, check_arrays, load_reference, load_tasks, task_rng


@dataclass(frozen=True)
class Finished:
    """A process that ended, or was killed at its time limit (returncode None)."""

    returncode: int | None
    seconds: float
    output: str


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


def compare(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> tuple[bool, float, float]:
    """Whether |actual - expected| <= atol + rtol * |expected| everywhere, with the largest absolute and relative error."""
    got, want = actual.astype(np.float64), expected.astype(np.float64)
    error = np.abs(got - want)
    nonzero = want != 0
    relative = error[nonzero] / np.abs(want[nonzero])
    equal = bool((error <= atol + rtol * np.abs(want)).all())
    if rtol == 0 and atol == 0:  # float64 does not hold every int64
        equal = np.array_equal(actual, expected)
    return equal, float(error.max()), float(relative.max()) if relative.size else 0.0


def verify_task(task: Task, arch: str, options: argparse.Namespace) -> dict[str, Any]:
    """Compile and run one task's program in a fresh folder and judge its files against the NumPy reference."""
    result: dict[str, Any] = {
        "name": task.name,
        "family": task.family,
        "split": task.split,
        "sha256": hashlib.sha256(task.source.encode()).hexdigest(),
        "verdict": "passed",
        "detail": "",
        "compile_s": None,
        "run_s": None,
        "max_abs_error": None,
        "max_rel_error": None,
    }

    def failed(verdict: str, detail: str) -> dict[str, Any]:
        return {**result, "verdict": verdict, "detail": detail.strip()[-1000:]}

    reference = load_reference(task)
    inputs = reference.make_inputs(task_rng(task))
    check_arrays(task, "inputs", inputs)
    expected = reference.reference(inputs)
    check_arrays(task, "outputs", expected)

    with tempfile.TemporaryDirectory(prefix=f"cuset_{task.name}_") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "kernel.cu").write_text(task.source + "\n", encoding="utf-8")
        compiled = run_limited(
            ["nvcc", "-O3", "-std=c++17", f"-arch={arch}", "kernel.cu", "-o", "kernel"], folder, options.timeout
        )
        result["compile_s"] = round(compiled.seconds, 3)
        if compiled.returncode != 0:
            verdict = "compile_timeout" if compiled.returncode is None else "compile_error"
            return failed(verdict, compiled.output)

        commands = [["./kernel"]] * options.repeats
        for tool in options.sanitizer:
            commands.append(["compute-sanitizer", "--tool", tool, "--error-exitcode", "99", "./kernel"])
        result["run_s"] = []
        for command in commands:
            for tensor in task.inputs:  # written anew: a program may have changed them
                (folder / "data" / f"{tensor.name}.bin").write_bytes(inputs[tensor.name].tobytes())
            for tensor in task.outputs:
                (folder / "data" / f"{tensor.name}.bin").unlink(missing_ok=True)
            finished = run_limited(command, folder, options.timeout)
            if finished.returncode is None:
                return failed("timeout", f"{' '.join(command)}: {finished.output}")
            if finished.returncode != 0:
                verdict = "runtime_error" if command == ["./kernel"] else "sanitizer_error"
                return failed(verdict, f"{' '.join(command)}: exit {finished.returncode}: {finished.output}")
            if command == ["./kernel"]:
                result["run_s"].append(round(finished.seconds, 3))
            for tensor in task.outputs:
                path = folder / "data" / f"{tensor.name}.bin"
                if not path.is_file():
                    return failed("missing_output", f"data/{tensor.name}.bin was not written")
                if path.stat().st_size != tensor.nbytes:
                    return failed(
                        "mismatch", f"data/{tensor.name}.bin: {path.stat().st_size} bytes, expected {tensor.nbytes}"
                    )
                actual = np.fromfile(path, dtype=tensor.dtype).reshape(tensor.shape)
                if not np.isfinite(actual).all():
                    return failed("mismatch", f"data/{tensor.name}.bin: holds values that are not finite")
                rtol, atol = reference.tolerance[tensor.name]
                equal, worst_abs, worst_rel = compare(actual, expected[tensor.name], rtol, atol)
                result["max_abs_error"] = max(result["max_abs_error"] or 0.0, worst_abs)
                result["max_rel_error"] = max(result["max_rel_error"] or 0.0, worst_rel)
                if not equal:
                    return failed("mismatch", f"{tensor.name}: beyond rtol {rtol:g}, atol {atol:g}")
    return result


def _tool_output(*command: str) -> str:
    if shutil.which(command[0]) is None:
        raise DataError(f"{command[0]}: not found; verify needs an NVIDIA GPU with its driver, and nvcc in PATH")
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


def verify(options: argparse.Namespace) -> int:
    tasks = load_tasks()
    unknown = set(options.only) - {task.name for task in tasks}
    if unknown:
        raise DataError(f"--only: no such task: {', '.join(sorted(unknown))}")
    query = _tool_output("nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader")
    gpu, driver, capability = (part.strip() for part in query.splitlines()[0].split(","))
    arch = options.arch or f"sm_{capability.replace('.', '')}"
    nvcc = re.search(r"release \S+, V(\S+)", _tool_output("nvcc", "--version"))
    for _ in options.sanitizer[:1]:
        _tool_output("compute-sanitizer", "--version")

    results = []
    print(f"{gpu}, driver {driver}, {arch}")
    print(f"{'task':<28}{'verdict':<16}{'compile s':>10}{'run s':>8}{'max abs':>11}{'max rel':>11}")
    for task in tasks:
        if options.only and task.name not in options.only:
            continue
        result = verify_task(task, arch, options)
        results.append(result)
        cells = [result["compile_s"], min(result["run_s"]) if result["run_s"] else None]
        errors = [result["max_abs_error"], result["max_rel_error"]]
        print(
            f"{task.name:<28}{result['verdict']:<16}"
            + "".join(
                "-".rjust(width) if x is None else f"{x:{width}.2f}" for x, width in zip(cells, (10, 8), strict=True)
            )
            + "".join("-".rjust(11) if x is None else f"{x:11.2e}" for x in errors),
            flush=True,
        )
        if result["detail"]:
            print(f"    {result['detail'].splitlines()[-1]}", flush=True)
    passed = sum(result["verdict"] == "passed" for result in results)
    print(f"{passed} of {len(results)} passed")
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
            "passed": passed,
            "total": len(results),
            "tasks": results,
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0 if passed == len(results) else 1


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the record here")
    parser.add_argument("--only", nargs="+", default=[], metavar="TASK", help="names of tasks; default: all")
    parser.add_argument("--arch", help="nvcc -arch value; default: the first GPU's own")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a compile and for a run (60)")
    parser.add_argument("--repeats", type=int, default=3, help="runs a program, each judged; races show so (3)")
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
