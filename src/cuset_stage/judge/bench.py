"""A machine that is set up to judge as a `JudgeSpec` says: its GPUs, the compiler, and the judge for a language."""

import functools
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from ..sandbox import COMPILE_LIMITS, Compiler, Isolation, Limits, SandboxError, Verdict, run_program, scratch_folder
from ..sandbox.gpus import Gpu, list_gpus
from ..sandbox.isolation import memory_account, resolve_isolation
from .devices import GpuPool, hold_driver
from .gpu_activity import RECORD, Activity, Recorder, find_recorder, read_activity, why_no_counters
from .judge_spec import EvaluationSpec, JudgeSpec
from .modules import ModuleJudge
from .modules.module_judge import RUN_LIMITS
from .oracle import CaseCache
from .pipeline import Pipeline
from .programs import ProgramJudge
from .thorough import find_sanitizer


SMALLEST = "__global__ void nothing() {}\nint main() { nothing<<<1, 1>>>(); cudaDeviceSynchronize(); return 0; }\n"


class Bench:
    """This machine, set up to judge as a `JudgeSpec` says.

    Args:
        spec: How answers are judged.
        language: The language of the tasks: "cuda" or "python".

    Raises:
        SandboxError: Something is missing: a GPU, nvcc, torch, or bubblewrap if it was asked for. Or nvcc refuses the
            flags or the architecture.
    """

    def __init__(self, spec: JudgeSpec, language: str) -> None:
        self.spec = spec
        self.isolation = resolve_isolation(Isolation(spec.isolation))
        self.seed = spec.seed if isinstance(spec, EvaluationSpec) else None
        self.recorded: str | None = None  # "yes" if the GPU's work is recorded, else why not; None: not asked
        chosen = choose_gpus(spec.gpus) if spec.runs_on_gpus else []
        self.pool = GpuPool(chosen, per_gpu=spec.per_gpu, isolation=self.isolation) if chosen else None
        kinds = sorted({gpu.arch for gpu in chosen}) or ["sm_90"]
        if len(kinds) > 1 and not spec.arch:
            raise SandboxError(
                f"GPUs of different kinds ({', '.join(kinds)}): choose some of one kind with gpus=..., or name an arch."
            )
        self.arch = spec.arch or kinds[0]
        for gpu in chosen:
            check_arch(self.arch, gpu)
        if chosen:
            hold_driver(tuple(gpu.uuid for gpu in chosen))
        self.judge: ProgramJudge | ModuleJudge = self._of_programs() if language == "cuda" else self._of_modules()
        self.settings = self.judge.settings()

    def _of_programs(self) -> ProgramJudge:
        spec, limits = self.spec, self.spec.limited(Limits())
        compiler = Compiler(arch=self.arch, flags=tuple(shlex.split(spec.flags)), isolation=self.isolation)
        check_options(compiler)
        cases = None if spec.compile_only else CaseCache(seed=self.seed, isolation=self.isolation)
        judge = ProgramJudge(compiler, cases, self.pool, limits, self.isolation, compile_only=spec.compile_only)
        if self.pool:
            judge.confirms = spec.confirm_alone
        if self.pool and isinstance(spec, EvaluationSpec):
            recorder = working_recorder(compiler, self.pool) if spec.record_gpu else "record_gpu=false"
            if isinstance(recorder, Recorder):
                self.recorded, judge.recorder, judge.require_gpu = "yes", recorder, spec.require_gpu
            elif spec.require_gpu:
                raise SandboxError(
                    f"require_gpu=true: what programs do on the GPU cannot be recorded here: {recorder}"
                )
            else:
                self.recorded = recorder
        if spec.thorough:
            judge.sanitizer = find_sanitizer(compiler.toolkit, self.isolation)
            judge.sanitizer.check(compiler, self.pool.gpus[0], limits)
        return judge

    def _of_modules(self) -> ModuleJudge:
        spec = self.spec
        asked = {"thorough=true": spec.thorough}
        if isinstance(spec, EvaluationSpec):
            asked |= {"require_gpu=true": spec.require_gpu, "record_gpu=false": not spec.record_gpu}
        for key, is_set in asked.items():
            if is_set:
                raise SandboxError(
                    f"{key} is about CUDA programs; the answers to these tasks are modules: leave it out."
                )
        recorder = find_recorder(self.isolation) if self.pool else None
        return ModuleJudge(
            device="cpu" if spec.no_gpu else "cuda",
            gpus=self.pool,
            arch=self.arch,
            limits=spec.limited(RUN_LIMITS),
            isolation=self.isolation,
            recorder=recorder if isinstance(recorder, Recorder) else None,
            compile_only=spec.compile_only,
            seed=self.seed,
        )

    def pipeline(self, *, jobs: int | None = None, retries: int = 2) -> Pipeline:
        """Return a pipeline that judges many answers at a time.

        Args:
            jobs: Compilations at a time. None: one for each CPU.
            retries: Further tries if the judge's side fails.
        """
        jobs = jobs or len(os.sched_getaffinity(0))
        runs = jobs
        if self.pool:  # more runs than leases: runs that have given back their GPU compare outputs
            runs = len(self.pool) + (jobs if isinstance(self.judge, ProgramJudge) else len(self.pool))
        return Pipeline(self.judge, jobs=jobs, runs=runs, retries=retries)

    @functools.cached_property
    def gpu_counters(self) -> str | None:
        """Whether the GPU's counters can be read: "yes", or the reason why not. None without a GPU.

        The value is cached, since reading takes a quarter of a second.
        """
        return why_no_counters(self.pool.gpus[0]) or "yes" if self.pool else None

    def describe(self) -> dict[str, Any]:
        """Return the part of a results file's header that describes the judge."""
        return {
            "gpus": [
                {name: getattr(gpu, name) for name in ("name", "driver", "compute_capability")}
                for gpu in (self.pool.gpus if self.pool else ())
            ],
            "toolkit": self.settings.get("toolkit"),
            "torch": self.settings.get("torch"),
            "arch": self.arch,
            "flags": shlex.split(self.spec.flags),
            "isolation": str(self.isolation),
            "memory_account": memory_account(),
            "limits": {**asdict(self.judge.limits), "compile_wall_s": COMPILE_LIMITS.wall_s},
            "compile_only": self.spec.compile_only,
            "seed": self.seed,
            "gpu_work_recorded": self.recorded,
            "gpu_counters": self.gpu_counters,
            "per_gpu": self.spec.per_gpu,
            "thorough": self.spec.thorough,
            "require_gpu": getattr(self.judge, "require_gpu", False),
        }


