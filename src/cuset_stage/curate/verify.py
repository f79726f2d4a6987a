"""Stage `verify`: the judge's own sandbox, every case, twice; and what is wrong, which must not pass.

A row is kept when its program compiles and passes every case both times, when no output that nobody computed would pass them all
(zeros, a constant, an input handed back: `cuset audit-tasks`), and, on a GPU, when its cases find at least one of a few mutants.
What a verdict depends on (GPU, driver, toolkit, flags) enters the row under `verified`. A failure of ours (a lost GPU, a full disk)
leaves the row for the next run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import Any

from ..judge.audit import Code, Severity, audit_task
from ..judge.bench import DEFAULT_ARCH, check_arch
from ..judge.devices import GpuPool, NoGpuLeft
from ..judge.modules import ModuleJudge
from ..judge.modules.checks import NO_KERNEL
from ..judge.modules.trial import CONSTANT
from ..judge.oracle import ORACLE_LIMITS, CaseCache, OracleError
from ..judge.oracle_runs import OracleUnavailable
from ..judge.programs import Judgement, ProgramJudge
from ..mutants import make_mutants
from ..sandbox import Compiler, Isolation, Limits, SandboxError, Verdict, list_gpus
from ..tasks import ModuleTask, ProgramTask, TaskError
from .adapt import load_task, program_of
from .folders import input_rows
from .parallel import cpu_count, on_each_machine
from .settings import Executor, VerifySettings
from .stage import Dropped, Kept, Outcome, Summary, Unsettled, run_stage
from .stage_rows import CurationError, Row, sha256_text


_SCHEMA = 2
FLAGS = ("-O3", "-std=c++17")
RUN_LIMITS = Limits(wall_s=30.0)  # of one run of one case
CASE_LIMITS = replace(
    ORACLE_LIMITS, wall_s=60.0, file_bytes=1 << 30, folder_bytes=2 << 30
)  # of one reference on one case


def run_verify(settings: VerifySettings) -> Summary:
    """Verify what `adapt` left into `folder`/verify/. Each result is on the disk before the next row begins.

    With Ray, this machine needs neither GPU nor nvcc: those that have them say what the results depend on.

    Raises:
        CurationError: no GPU where one is wanted, no nvcc, or machines that differ.
    """
    if settings.isolation not in list(Isolation):
        raise CurationError(f"isolation={settings.isolation}: one of {', '.join(Isolation)}.")
    rows = input_rows(settings, "adapt")
    per_gpu = settings.per_gpu if settings.needs_gpu else None
    workers = settings.workers
    if settings.executor is Executor.RAY:
        record = _common(on_each_machine(partial(_describe, settings), per_gpu=per_gpu))
        settings = settings.model_copy(update={"arch": record["arch"]})
    else:
        try:
            bench = _bench(settings)
        except SandboxError as error:
            raise CurationError(str(error)) from None
        record = bench.record
        if workers is None and settings.executor is Executor.THREADS:
            # A thread that waits for a GPU must not keep a CPU from compiling.
            workers = cpu_count() + settings.per_gpu * len(bench.gpus)
    return run_stage(
        settings.folder / "verify",
        "verify",
        rows,
        Verifier(settings),
        settings={
            "schema": _SCHEMA,
            **record,
            "times": settings.times,
            "mutants": settings.mutants,
            "compile_only": settings.compile_only,
            "limits": asdict(RUN_LIMITS),
        },
        executor=settings.executor,
        workers=workers,
        per_gpu=per_gpu,
        sync=True,
        fresh=settings.fresh,
    )


@dataclass(frozen=True)
class _Bench:
    """The judges of this process, and what their verdicts depend on."""

    programs: ProgramJudge
    cases: CaseCache
    modules: ModuleJudge | None  # None without a GPU
    gpus: tuple[Any, ...]
    record: dict[str, Any]


def _describe(settings: VerifySettings) -> dict[str, Any]:
    return _bench(settings).record


def _common(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the machines of a cluster say of themselves, if it is the same."""
    differing = [name for name in records[0] if any(record[name] != records[0][name] for record in records)]
    if differing:
        values = "; ".join(
            f"{name}: {' and '.join(sorted({str(record[name]) for record in records}))}" for name in differing
        )
        raise CurationError(f"executor=ray: machines differ in what decides verdicts: {values}")
    return records[0]


