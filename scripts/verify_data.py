#!/usr/bin/env python3
"""Verifies the bundled programs on a GPU with the judge's own parts: each is compiled once and run on every case twice.

    python scripts/verify_data.py --json benchmarks/bundled_kernels_h200.json
    python scripts/verify_data.py --only tiled_sgemm --sanitizer memcheck racecheck initcheck synccheck

Needs the package (or PYTHONPATH=src, NumPy and psutil), an NVIDIA GPU and the CUDA toolkit. --jobs tasks are worked on at a time,
and --gpu-jobs of their programs share a GPU, so the times show what is slow but are not a benchmark. An existing record is
resumed: programs that passed in the same setting, from the same files, are not run again.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from data_tasks import CASES, BundledTask, load_tasks

from cuset_stage.files import file_sha256, write_atomically
from cuset_stage.judge.comparison import compare_outputs
from cuset_stage.judge.devices import GpuPool
from cuset_stage.judge.oracle import CaseCache, OracleError, PreparedCase
from cuset_stage.sandbox import Compiler, Gpu, Limits, SandboxError, Verdict, list_gpus, run_program
from cuset_stage.tasks.base import Case, TaskError


SANITIZER_TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SANITIZER_FOUND = 99  # compute-sanitizer's exit code for errors


class Failed(Exception):
    """A program is not right; `verdict` is one of the judge's, or sanitizer_error."""

    def __init__(self, verdict: str, detail: str) -> None:
        super().__init__(detail.strip()[-1000:])
        self.verdict = verdict


