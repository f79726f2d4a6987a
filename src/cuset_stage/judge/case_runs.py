"""Runs of a program on the cases of its task: all in one process, or each in a process of its own.

The CUDA driver takes a quarter of a second to start, and it starts few programs at a time. With five cases in a
process, a GPU judges four times as many programs. So a library that is loaded into the program (all_cases.cpp) calls
the program's `main` once for each case, each time in a folder of its own.

The first case runs in the shared process as it would alone. A later case that passes there counts, because its outputs
are right for inputs of its own. A later case that does not pass there says nothing, because not every `main` may be
called twice. It runs again in a process of its own.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ..sandbox import Compiler, Isolation, Limits, Ran, SandboxError, Verdict, compile_library, run_program
from ..tasks import Case, ProgramTask
from .comparison import check_oracle, compare_outputs, wrong_size
from .devices import GpuPool
from .gpu_activity import RECORD, Activity, Recorder, counting, read_activity
from .gpu_work import Withheld, blocks_of, plan
from .judgement import CaseResult, Clock, GpuUse
from .oracle import CaseCache, PreparedCase


SOURCE = Path(__file__).with_name("all_cases.cpp")
FOLDER = ".cases"  # relative to the folder of a run
LIBRARY, REPORT = f"{FOLDER}/all_cases.so", f"{FOLDER}/report"
# Set by `env` and not in the run's environment, because the sandbox itself starts with that environment.
UNDER = ["/usr/bin/env", f"LD_PRELOAD={LIBRARY}"]
# With this setting the driver creates one queue between host and GPU instead of 8. That takes half the time, or a
# third where programs share a busy GPU. Work in several streams then waits for each other.
FEW_QUEUES = {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}
MOST_REPORT = 1 << 16  # bytes
MOST_BYTES = 1 << 30  # of inputs and outputs of cases that share a process, because they also share its limits


@dataclass(frozen=True)
class Program:
    """A program to run: the compiled answer to a task.

    Attributes:
        task: The task that it answers.
        binary: The compiled program.
        clock: Measures the judge's own time, from which runs and waiting are excluded.
        one_queue: Whether the program cannot have work in several streams (`needs_one_queue`). Its runs get FEW_QUEUES
            unless they are timed.
    """

    task: ProgramTask
    binary: Path
    clock: Clock = field(default_factory=Clock)
    one_queue: bool = False


@dataclass(frozen=True)
class CaseRun:
    """A run of a program on one case.

    Attributes:
        result: The verdict on the case, with its numbers.
        message: Explanation for the user.
        compare_s: Seconds that comparing the outputs took.
        activity: What the run did on the GPU.
        process: The record of the whole process, set only on the first case that ran in it. None if the process
            failed.
        together: Whether the case ran in the shared process of all cases.
        input_bytes: Size of the input files. This and the next two are set only if the case passed and was recorded.
        output_bytes: Size of the output files.
        blocks: Blocks of the outputs (`blocks_of`).
    """

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
    """A process that ran a program on some cases of its task, and what it did on the GPU.

    Attributes:
        prepared: The files of each case.
        calls: Begin and end of each call of `main` that returned 0 (`read_report`).
        outputs: The output files of each case that were written, by name.
    """

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
        compiler: Compiles programs, with a cache.
        cases: Prepares inputs and expected outputs, with a cache. None where nothing is run.
        gpus: The GPUs that programs run on, one program per lease. None runs them without a GPU.
        limits: Limits of each run of a program.
        isolation: The sandbox that programs run in.
        recorder: Records what programs do on their GPU. None: nothing is recorded.
        confirms: Whether a failure that other programs on the same GPU may have caused is run once more alone. The
            second run then counts.
    """

    compiler: Compiler
    cases: CaseCache | None
    gpus: GpuPool | None = None
    limits: Limits = field(default_factory=Limits)
    isolation: Isolation = Isolation.AUTO
    recorder: Recorder | None = None
    confirms: bool = True

    def case(self, task: ProgramTask, case: Case) -> PreparedCase:
        """Return the files of one case, from the cache.

        Raises:
            OracleError: The case cannot be made, or compare.py refuses its own reference. No answer is run on such a
                case, whatever it would have done.
        """
        prepared = self.cases.prepare(task, case)
        check_oracle(task, prepared)
        return prepared

    def runs(self, program: Program) -> Iterator[CaseRun]:
        """Yield a run on each case in order, in one process as far as possible.

        Other programs on the same GPU may take time or memory from this one. A failure that they may have caused is
        run once more with no other program on the GPU.

        Raises:
            OracleError: As `run` does.
            SandboxError: As `run` does.
        """
        shares = self.gpus is not None and self.gpus.per_gpu > 1 and self.confirms
        began = time.monotonic()
        together = self.run_together(program)
        for index, case in enumerate(program.task.cases):
            # The first case that did not pass in the shared process has already failed once beside other programs.
            failed = together is not None and index == len(together)
            alone = shares and failed and self.gpus.was_short_of_memory(since=began)
            run = together[index] if together and index < len(together) else self.run(program, case, alone=alone)
            slow = run.result.verdict is Verdict.TIMEOUT
            if shares and not run.passed and not alone and (slow or self.gpus.was_short_of_memory(since=began)):
                run = self.run(program, case, alone=True)
            yield run

    def run(self, program: Program, case: Case, *, alone: bool = False) -> CaseRun:
        """Run the program on one case and compare its outputs. The GPU is given back before outputs are compared.

        With `alone`, wait until no other program runs on the GPU.

        Raises:
            OracleError: The case cannot be made or judged.
            SandboxError: The judge's side failed.
        """
        with self._running(program, [case], alone=alone) as process:
            if process.ran.verdict is not None:
                return self._failed(process)
            run = self._compared(process, 0, process.ran.finished.seconds, process.activity)
            return replace(run, process=process.activity)

    def run_withheld(self, program: Program, index: int, earlier: Sequence[CaseRun]) -> Withheld:
        """Run a program that has passed all cases once more, and give the GPU none of the inputs.

        The program runs as it did when it passed the examined case (`index`): in the shared process, or on that case
        alone. Raises what `run` raises.
        """
        earlier_run, cases = earlier[index], program.task.cases
        if not earlier_run.together:
            index, earlier, cases = 0, [earlier_run], [cases[index]]
        with self._running(program, cases, withheld=earlier_run.blocks) as process:
            ended = process.ran.verdict is None and (len(process.calls) == len(cases) or not earlier_run.together)
            passed = ended and self._compared(process, index, 0.0, process.activity).passed
        sizes = (sum(run.input_bytes for run in earlier), sum(run.output_bytes for run in earlier))
        return Withheld(process.activity, passed, ended, earlier_run.input_bytes, *sizes, len(earlier_run.blocks))

    def run_together(self, program: Program) -> list[CaseRun] | None:
        """Run the program on all cases in one process.

        Raises what `run` raises.

        Returns:
            The runs of the cases that passed, up to the first that did not. If the first case fails, a list with its
            run alone. An empty list if a process of its own shows better how the first case fails. None if nothing was
            run, because each case needs its own process.
        """
        task = program.task
        if task.project or len(task.cases) == 1 or sum(case.nbytes for case in task.cases) > MOST_BYTES:
            return None
        with self._running(program, task.cases) as process:
            ran, calls = process.ran, process.calls
            # No case counts when the process fails, even after calls that returned 0: alone, the first case might have
            # failed at the end of its process, too.
            if ran.verdict is not None:
                return [] if calls else [self._failed(process)]
            runs: list[CaseRun] = []
            parts = process.activity.split([begin for begin, _ in calls])
            for index, (begin, end), part in zip(range(len(task.cases)), calls, parts, strict=False):
                if wrong_size(task.cases[index], process.prepared[index], process.outputs[index]):
                    break
                seconds = (end - begin) / 1e9
                if not runs:  # the first case is charged for starting CUDA and ending the process
                    seconds = ran.finished.seconds - sum(end - begin for begin, end in calls[1:]) / 1e9
                run = self._compared(process, index, seconds, part)
                if run.passed or not runs:
                    runs.append(replace(run, together=True, process=None if runs else process.activity))
                if not run.passed:
                    break
            return runs

    @contextmanager
    def _running(
        self, program: Program, cases: Sequence[Case], *, alone: bool = False, withheld: bytes | None = None
    ) -> Iterator[Process]:
        """Run the program on these cases, and yield the process after it has ended and given its GPU back.

        Args:
            program: The program.
            cases: The cases to run it on, in one process.
            alone: Whether to wait until no other program runs on the GPU.
            withheld: Blocks of the right outputs if the GPU is to be given none of the inputs, else None.
        """
        task, clock = program.task, program.clock
        prepared = [self.case(task, case) for case in cases]
        inputs: dict[str, Path] = {}
        output_names = []  # for each case: name of an output -> its path in the folder of the run
        for number, (case, files) in enumerate(zip(cases, prepared, strict=True)):
            prefix = f"{FOLDER}/{number}/" if number else ""
            inputs |= {prefix + name: path for name, path in files.inputs.items()}
            output_names.append({tensor.file: prefix + tensor.file for tensor in case.outputs})
        several = len(cases) > 1
        outputs = {} if several else {tensor.file: prepared[0].sizes(tensor) for tensor in cases[0].outputs}
        optional = [REPORT, *(name for case_names in output_names for name in case_names.values() if several)]
        timed = self.recorder and self.gpus and self.gpus.per_gpu == 1
        environment = FEW_QUEUES if program.one_queue and self.gpus and not timed else {}
        library = compile_library((SOURCE,), ("-cudart", "none"), self.compiler.toolkit, self.compiler.isolation)
        # The plan lists the task's own inputs, so it is made before the judge's libraries are added to them.
        stdin, inputs = plan(inputs, withheld), {**inputs, LIBRARY: library.binary}
        if self.recorder:
            optional += [RECORD]
            inputs = {**inputs, **self.recorder.files}
            environment = {**environment, **self.recorder.environment("{folder}")}
        with ExitStack() as stack:
            with (
                clock.waiting(self.gpus.lease(alone=alone) if self.gpus else nullcontext()) as gpu,
                clock.waiting(counting(gpu if timed else None)) as read_counters,
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
                    count = read_counters() if ran.verdict is None else None
            activity = read_activity(ran.outputs[RECORD]) if RECORD in ran.outputs else Activity()
            calls = read_report(ran.outputs.get(REPORT), ran.finished.seconds)
            written = [
                {file: ran.outputs[name] for file, name in case_names.items() if name in ran.outputs}
                for case_names in output_names
            ]
            yield Process(task, cases, prepared, ran, replace(activity, counted=count), calls, written)

    def _failed(self, process: Process) -> CaseRun:
        """Return the run of a failed process, with the sandbox's message and the end of what was printed."""
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
        """Compare the outputs of one case of a process.

        `seconds` and `activity` are the case's part of the process's time and record.
        """
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
    """Return the limits, raised where the task itself needs more.

    A task may have its own time limit. A program may hold twice the data of the task's largest case in host memory,
    and write as much. Otherwise a right program would fail for what the task asks of it.
    """
    data = 2 * max((case.nbytes for case in task.cases), default=0)
    room = {
        name: max(limit, data)
        for name in ("memory_bytes", "file_bytes", "folder_bytes")
        if (limit := getattr(limits, name)) is not None
    }
    return replace(limits, wall_s=max(limits.wall_s, task.time_limit or 0.0), **room)


def read_report(path: Path | None, seconds: float) -> list[tuple[int, int]]:
    """Return begin and end of each call of `main` that returned 0, in nanoseconds of CLOCK_MONOTONIC.

    The report is written in the program's process, so anything may stand there. Reading stops at the first line that
    is malformed or impossible.

    Args:
        path: The report of all_cases.so, None where there is none.
        seconds: How long the whole process took.
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