def _bench(settings: VerifySettings) -> _Bench:
    """Built once a process: with Ray, every worker has its own for each GPU that it is given.

    Raises:
        SandboxError: no nvcc, no GPU where one is wanted, or one that cannot run what `arch` says.
    """
    return _bench_of(settings, os.environ.get("CUDA_VISIBLE_DEVICES"))


@lru_cache(maxsize=16)
def _bench_of(settings: VerifySettings, visible: str | None) -> _Bench:
    gpus = tuple(list_gpus()) if settings.needs_gpu else ()
    if settings.needs_gpu and not gpus:
        raise SandboxError(
            "there is no GPU here; verify on a machine with one, or say use_gpu=false (host programs) or compile_only=true"
        )
    arch = settings.arch or (gpus[0].arch if gpus else DEFAULT_ARCH)
    for gpu in gpus:
        check_arch(arch, gpu)
    isolation = Isolation(settings.isolation)
    cases, programs = (settings.cache and settings.cache / name for name in ("cases", "programs"))
    compiler = Compiler(arch=arch, flags=FLAGS, cache=programs, isolation=isolation)
    pool = GpuPool(gpus, per_gpu=settings.per_gpu, isolation=isolation) if gpus else None
    cache = CaseCache(cases, limits=CASE_LIMITS, isolation=isolation)
    judge = ProgramJudge(compiler, cache, pool, RUN_LIMITS, isolation, settings.compile_only)
    modules = None if pool is None else ModuleJudge(gpus=pool, arch=arch, isolation=isolation)
    record = {
        "gpu": ", ".join(sorted({gpu.name for gpu in gpus})) or None,
        "driver": gpus[0].driver if gpus else None,
        "toolkit": compiler.toolkit.version,
        "arch": arch,
        "flags": list(FLAGS),
    }
    return _Bench(judge, cache, modules, gpus, record)


