"""One answer on one device: run, compared with the reference, and on a GPU timed against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from ...sandbox import Gpu, Verdict
from ...text import shorten
from ..judgement import Built, Clock, Judgement, infra_error
from .calls import POOL, compare_run, fresh, unseen
from .reference import Reference
from .runs import Report, Worker


SUSPICIOUS_SPEEDUP = 10.0
EARLY = 10  # timed calls
CONSTANT = (
    "task: the reference returns the same for all seeds, within the tolerance: a kept result or a constant passes"
)
STATEFUL = "task: the reference's outputs depend on earlier calls: only first calls are compared, no timed ones"


@dataclass
class Trial:
    """Runs of a built answer; `known` is what is known of it so far."""

    worker: Worker
    built: Built
    reference: Reference
    gpu: Gpu | None
    clock: Clock

    def __post_init__(self) -> None:
        self.known = self.built.judgement

    def judge(self) -> Judgement:
        again = self.reference.again(self.gpu)
        report = self.run({"action": "forward", "seeds": fresh(self.worker.seeds), "again": again})
        self.note(run_s=report.finished.seconds)
        if not report.done:
            return self.failed(report)
        with self.clock.excluded():
            expected = self.reference.expected(self.gpu)
        about_task = [flag for flag, holds in ((CONSTANT, expected.constant), (STATEFUL, expected.stateful)) if holds]
        labels = [*fresh(self.worker.seeds), *(f"again-{name}" for name in again if not expected.stateful)]
        verdict, message, cases = compare_run(report, labels, expected)
        self.note(about_task, verdict=verdict, message=shorten(message), cases=cases)
        if verdict is not Verdict.PASSED:
            return self.note(case=cases[-1].name)
        if self.worker.device == "cuda":
            return self.time()
        self.run_timed()
        return self.known

    def note(self, flags: Sequence[str] = (), **changes: Any) -> Judgement:
        """What is known with these changes and further flags."""
        self.known = replace(self.known, flags=tuple(dict.fromkeys((*self.known.flags, *flags))), **changes)
        return self.known

    def run(self, request: Mapping[str, Any]) -> Report:
        given = self.reference.inputs(self.gpu)
        report = self.worker.run(self.built.product, {"model": "ModelNew", **request}, given, self.gpu)
        self.clock.exclude(report.finished.seconds)
        self.note(report.record.get("flags", ()))
        return report

    def run_timed(self) -> Report:
        """The timed run, and the answer after it: what was right has to be right again."""
        names = unseen(self.worker.seeds)
        report = self.run({"action": "time", "seeds": POOL, "unseen": names})
        if not report.done:
            self.failed(report)
            return report
        labels = [f"timed-{name}" for name in (*POOL, *names)]
        if set(report.record["outputs"]) != set(labels) or not report.record["times"] or not report.record["unseen"]:
            self.note(verdict=Verdict.RUNTIME_ERROR, message="the timed run did not save its outputs")
            return report
        expected = self.reference.expected(self.gpu)
        verdict, message, cases = compare_run(report, [] if expected.stateful else labels, expected)
        if verdict is not Verdict.PASSED:
            message = shorten(f"right at first, wrong when run again: {message}")
            self.note(verdict=verdict, message=message, case=cases[-1].name if cases else None)
        return report

    def time(self) -> Judgement:
        """Speed-up by the medians; the reference is timed before and after, in processes of its own, and nothing is built meanwhile."""
        with self.clock.waiting(self.worker.turns.timing()):
            with self.clock.excluded():
                before = self.reference.time(self.gpu)
            report = self.run_timed()
            if not self.known.passed:
                return self.known
            with self.clock.excluded():
                after = self.reference.time(self.gpu)
        kernel, flags = kernel_time(report.record)
        if max(before, after) > 1.2 * min(before, after):
            flags.append(f"the reference took {before:.3g} s before and {after:.3g} s after: times are not steady")
        mean = (before + after) / 2
        speedup = mean / kernel if kernel > 0 else None
        if speedup is None or speedup > SUSPICIOUS_SPEEDUP:
            flags.append(f"speed-up over {SUSPICIOUS_SPEEDUP:g}x")
        return self.note(flags, speedup=speedup, reference_s=mean, kernel_s=kernel)

    def failed(self, report: Report) -> Judgement:
        """The verdict on an answer whose process did not come to its end."""
        finished, error = report.finished, report.error
        said = error["message"] if error else ""
        if self.gpu and self.worker.gpus and (lost := self.worker.gpus.blame(self.gpu, finished, said)):
            self.known = infra_error(lost, self.known)
        elif finished.stopped == "wall":
            self.note(verdict=Verdict.TIMEOUT, message=f"not done within {self.worker.limits.wall_s:g} s")
        elif error and (report.record.get("stage") == "import" or report.build_failed):
            self.note(verdict=Verdict.COMPILE_ERROR, message=shorten(report.first_error), compiled=False)
        else:
            wrong = error and error["type"] == "Problem"
            verdict = Verdict.MISMATCH if wrong else Verdict.RUNTIME_ERROR
            self.note(verdict=verdict, message=shorten(report.first_error))
        return self.known


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
    # The device is idle when a call begins and again when it ends: launches count in its events as on the wall.
    wall = median(record["walls"]) - median(record["idle"])
    if wall > 1.25 * kernel + 3e-5:
        flags.append("the clock on the wall says more than the events, as if they were changed: timed by it")
        kernel = wall
    return kernel, flags


def unseen_time(times: Sequence[float], unseen_at: Sequence[int]) -> float | None:
    """Median of the calls with inputs never seen before, in seconds, where it says that results are kept; else None.

    It has to be above the median of all calls and that of the other early ones: a device may only be warming up.
    """
    early = [time for i, time in enumerate(times[: max(EARLY, 1 + min(unseen_at))]) if i not in unseen_at]
    usual = max(median(times), median(early or times))
    new = median(times[i] for i in unseen_at)
    return new if new > 1.5 * usual + 3e-6 else None
