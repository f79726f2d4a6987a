"""One answer on one device: called, compared with the reference, and on a GPU timed against it.

The order matters. The reference says what is right for the first contents while no answer runs. Then the answer is loaded; only then the
contents of its timed calls are drawn. The reference is timed when the answer's process is dead, which could else slow the GPU down
meanwhile, or take all of its memory; so is a module that does nothing: what a call takes beside the module.
"""

import functools
import hashlib
import math
import random
import secrets
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from statistics import median
from typing import Any

from ...files import file_lock
from ...sandbox import Gpu, Verdict, scratch_folder
from ...sandbox.folders import cache_root
from ...tasks import ModuleTask
from ...text import shorten
from ..closeness import element_at
from ..gpu_activity import Activity, Counted, Recorder, counting
from ..gpu_work import TENSOR, calls_of, counted_opinion, second_opinion
from ..judgement import Built, CaseResult, Clock, Judgement, infra_error
from ..oracle import OracleError
from .precision import lower_precision
from .session import Call, Content, Module, ModuleFailed, Saved


FRESH = 2  # calls in tensors of their own, before those that are all given the same tensors with other values
EXACT = 2  # timed calls whose precision is looked at
FEWEST = 5  # timed calls
WARM = 2  # calls of the reference, before the answer is timed, that do not count
BEFORE = 15  # those after them that do, at most
KEY_BYTES = 32
KEPT_BYTES = 16 << 30  # of timed calls, after which no further one is made
MORE_BYTES = 64 << 20  # that outputs of a timed call may have beyond twice those of the calls before
SUSPICIOUS_SPEEDUP = 10.0
STEADY = 1.2  # times that the reference may differ by before and after
SURE = 3.0  # standard errors that a time has to be away from nothing
CONSTANT = (
    "task: the reference returns the same for all seeds, within the tolerance: a kept result or a constant passes"
)
LOWER = "lower_precision: the outputs err as those of TF32, half or bfloat16 do, so no speed-up"
UNSTEADY = f"no speed-up: times are not steady, the reference took {STEADY:g} times as long before or after"
NOISE = "no speed-up: the time is not told apart from that of a call of nothing"
NO_FLOAT64 = "task: the reference does not run in float64: a lower precision is not looked for"


@dataclass(frozen=True)
class Asked:
    """A call that is made of the answer and of the reference. seed: for what the module itself draws."""

    name: str
    content: Content
    seed: int
    fresh: bool
    folder: Path

    def of(self, module: Module, who: str, *, use: str = "model", **more: Any) -> Call:
        call = module.call(self.content, self.seed, use=use, fresh=self.fresh)
        return module.outputs(call, self.folder / who, **more)


