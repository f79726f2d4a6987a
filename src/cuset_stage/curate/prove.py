"""Stage `prove`: verify every answer in the judge's sandbox, and check that its task rejects wrong answers.

A program's row is kept under these conditions:

- The program compiles and passes every case in every run, by default two runs.
- No output that nobody computed passes all cases (zeros, a constant, a returned input; see `cuset audit-tasks`).
- On a GPU, the GPU has computed what the program wrote (`judge.gpu_work`).
- On a GPU, the cases detect at least one of a few mutants of the program.

The conditions that a verdict depends on (GPU, driver, toolkit, flags) are stored in the row under `verified`. Findings
that `write` made under the same conditions are not made again. If the failure is ours (a lost GPU, a full disk), the
row is left for the next run.
"""

import json
from collections.abc import Callable
from dataclasses import replace
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
from ..judge.results import code_sha256
from ..mutants import make_mutants
from ..sandbox import SandboxError, Verdict
from ..tasks import ModuleTask, ProgramTask, Task
from .adapt import load_task, program_of
from .funnel import pass_rates, sentences
from .parallel import cpu_count
from .rows import NotSettled, Row, RowError
from .settings import ProofSettings, ProveSettings
from .stage import Summary, input_rows, run_stage
from .store import find_once


_SCHEMA = 3
# Limits for one reference on one case. References are untrusted scripts, and any of them may hang.
CASE_LIMITS = replace(ORACLE_LIMITS, wall_s=60.0, file_bytes=1 << 30, folder_bytes=2 << 30)
LIMITS = ("time_limit", "memory_limit", "gpu_memory")  # settings at which a program may fail
_ASKED = ("times", "mutants", "thorough", "compile_only", *LIMITS)


def run_prove(settings: ProveSettings) -> Summary:
    """Verify the rows of `answer` and write the rows that pass to `folder`/prove/.

    Each finding is stored in `folder`/proofs/ as soon as it is made, and is not made again by later runs. If answers
    were sampled, `folder`/prove/pass_rates.jsonl says how often each task was solved.

    Raises:
        CurationError: the previous stage has not run.
        SandboxError: there is no GPU although one is wanted, there is no nvcc, or the GPU cannot run code for `arch`.
    """
    rows = input_rows(settings, "answer")
    machine = _describe(settings)
    conditions = {"schema": _SCHEMA, **machine, **{key: getattr(settings, key) for key in _ASKED}}
    if not settings.confirm_alone:
        conditions["confirm_alone"] = False

    def work(row: Row) -> list[Row]:
        code = program_of(row)
        if not code and (sample := row.get("sample")):
            cut_off = " and was cut off at max_tokens" if sample["finish_reason"] == "length" else ""
            raise RowError("no_code", f"the answer holds no code{cut_off}")
        if not code:
            raise RowError("no_answer", "a task without an answer, and answers are what is verified")
        task = load_task(row)
        verified = row.get("verified") or {}  # the findings of the stage `write`
        needed = {**passed(settings), **machine, "code_sha256": code_sha256(code)}
        if any(verified.get(key) != value for key, value in needed.items()):
            about = ["prove", conditions, row["task"], code]
            verified = find_once(settings.folder / "proofs", about, lambda: judged(settings, task, code))
        return [{**row, "verified": verified}]

    # A thread that waits for a GPU must not keep a CPU from compiling.
    workers = settings.workers or cpu_count() + len(bench_of(settings).pool or ())
    folder = settings.folder / "prove"
    summary = run_stage(settings.folder, "prove", rows, work, settings=conditions, workers=workers)
    rates = pass_rates(folder)
    write_atomically(folder / "pass_rates.jsonl", (json.dumps(rate) + "\n" for rate in rates))
    return replace(summary, notes=tuple(sentences(rates)))


@lru_cache(maxsize=16)
def bench_of(settings: ProofSettings, language: str = "cuda") -> Bench:
    """Return this machine's bench for the settings and the tasks' language. Each bench is built once per process.

    Raises:
        SandboxError: there is no nvcc, there is no GPU although one is wanted, or the GPU cannot run code for `arch`.
    """
    bench = Bench(settings, language)
    if isinstance(bench.judge, ProgramJudge) and bench.judge.cases is not None:
        bench.judge.cases.limits = CASE_LIMITS
        if bench.pool and isinstance(recorder := working_recorder(bench.judge.compiler, bench.pool), Recorder):
            bench.judge.recorder, bench.judge.require_gpu = recorder, True
    return bench


def _module_judge(settings: ProofSettings) -> Any:
    """Return the judge of PyTorch modules, or None if no GPUs are used."""
    return bench_of(settings, "python").judge if settings.runs_on_gpus else None


def _describe(settings: ProofSettings) -> dict[str, Any]:
    """Return what this machine's verdicts depend on: its GPUs, driver, toolkit, architecture and compiler flags."""
    machine = bench_of(settings).describe()
    gpus = machine["gpus"]
    return {
        "gpu": ", ".join(sorted({gpu["name"] for gpu in gpus})) or None,
        "driver": gpus[0]["driver"] if gpus else None,
        **{key: machine[key] for key in ("toolkit", "arch", "flags")},
    }


