"""Judge an answer to a `ModuleTask`: KernelBench's protocol, with the candidate and the reference in processes apart.

For every task, once: the inputs of all seeds (one process), the reference's outputs (another). For every answer: import
without a GPU, which builds its extensions; forward on every seed, in a process that never holds a reference output; the
comparison here, on raw bytes. On a GPU, for a right answer: the reference is timed, then the candidate, whose outputs
of one timed call are compared again, then the reference once more.
"""

import json
import os
import secrets
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from ...sandbox import Finished, Gpu, Isolation, Limits, SandboxError, Verdict, find_toolkit, run_sandboxed, scratch_folder
from ...sandbox.folders import take_output
from ...sandbox.isolation import python_paths
from ..devices import GpuPool, NoGpuLeft, is_suspicious
from ..judge import JUDGE_VERSION, Built, CaseResult, Clock, Judgement, infra_error, shorten
from ..oracle_runs import OracleError
from ..tasks import ModuleTask
from .checks import source_flags
from .closeness import compare_raw, element_bytes


GIB = 2**30
WORKER = Path(__file__).with_name("worker.py")
RUN_LIMITS = Limits(wall_s=300.0, memory_bytes=64 * GIB, file_bytes=32 * GIB, folder_bytes=128 * GIB, processes=1024)
BUILD_LIMITS = Limits(wall_s=300.0, memory_bytes=32 * GIB, file_bytes=4 * GIB, folder_bytes=8 * GIB, processes=1024)
SUSPICIOUS_SPEEDUP = 10.0
REPORT_BYTES = 4 << 20
_BUILD_FAILED = ("Error building extension", "Error compiling objects", "CompilationError", "CompileException")