@dataclass
class Trial:
    """A built answer on a device; `known` is what is known of it so far. Raises OracleError when the reference fails.

    runner: the ModuleJudge, which holds modules. first: the calls that are compared before any is timed, with the reference's. most: bytes that a call may return.
    """

    runner: Any
    task: ModuleTask
    built: Built
    gpu: Gpu | None
    clock: Clock
    seed: int
    known: Judgement = field(init=False)
    counts: dict[str, Counted | None] = field(default_factory=dict, init=False)  # by NVML, over all timed calls
    expected: dict[str, Call] = field(default_factory=dict, init=False)  # of timed calls

    def judge(self) -> Judgement:
        self.known = self.built.judgement
        with scratch_folder() as self.files, self.runner.reference(self.task, self.gpu) as self.right:
            with self.clock.excluded():
                self.init = self.right.draw(None, self.files / "init")
                self.right.build("Model", self.init, double=True)
                asked = [self.draw(number) for number in range(self.runner.seeds)]
                expected = [one.of(self.right, "expected") for one in asked]
            if all(_alike(expected[0].outputs, call.outputs) for call in expected[1:]):
                self.note([CONSTANT])
            self.first = list(zip(asked, expected, strict=True))
            self.most = 2 * max(sum(saved.bytes for saved in call.outputs) for call in expected) + MORE_BYTES
            with self.clock.waiting(self.runner.turns.timing() if self.gpu else nullcontext()):
                with self.clock.excluded():
                    self.earlier = self.time_before(*self.first[-1])
                self.try_answer()
        return self.known

    def try_answer(self) -> None:
        try:
            with self.runner.hold(self.built.product, self.gpu) as answer:
                try:
                    found = self.call_first(answer)
                    timed = self.call_timed(answer, found) if self.known.passed else []
                finally:
                    self.clock.exclude(answer.waited)
                    self.note(run_s=answer.waited)
        except ModuleFailed as failed:
            self.failed(failed)
            return
        with self.clock.excluded():
            times = self.compare_timed(timed)
        if not self.known.passed:
            return
        if self.gpu:
            self.note(**speed(self.earlier, *times))
            if all(counted := [self.counts[who] for who in ("nothing", "reference", "answer")]):
                self.note(**counted_opinion(*counted, len(timed), self.known.kernel_s))
        with self.clock.excluded():
            self.look_at_precision(timed, strictly=TENSOR in self.known.flags)
        if self.gpu and self.runner.recorder:
            with self.clock.excluded():
                self.ask_the_gpu(self.runner.recorder)

    def draw(self, number: int, name: str = "call {}") -> Asked:
        """The arguments of call `number`, new ones."""

        def seed(what: str) -> int:
            text = f"{self.seed} {self.task.id} {number} {what}"
            return int.from_bytes(hashlib.blake2s(text.encode(), digest_size=8, key=key).digest(), "big") >> 1

        key, folder = _key(cache_root()), self.files / str(number)
        content = self.right.draw(seed("content"), folder / "given")
        return Asked(name.format(number), content, seed("call"), number < FRESH, folder)

    def time_nothing(self, one: Asked) -> float:
        """Seconds of a call in which the reference does nothing."""
        seconds = self.right.call(one.content, one.seed, use="nothing").seconds
        self.right.ask("inputs")  # as with outputs
        return seconds

    def time_before(self, one: Asked, right: Call) -> float:
        """Seconds of a call of the reference, without what a call of nothing takes, before the answer is called.

        Done as in `compare_timed`, as what lies between two calls changes their time, and several times, as single calls of a small module
        differ by more than STEADY. The model itself is called as often as the answer: this is a copy.
        """
        times, begin = [], time.monotonic()
        for number in range(WARM + (BEFORE if self.gpu else 1)):
            if number >= WARM + FEWEST and time.monotonic() - begin > self.runner.budget_s / 8:
                break
            found = one.of(self.right, "before", use="copy")
            compare_call(one.name, right, found)
            rmtree(one.folder / "before")
            times.append(found.seconds)
        times = times[WARM:]
        return _apart([self.time_nothing(one) for _ in times], times)

    def call_first(self, answer: Module) -> list[Call]:
        """The calls that are compared as they come, up to the first that is wrong."""
        answer.find("ModelNew")
        answer.build("ModelNew", self.init)
        found = []
        for one, right in self.first:
            found.append(one.of(answer, "found", most_bytes=self.most))
            self.compare(one, right, found[-1])
            if not self.known.passed:
                break
        return found

    def call_timed(self, answer: Module, first: Sequence[Call]) -> list[tuple[Asked, Call]]:
        """The calls that are compared when the answer's process is gone."""
        asked, calls, kept, begin = [], [], 0, time.monotonic()
        # All contents first: nothing but the answer is to work while the GPU's counters run.
        with self.clock.excluded():
            for number in range(max(FEWEST, self.runner.trials if self.gpu else 0)):
                if number >= FEWEST and (kept > KEPT_BYTES or time.monotonic() - begin > self.runner.budget_s):
                    break
                asked.append(self.draw(self.runner.seeds + number, "call {}, timed"))
                kept += sum(saved.bytes for saved in asked[-1].content.tensors)
        begin = time.monotonic()
        with counting(self.gpu) as counted:
            for one in asked:
                if len(calls) >= FEWEST and (kept > KEPT_BYTES or time.monotonic() - begin > self.runner.budget_s):
                    break
                calls.append((one, one.of(answer, "found", most_bytes=self.most)))
                kept += sum(saved.bytes for saved in calls[-1][1].outputs)
            self.counts["answer"] = counted()
        if answer.earlier() != [call.digest.hex() for call in first[:FRESH]]:
            self.note(verdict=Verdict.MISMATCH, message="a later call overwrote what an earlier one returned")
        return calls

    def compare_timed(self, timed: Sequence[tuple[Asked, Call]]) -> tuple[list[float], list[float], list[float]]:
        """Compare the outputs of timed calls with the reference. Returns seconds of calls of nothing, of the reference and of the answer."""
        reference = []
        with counting(self.gpu) as counted:
            for one, found in timed:
                right = self.expected[one.name] = one.of(self.right, "expected")
                reference.append(right.seconds)
                if self.known.passed:
                    self.compare(one, right, found)
            self.counts["reference"] = counted()
        with counting(self.gpu) as counted:
            nothing = [self.time_nothing(one) for one, _ in timed]
            self.counts["nothing"] = counted()
        return nothing, reference, [found.seconds for _, found in timed]

    def look_at_precision(self, timed: Sequence[tuple[Asked, Call]], *, strictly: bool) -> None:
        """Check the precision of some timed calls, which the answer cannot foresee. All of them have been compared with the reference."""
        for one, found in random.SystemRandom().sample(timed, EXACT):
            exact = one.of(self.right, "exact", use="double").outputs
            if not exact:
                self.note([NO_FLOAT64])
            if lower := lower_precision(exact, self.expected[one.name].outputs, found.outputs, strictly=strictly):
                self.note([LOWER], message=lower, speedup=None)
                break

    def ask_the_gpu(self, recorder: Recorder) -> None:
        """The second opinion on an answer that is right; none where the reference's calls cannot be recorded either. An answer can tell that
        its calls are recorded, so they have to be right as well: else other kernels could run in the calls that are timed."""

        def calls(module: Module, model: str) -> list[Activity] | None:
            module.build(model, self.init)
            right = True
            for one, call in self.first:
                found = one.of(module, f"recorded {model}", most_bytes=self.most)
                right = right and not compare_call(one.name, call, found)[1]
            return calls_of(module.leave(), len(self.first)) if right else None

        recorded, name = self.runner.recorded, self.task.fingerprint
        if name not in recorded:
            recorded[name] = None
            with suppress(OracleError), self.runner.reference(self.task, self.gpu, recorder) as right:
                recorded[name] = calls(right, "Model")
        if (own := recorded[name]) is not None:
            try:
                with self.runner.hold(self.built.product, self.gpu, recorder=recorder) as answer:
                    answer.find("ModelNew")
                    found = calls(answer, "ModelNew")
            except ModuleFailed:
                found = None
            self.note(**second_opinion(found, own, self.known.kernel_s))

    def compare(self, one: Asked, right: Call, found: Call) -> None:
        case, message = compare_call(one.name, right, found)
        cases = (*self.known.cases, case)
        self.note(cases=cases, verdict=case.verdict, message=shorten(f"{one.name}: {message}" if message else ""))
        if message:
            self.note(case=one.name)

    def note(self, flags: Iterable[str] = (), **changes: Any) -> None:
        """Update the judgement with these changes and add flags to it."""
        self.known = replace(self.known, flags=tuple(dict.fromkeys((*self.known.flags, *flags))), **changes)

    def failed(self, failed: ModuleFailed) -> None:
        """The verdict on an answer whose process did not do what was asked of it."""
        said, line = failed.error.get("message", ""), shorten(failed.first_line)
        if failed.before:
            self.known = infra_error(f"torch cannot be imported in the sandbox: {line}", self.known)
        elif self.gpu and self.runner.gpus and (lost := self.runner.gpus.blame(self.gpu, failed.finished, said)):
            self.known = infra_error(lost, self.known)
        elif failed.late:
            self.note(verdict=Verdict.TIMEOUT, message=f"not done within {self.runner.limits.wall_s:g} s")
        elif (failed.doing == "find" and failed.error) or failed.build_failed:
            self.note(verdict=Verdict.COMPILE_ERROR, message=line, compiled=False)
        else:
            wrong = failed.error.get("type") == "Problem"
            self.note(verdict=Verdict.MISMATCH if wrong else Verdict.RUNTIME_ERROR, message=line)


