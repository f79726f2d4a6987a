"""Stage `verify`: the judge's own sandbox, every case, twice; and wrong versions of the program, which must not all pass.

A row is kept when its program compiles and passes every case both times and, on a GPU, its cases find at least one of a few mutants. What a
verdict depends on (GPU, driver, toolkit, flags) enters the row under `verified`. A failure of ours (a lost GPU, a full disk) leaves
the row for the next run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from ..judge.devices import GpuPool, NoGpuLeft
from ..judge.judge_spec import DEFAULT_ARCH, check_arch
from ..judge.modules import ModuleJudge
from ..judge.modules.checks import NO_KERNEL
from ..judge.modules.driver import CONSTANT
from ..judge.oracle import CaseCache, OracleError
from ..judge.programs import Judgement, ProgramJudge
from ..mutants import make_mutants
from ..sandbox import Compiler, Isolation, Limits, SandboxError, Verdict, list_gpus
from ..tasks import ModuleTask, ProgramTask, TaskError
from .cases import CASE_LIMITS, is_infra
from .parallel import Executor, check_workers, cpu_count, on_each_machine
from .stage import Dropped, Kept, Outcome, Summary, Unsettled, run_stage
from .stage_rows import CurationError, Row, read_stage_rows, sha256_text
from .tasks import load_task, program_of


_SCHEMA = 1
RUN_LIMITS = Limits(wall_s=30.0)


@dataclass(frozen=True)
class Verification:
    """How programs are verified.

    Args:
        use_gpu: False runs programs on a machine without a GPU: host programs, and those that fall back to the CPU.
        compile_only: nothing is run; rows go on marked as not verified.
        times: runs of every case.
        mutants: wrong versions tried until one is found out; 0 skips the test.
        per_gpu: programs at a time on one GPU; with more than one, times say nothing.
        arch: what nvcc builds for; None: the first GPU's, or sm_90 without one.
        cache, programs: the judge's caches of cases and programs; None: the usual ones.
        limits: of one run of one case.
    """

    use_gpu: bool = True
    compile_only: bool = False
    times: int = 2
    mutants: int = 6
    per_gpu: int = 1
    arch: str | None = None
    flags: tuple[str, ...] = ("-O3", "-std=c++17")
    cache: Path | None = None
    programs: Path | None = None
    limits: Limits = RUN_LIMITS
    isolation: Isolation = Isolation.AUTO

    @property
    def needs_gpu(self) -> bool:
        return self.use_gpu and not self.compile_only

    def __post_init__(self) -> None:
        for option, value, least in (
            ("--times", self.times, 1),
            ("--mutants", self.mutants, 0),
            ("--per-gpu", self.per_gpu, 1),
        ):
            if value < least:
                raise CurationError(f"{option} {value}: at least {least}.")


def run_verify(
    folder: Path,
    files: Sequence[Path],
    verification: Verification,
    *,
    executor: Executor = Executor.THREADS,
    workers: int | None = None,
    fresh: bool = False,
) -> Summary:
    """Verify the rows of `files` in `folder`/verify/. Each result is on the disk before the next row begins.

    With Ray, this machine needs neither GPU nor nvcc: those that have them say what the results depend on.

    Raises:
        CurationError: no GPU where one is wanted, no nvcc, an option out of its range, or machines that differ.
    """
    check_workers(workers)
    per_gpu = verification.per_gpu if verification.needs_gpu else None
    if executor is Executor.RAY:
        record = _common(on_each_machine(partial(_describe, verification), per_gpu=per_gpu))
        verification = replace(verification, arch=record["arch"])
    else:
        try:
            bench = _bench(verification)
        except SandboxError as error:
            raise CurationError(str(error)) from None
        record = bench.record
        if workers is None and executor is Executor.THREADS:
            # A thread that waits for a GPU must not keep a CPU from compiling.
            workers = cpu_count() + verification.per_gpu * len(bench.gpus)
    return run_stage(
        folder / "verify",
        "verify",
        read_stage_rows(files),
        Verifier(verification),
        settings={
            "schema": _SCHEMA,
            **record,
            "times": verification.times,
            "mutants": verification.mutants,
            "compile_only": verification.compile_only,
            "limits": verification.limits.as_dict(),
        },
        executor=executor,
        workers=workers,
        per_gpu=per_gpu,
        sync_s=0.0,
        fresh=fresh,
    )


@dataclass(frozen=True)
class _Bench:
    """The judges of this process, and what their verdicts depend on."""

    programs: ProgramJudge
    modules: ModuleJudge | None  # None without a GPU
    gpus: tuple[Any, ...]
    record: dict[str, Any]


def _describe(verification: Verification) -> dict[str, Any]:
    return _bench(verification).record


def _common(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the machines of a cluster say of themselves, if it is the same."""
    differing = [name for name in records[0] if any(record[name] != records[0][name] for record in records)]
    if differing:
        values = "; ".join(
            f"{name}: {' and '.join(sorted({str(record[name]) for record in records}))}" for name in differing
        )
        raise CurationError(f"--executor ray: machines differ in what decides verdicts: {values}")
    return records[0]