@dataclass(frozen=True)
class Verifier:
    """What a verification runs with. gpus: None runs the programs without a GPU. cases: names; all when empty."""

    compiler: Compiler
    folder: Path
    gpus: GpuPool | None = None
    limits: Limits = field(default_factory=Limits)
    repeats: int = 2
    cases: tuple[str, ...] = ()
    sanitizer: tuple[str, ...] = ()

    def verify(self, task: BundledTask, program: str) -> dict[str, Any]:
        """Judge one of a task's programs; stops at the first failure."""
        result: dict[str, Any] = {
            "name": task.name,
            "program": program,
            "family": task.family,
            "split": task.split,
            "sha256": task.sha256(program),
            "verdict": str(Verdict.PASSED),
            "detail": "",
            "compile_s": None,
            "cases": [],
        }
        case = None
        try:
            compiled = self.compiler.compile(task.programs[program] + "\n")
            if compiled.verdict is not None:
                raise Failed(compiled.verdict, compiled.message)
            result["compile_s"] = round(compiled.seconds, 3)
            for case in task.program.cases:
                if not self.cases or case.name in self.cases:
                    record = {"name": case.name, "parameters": dict(case.parameters)}
                    result["cases"].append(record)
                    self._verify_case(task, case, compiled.binary, record)
        except Failed as failure:
            result |= {"verdict": str(failure.verdict), "detail": f"{case.name}: {failure}" if case else str(failure)}
        except (OracleError, SandboxError) as error:
            result |= {"verdict": str(Verdict.INFRA_ERROR), "detail": str(error)}
        return result

    def _verify_case(self, task: BundledTask, case: Case, binary: Path, record: dict[str, Any]) -> None:
        record |= {"max_abs_error": None, "max_rel_error": None, "run_s": [], "outputs_sha256": []}
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            ready = CaseCache(Path(folder)).prepare(task.program, case)
            record["inputs_sha256"] = _digest(
                {name: ready.sha256[f"inputs/{Path(name).name}"] for name in ready.inputs}
            )
            for _ in range(self.repeats):
                self._run(task, case, ready, binary, record)
            for tool in self.sanitizer:
                self._sanitize(tool, ready, binary)
        record["identical_runs"] = len(set(record["outputs_sha256"])) == 1
        record["outputs_sha256"] = record["outputs_sha256"][0]

    def _run(self, task: BundledTask, case: Case, ready: PreparedCase, binary: Path, record: dict[str, Any]) -> None:
        outputs = {tensor.file: (tensor.nbytes,) for tensor in case.outputs}
        with ExitStack() as stack:
            with self._leased() as gpu:  # given back before the comparison
                ran = stack.enter_context(
                    run_program(binary, inputs=ready.inputs, outputs=outputs, limits=self.limits, gpu=gpu)
                )
            if ran.verdict is not None:
                raise Failed(ran.verdict, ran.message)
            record["run_s"].append(round(ran.finished.seconds, 3))
            record["outputs_sha256"].append(_digest({name: file_sha256(path) for name, path in ran.outputs.items()}))
            compared = compare_outputs(task.program, case, ready, ran.outputs)
            for key, error in (("max_abs_error", compared.max_abs_error), ("max_rel_error", compared.max_rel_error)):
                if error is not None:
                    record[key] = max(error, record[key] or 0.0)
            if not compared.passed:
                raise Failed(Verdict.MISMATCH, compared.message)

    def _sanitize(self, tool: str, ready: PreparedCase, binary: Path) -> None:
        """Outside the sandbox, which the tools cannot do their work in; the programs are our own."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder, self._leased() as gpu:
            (Path(folder) / "data").mkdir()
            for name, path in ready.inputs.items():
                shutil.copy(path, Path(folder) / name)
            command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(SANITIZER_FOUND), str(binary)]
            environment = os.environ | ({"CUDA_VISIBLE_DEVICES": gpu.uuid} if gpu else {})
            try:
                done = subprocess.run(
                    command, cwd=folder, env=environment, capture_output=True, text=True, timeout=self.limits.wall_s
                )
            except subprocess.TimeoutExpired as error:
                raise Failed(Verdict.TIMEOUT, f"compute-sanitizer --tool {tool}: {error}") from None
            if done.returncode != 0:
                said = done.stdout + done.stderr
                raise Failed("sanitizer_error", f"compute-sanitizer --tool {tool}: exit {done.returncode}: {said}")

    def _leased(self) -> AbstractContextManager[Gpu | None]:
        return nullcontext() if self.gpus is None else self.gpus.lease()


def _digest(files: Mapping[str, str]) -> str:
    """One SHA-256 for several files."""
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


# ------------------------------------------------------------------------------------------------------ the whole set


def verify_tasks(
    tasks: list[BundledTask],
    verifier: Verifier,
    jobs: int,
    known: Mapping[tuple[str, str], dict[str, Any]] | None = None,
    keep: Callable[[list[dict[str, Any]]], None] = lambda results: None,
) -> list[dict[str, Any]]:
    """The results of every program, in the order of `tasks`; a line is printed as each ends.

    known: (task, program) -> its result of an earlier run. keep: called with all results so far, whenever there is one more.
    """
    programs = [(task, program) for task in tasks for program in task.programs]
    results = {key: known[key] for task, program in programs if known and (key := (task.name, program)) in known}

    def in_order() -> list[dict[str, Any]]:
        return [results[key] for task, program in programs if (key := (task.name, program)) in results]

    pool = ThreadPoolExecutor(jobs)  # threads: compiling, making a case and running it are processes of their own
    try:
        futures = {
            pool.submit(verifier.verify, task, program): (task.name, program)
            for task, program in programs
            if (task.name, program) not in results
        }
        for future in as_completed(futures):
            results[futures[future]] = future.result()
            _print_result(future.result())
            keep(in_order())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return in_order()


def _print_result(result: dict[str, Any]) -> None:
    def largest(key: str) -> float | None:
        return max((case[key] for case in result["cases"] if case[key] is not None), default=None)

    runs = [seconds for case in result["cases"] for seconds in case["run_s"]]
    cells = [
        (result["compile_s"], 10, ".2f"),
        (max(runs, default=None), 8, ".2f"),
        (largest("max_abs_error"), 11, ".2e"),
        (largest("max_rel_error"), 11, ".2e"),
    ]
    line = "".join(("-" if value is None else f"{value:{form}}").rjust(width) for value, width, form in cells)
    identical = all(case.get("identical_runs", False) for case in result["cases"])
    name = f"{result['name']}/{result['program']}"
    print(f"{name:<42}{result['verdict']:<16}{line}  {'same bits' if identical else 'differ'}", flush=True)
    if result["detail"]:
        print(f"    {result['detail'].splitlines()[0]}", flush=True)


def _summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "passed": sum(result["verdict"] == Verdict.PASSED for result in results),
        "total": len(results),
        "cases": sum(len(result["cases"]) for result in results),
        "tasks": results,
    }


def _read_known(
    file: Path | None, setting: Mapping[str, Any], tasks: list[BundledTask]
) -> dict[tuple[str, str], dict[str, Any]]:
    """The programs that the record in `file` has as passed, on all cases, in the same setting and from the same files."""
    if file is None or not file.is_file():
        return {}
    record = json.loads(file.read_text(encoding="utf-8"))
    if any(record.get(key) != value for key, value in setting.items()):
        return {}
    now = {
        (task.name, program): (task.sha256(program), len(task.program.cases))
        for task in tasks
        for program in task.programs
    }
    return {
        key: row
        for row in record["tasks"]
        if row["verdict"] == Verdict.PASSED
        and (row["sha256"], len(row["cases"])) == now.get(key := (row["name"], row["program"]))
    }


def verify(options: argparse.Namespace) -> int:
    tasks = load_tasks(only=tuple(options.only))
    gpus = list_gpus()
    if not gpus:
        raise SandboxError("no NVIDIA GPU here, or no driver: the programs need one")
    gpus = [gpu for gpu in gpus if gpu.name == gpus[0].name]  # the record is of one kind
    if options.sanitizer and shutil.which("compute-sanitizer") is None:
        raise SandboxError("compute-sanitizer: not in PATH; it is a part of the CUDA toolkit")
    arch = options.arch or gpus[0].arch
    with tempfile.TemporaryDirectory(prefix="cuset_verify_") as folder:
        # No cache of another run: the record says what this run compiled and made.
        compiler = Compiler(arch=arch, cache=Path(folder) / "programs")
        verifier = Verifier(
            compiler=compiler,
            folder=Path(folder),
            gpus=GpuPool(gpus, per_gpu=options.gpu_jobs),
            limits=Limits(wall_s=options.timeout),
            repeats=options.repeats,
            cases=tuple(options.cases),
            sanitizer=tuple(options.sanitizer),
        )
        setting = {
            "gpu": gpus[0].name,
            "driver": gpus[0].driver,
            "arch": arch,
            "nvcc": compiler.toolkit.version,
            "numpy": np.__version__,
            "isolation": str(compiler.isolation),
            "repeats": options.repeats,
            "sanitizer": options.sanitizer,
        }
        known = _read_known(options.json, setting, tasks)
        print(f"{gpus[0].name}, driver {gpus[0].driver}, nvcc {compiler.toolkit.version}, {arch}, {len(tasks)} tasks")
        if known:
            print(f"{len(known)} programs have passed as they are: {options.json}")
        print(f"{'program':<42}{'verdict':<16}{'compile s':>10}{'run s':>8}{'max abs':>11}{'max rel':>11}  runs")
        begin = time.perf_counter()

        def keep(results: list[dict[str, Any]]) -> None:
            if options.json:
                write_atomically(options.json, json.dumps(setting | _summary(results), separators=(",", ":")) + "\n")

        results = verify_tasks(tasks, verifier, options.jobs, known, keep)
        seconds = time.perf_counter() - begin
    keep(results)
    summary = _summary(results)
    passed = summary["passed"]
    print(f"{passed} of {len(results)} programs passed ({summary['cases']} cases) in {seconds:.0f} s")
    return 0 if passed == len(results) else 1


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the record here")
    parser.add_argument("--only", nargs="+", default=[], metavar="TASK", help="names of tasks; default: all")
    parser.add_argument("--cases", nargs="+", default=[], choices=CASES, help="names of cases; default: all")
    parser.add_argument("--arch", help="nvcc -arch value; default: the first GPU's own")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for one run of a program (120)")
    parser.add_argument("--repeats", type=int, default=2, help="runs of a case, each judged; races show so (2)")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="programs at a time; default: the CPU count"
    )
    parser.add_argument("--gpu-jobs", type=int, default=4, help="programs on a GPU at a time (4)")
    parser.add_argument(
        "--sanitizer",
        nargs="+",
        default=[],
        choices=SANITIZER_TOOLS,
        help="run these compute-sanitizer tools as well; their findings fail the task",
    )
    options = parser.parse_args(arguments)
    try:
        return verify(options)
    except (TaskError, SandboxError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