@functools.cache
def _key(cache: Path) -> bytes:
    """What inputs are drawn from beside the seed: 32 bytes that no answer can read, drawn once for each cache. An answer could guess a seed
    that somebody has given, or read it on the judge's command line (Landlock), and compute ahead."""
    path = cache / "inputs.key"
    with file_lock(path):
        if path.stat().st_size != KEY_BYTES:
            path.write_bytes(secrets.token_bytes(KEY_BYTES))
        return path.read_bytes()


def _alike(one: Sequence[Saved], other: Sequence[Saved]) -> bool:
    """True if the outputs of two calls would pass for each other."""
    parts = [[(row.dtype, row.shape) for row in rows] for rows in (one, other)]
    return parts[0] == parts[1] and all(a.distance(b.path).close for a, b in zip(one, other, strict=True))


def compare_call(name: str, right: Call, found: Call) -> tuple[CaseResult, str]:
    """The result of one call, up to the first output that differs, and what is wrong ("": nothing)."""
    worst: list[float | None] = [None, None]  # absolute and relative

    def result(message: str = "") -> tuple[CaseResult, str]:
        return CaseResult(name, Verdict.MISMATCH if message else Verdict.PASSED, found.seconds, *worst), message

    if len(found.outputs) != len(right.outputs):
        return result(f"returns {len(found.outputs)} tensors, expected {len(right.outputs)}")
    for row, got in zip(right.outputs, found.outputs, strict=True):
        if (got.dtype, got.shape) != (row.dtype, row.shape):
            return result(f"{row.name} is {got.dtype} {got.shape}, expected {row.dtype} {row.shape}")
    worst = [0.0, 0.0]
    for row, got in zip(right.outputs, found.outputs, strict=True):
        off = row.distance(got.path)
        worst = [max(worst[0], off.max_abs), max(worst[1], off.max_rel)]
        if not off.close:
            dtype = row.dtype.removeprefix("torch.")
            index, expected, actual = element_at(off.first_wrong, row.shape, row.path, got.path, dtype)
            return result(
                f"{row.name}{list(index)} is {actual}, expected {expected}; "
                f"largest error {off.max_abs:.6g}, relative {off.max_rel:.6g}"
            )
    if found.inputs != right.inputs:
        changed = [n for n, (one, other) in enumerate(zip(right.inputs, found.inputs, strict=False)) if one != other]
        return result(f"leaves other values in its inputs {changed} than the reference does")
    return result()


