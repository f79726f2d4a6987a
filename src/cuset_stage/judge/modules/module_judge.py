"""Judge an answer to a `ModuleTask`: KernelBench's protocol, with the candidate and the reference in processes apart.

For every task, once: the inputs of all seeds (one process), the reference's outputs (another). For every answer: import
without a GPU, which builds its extensions; forward, in a process that never holds a reference output; the comparison
here, on raw bytes. The same module object is called with fresh tensors for every seed, then with the first call's own
tensors into which other contents are written (calls.py), so that a result cached by object, address, shape, first elements
or sums is wrong. On a GPU, for a right answer: the reference is timed, then the candidate, then the reference once more.
Every timed call is given new contents at the same addresses; outputs of calls that the candidate does not know are
compared. Without a GPU the same calls are made and compared, and no speed comes of them.

What this does not protect from:
- A candidate runs in the process that calls and times it. One that goes after the interpreter itself (frames, gc,
  ctypes, the CUDA driver) can change the clock's readings and the report. The comparison is out of its reach; the times
  are not. The flags say where a source reaches for such things, and where the clock on the wall contradicts the events:
  then the calls are timed by it.
- A reference whose outputs depend on earlier calls: only the first calls can be compared. Flagged.
- The inputs' files lie in its sandbox before forward is called: one that reads them could compute ahead. Flagged.
- A task whose right outputs are the same for all inputs cannot tell a cached result from a computed one. Flagged.
- Results cached by the whole contents are right results; contents that no call has seen show their cost, unless it is
  less than half as much again as a cached result, or less than 3 microseconds more.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from ...sandbox import Gpu, Isolation, Limits, SandboxError, Verdict, resolve_isolation, scratch_folder
from ...tasks import ModuleTask
from ...text import shorten
from ..devices import GpuPool, NoGpuLeft, Turns, is_suspicious
from ..judgement import JUDGE_VERSION, Built, Clock, Judgement, infra_error
from ..oracle_runs import OracleError
from .calls import POOL, compare_run, compared_calls, in_place, timed_calls, unseen
from .checks import source_flags
from .reference import Reference
from .runs import BUILD_LIMITS, RUN_LIMITS, Report, Worker, keep_extensions


SUSPICIOUS_SPEEDUP = 10.0
EARLY = 10  # timed calls
PROTOCOL = 4  # raised when the verdicts on modules come about differently
CONSTANT = (
    "task: the reference returns the same for all seeds, within the tolerance: a kept result or a constant passes"
)

STATEFUL = "task: the reference's outputs depend on earlier calls: only first calls are compared, no timed ones"


@dataclass
class ModuleJudge:
    """Judges modules.

    Args:
        device: "cuda", or "cpu" where there is no GPU: no speed is measured then.
        gpus: Where candidates and references run; None with device "cpu" and with compile_only.
        arch: What extensions are built for, as nvcc has it.
        seeds: Inputs drawn for the comparison, at least 2.
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
    _turns: Turns = field(default_factory=Turns, repr=False)

    @property
    def worker(self) -> Worker:
        return Worker(self.device, self.arch, self.limits, self.isolation, self.trials, self.budget_s)

    def settings(self) -> dict[str, Any]:
        try:
            torch = version("torch")
        except PackageNotFoundError:
            raise SandboxError("torch is not installed: tasks of KernelBench's kind need it") from None
        settings = {
            "judge": JUDGE_VERSION,
            "protocol": PROTOCOL,
            "torch": torch,
            "device": self.device,
            "arch": self.arch,
            "build_limits": asdict(self.build_limits),
            "compile_only": self.compile_only,
            "isolation": str(resolve_isolation(self.isolation)),
        }
        if not self.compile_only:
            settings |= {
                "limits": asdict(self.limits),
                "seeds": self.seeds,
                "trials": self.trials,
                "budget": self.budget_s,
                # Speed depends on these two; only here, because programs are not timed against a reference.
                "gpus": self.gpus.names if self.gpus else [],
                "per_gpu": self.gpus.per_gpu if self.gpus else 1,
            }
        return settings

    def judge(self, task: ModuleTask, code: str) -> Judgement:
        """All three steps, one after the other."""
        built = self.build(task, code)
        prepared = self.prepare(task)
        try:
            return built.judgement if built.product is None else self.execute(task, built, prepared)
        finally:
            self.discard(built)
            self.release(prepared)

    def build(self, task: ModuleTask, code: str) -> Built:
        """Import the answer without a GPU: that builds its extensions, on the CPUs."""
        clock = Clock()
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(scratch_folder())
                (folder / "answer.py").write_text(code, encoding="utf-8", errors="replace", newline="\n")
                with clock.waiting(self._turns.building()):
                    report = self.worker.run(folder, {"action": "build"}, {}, None, self.build_limits)
                clock.exclude(report.finished.seconds)
                verdict, message = self._build_verdict(report)
                if verdict is Verdict.COMPILED and not self.compile_only and (problem := keep_extensions(folder)):
                    verdict, message = Verdict.COMPILE_ERROR, problem
            except (SandboxError, OSError) as error:
                return Built(infra_error(str(error)))
            continues = verdict is Verdict.COMPILED and not self.compile_only
            if continues:
                self._folders[folder] = stack.pop_all()
        judgement = Judgement(
            verdict,
            message=shorten(message),
            compiled=verdict is Verdict.COMPILED,
            compile_s=report.finished.seconds,
            flags=tuple(source_flags(code)),
            overhead_s=clock.own(),
        )
        return Built(judgement, folder if continues else None)

    def prepare(self, task: ModuleTask) -> Reference:
        """Inputs and outputs are made later: they may need the GPU that `execute` leases."""
        return Reference(self.worker, task, self.seeds)

    def discard(self, built: Built) -> None:
        """Remove what `build` left; call it when an answer is judged."""
        stack = self._folders.pop(built.product, None) if built.product else None
        if stack:
            stack.close()

    def release(self, prepared: Reference) -> None:
        """Remove inputs and outputs of a task; call it when its last answer is judged."""
        prepared.close()

    def execute(self, task: ModuleTask, built: Built, prepared: Reference) -> Judgement:
        clock = Clock()
        try:
            with clock.waiting(self.gpus.lease() if self.gpus else nullcontext()) as gpu:
                with clock.excluded():
                    prepared.inputs(gpu)
                judgement = self._judge(built, prepared, gpu, clock)
            if self.gpus and self.gpus.per_gpu > 1 and not judgement.passed and not judgement.infra:
                # Others may have taken the memory or the time.
                with clock.waiting(self.gpus.lease(gpu, alone=True)) as gpu:
                    judgement = self._judge(built, prepared, gpu, clock)
        except NoGpuLeft:
            raise
        except (OracleError, SandboxError, OSError) as error:
            judgement = infra_error(str(error), built.judgement)
        return replace(judgement, overhead_s=built.judgement.overhead_s + clock.own())

    def _judge(self, built: Built, reference: Reference, gpu: Gpu | None, clock: Clock) -> Judgement:
        again = in_place(self.seeds, reference.permuted(gpu))
        request = {"action": "forward", "seeds": [str(seed) for seed in range(self.seeds)], "again": again}
        known, report = self._run(built, request, reference, gpu, clock, built.judgement)
        known = replace(known, run_s=report.finished.seconds)
        if not report.done:
            return self._failed(known, report, gpu)
        with clock.excluded():
            expected = reference.expected(gpu)
        about_task = [flag for flag, holds in ((CONSTANT, expected.constant), (STATEFUL, expected.stateful)) if holds]
        calls = compared_calls(self.seeds, () if expected.stateful else again)
        verdict, message, cases = compare_run(report, calls, expected)
        known = replace(
            known, verdict=verdict, message=shorten(message), cases=cases, flags=(*known.flags, *about_task)
        )
        if verdict is not Verdict.PASSED:
            return replace(known, case=cases[-1].name)
        if self.device == "cuda":
            return self._time(built, reference, gpu, known, clock)
        return self._timed(built, reference, gpu, known, clock)[0]

    def _run(
        self,
        built: Built,
        request: dict[str, Any],
        reference: Reference,
        gpu: Gpu | None,
        clock: Clock,
        known: Judgement,
    ) -> tuple[Judgement, Report]:
        """A run of the answer, and what was known of it with the flags of this run."""
        report = self.worker.run(built.product, {"model": "ModelNew", **request}, reference.inputs(gpu), gpu)
        clock.exclude(report.finished.seconds)
        flags = dict.fromkeys((*known.flags, *report.record.get("flags", ())))
        return replace(known, flags=tuple(flags)), report

    def _timed(
        self, built: Built, reference: Reference, gpu: Gpu | None, known: Judgement, clock: Clock
    ) -> tuple[Judgement, Report]:
        """The timed run, and the answer after it: what was right has to be right again."""
        request = {"action": "time", "seeds": POOL, "unseen": unseen(self.seeds)}
        if self.device != "cuda":
            request["trials"] = 0  # the fewest: the times are not used
        known, report = self._run(built, request, reference, gpu, clock, known)
        if not report.done:
            return self._failed(known, report, gpu), report
        calls = timed_calls(self.seeds)
        labels = {call.label for call in calls}
        if set(report.record["outputs"]) != labels or not report.record["times"] or not report.record["unseen"]:
            failed = replace(known, verdict=Verdict.RUNTIME_ERROR, message="the timed run did not save its outputs")
            return failed, report
        expected = reference.expected(gpu)
        verdict, message, cases = compare_run(report, [] if expected.stateful else calls, expected)
        if verdict is Verdict.PASSED:
            return known, report
        message = shorten(f"right at first, wrong when run again: {message}")
        return replace(known, verdict=verdict, message=message, case=cases[-1].name if cases else None), report

    def _time(self, built: Built, reference: Reference, gpu: Gpu | None, known: Judgement, clock: Clock) -> Judgement:
        """Speed-up by the medians; the reference is timed before and after, in processes of its own, and nothing is built meanwhile."""
        with clock.waiting(self._turns.timing()):
            with clock.excluded():
                before = reference.time(gpu)
            known, report = self._timed(built, reference, gpu, known, clock)
            if not known.passed:
                return known
            with clock.excluded():
                after = reference.time(gpu)
        kernel, flags = kernel_time(report.record)
        if max(before, after) > 1.2 * min(before, after):
            flags.append(f"the reference took {before:.3g} s before and {after:.3g} s after: times are not steady")
        mean = (before + after) / 2
        speedup = mean / kernel if kernel > 0 else None
        if speedup is None or speedup > SUSPICIOUS_SPEEDUP:
            flags.append(f"speed-up over {SUSPICIOUS_SPEEDUP:g}x")
        flags = tuple(dict.fromkeys((*known.flags, *flags)))
        return replace(known, speedup=speedup, reference_s=mean, kernel_s=kernel, flags=flags)

    def _build_verdict(self, report: Report) -> tuple[Verdict, str]:
        if report.finished.stopped == "wall":
            return Verdict.COMPILE_TIMEOUT, f"not imported within {self.build_limits.wall_s:g} s"
        if report.done:
            return Verdict.COMPILED, ""
        if report.error is None:
            return Verdict.COMPILE_ERROR, f"importing it ended the process: {report.first_error}"
        if report.record.get("stage") == "start":
            return Verdict.INFRA_ERROR, f"torch cannot be imported in the sandbox: {report.error['message']}"
        if self.device == "cuda" and not report.build_failed and report.needs_gpu:
            return Verdict.COMPILED, ""  # it asks for a GPU while it is imported: whether it builds is seen there
        return Verdict.COMPILE_ERROR, report.first_error

    def _failed(self, known: Judgement, report: Report, gpu: Gpu | None) -> Judgement:
        """The verdict on an answer whose process did not come to its end."""
        finished, error = report.finished, report.error
        text = finished.stdout + finished.stderr + (error["message"] if error else "")
        look = gpu and self.gpus and (finished.stopped == "wall" or is_suspicious(text))
        if look and (lost := self.gpus.is_lost(gpu)):
            return infra_error(lost, known)
        if finished.stopped == "wall":
            return replace(known, verdict=Verdict.TIMEOUT, message=f"not done within {self.limits.wall_s:g} s")
        known = replace(known, verdict=Verdict.RUNTIME_ERROR, message=shorten(report.first_error))
        if error and (report.record.get("stage") == "import" or report.build_failed):
            return replace(known, verdict=Verdict.COMPILE_ERROR, compiled=False)
        return replace(known, verdict=Verdict.MISMATCH) if error and error["type"] == "Problem" else known


