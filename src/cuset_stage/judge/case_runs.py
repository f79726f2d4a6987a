"""Runs of a program on the cases of its task: all in one process, or each in a process of its own.

A driver takes a quarter of a second to start CUDA, and starts few programs at a time: with five cases in a process a GPU judges four times as
many programs. A library that is loaded into the program (all_cases.cpp) calls its `main` once a case, each in a folder of its own. The first
case runs there as it would alone. A later one that passes has right outputs for inputs of its own; one that does not pass says nothing, since
not every `main` may be called twice, and runs again in a process of its own.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ..sandbox import Compiler, Isolation, Limits, Ran, SandboxError, Verdict, compile_library, run_program
from ..tasks import Case, ProgramTask
from .comparison import check_oracle, compare_outputs
from .devices import GpuPool
from .gpu_activity import RECORD, Activity, Recorder, counting, read_activity
from .gpu_work import Withheld, blocks_of, plan
from .judgement import CaseResult, Clock, GpuUse
from .oracle import CaseCache, PreparedCase


SOURCE = Path(__file__).with_name("all_cases.cpp")
FOLDER = ".cases"  # in the folder of a run
LIBRARY, REPORT = f"{FOLDER}/all_cases.so", f"{FOLDER}/report"
UNDER = ["/usr/bin/env", f"LD_PRELOAD={LIBRARY}"]  # the sandbox starts with the environment of a run
# The driver makes one queue between host and GPU in place of 8, in half the time; in a third where programs share a busy GPU. Work in
# several streams then waits for each other.
FEW_QUEUES = {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}
MOST_REPORT = 1 << 16  # bytes
MOST_BYTES = 1 << 30  # of inputs and outputs of cases that share a process: they share its limits


@dataclass(frozen=True)
class Program:
    """What runs: the compiled answer to a task. clock: of the judge's own time. one_queue: whether it cannot have work in several streams
    (`needs_one_queue`), so that a run which is not timed gets FEW_QUEUES."""

    task: ProgramTask
    binary: Path
    clock: Clock = field(default_factory=Clock)
    one_queue: bool = False


@dataclass(frozen=True)
class CaseRun:
    """message: what is to say about it. compare_s: the seconds that comparing took. process: the record of all of its process, with the
    first case that ran there. together: whether all cases ran there. input_bytes, output_bytes, blocks: of its files, where it passed and
    was recorded (`blocks_of`)."""

    result: CaseResult
    message: str
    compare_s: float = 0.0
    activity: Activity = field(default_factory=Activity)
    process: Activity | None = None
    together: bool = False
    input_bytes: int = 0
    output_bytes: int = 0
    blocks: bytes = b""

    @property
    def passed(self) -> bool:
        return self.result.verdict is Verdict.PASSED


class Process(NamedTuple):
    """A process that has run a program on some cases of its task, and what it did on the GPU. calls: of `main` (`read_report`). outputs: those
    that are there, by case."""

    task: ProgramTask
    cases: Sequence[Case]
    prepared: Sequence[PreparedCase]
    ran: Ran
    activity: Activity
    calls: Sequence[tuple[int, int]]
    outputs: Sequence[Mapping[str, Path]]


@dataclass
class CaseRunner:
    """Runs programs on the cases of their tasks.

    Args:
        compiler: Compiles, with its cache.
        cases: Prepares inputs and expected outputs, with its cache; None where nothing is run.
        gpus: Where programs run, one at a time; None runs them without a GPU.
        limits: Of each run of a program.
        recorder: Records what programs do on their GPU; None: nothing is known of that.
        confirms: Whether what other programs on its GPU may have made fail is run once more alone, and that is what counts.
    """

    compiler: Compiler
    cases: CaseCache | None
    gpus: GpuPool | None = None
    limits: Limits = field(default_factory=Limits)
    isolation: Isolation = Isolation.AUTO
    recorder: Recorder | None = None
    confirms: bool = True

    @property
    def library(self) -> Path:
        """all_cases.so, which calls a program's `main` for each case."""
        compiler = self.compiler
        return compile_library((SOURCE,), ("-cudart", "none"), compiler.toolkit, compiler.isolation).binary

    def case(self, task: ProgramTask, case: Case) -> PreparedCase:
        """The data of one case, from the cache.

        Raises OracleError, also when compare.py refuses the reference: no answer is run then, whatever it would have done.
        """
        prepared = self.cases.prepare(task, case)
        check_oracle(task, prepared)
        return prepared

    def runs(self, program: Program) -> Iterator[CaseRun]:
        """A run on each case in order, in one process as far as that goes. What others on its GPU may have made fail, because they took time
        or memory, is run once more with no other program on it. Raises what `run` raises."""
        shares = self.gpus is not None and self.gpus.per_gpu > 1 and self.confirms
        began = time.monotonic()
        together = self.run_together(program)
        for index, case in enumerate(program.task.cases):
            # Where the process of all cases ended, the case has failed beside other programs.
            failed = together is not None and index == len(together)
            alone = shares and failed and self.gpus.was_short_of_memory(since=began)
            run = together[index] if together and index < len(together) else self.run(program, case, alone=alone)
            slow = run.result.verdict is Verdict.TIMEOUT
            if shares and not run.passed and not alone and (slow or self.gpus.was_short_of_memory(since=began)):
                run = self.run(program, case, alone=True)
            yield run

    def run(self, program: Program, case: Case, *, alone: bool = False) -> CaseRun:
        """One run on a case. The GPU is given back before outputs are compared. Raises OracleError or SandboxError when the judge's side fails."""
        with self._running(program, [case], alone=alone) as process:
            if process.ran.verdict is not None:
                return self._failed(process)
            run = self._compared(process, 0, process.ran.finished.seconds, process.activity)
            return replace(run, process=process.activity)

    def run_withheld(self, program: Program, index: int, earlier: Sequence[CaseRun]) -> Withheld:
        """One more run of a program that has passed all cases, on case number `index` in the way in which it passed there, and the GPU is
        given none of the inputs. Raises what `run` raises."""
        own, cases = earlier[index], program.task.cases
        if not own.together:
            index, earlier, cases = 0, [own], [cases[index]]
        with self._running(program, cases, withheld=own.blocks) as process:
            ended = process.ran.verdict is None and (len(process.calls) == len(cases) or not own.together)
            passed = ended and self._compared(process, index, 0.0, process.activity).passed
        sizes = (sum(run.input_bytes for run in earlier), sum(run.output_bytes for run in earlier))
        return Withheld(process.activity, passed, ended, own.input_bytes, *sizes, len(own.blocks))

    def run_together(self, program: Program) -> list[CaseRun] | None:
        """One run on all cases: those that passed, up to the first that did not; or the first case alone, as it failed. Empty where a process
        of its own tells better how the first one failed; None where none was run, because each case needs one. Raises what `run` raises.
        """
        task = program.task
        if task.project or len(task.cases) == 1 or sum(case.nbytes for case in task.cases) > MOST_BYTES:
            return None
        with self._running(program, task.cases) as process:
            ran, calls = process.ran, process.calls
            if ran.verdict is not None:  # after a call that returned 0, too: its process might have ended in this way
                return [] if calls else [self._failed(process)]
            runs: list[CaseRun] = []
            parts = process.activity.split([begin for begin, _ in calls])
            for index, (begin, end), part in zip(range(len(task.cases)), calls, parts, strict=False):
                if len(process.outputs[index]) < len(task.cases[index].outputs):
                    break
                seconds = (end - begin) / 1e9
                if not runs:  # with the start of CUDA and the end of the process
                    seconds = ran.finished.seconds - sum(end - begin for begin, end in calls[1:]) / 1e9
                run = replace(self._compared(process, index, seconds, part), together=True)
                if not runs:
                    run = replace(run, process=process.activity)
                if run.passed or not runs:
                    runs.append(run)
                if not run.passed:
                    break
            return runs

    @contextmanager
    def _running(
        self, program: Program, cases: Sequence[Case], *, alone: bool = False, withheld: bytes | None = None
    ) -> Iterator[Process]:
        """A process that has ended, and has its GPU no longer. withheld: blocks of the right outputs: the GPU is given none of the inputs."""
        task, clock = program.task, program.clock
        prepared = [self.case(task, case) for case in cases]
        inputs: dict[str, Path] = {}
        names = []  # of the outputs of each case, there and in the folder of the run
        for number, (case, files) in enumerate(zip(cases, prepared, strict=True)):
            place = f"{FOLDER}/{number}/" if number else ""
            inputs |= {place + name: path for name, path in files.inputs.items()}
            names.append({tensor.file: place + tensor.file for tensor in case.outputs})
        several = len(cases) > 1
        outputs = {} if several else {tensor.file: prepared[0].sizes(tensor) for tensor in cases[0].outputs}
        optional = [REPORT, *(name for of_case in names for name in of_case.values() if several)]
        timed = self.recorder and self.gpus and self.gpus.per_gpu == 1
        environment = FEW_QUEUES if program.one_queue and self.gpus and not timed else {}
        stdin, inputs = plan(inputs, withheld), {**inputs, LIBRARY: self.library}
        if self.recorder:
            optional += [RECORD]
            inputs = {**inputs, **self.recorder.files}
            environment = {**environment, **self.recorder.environment("{folder}")}
        with ExitStack() as stack:
            with (
                clock.waiting(self.gpus.lease(alone=alone) if self.gpus else nullcontext()) as gpu,
                clock.waiting(counting(gpu if timed else None)) as counted,
            ):
                running = run_program(
                    program.binary,
                    inputs=inputs,
                    outputs=outputs,
                    optional=optional,
                    under=UNDER,
                    stdin=stdin,
                    environment=environment,
                    limits=limits_for(task, self.limits),
                    gpu=gpu,
                    isolation=self.isolation,
                )
                ran = stack.enter_context(running)
                clock.exclude(ran.finished.seconds)
                failed = ran.verdict in (Verdict.TIMEOUT, Verdict.RUNTIME_ERROR)
                if problem := ran.finished.infra or (gpu and failed and self.gpus.blame(gpu, ran.finished)):
                    raise SandboxError(problem)
                with clock.excluded():
                    count = counted() if ran.verdict is None else None
            activity = read_activity(ran.outputs[RECORD]) if RECORD in ran.outputs else Activity()
            calls = read_report(ran.outputs.get(REPORT), ran.finished.seconds)
            written = [
                {file: ran.outputs[name] for file, name in of_case.items() if name in ran.outputs} for of_case in names
            ]
            yield Process(task, cases, prepared, ran, replace(activity, counted=count), calls, written)

    def _failed(self, process: Process) -> CaseRun:
        """The message is the sandbox's, with the end of what the program printed."""
        ran = process.ran
        printed = (ran.finished.stderr.strip() or ran.finished.stdout.strip())[-1000:]
        message = f"{ran.message}\n{printed}" if printed and printed not in ran.message else ran.message
        use = self._gpu_use(process.activity)
        result = CaseResult(process.cases[0].name, ran.verdict, ran.finished.seconds, gpu=use)
        return CaseRun(result, message, activity=process.activity)

    def _gpu_use(self, activity: Activity) -> GpuUse | None:
        if self.recorder is None:
            return None
        return GpuUse(activity.busy_s, len(activity.kernels), activity.bytes_to_gpu, activity.bytes_from_gpu)

    def _compared(self, process: Process, index: int, seconds: float, activity: Activity) -> CaseRun:
        """The run on the case of this number. seconds, activity: its part of the process."""
        case, prepared, outputs = process.cases[index], process.prepared[index], process.outputs[index]
        begin = time.perf_counter()
        compared = compare_outputs(process.task, case, prepared, outputs, isolation=self.isolation)
        verdict = Verdict.PASSED if compared.passed else Verdict.MISMATCH
        errors = compared.max_abs_error, compared.max_rel_error
        result = CaseResult(case.name, verdict, seconds, *errors, self._gpu_use(activity))
        run = CaseRun(result, compared.message, time.perf_counter() - begin, activity)
        if not compared.passed or not self.recorder:
            return run
        sizes = [sum(path.stat().st_size for path in files.values()) for files in (prepared.inputs, outputs)]
        blocks = blocks_of(outputs[tensor.file] for tensor in case.outputs)
        return replace(run, input_bytes=sizes[0], output_bytes=sizes[1], blocks=blocks)