@dataclass(frozen=True)
class Verifier:
    """The stage's work on one row; holds settings alone, so that it can be sent to another machine."""

    settings: VerifySettings

    def __call__(self, row: Row) -> Outcome:
        code = program_of(row)
        if not code:
            return Dropped(
                "no_answer",
                "the row is a task without an answer, and answers are what is verified: import it together with one",
            )
        try:
            bench = _bench(self.settings)
            task = load_task(row)
            if isinstance(task, ModuleTask):
                return self._module(row, task, code, bench)
            return self._program(row, task, code, bench)
        except TaskError as error:
            return Dropped("bad_task", str(error))
        except NoGpuLeft as error:
            return Unsettled("gpu_lost", str(error))
        except (OracleError, SandboxError) as error:
            ours = isinstance(error, SandboxError | OracleUnavailable) or error.__cause__ is not None
            return Unsettled("judge", str(error)) if ours else Dropped("reference_fails", str(error))

    def _program(self, row: Row, task: ProgramTask, code: str, bench: _Bench) -> Outcome:
        judge = bench.programs
        built = judge.build(task, code)
        if built.product is None:
            if built.judgement.verdict is Verdict.COMPILED:
                return self._kept(row, code, bench, {"verdict": "compiled", "compile_s": built.judgement.compile_s})
            return _failed(built.judgement)
        prepared = judge.prepare(task)
        runs: list[Judgement] = []
        for number in range(1, self.settings.times + 1):
            judgement = judge.execute(task, built, prepared)
            if not judgement.passed:
                return _failed(judgement, number)
            runs.append(judgement)
        weak = [each for each in audit_task(task, bench.cases).findings if each.severity is Severity.ERROR]
        if weak and weak[0].code is Code.ORACLE_FAILS:  # it made the cases before
            return Unsettled("judge", weak[0].message)
        if weak:
            return Dropped("weak_cases", weak[0].message)
        # Mutants are errors in CUDA code: where a program runs on the CPU, passing says nothing about its cases.
        tested = (
            self._mutants(task, code, judge, prepared) if bench.gpus else {"tried": 0, "compiled": 0, "found": None}
        )
        if tested["compiled"] and not tested["found"]:
            made = "; ".join(tested["passed"])
            return Dropped("weak_cases", f"every mutant that compiled passes all cases: {made}")
        facts = {
            "verdict": "passed",
            "times": len(runs),
            "per_gpu": self.settings.per_gpu,
            "cases": [
                {
                    "name": result.name,
                    "run_s": [round(run.cases[index].run_s, 4) for run in runs],
                    "max_abs_error": result.max_abs_error,
                    "max_rel_error": result.max_rel_error,
                }
                for index, result in enumerate(runs[0].cases)
            ],
            "compile_s": runs[0].compile_s,
            "mutants": tested,
        }
        return self._kept(row, code, bench, facts)

    def _mutants(self, task: ProgramTask, code: str, judge: ProgramJudge, prepared: Any) -> dict[str, Any]:
        """Try mutants until one is found out. A mutant that does not compile, or at which the judge fails, says nothing."""
        tried = compiled = 0
        passed: list[str] = []
        for mutant in make_mutants(code, per_operator=1)[: self.settings.mutants]:
            tried += 1
            built = judge.build(task, mutant.source)
            if built.product is None:
                continue
            judgement = judge.execute(task, built, prepared)
            if judgement.infra:
                continue
            compiled += 1
            if not judgement.passed:
                return {
                    "tried": tried,
                    "compiled": compiled,
                    "passed": passed,
                    "found": mutant.operator,
                    "as": judgement.verdict.value,
                }
            passed.append(f"{mutant.operator} in line {mutant.line}")
        return {"tried": tried, "compiled": compiled, "passed": passed, "found": None}

    def _module(self, row: Row, task: ModuleTask, code: str, bench: _Bench) -> Outcome:
        if bench.modules is None:
            return Unsettled("needs_gpu", "PyTorch modules are verified on a GPU; run the stage on a machine with one")
        speeds = []
        for number in range(1, self.settings.times + 1):
            judgement = bench.modules.judge(task, code)
            if not judgement.passed:
                return _failed(judgement, number)
            speeds.append(judgement)
        best = min(speeds, key=lambda each: each.speedup or 0.0)  # the smaller of two is the one to believe
        flags = sorted({flag for each in speeds for flag in each.flags})
        if NO_KERNEL in flags:
            return Dropped("no_kernel", "the answer calls torch alone and has no kernel of its own")
        if CONSTANT in flags:
            return Dropped("weak_cases", CONSTANT)
        facts = {
            "verdict": "passed",
            "times": len(speeds),
            "per_gpu": self.settings.per_gpu,
            "speedup": best.speedup,
            "kernel_s": best.kernel_s,
            "module_flags": flags,
        }
        return self._kept(row, code, bench, {**facts, "reference_s": best.reference_s})

    def _kept(self, row: Row, code: str, bench: _Bench, facts: dict[str, Any]) -> Kept:
        record = {**facts, **bench.record, "code_sha256": sha256_text(code)}
        return Kept({**row, "verified": record}, {**bench.record, "verdict": facts["verdict"]})


def _failed(judgement: Judgement, run: int = 1) -> Outcome:
    where = f"case {judgement.case}: " if judgement.case else ""
    if judgement.infra:
        return Unsettled("judge", f"{where}{judgement.message}")
    if run > 1:
        return Dropped("not_repeatable", f"run {run}: {where}{judgement.verdict}: {judgement.message}")
    return Dropped(judgement.verdict.value, f"{where}{judgement.message}")