@dataclass
class ModuleJudge:
    """Judges modules.

    Args:
        device: "cuda", or "cpu" where there is no GPU: no speed is measured then.
        gpus: Where candidates and references run; None with device "cpu" and with compile_only.
        arch: What extensions are built for, as nvcc has it.
        seeds: Inputs drawn for the comparison.
        trials, budget_s: Timed calls at most, and seconds after which no further one begins.
    """

    device: str = "cuda"
    gpus: GpuPool | None = None
    arch: str = "sm_90"
    limits: Limits = RUN_LIMITS
    build_limits: Limits = BUILD_LIMITS
    isolation: Isolation = Isolation.AUTO
    compile_only: bool = False
    seeds: int = 5
    trials: int = 100
    budget_s: float = 20.0
    _folders: dict[Path, ExitStack] = field(default_factory=dict, repr=False)

    def settings(self) -> dict[str, Any]:
        try:
            torch = version("torch")
        except PackageNotFoundError:
            raise SandboxError("torch is not installed: tasks of KernelBench's kind need it") from None
        return {
            "judge": JUDGE_VERSION,
            "torch": torch,
            "device": self.device,
            "arch": self.arch,
            "build_limits": asdict(self.build_limits),
            "compile_only": self.compile_only,
            **(
                {}
                if self.compile_only
                else {"limits": asdict(self.limits), "seeds": self.seeds, "trials": self.trials, "budget": self.budget_s}
            ),
        }

    def judge(self, task: ModuleTask, code: str) -> Judgement:
        """All three steps, one after the other."""
        built = self.build(task, code)
        prepared = self.prepare(task)
        try:
            return built.judgement if built.product is None else self.execute(task, built, prepared)
        except (OracleError, SandboxError) as error:
            return infra_error(str(error), built.judgement)
        finally:
            self.discard(built)
            self.release(task, prepared)

    def build(self, task: ModuleTask, code: str) -> Built:
        """Import the answer without a GPU: that builds its extensions, on the CPUs."""
        clock = Clock()
        stack = ExitStack()
        folder = stack.enter_context(scratch_folder())
        try:
            (folder / "answer.py").write_text(code, encoding="utf-8", errors="surrogatepass", newline="\n")
            (folder / "work").mkdir()
            report = self._run(folder, {"action": "build"}, {}, None, self.build_limits)
        except BaseException:
            stack.close()
            raise
        clock.exclude(report.finished.seconds)
        verdict, message = self._build_verdict(report)
        ends = verdict is not Verdict.COMPILED or self.compile_only
        if ends:
            stack.close()
        else:
            self._folders[folder] = stack
        judgement = Judgement(
            verdict,
            message=shorten(message),
            compiled=verdict is Verdict.COMPILED,
            compile_s=report.finished.seconds,
            flags=tuple(source_flags(code)),
            overhead_s=clock.own(),
        )
        return Built(judgement, None if ends else folder)

    def _build_verdict(self, report: Report) -> tuple[Verdict, str]:
        if report.finished.stopped == "wall":
            return Verdict.COMPILE_TIMEOUT, f"not imported within {self.build_limits.wall_s:g} s"
        if report.done:
            return Verdict.COMPILED, ""
        error = report.error
        if error is None:
            return Verdict.COMPILE_ERROR, f"importing it ended the process: {_ending(report.finished)}"
        if report.record.get("stage") == "start":
            return Verdict.INFRA_ERROR, f"torch cannot be imported in the sandbox: {error['message']}"
        if self.device == "cuda" and not _is_build_failure(error) and _needs_gpu(error):
            return Verdict.COMPILED, "it asks for a GPU while it is imported"  # whether it builds is seen on the GPU
        return Verdict.COMPILE_ERROR, _first_error(error)

    def prepare(self, task: ModuleTask) -> Prepared:
        return Prepared()

    def discard(self, built: Built) -> None:
        """Remove what `build` left; call it when an answer is judged."""
        stack = self._folders.pop(built.product, None) if built.product else None
        if stack:
            stack.close()

    def release(self, task: ModuleTask, prepared: Prepared) -> None:
        """Remove inputs and outputs of a task; call it when its last answer is judged."""
        with prepared.guard:
            prepared.files.close()
            prepared.inputs, prepared.outputs, prepared.expected = {}, {}, {}

    def execute(self, task: ModuleTask, built: Built, prepared: Prepared) -> Judgement:
        clock = Clock()
        with ExitStack() as stack:
            with clock.excluded():
                gpu = stack.enter_context(self.gpus.lease()) if self.gpus else None
                with prepared.guard:
                    if not prepared.inputs:
                        self._make_inputs(task, prepared, gpu)
            judgement = self._judge(task, built, prepared, gpu, clock)
        return replace(judgement, overhead_s=built.judgement.overhead_s + clock.own())

    def _judge(
        self, task: ModuleTask, built: Built, prepared: Prepared, gpu: Gpu | None, clock: Clock
    ) -> Judgement:
        seeds = list(range(self.seeds))
        answer = {"action": "forward", "model": "ModelNew"}
        report = self._run(built.product, {**answer, "seeds": seeds}, prepared.inputs, gpu)
        clock.exclude(report.finished.seconds)
        flags = [*built.judgement.flags, *report.record.get("flags", ())]
        known = replace(
            built.judgement, verdict=Verdict.RUNTIME_ERROR, message="", run_s=report.finished.seconds, flags=tuple(flags)
        )
        if not report.done:
            return self._failed(known, report, gpu)
        with clock.excluded(), prepared.guard:  # after the candidate's first run, so that nothing of it lies about yet
            if not prepared.outputs:
                self._make_outputs(task, prepared, gpu)
        verdict, message, cases = self._compare(built.product / "work", report, seeds, prepared)
        known = replace(known, verdict=verdict, message=shorten(message), cases=tuple(cases))
        if verdict is not Verdict.PASSED:
            return replace(known, case=cases[-1].name if cases else None)
        if self.device == "cuda":
            return self._time(task, built, prepared, gpu, known, clock)
        again = self._run(built.product, {**answer, "seeds": seeds[:1]}, prepared.inputs, gpu)
        clock.exclude(again.finished.seconds)
        return self._hold(known, again, seeds[:1], built, prepared, gpu)

    def _hold(
        self,
        known: Judgement,
        again: Report,
        seeds: Sequence[int],
        built: Built,
        prepared: Prepared,
        gpu: Gpu | None,
    ) -> Judgement:
        """The answer after its run behind the reference's: what was right has to be right again."""
        known = replace(known, flags=tuple(dict.fromkeys([*known.flags, *again.record.get("flags", ())])))
        if not again.done:
            return self._failed(known, again, gpu)
        verdict, message, _ = self._compare(built.product / "work", again, seeds, prepared)
        if verdict is Verdict.PASSED:
            return known
        return replace(known, verdict=verdict, message=shorten(f"right at first, wrong when run again: {message}"))

    def _time(
        self, task: ModuleTask, built: Built, prepared: Prepared, gpu: Gpu | None, known: Judgement, clock: Clock
    ) -> Judgement:
        """Speed-up by the medians; the reference is timed before and after, in processes of its own."""
        before = self._time_reference(task, prepared, gpu, clock)
        request = {"action": "time", "model": "ModelNew", "seeds": [0, 1]}
        report = self._run(built.product, request, prepared.inputs, gpu)
        clock.exclude(report.finished.seconds)
        timed = [int(seed) for seed in report.record.get("outputs", ())]
        if report.done and (len(timed) != 1 or timed[0] not in (0, 1)):
            return replace(known, verdict=Verdict.RUNTIME_ERROR, message="the timed run saved no outputs")
        known = self._hold(known, report, timed, built, prepared, gpu)
        if not known.passed:
            return known
        after = self._time_reference(task, prepared, gpu, clock)
        flags = list(known.flags)
        kernel, late = median(report.record["times"]), median(report.record["late"])
        if late > 1.5 * kernel + 1e-4:
            flags.append("work goes on after the timed stream is done: timed until the device is idle")
            kernel = late
        if max(before, after) > 1.2 * min(before, after):
            flags.append(f"the reference took {before:.3g} s before and {after:.3g} s after: times are not steady")
        reference = (before + after) / 2
        speedup = reference / kernel if kernel > 0 else None
        if speedup is None or speedup > SUSPICIOUS_SPEEDUP:
            flags.append(f"speed-up over {SUSPICIOUS_SPEEDUP:g}x")
        return replace(known, speedup=speedup, reference_s=reference, kernel_s=kernel, flags=tuple(dict.fromkeys(flags)))

    def _time_reference(self, task: ModuleTask, prepared: Prepared, gpu: Gpu | None, clock: Clock) -> float:
        with self._reference_folder(task) as folder, clock.excluded():
            request = {"action": "time", "model": "Model", "seeds": [0, 1]}
            return median(self._trusted(task, folder, request, prepared.inputs, gpu).record["times"])

    def _failed(self, known: Judgement, report: Report, gpu: Gpu | None) -> Judgement:
        """The verdict on an answer whose process did not come to its end."""
        finished, error = report.finished, report.error
        text = finished.stdout + finished.stderr + (error["message"] if error else "")
        if gpu and self.gpus and (finished.stopped == "wall" or is_suspicious(text)):
            lost = self.gpus.is_lost(gpu)
            if lost:
                return infra_error(lost, known)
        if finished.stopped == "wall":
            return replace(known, verdict=Verdict.TIMEOUT, message=f"not done within {self.limits.wall_s:g} s")
        if error is None:
            return replace(known, verdict=Verdict.RUNTIME_ERROR, message=shorten(_ending(finished)))
        stage = report.record.get("stage")
        if stage == "import" or _is_build_failure(error):
            return replace(known, verdict=Verdict.COMPILE_ERROR, compiled=False, message=shorten(_first_error(error)))
        wrong = error["type"] == "Problem"
        verdict = Verdict.MISMATCH if wrong else Verdict.RUNTIME_ERROR
        return replace(known, verdict=verdict, message=shorten(error["message"] if wrong else _first_error(error)))

    def _compare(
        self, work: Path, report: Report, seeds: Sequence[int], prepared: Prepared
    ) -> tuple[Verdict, str, list[CaseResult]]:
        """Every output of every seed with the reference's, up to the first that differs."""
        cases: list[CaseResult] = []
        for seed in seeds:
            largest, relative = 0.0, 0.0
            message = self._shapes_differ(report.record["outputs"].get(str(seed)), prepared.outputs[str(seed)])
            for number, (path, row) in enumerate(zip(prepared.expected[str(seed)], prepared.outputs[str(seed)], strict=True)):
                if message:
                    break
                taken = work.parent / "taken.bin"
                missing = take_output(work, f"out/{report.name}/{seed}/{number}.bin", path.stat().st_size, taken)
                if missing:
                    return Verdict.MISSING_OUTPUT, missing, cases
                found = compare_raw(taken, path, row["dtype"], row["shape"])
                taken.unlink()
                largest, relative = max(largest, found.max_abs_error), max(relative, found.max_rel_error)
                if not found.close:
                    message = (
                        f"seed {seed}: {row['name']}{list(found.first or ())} is {found.actual}, expected "
                        f"{found.expected}; largest error {largest:.6g}, relative {relative:.6g}"
                    )
            verdict = Verdict.MISMATCH if message else Verdict.PASSED
            cases.append(CaseResult(f"seed {seed}", verdict, 0.0, largest, relative))
            if message:
                return verdict, message, cases
        changed = set(report.record["changed_inputs"]) - set(prepared.changed_inputs)
        if changed:
            return Verdict.MISMATCH, f"changes its inputs {sorted(changed)}, which the reference leaves alone", cases
        if report.record["overwritten"]:
            places = ", ".join(report.record["overwritten"][:5])
            return Verdict.MISMATCH, f"a later call overwrote what an earlier one returned: {places}", cases
        return Verdict.PASSED, "", cases

    @staticmethod
    def _shapes_differ(got: list[dict[str, Any]] | None, want: list[dict[str, Any]]) -> str:
        if got is None or len(got) != len(want):
            return f"returns {len(got or ())} tensors, expected {len(want)}"
        for one, other in zip(got, want, strict=True):
            if one["shape"] != other["shape"] or one["dtype"] != other["dtype"]:
                return (
                    f"{other['name']} is {one['dtype']} {one['shape']}, expected {other['dtype']} {other['shape']}"
                )
        return ""