def judged(settings: ProofSettings, task: Task, code: str) -> dict[str, Any]:
    """Judge an answer.

    Args:
        settings: how answers are proved.
        task: the task that the code answers.
        code: a CUDA program, or Python with ModelNew.

    Returns:
        The findings about a right answer for the row's `verified` key: verdict, measurements and the machine.

    Raises:
        RowError: the answer is wrong, or the task's cases do not tell right from wrong.
        SandboxError, NotSettled: this machine cannot tell.
    """
    try:
        findings = (_module if isinstance(task, ModuleTask) else _program)(settings, task, code)
    except OracleError as error:
        raise RowError("reference_fails", str(error)) from None
    return {**findings, **_describe(settings), "code_sha256": code_sha256(code)}


def _program(settings: ProofSettings, task: ProgramTask, code: str) -> dict[str, Any]:
    judge = bench_of(settings).judge
    built = judge.build(task, code)
    if built.product is None:
        if built.judgement.verdict is Verdict.COMPILED:
            return {"verdict": "compiled", "compile_s": built.judgement.compile_s}
        raise _failure(built.judgement)
    prepared = judge.prepare(task)
    runs = _runs(settings, lambda: judge.execute(task, built, prepared))
    if weak := weak_cases(task, judge.cases):
        raise RowError("weak_cases", weak[0])
    # Mutants are defects in CUDA code. If a program runs on the CPU, it may pass in spite of them, which says nothing
    # about its cases.
    tested = _mutants(task, code, judge, prepared, settings.mutants if judge.gpus else 0)
    if tested["compiled"] and not tested["found"]:
        made = "; ".join(tested["passed"])
        raise RowError("weak_cases", f"every mutant that compiled passes all cases: {made}")
    cases = []
    for index, result in enumerate(runs[0].cases):
        seconds = [round(run.cases[index].run_s, 4) for run in runs]
        errors = {"max_abs_error": result.max_abs_error, "max_rel_error": result.max_rel_error}
        cases.append({"name": result.name, "run_s": seconds, **errors})
    kernels = [use.name for use in runs[0].kernels] if judge.recorder else None
    return {**passed(settings), "cases": cases, "compile_s": runs[0].compile_s, "kernels": kernels, "mutants": tested}


def _mutants(task: ProgramTask, code: str, judge: ProgramJudge, prepared: Any, most: int) -> dict[str, Any]:
    """Try at most `most` mutants, until the cases detect one.

    Mutants that do not compile, or on which the judge fails, are ignored.
    """
    tested: dict[str, Any] = {"tried": 0, "compiled": 0, "passed": [], "found": None}
    for mutant in make_mutants(code, per_operator=1)[:most] if most else ():
        tested["tried"] += 1
        built = judge.build(task, mutant.source)
        judgement = None if built.product is None else judge.execute(task, built, prepared)
        if judgement is None or judgement.infra:
            continue
        tested["compiled"] += 1
        if not judgement.passed:
            return tested | {"found": mutant.operator, "as": judgement.verdict.value}
        tested["passed"].append(f"{mutant.operator} in line {mutant.line}")
    return tested


def _module(settings: ProofSettings, task: ModuleTask, code: str) -> dict[str, Any]:
    judge = _module_judge(settings)
    if judge is None:
        raise NotSettled("needs_gpu", "PyTorch modules are verified on a GPU; run the stage on a machine with one")
    runs = _runs(settings, lambda: judge.judge(task, code))
    best = min(runs, key=lambda each: each.speedup or 0.0)  # the smallest speed-up is the most credible one
    flags = sorted({flag for each in runs for flag in each.flags})
    if NO_KERNEL in flags:
        raise RowError("no_kernel", "the answer calls torch alone and has no kernel of its own")
    if IDLE_KERNEL in flags:
        raise RowError("no_kernel", "torch does the work of the answer, its own kernel next to none")
    if CONSTANT in flags:
        raise RowError("weak_cases", CONSTANT)
    times = {key: getattr(best, key) for key in ("speedup", "kernel_s", "reference_s")}
    return {**passed(settings), **times, "module_flags": flags}


def _runs(settings: ProofSettings, judge: Callable[[], Judgement]) -> list[Judgement]:
    """Return the judgements of `times` runs of an answer, or raise the error from `_failure` if one does not pass."""
    runs: list[Judgement] = []
    for number in range(1, settings.times + 1):
        runs.append(judge())
        if not runs[-1].passed:
            raise _failure(runs[-1], number)
    return runs


def passed(settings: ProofSettings) -> dict[str, Any]:
    """Return the part of `verified` that says that an answer passed, and under which settings."""
    conditions = {key: getattr(settings, key) for key in ("times", "thorough", "per_gpu")}
    return {"verdict": "passed", **conditions}


def weak_cases(task: ProgramTask, cases: CaseCache) -> list[str]:
    """Return a message for each output that passes although nobody computed it. The cases must have been made before.

    Raises:
        SandboxError: the reference fails now, although it made the cases before.
    """
    errors = [finding for finding in audit_task(task, cases).findings if finding.severity is Severity.ERROR]
    if errors and errors[0].code is Code.ORACLE_FAILS:
        raise SandboxError(errors[0].message)
    return [finding.message for finding in errors]


def _failure(judgement: Judgement, run: int = 1) -> RowError | SandboxError:
    """Return the error for a judgement that did not pass in run number `run` (from 1)."""
    where = f"case {judgement.case}: " if judgement.case else ""
    if judgement.infra:
        return SandboxError(f"{where}{judgement.message}")
    if run > 1:
        return RowError("not_repeatable", f"run {run}: {where}{judgement.verdict}: {judgement.message}")
    return RowError(judgement.verdict.value, f"{where}{judgement.message}")