def _apart(nothing: Sequence[float], times: Sequence[float]) -> float:
    """Seconds of a module's calls beside those of a module that does nothing."""
    return median(times) - median(nothing)


def speed(
    earlier: float, nothing: Sequence[float], reference: Sequence[float], answer: Sequence[float]
) -> dict[str, Any]:
    """speedup, reference_s, kernel_s and flags by the seconds of timed calls. No speed-up where noise could make it, or where the
    reference took another time before the answer's calls than after them.

    What a call takes beside the module is that of a module that does nothing, and taken off both. earlier: seconds of the reference
    without that, before the answer was called.
    """
    own, its = _apart(nothing, reference), _apart(nothing, answer)
    sure = SURE * math.hypot(_error(nothing), max(_error(reference), _error(answer)))
    if min(own, its) <= sure:
        said = f"{own:.3g} s for the reference and {its:.3g} s for the answer, beside {median(nothing):.3g} s of a call (± {sure:.2g} s)"
        return {"flags": [NOISE], "message": said}
    if max(earlier, own) > STEADY * min(earlier, own):  # an answer may have slowed it down, or others use the GPU
        said = f"the reference took {earlier:.3g} s before the answer's calls and {own:.3g} s after them"
        return {"flags": [UNSTEADY], "message": said}
    flags = [f"speed-up over {SUSPICIOUS_SPEEDUP:g}x"] if own / its > SUSPICIOUS_SPEEDUP else []
    return {"flags": flags, "speedup": own / its, "reference_s": own, "kernel_s": its}


def _error(times: Sequence[float]) -> float:
    """The standard error of the median, by the median absolute deviation."""
    middle = median(times)
    return 1.2533 * 1.4826 * median(abs(time - middle) for time in times) / math.sqrt(len(times))