def _bench(verification: Verification) -> _Bench:
    """Built once a process: with Ray, every worker has its own for each GPU that it is given.

    Raises:
        SandboxError: no nvcc, no GPU where one is wanted, or one that cannot run what --arch says.
    """
    return _bench_of(verification, os.environ.get("CUDA_VISIBLE_DEVICES"))


@lru_cache(maxsize=16)
def _bench_of(verification: Verification, visible: str | None) -> _Bench:
    gpus = tuple(list_gpus()) if verification.needs_gpu else ()
    if verification.needs_gpu and not gpus:
        raise SandboxError(
            "there is no GPU here; verify on a machine with one, or give --no-gpu (host programs) or --compile-only"
        )
    arch = verification.arch or (gpus[0].arch if gpus else DEFAULT_ARCH)
    for gpu in gpus:
        check_arch(arch, gpu)
    compiler = Compiler(
        arch=arch, flags=verification.flags, cache=verification.programs, isolation=verification.isolation
    )
    pool = GpuPool(gpus, per_gpu=verification.per_gpu, isolation=verification.isolation) if gpus else None
    cases = CaseCache(verification.cache, limits=CASE_LIMITS, isolation=verification.isolation)
    programs = ProgramJudge(
        compiler, cases, pool, verification.limits, verification.isolation, verification.compile_only
    )
    modules = None
    if pool is not None:
        modules = ModuleJudge(gpus=pool, arch=arch, isolation=verification.isolation)
    names = sorted({gpu.name for gpu in gpus})
    record = {
        "gpu": ", ".join(names) or None,
        "driver": gpus[0].driver if gpus else None,
        "toolkit": compiler.toolkit.version,
        "arch": arch,
        "flags": list(verification.flags),
    }
    return _Bench(programs, modules, gpus, record)


@dataclass(frozen=True)
class Verifier:
    """The stage's work on one row; holds settings alone, so that it can be sent to another machine."""

    verification: Verification

    def __call__(self, row: Row) -> Outcome:
        code = program_of(row)
        if not code:
            return Dropped(
                "no_answer",
                "the row is a task without an answer, and answers are what is verified: import it together with one",
            )
        try:
            bench = _bench(self.verification)
            task = load_task(row)
            if isinstance(task, ModuleTask):
                return self._module(row, task, code, bench)
            return self._program(row, task, code, bench)
        except TaskError as error:
            return Dropped("bad_task", str(error))
        except NoGpuLeft as error:
            return Unsettled("gpu_lost", str(error))
        except (OracleError, SandboxError) as error:
            if isinstance(error, OracleError) and not is_infra(error):
                return Dropped("reference_fails", str(error))
            return Unsettled("judge", str(error))

    def _program(self, row: Row, task: ProgramTask, code: str, bench: _Bench) -> Outcome:
        judge = bench.programs
        built = judge.build(task, code)
        if built.product is None:
            if built.judgement.verdict is Verdict.COMPILED:
                return self._kept(row, code, bench, {"verdict": "compiled", "compile_s": built.judgement.compile_s})
            return _failed(built.judgement)
        prepared = judge.prepare(task)
        runs: list[Judgement] = []
        for number in range(1, self.verification.times + 1):
            judgement = judge.execute(task, built, prepared)
            if not judgement.passed:
                return _failed(judgement, number)
            runs.append(judgement)
        tested = self._mutants(task, code, judge, prepared)
        # Mutants are errors in CUDA code: where a program runs on the CPU, passing says nothing about its cases.
        if bench.gpus and tested["compiled"] and not tested["found"]:
            made = "; ".join(tested["passed"])
            return Dropped("weak_cases", f"every mutant that compiled passes all cases: {made}")
        facts = {
            "verdict": "passed",
            "times": len(runs),
            "per_gpu": self.verification.per_gpu,
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
        for mutant in make_mutants(code, per_operator=1)[: self.verification.mutants]:
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
        for number in range(1, self.verification.times + 1):
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
            "per_gpu": self.verification.per_gpu,
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


def with_cache(verification: Verification, root: Path | None) -> Verification:
    """The verification with both caches below `root`; as it is without one."""
    return verification if root is None else replace(verification, cache=root / "cases", programs=root / "programs")
