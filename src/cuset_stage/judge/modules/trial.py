"""Call an answer on one device, compare it with the reference, and time it against the reference on a GPU.

The order matters:

1. The reference computes the right outputs for the first inputs. The answer's process imports torch meanwhile.
2. The answer is loaded. Only then are the inputs of its timed calls drawn.
3. The reference is timed after the answer's process has ended. Otherwise this process could slow the GPU down or take
   all of its memory. A call that does nothing is timed then as well: this is the time that a call takes beside the
   module.
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
from .session import Call, Content, Module, ModuleFailed


FRESH = 2  # first calls with input tensors of their own; later calls reuse the same tensors with other values
EXACT = 2  # number of timed calls whose precision is checked
FEWEST = 5  # minimum number of timed calls
WARM = 2  # warm-up calls of the reference in `time_before`; their times do not count
BEFORE = 15  # maximum number of calls after the warm-up, whose times count
KEY_BYTES = 32
KEPT_BYTES = 16 << 30  # when the inputs and outputs of timed calls exceed this, no further call is made
MORE_BYTES = 64 << 20  # a call may return this much more than twice the largest output of the reference's first calls
SUSPICIOUS_SPEEDUP = 10.0
STEADY = 1.2  # maximum ratio between the reference's times before and after the answer's calls
SURE = 3.0  # a time must exceed that of a call of nothing by more than this many standard errors
CONSTANT = (
    "task: the reference returns the same for all seeds, within the tolerance: a kept result or a constant passes"
)
LOWER = "lower_precision: the outputs err as those of TF32, half or bfloat16 do, so no speed-up"
UNSTEADY = f"no speed-up: times are not steady, the reference took {STEADY:g} times as long before or after"
NOISE = "no speed-up: the time is not told apart from that of a call of nothing"
NO_FLOAT64 = "task: the reference does not run in float64: a lower precision is not looked for"


@dataclass(frozen=True)
class Asked:
    """A call to make, of the answer and of the reference.

    Attributes:
        name: Its name in messages.
        content: The arguments.
        seed: Seed for the random numbers that the module itself draws.
        fresh: Whether the inputs are put into new tensors.
        folder: Folder for its inputs and outputs.
    """

    name: str
    content: Content
    seed: int
    fresh: bool
    folder: Path

    def of(self, module: Module, who: str, *, use: str = "model", **more: Any) -> Call:
        """Make this call of a module, and save its outputs in `folder/who`.

        `use` is that of `Held.call` in worker.py, and `more` goes to `Module.outputs`.
        """
        call = module.call(self.content, self.seed, use=use, fresh=self.fresh)
        return module.outputs(call, self.folder / who, **more)


@dataclass
class Trial:
    """The trial of a built answer on one device. `judge` runs it.

    Attributes:
        runner: The ModuleJudge, which starts the processes of modules.
        task: The task.
        built: The built answer.
        gpu: The GPU, or None on the CPU.
        clock: Measures the judge's own time.
        seed: Seed of all inputs.
        known: The judgement so far.
        counts: "answer", "reference" and "nothing" -> NVML counters over all of their timed calls.
        expected: Name of a timed call -> the reference's call.
        files: Scratch folder for inputs and outputs.
        right: The reference's process.
        init: Arguments of the constructors.
        first: The calls that are compared before any call is timed, each with the reference's call.
        most: Maximum number of bytes that a call may return.
        earlier: Seconds of a call of the reference before the answer runs (`time_before`).

    Raises:
        OracleError: Raised by the methods if the reference fails.
    """

    runner: Any
    task: ModuleTask
    built: Built
    gpu: Gpu | None
    clock: Clock
    seed: int
    known: Judgement = field(init=False)
    counts: dict[str, Counted | None] = field(default_factory=dict, init=False)
    expected: dict[str, Call] = field(default_factory=dict, init=False)

    def judge(self) -> Judgement:
        """Run the trial and return the judgement."""
        self.known = self.built.judgement
        with (
            scratch_folder() as self.files,
            self.runner.hold(self.built.product, self.gpu) as answer,
            self.runner.reference(self.task, self.gpu) as self.right,
        ):
            with self.clock.excluded():
                self.init = self.right.draw(None, self.files / "init")
                self.right.build("Model", self.init, double=True)
                requests = [self.draw(number) for number in range(self.runner.seeds)]
                expected = [request.of(self.right, "expected") for request in requests]
            # Without regard to their inputs: do the outputs of all calls pass as those of the first?
            same_inputs = [replace(call, inputs=expected[0].inputs) for call in expected[1:]]
            if not any(compare_call("", expected[0], call)[1] for call in same_inputs):
                self.note([CONSTANT])
            self.first = list(zip(requests, expected, strict=True))
            self.most = 2 * max(sum(saved.bytes for saved in call.outputs) for call in expected) + MORE_BYTES
            with self.clock.waiting(self.runner.turns.timing() if self.gpu else nullcontext()):
                with self.clock.excluded():
                    self.earlier = self.time_before(*self.first[-1])
                timed = self.call_answer(answer)
                with self.clock.excluded():
                    times = self.compare_timed(timed)
            if self.known.passed:
                self.look_closer(timed, *times)
        return self.known

    def call_answer(self, answer: Module) -> list[tuple[Asked, Call]]:
        """Load and call the answer, and end its process. Return its timed calls, none if an earlier one was wrong."""
        try:
            try:
                first_calls = self.call_first(answer)
                return self.call_timed(answer, first_calls) if self.known.passed else []
            finally:
                answer.end()
                self.clock.exclude(answer.waited)
                self.note(run_s=answer.waited)
        except ModuleFailed as failed:
            self.failed(failed)
            return []

    def look_closer(self, timed: Sequence[tuple[Asked, Call]], *times: list[float]) -> None:
        """Say how fast a right answer is, in which precision it computes, and what the GPU did for it.

        `times` are those that `compare_timed` returns.
        """
        if self.gpu:
            self.note(**speed(self.earlier, *times))
            if all(counted := [self.counts[who] for who in ("nothing", "reference", "answer")]):
                self.note(**counted_opinion(*counted, len(timed), self.known.kernel_s))
        with self.clock.excluded():
            self.look_at_precision(timed)
            if self.gpu and self.runner.recorder:
                with self.runner.turns.building():
                    self.ask_the_gpu(self.runner.recorder)

    def draw(self, number: int, name: str = "call {}") -> Asked:
        """Draw new arguments for call number `number`. `name` is the pattern of the call's name."""

        def seed(what: str) -> int:
            text = f"{self.seed} {self.task.id} {number} {what}"
            return int.from_bytes(hashlib.blake2s(text.encode(), digest_size=8, key=key).digest(), "big") >> 1

        key, folder = _key(cache_root()), self.files / str(number)
        content = self.right.draw(seed("content"), folder / "given")
        return Asked(name.format(number), content, seed("call"), number < FRESH, folder)

    def time_nothing(self, one: Asked) -> float:
        """Return the seconds of a call that does nothing, made of the reference's process."""
        seconds = self.right.call(one.content, one.seed, use="nothing").seconds
        self.right.ask("inputs")  # between two calls, do the same as after a call with outputs
        return seconds

    def time_before(self, one: Asked, right: Call) -> float:
        """Time the reference's call `right` before the answer is called.

        The calls are made in the same way as in `compare_timed`, because what happens between two calls changes their
        time. Several calls are made, because single calls of a small module differ by more than `STEADY`. A copy of
        the model is called, so that the model itself is called as often as the answer.

        Returns:
            Seconds of a call of the reference, without the time of a call that does nothing.
        """
        times, begin = [], time.monotonic()
        for number in range(WARM + (BEFORE if self.gpu else 1)):
            if number >= WARM + FEWEST and time.monotonic() - begin > self.runner.budget_s / 8:
                break
            call = one.of(self.right, "before", use="copy")
            compare_call(one.name, right, call)
            rmtree(one.folder / "before")
            times.append(call.seconds)
        times = times[WARM:]
        return median(times) - median(self.time_nothing(one) for _ in times)

    def call_first(self, answer: Module) -> list[Call]:
        """Load the answer and make the first calls. Compare each at once, and stop at the first that is wrong."""
        answer.find("ModelNew")
        answer.build("ModelNew", self.init)
        calls = []
        for request, right in self.first:
            calls.append(request.of(answer, "found", most_bytes=self.most))
            self.compare(request, right, calls[-1])
            if not self.known.passed:
                break
        return calls

    def call_timed(self, answer: Module, first: Sequence[Call]) -> list[tuple[Asked, Call]]:
        """Make the timed calls of the answer. They are compared later, when its process has ended.

        Args:
            answer: The answer's process.
            first: The calls of `call_first`. Later calls must not have overwritten their outputs.

        Returns:
            The timed calls, with what was asked.
        """
        requests, calls, kept, begin = [], [], 0, time.monotonic()
        # All inputs are drawn first, so that only the answer works while the GPU's counters run.
        with self.clock.excluded():
            for number in range(max(FEWEST, self.runner.trials if self.gpu else 0)):
                if number >= FEWEST and (kept > KEPT_BYTES or time.monotonic() - begin > self.runner.budget_s):
                    break
                requests.append(self.draw(self.runner.seeds + number, "call {}, timed"))
                kept += sum(saved.bytes for saved in requests[-1].content.tensors)
        begin = time.monotonic()
        with counting(self.gpu) as counted:
            for request in requests:
                if len(calls) >= FEWEST and (kept > KEPT_BYTES or time.monotonic() - begin > self.runner.budget_s):
                    break
                calls.append((request, request.of(answer, "found", most_bytes=self.most)))
                kept += sum(saved.bytes for saved in calls[-1][1].outputs)
            self.counts["answer"] = counted()
        if answer.earlier() != [call.digest.hex() for call in first[:FRESH]]:
            self.note(verdict=Verdict.MISMATCH, message="a later call overwrote what an earlier one returned")
        return calls

    def compare_timed(self, timed: Sequence[tuple[Asked, Call]]) -> tuple[list[float], list[float], list[float]]:
        """Compare the outputs of the timed calls with the reference's, and time the reference.

        Returns:
            The seconds of each call of nothing, of the reference and of the answer.
        """
        with counting(self.gpu) as counted:
            for request, call in timed:
                expected = self.expected[request.name] = request.of(self.right, "expected")
                if self.known.passed:
                    self.compare(request, expected, call)
            self.counts["reference"] = counted()
        with counting(self.gpu) as counted:
            nothing = [self.time_nothing(request) for request, _ in timed]
            self.counts["nothing"] = counted()
        return nothing, [call.seconds for call in self.expected.values()], [call.seconds for _, call in timed]

    def look_at_precision(self, timed: Sequence[tuple[Asked, Call]]) -> None:
        """Check the precision of `EXACT` timed calls, chosen at random so that the answer cannot foresee them.

        All timed calls have been compared with the reference before.
        """
        strictly = TENSOR in self.known.flags
        for request, call in random.SystemRandom().sample(timed, EXACT):
            exact = request.of(self.right, "exact", use="double").outputs
            if not exact:
                self.note([NO_FLOAT64])
            if message := lower_precision(exact, self.expected[request.name].outputs, call.outputs, strictly=strictly):
                self.note([LOWER], message=message, speedup=None)
                break

    def ask_the_gpu(self, recorder: Recorder) -> None:
        """Record calls of a right answer on the GPU, and add the second opinion that follows from the record.

        There is none if the reference's calls cannot be recorded either. An answer can detect that its calls are
        recorded. So the recorded calls must be right as well. Otherwise it could run other kernels in the timed calls.
        """

        def calls(module: Module, model: str) -> list[Activity] | None:
            """Return the record of each of the first calls. None if a call is wrong or its record is missing."""
            module.build(model, self.init)
            right = True
            for request, call in self.first:
                found = request.of(module, f"recorded {model}", most_bytes=self.most)
                right = right and not compare_call(request.name, call, found)[1]
            return calls_of(module.leave(), len(self.first)) if right else None

        recorded, fingerprint = self.runner.recorded, self.task.fingerprint
        if fingerprint not in recorded:
            recorded[fingerprint] = None
            with suppress(OracleError), self.runner.reference(self.task, self.gpu, recorder) as right:
                recorded[fingerprint] = calls(right, "Model")
        if (reference_calls := recorded[fingerprint]) is not None:
            try:
                with self.runner.hold(self.built.product, self.gpu, recorder=recorder) as answer:
                    answer.find("ModelNew")
                    found = calls(answer, "ModelNew")
            except ModuleFailed:
                found = None
            self.note(**second_opinion(found, reference_calls, self.known.kernel_s))

    def compare(self, one: Asked, right: Call, found: Call) -> None:
        """Compare a call of the answer with the reference's call, and add the result to the judgement."""
        case, message = compare_call(one.name, right, found)
        self.note(cases=(*self.known.cases, case), verdict=case.verdict)
        if message:
            self.note(case=one.name, message=shorten(f"{one.name}: {message}"))

    def note(self, flags: Iterable[str] = (), **changes: Any) -> None:
        """Change fields of the judgement, and add flags to it."""
        self.known = replace(self.known, flags=tuple(dict.fromkeys((*self.known.flags, *flags))), **changes)

    def failed(self, failed: ModuleFailed) -> None:
        """Set the verdict on an answer whose process did not do what it was asked to do."""
        error_text, line = failed.error.get("message", ""), shorten(failed.first_line)
        if failed.before:
            self.known = infra_error(f"torch cannot be imported in the sandbox: {line}", self.known)
        elif self.gpu and self.runner.gpus and (lost := self.runner.gpus.blame(self.gpu, failed.finished, error_text)):
            self.known = infra_error(lost, self.known)
        elif failed.late:
            self.note(verdict=Verdict.TIMEOUT, message=f"not done within {self.runner.limits.wall_s:g} s")
        elif (failed.doing == "find" and failed.error) or failed.build_failed:
            self.note(verdict=Verdict.COMPILE_ERROR, message=line, compiled=False)
        else:
            is_problem = failed.error.get("type") == "Problem"
            self.note(verdict=Verdict.MISMATCH if is_problem else Verdict.RUNTIME_ERROR, message=line)