def check_options(compiler: Compiler) -> None:
    """Compile and run the smallest program.

    This finds options with which nvcc makes no program, and a machine on which nvcc no longer works, before every
    answer is charged for them. The shared cache is not read, because its entry may stem from a time when nvcc's host
    compiler was there, or was missing. It is not written either, because other processes run what lies there.

    Raises:
        SandboxError: The program does not compile, or the result is no program (as with -c). The message holds the
            options and what was reported.
    """
    options = f"with flags='{' '.join(compiler.flags)}' and arch={compiler.arch}"
    with scratch_folder() as folder:
        compiled = replace(compiler, cache=folder / "programs").compile(SMALLEST)
        if compiled.verdict is Verdict.INFRA_ERROR:
            raise SandboxError(compiled.message)
        if compiled.binary is None:
            raise SandboxError(f"nvcc {compiler.toolkit.version} compiles nothing {options}: {compiled.message}")
        with run_program(compiled.binary, inputs={}, outputs={}, isolation=compiler.isolation) as ran:
            if ran.verdict is not None:
                raise SandboxError(f"what nvcc makes of the smallest program {options} does not run: {ran.message}")


def working_recorder(compiler: Compiler, pool: GpuPool) -> Recorder | str:
    """Return a recorder of the GPU's work that has been tested on the smallest program.

    Where nothing can be recorded, returns a text with the reason instead.

    Raises:
        SandboxError: The smallest program does not compile.
    """
    recorder = find_recorder(compiler.isolation)
    if isinstance(recorder, str):
        return recorder
    compiled = compiler.compile(SMALLEST)
    if compiled.binary is None:
        raise SandboxError(compiled.message)
    environment = recorder.environment("{folder}")
    options = {"optional": [RECORD], "environment": environment, "isolation": compiler.isolation}
    with (
        pool.lease() as gpu,
        run_program(compiled.binary, inputs=recorder.files, outputs={}, gpu=gpu, **options) as ran,
    ):
        activity = read_activity(ran.outputs[RECORD]) if RECORD in ran.outputs else Activity()
        if activity.kernels and activity.complete:
            return recorder
        return f"CUPTI records no kernel here: {ran.message or 'the driver may be older than the toolkit'}"


def check_arch(arch: str, gpu: Gpu) -> None:
    """Check that the GPU can run code for an architecture.

    Otherwise each kernel would fail, and each answer be charged for it.

    Raises:
        SandboxError: The code is for a later architecture, or for one architecture (sm_90a) or one family (sm_100f)
            that is not the GPU's.
    """
    parsed = re.fullmatch(r"(?:sm|compute)_(\d+)([af]?)", arch)
    if parsed is None:  # "native", "all" and the like: nvcc chooses
        return
    number, device = int(parsed[1]), int(gpu.arch.removeprefix("sm_"))
    # A suffix ties the code to one architecture, or to one family.
    of_its_kind = {"": True, "a": number == device, "f": number // 10 == device // 10}[parsed[2]]
    if number > device or not of_its_kind:
        raise SandboxError(
            f"arch={arch}: GPU {gpu.index} ({gpu.name}) is {gpu.arch} and cannot run that; leave arch out, or give {gpu.arch}."
        )


def choose_gpus(indices: Sequence[int] | None) -> list[Gpu]:
    """Return the GPUs with these indices, in this order, or all GPUs if `indices` is None.

    Raises:
        SandboxError: There is no GPU, or one of the indices does not exist.
    """
    available = list_gpus()
    if not available:
        raise SandboxError(
            "no NVIDIA GPU here, or no driver: compile_only=true says what compiles, no_gpu=true runs programs that "
            "need none, and a machine with a GPU judges the rest: the same command resumes there."
        )
    if indices is None:
        return available
    by_index = {gpu.index: gpu for gpu in available}
    if missing := [index for index in indices if index not in by_index]:
        raise SandboxError(f"gpus: no GPU {missing[0]}; this machine has {', '.join(map(str, by_index))}.")
    return [by_index[index] for index in dict.fromkeys(indices)]