def limits_for(task: ProgramTask, limits: Limits) -> Limits:
    """The limits with room for the task itself: its own time limit, and twice the data of its largest case, which a program may hold on
    the host and write. Else a right program would be charged for what the task asks of it."""
    data = 2 * max((case.nbytes for case in task.cases), default=0)
    room = {
        name: max(most, data)
        for name in ("memory_bytes", "file_bytes", "folder_bytes")
        if (most := getattr(limits, name)) is not None
    }
    return replace(limits, wall_s=max(limits.wall_s, task.time_limit or 0.0), **room)


def read_report(path: Path | None, seconds: float) -> list[tuple[int, int]]:
    """(begin, end) of each call of `main` that returned 0, in nanoseconds of CLOCK_MONOTONIC.

    It was written in the program's process: anything may stand there. What cannot be is left out, with all that follows it.
    seconds: what the whole process took.
    """
    calls: list[tuple[int, int]] = []
    text = b""
    if path:
        with path.open("rb") as file:
            text = file.read(MOST_REPORT)
    for line in text.splitlines():
        numbers = line.split()
        if len(numbers) != 2 or not all(number.isdigit() and len(number) < 19 for number in numbers):
            break
        begin, end = map(int, numbers)
        if end < begin or (calls and (begin < calls[-1][1] or end - calls[0][0] > seconds * 1e9)):
            break
        calls.append((begin, end))
    return calls