def kernel_time(record: Mapping[str, Any]) -> tuple[float, list[str]]:
    """Seconds of a call by a timed run's report, and what is suspicious about them."""
    flags = []
    kernel, late = median(record["times"]), median(record["late"])
    new, new_late = (unseen_time(record[name], record["unseen"]) for name in ("times", "late"))
    if new is not None or new_late is not None:
        flags.append("slower on inputs it has not seen, as if it kept results: timed on those alone")
        kernel, late = new or kernel, new_late or late
    if late > 1.5 * kernel + 1e-4:
        flags.append("work goes on after the timed stream is done: timed until the device is idle")
        kernel = late
    wall = wall_time(record["walls"], record["idle"])
    if wall > 1.25 * kernel + 3e-5:
        flags.append("the clock on the wall says more than the events, as if they were changed: timed by it")
        kernel = wall
    kept, whole = median(record["kept"]), median(record["walls"])
    if kept > 0.1 * whole:
        flags.append(
            f"other programs had its processor for {kept:.3g} s of a call's {whole:.3g} s: times may be too long"
        )
    return kernel, flags


def wall_time(walls: Sequence[float], idle: Sequence[float]) -> float:
    """Seconds of a call by the clock, without what a call of nothing takes.

    The device is idle when a call begins and again when it ends, so that launches count in its events as they do here.
    """
    return median(walls) - median(idle)


def unseen_time(times: Sequence[float], unseen_at: Sequence[int]) -> float | None:
    """Median of the calls with inputs never seen before, in seconds, where it says that results are kept; else None.

    It has to be above the median of all calls and that of the other early ones: a device may only be warming up.
    """
    early = [time for i, time in enumerate(times[: max(EARLY, 1 + min(unseen_at))]) if i not in unseen_at]
    usual = max(median(times), median(early or times))
    new = median(times[i] for i in unseen_at)
    return new if new > 1.5 * usual + 3e-6 else None
