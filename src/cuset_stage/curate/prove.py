"""Stage `prove`: the judge's own sandbox, every case, twice; and what is wrong, which must not pass.

A row is kept when its program compiles and passes every case both times, when no output that nobody computed would pass them all
(zeros, a constant, an input handed back: `cuset audit-tasks`), and, on a GPU, when its cases find at least one of a few mutants.
What a verdict depends on (GPU, driver, toolkit, flags) enters the row under `verified`; what `write` has found in the same way is not
run again. A failure of ours (a lost GPU, a full disk) leaves the row for the next run. On a GPU a program has to have computed there
what it wrote (`judge.gpu_work`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..files import write_atomically
from ..judge.audit import Code, Severity, audit_task
from ..judge.bench import Bench, working_recorder
from ..judge.gpu_activity import Recorder
from ..judge.gpu_work import IDLE_KERNEL, NO_KERNEL
from ..judge.modules.trial import CONSTANT
from ..judge.oracle import ORACLE_LIMITS, CaseCache, OracleError
from ..judge.programs import Judgement, ProgramJudge
from ..mutants import make_mutants
from ..sandbox import SandboxError, Verdict
from ..tasks import ModuleTask, ProgramTask, Task
from .adapt import load_task, program_of
from .folders import input_rows
from .funnel import pass_rates, sentences
from .parallel import cpu_count
from .settings import ProofSettings, ProveSettings
from .stage import Kept, Summary, run_stage
from .stage_rows import NotSettled, Row, RowError, sha256_text


_SCHEMA = 3
# Of one reference on one case: untrusted scripts, each of which may hang.
CASE_LIMITS = replace(ORACLE_LIMITS, wall_s=60.0, file_bytes=1 << 30, folder_bytes=2 << 30)
_MACHINE = ("gpu", "driver", "toolkit", "arch", "flags")
_ASKED = ("times", "mutants", "thorough", "compile_only", "time_limit", "memory_limit", "gpu_memory")


def run_prove(settings: ProveSettings) -> Summary:
    """Verify what `answer` left into `folder`/prove/. Each result is on the disk before the next row begins.

    Of answers that were sampled, pass_rates.jsonl says how often each task was solved.

    Raises:
        CurationError: the stage before has not run.
        SandboxError: no GPU where one is wanted, no nvcc, or a GPU that cannot run what `arch` says.
    """
    rows = input_rows(settings, "answer")
    record = _describe(settings)
    # A thread that waits for a GPU must not keep a CPU from compiling.
    workers = settings.workers or cpu_count() + len(bench_of(settings).pool or ())
    summary = run_stage(
        settings.folder / "prove",
        "prove",
        rows,
        Verifier(settings),
        settings={"schema": _SCHEMA, **record, **{key: getattr(settings, key) for key in _ASKED}},
        workers=workers,
        dear=True,
        fresh=settings.fresh,
    )
    rates = pass_rates(settings.folder / "prove")
    write_atomically(settings.folder / "prove" / "pass_rates.jsonl", (json.dumps(rate) + "\n" for rate in rates))
    return replace(summary, notes=tuple(sentences(rates)))


def bench_of(settings: ProofSettings, language: str = "cuda") -> Bench:
    """Built once a process.

    Raises:
        SandboxError: no nvcc, no GPU where one is wanted, or one that cannot run what `arch` says.
    """
    return _bench_of(settings, language, os.environ.get("CUDA_VISIBLE_DEVICES"))


@lru_cache(maxsize=16)
def _bench_of(settings: ProofSettings, language: str, _visible: str | None) -> Bench:
    bench = Bench(settings, language)
    if isinstance(bench.judge, ProgramJudge) and bench.judge.cases is not None:
        bench.judge.cases.limits = CASE_LIMITS
        if bench.pool and isinstance(recorder := working_recorder(bench.judge.compiler, bench.pool), Recorder):
            bench.judge.recorder, bench.judge.require_gpu = recorder, True
    return bench


def _module_judge(settings: ProofSettings) -> Any:
    """None without a GPU."""
    return bench_of(settings, "python").judge if settings.runs_on_gpus else None


def _describe(settings: ProofSettings) -> dict[str, Any]:
    """Name what the verdicts of this machine depend on."""
    machine = bench_of(settings).describe()
    gpus = machine["gpus"]
    return {
        "gpu": ", ".join(sorted({gpu["name"] for gpu in gpus})) or None,
        "driver": gpus[0]["driver"] if gpus else None,
        **{key: machine[key] for key in _MACHINE[2:]},
    }


@dataclass(frozen=True)
class Verifier:
    """The stage's work on one row; holds settings alone, so that it can be sent to another machine.

    every_mutant: whether all mutants are tried, and not only until one is found out.
    """

    settings: ProofSettings
    every_mutant: bool = False

    def __call__(self, row: Row) -> Kept:
        code = program_of(row)
        if not code and (sample := row.get("sample")):
            cut_off = " and was cut off at max_tokens" if sample["finish_reason"] == "length" else ""
            raise RowError("no_code", f"the answer holds no code{cut_off}")
        if not code:
            raise RowError("no_answer", "a task without an answer, and answers are what is verified")
        task = load_task(row)
        verified = row.get("verified") or {}  # what `write` found
        needed = {**self._passed, **_describe(self.settings), "code_sha256": sha256_text(code)}
        if any(verified.get(key) != value for key, value in needed.items()):
            verified = self.judged(task, code)
        details = {key: verified[key] for key in (*_MACHINE, "verdict")}
        return Kept({**row, "verified": verified}, details)

    def judged(self, task: Task, code: str) -> dict[str, Any]:
        """Judge an answer. Returns what was measured of a right one, and the machine that says so.

        Raises:
            RowError: it is not right, or its cases say nothing.
            SandboxError, NotSettled: this machine cannot tell.
        """
        try:
            findings = (self._module if isinstance(task, ModuleTask) else self._program)(task, code)
        except OracleError as error:
            raise RowError("reference_fails", str(error)) from None
        return {**findings, **_describe(self.settings), "code_sha256": sha256_text(code)}

    def _program(self, task: ProgramTask, code: str) -> dict[str, Any]:
        judge = bench_of(self.settings).judge
        built = judge.build(task, code)
        if built.product is None:
            if built.judgement.verdict is Verdict.COMPILED:
                return {"verdict": "compiled", "compile_s": built.judgement.compile_s}
            raise _failure(built.judgement)
        prepared = judge.prepare(task)
        runs = self._runs(lambda: judge.execute(task, built, prepared))
        if weak := weak_cases(task, judge.cases):
            raise RowError("weak_cases", weak[0])
        # Mutants are errors in CUDA code: where a program runs on the CPU, passing says nothing about its cases.
        tested = self._mutants(task, code, judge, prepared, self.settings.mutants if judge.gpus else 0)
        if tested["compiled"] and not tested["found"]:
            made = "; ".join(tested["passed"])
            raise RowError("weak_cases", f"every mutant that compiled passes all cases: {made}")
        cases = [
            {
                "name": result.name,
                "run_s": [round(run.cases[index].run_s, 4) for run in runs],
                "max_abs_error": result.max_abs_error,
                "max_rel_error": result.max_rel_error,
            }
            for index, result in enumerate(runs[0].cases)
        ]
        kernels = [use.name for use in runs[0].kernels] if judge.recorder else None
        return {**self._passed, "cases": cases, "compile_s": runs[0].compile_s, "kernels": kernels, "mutants": tested}

    def _mutants(self, task: ProgramTask, code: str, judge: ProgramJudge, prepared: Any, most: int) -> dict[str, Any]:
        """Try mutants, until one is found out or all of them. A mutant that does not compile, or at which the judge fails, says nothing."""
        tested: dict[str, Any] = {"tried": 0, "compiled": 0, "failed": 0, "passed": [], "found": None}
        for mutant in make_mutants(code, per_operator=1)[:most] if most else ():
            tested["tried"] += 1
            built = judge.build(task, mutant.source)
            judgement = None if built.product is None else judge.execute(task, built, prepared)
            if judgement is None or judgement.infra:
                continue
            tested["compiled"] += 1
            if judgement.passed:
                tested["passed"].append(f"{mutant.operator} in line {mutant.line}")
                continue
            tested["failed"] += 1
            if tested["found"] is None:
                tested |= {"found": mutant.operator, "as": judgement.verdict.value}
            if not self.every_mutant:
                break
        return tested

    def _module(self, task: ModuleTask, code: str) -> dict[str, Any]:
        judge = _module_judge(self.settings)
        if judge is None:
            raise NotSettled("needs_gpu", "PyTorch modules are verified on a GPU; run the stage on a machine with one")
        runs = self._runs(lambda: judge.judge(task, code))
        best = min(runs, key=lambda each: each.speedup or 0.0)  # the smaller of two is the one to believe
        flags = sorted({flag for each in runs for flag in each.flags})
        if NO_KERNEL in flags:
            raise RowError("no_kernel", "the answer calls torch alone and has no kernel of its own")
        if IDLE_KERNEL in flags:
            raise RowError(
                "no_kernel", "torch does the work of the answer, beside a kernel of its own that does next to none"
            )
        if CONSTANT in flags:
            raise RowError("weak_cases", CONSTANT)
        times = {key: getattr(best, key) for key in ("speedup", "kernel_s", "reference_s")}
        return {**self._passed, **times, "module_flags": flags}

    def _runs(self, judge: Callable[[], Judgement]) -> list[Judgement]:
        """All runs of an answer that passes each time. Raises what `_failure` makes of another."""
        runs: list[Judgement] = []
        for number in range(1, self.settings.times + 1):
            runs.append(judge())
            if not runs[-1].passed:
                raise _failure(runs[-1], number)
        return runs

    @property
    def _passed(self) -> dict[str, Any]:
        asked = {key: getattr(self.settings, key) for key in ("times", "thorough", "per_gpu")}
        return {"verdict": "passed", **asked}


def weak_cases(task: ProgramTask, cases: CaseCache) -> list[str]:
    """Name the outputs that pass although nobody computed them; the cases have been made before."""
    errors = [each for each in audit_task(task, cases).findings if each.severity is Severity.ERROR]
    if errors and errors[0].code is Code.ORACLE_FAILS:
        raise SandboxError(errors[0].message)
    return [each.message for each in errors]


def _failure(judgement: Judgement, run: int = 1) -> RowError | SandboxError:
    where = f"case {judgement.case}: " if judgement.case else ""
    if judgement.infra:
        return SandboxError(f"{where}{judgement.message}")
    if run > 1:
        return RowError("not_repeatable", f"run {run}: {where}{judgement.verdict}: {judgement.message}")
    return RowError(judgement.verdict.value, f"{where}{judgement.message}")