@functools.cache
def _key(cache: Path) -> bytes:
    """Return the secret key from which inputs are drawn in addition to the seed.

    It has 32 bytes, is drawn once per cache, and cannot be read by an answer. Without it, an answer could guess a seed
    that the user has given, or read it from the judge's command line (with Landlock), and compute results in advance.
    """
    path = cache / "inputs.key"
    with file_lock(path):
        if path.stat().st_size != KEY_BYTES:
            path.write_bytes(secrets.token_bytes(KEY_BYTES))
        return path.read_bytes()


def compare_call(name: str, right: Call, found: Call) -> tuple[CaseResult, str]:
    """Compare a call with the reference's call, up to the first output that differs.

    Returns:
        The result, and a message that says what is wrong ("" if nothing is).
    """
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
        difference = row.distance(got.path)
        worst = [max(worst[0], difference.max_abs), max(worst[1], difference.max_rel)]
        if not difference.close:
            dtype = row.dtype.removeprefix("torch.")
            index, expected, actual = element_at(difference.first_wrong, row.shape, row.path, got.path, dtype)
            return result(
                f"{row.name}{list(index)} is {actual}, expected {expected}; "
                f"largest error {difference.max_abs:.6g}, relative {difference.max_rel:.6g}"
            )
    if found.inputs != right.inputs:
        changed = [n for n, (one, other) in enumerate(zip(right.inputs, found.inputs, strict=False)) if one != other]
        return result(f"leaves other values in its inputs {changed} than the reference does")
    return result()


def speed(
    earlier: float, nothing: Sequence[float], reference: Sequence[float], answer: Sequence[float]
) -> dict[str, Any]:
    """Compute the speed-up from the seconds of timed calls.

    The time that a call takes beside the module is the time of a call of nothing. It is subtracted from both. There is
    no speed-up if it could come from noise, or if the reference's time before the answer's calls differs from its time
    after them.

    Args:
        earlier: Seconds of the reference before the answer was called, with the time of a call of nothing subtracted.
        nothing: Seconds of calls of nothing.
        reference: Seconds of calls of the reference.
        answer: Seconds of calls of the answer.

    Returns:
        Changes to the judgement: flags, and either a message or speedup, reference_s and kernel_s.
    """
    reference_s, answer_s = (median(times) - median(nothing) for times in (reference, answer))
    margin_s = SURE * math.hypot(_error(nothing), max(_error(reference), _error(answer)))
    if min(reference_s, answer_s) <= margin_s:
        message = f"{reference_s:.3g} s for the reference and {answer_s:.3g} s for the answer, beside {median(nothing):.3g} s of a call (± {margin_s:.2g} s)"
        return {"flags": [NOISE], "message": message}
    # The answer may have slowed the reference down, or others use the GPU.
    if max(earlier, reference_s) > STEADY * min(earlier, reference_s):
        message = f"the reference took {earlier:.3g} s before the answer's calls and {reference_s:.3g} s after them"
        return {"flags": [UNSTEADY], "message": message}
    flags = [f"speed-up over {SUSPICIOUS_SPEEDUP:g}x"] if reference_s / answer_s > SUSPICIOUS_SPEEDUP else []
    return {"flags": flags, "speedup": reference_s / answer_s, "reference_s": reference_s, "kernel_s": answer_s}


def _error(times: Sequence[float]) -> float:
    """Return the standard error of the median, estimated from the median absolute deviation."""
    middle = median(times)
    return 1.2533 * 1.4826 * median(abs(time - middle) for time in times) / math.sqrt(len(times))
