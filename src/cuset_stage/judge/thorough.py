"""Examine programs that pass more thoroughly (option `thorough`), to find errors that right outputs hide.

A program that passes is run again under the tools of compute-sanitizer, and in its adverse form (mutants/adverse.py):
with shared memory full of a pattern and some warps late. Both happen in the sandbox, like every run of an answer.

Some failures are not charged to the answer:

- A tool that did not finish is ignored. It may not know the device, reach a limit of time or memory, or be ended by
  the program.
- An error that the task's own solution shows as well is ignored.
- An adverse form with wrong outputs is ignored if its control form is wrong, too. The program then takes all the
  shared memory there is.
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..mutants.adverse import CONTROL, VARIANTS, make_adverse
from ..sandbox import Compiler, Gpu, Isolation, Limits, SandboxError, Toolkit, Verdict, run_program
from ..tasks import Case, ProgramTask
from ..text import shorten
from .devices import NoGpuLeft
from .judgement import Built, Judgement
from .oracle import OracleError


TOOLS: Mapping[str, Verdict] = {
    "memcheck": Verdict.MEMORY_ERROR,
    "racecheck": Verdict.RACE,
    "synccheck": Verdict.UNDEFINED,
    "initcheck": Verdict.UNDEFINED,
}
WRONG = (Verdict.MISMATCH, Verdict.MISSING_OUTPUT, Verdict.RUNTIME_ERROR)
# Number of cases run under each tool, from the second smallest on. The smallest is often a single element.
CASES = 2
SLOWER = 5  # factor on the limits of a plain run: time, memory and number of processes
MOST_REPORT = 1 << 24  # bytes of a tool's log; 50 errors take some hundred lines
CHECK_S = 60.0  # time limit of the program on which compute-sanitizer is tried
_REPORT, _FOUND = "report/sanitizer.txt", 87  # the tool's log, and its exit code if it found an error
_HEAD = re.compile(r"^========= (?=\S)(.+?)\s*$", re.MULTILINE)
_NO_REPORT = re.compile(
    r"COMPUTE-SANITIZER|.*SUMMARY:|.*[Tt]arget application|.*No attachable process|Warning: .*limit|.*Internal Sanitizer Error"
)
_DETAIL = re.compile(r" (?:at|in|on|by|due to|for) .*|\.$")
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_BEYOND = """
__global__ void write(int* to) { to[1 << 20] = 1; }
int main() {
    int* to;
    if (cudaMalloc(&to, 4)) return 1;
    write<<<1, 1>>>(to);
    cudaDeviceSynchronize();
    return 0;
}
"""


class Reported(NamedTuple):
    """The report of a tool on one run.

    Attributes:
        complete: Whether the tool finished.
        errors: The kinds of error that it found, without places and numbers.
        said: The end of its log and of what the program printed.
    """

    complete: bool
    errors: set[str]
    said: str = ""


@dataclass(frozen=True)
class Sanitizer:
    """compute-sanitizer in a sandbox, which shows it the CUDA toolkit. Use `find_sanitizer` to make one."""

    program: Path
    toolkit: Toolkit
    isolation: Isolation = Isolation.AUTO

    def run(self, tool: str, binary: Path, inputs: Mapping[str, Path], gpu: Gpu | None, limits: Limits) -> Reported:
        """Run a program under a tool and return the tool's report.

        Args:
            tool: A key of `TOOLS`.
            binary: The program.
            inputs: Its input files: path that the program sees -> file on the host.
            gpu: The GPU to run on, or None.
            limits: The limits of a run without the tool. They are multiplied by `SLOWER`.

        Raises:
            SandboxError: The machine cannot run it.
        """
        slowed = replace(limits, wall_s=SLOWER * limits.wall_s, processes=SLOWER * limits.processes)
        if limits.memory_bytes:
            slowed = replace(slowed, memory_bytes=SLOWER * limits.memory_bytes)
        command = [str(self.program), "--tool", tool, "--print-limit", "50", "--error-exitcode", str(_FOUND)]
        command += ["--log-file", _REPORT]
        if tool == "memcheck":  # a program may ask the driver for something that the machine lacks
            command += ["--report-api-errors", "no"]
        with run_program(
            binary,
            inputs=inputs,
            outputs={},
            optional=[_REPORT],
            under=command,
            visible=(*self.toolkit.visible, self.program.resolve().parent),
            limits=slowed,
            gpu=gpu,
            isolation=self.isolation,
            network=True,  # the processes of compute-sanitizer talk to each other over it
        ) as ran:
            log = ""
            if _REPORT in ran.outputs:  # the program could write to it as well, so its size is limited
                with ran.outputs[_REPORT].open(errors="replace") as file:
                    log = file.read(MOST_REPORT)
            code = ran.finished.returncode
            errors = read_reports(log) or ({f"{tool} found an error"} if code == _FOUND else set())
            printed = f"{log.strip()}\n{ran.message}\n{ran.finished.stderr.strip()}".strip()
            return Reported(code in (0, _FOUND) and "SUMMARY:" in log, errors, printed[-1000:])

    def check(self, compiler: Compiler, gpu: Gpu, limits: Limits) -> None:
        """Check that compute-sanitizer finds a planted error. Otherwise its reports on answers are worth nothing.

        Raises:
            SandboxError: The error was not found, or the test program does not compile.
        """
        compiled = compiler.compile(_BEYOND)
        if compiled.binary is None:
            raise SandboxError(
                f"thorough=true: nvcc does not compile a program to try compute-sanitizer on: {compiled.message}"
            )
        reported = self.run("memcheck", compiled.binary, {}, gpu, replace(limits, wall_s=CHECK_S / SLOWER))
        if not any("Invalid __global__ write" in error for error in reported.errors):
            raise SandboxError(
                f"thorough=true: compute-sanitizer ({self.program}) does not find a planted error with isolation={self.isolation}. "
                f"Another isolation, or a toolkit for this driver, may help; else leave thorough out. It said: {reported.said}"
            )


def find_sanitizer(toolkit: Toolkit, isolation: Isolation = Isolation.AUTO) -> Sanitizer:
    """Find compute-sanitizer in the CUDA toolkit or on PATH.

    Raises:
        SandboxError: There is none.
    """
    folders = (str(toolkit.folder / name) for name in ("bin", "compute-sanitizer"))
    program = shutil.which("compute-sanitizer", path=os.pathsep.join(folders)) or shutil.which("compute-sanitizer")
    if program is None:
        raise SandboxError(
            f"thorough=true: no compute-sanitizer beside {toolkit.nvcc} or on PATH. It is part of the CUDA toolkit "
            "(apt-get install cuda-sanitizer-13-0, conda install cuda-sanitizer-api); or leave thorough out."
        )
    return Sanitizer(Path(program), toolkit, isolation)


def read_reports(output: str) -> set[str]:
    """Return the kinds of error in the output of compute-sanitizer, without places and numbers."""
    heads = (match[1] for match in _HEAD.finditer(output))
    return {_NUMBER.sub("N", _DETAIL.sub("", head)) for head in heads if not _NO_REPORT.match(head)}


def examined_cases(task: ProgramTask) -> Sequence[Case]:
    """Return the cases to run under compute-sanitizer, smallest first."""
    by_size = sorted(task.cases, key=lambda case: case.nbytes)
    return by_size[1 : 1 + CASES] or by_size


@dataclass
class Examiner:
    """Examines programs that have passed. The judge is a ProgramJudge that does not examine programs itself."""

    judge: Any
    sanitizer: Sanitizer
    # (task fingerprint, case, tool) -> errors that the tool reports for the task's own solution
    _of_solutions: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)

    def examine(self, task: ProgramTask, built: Built, judgement: Judgement) -> Judgement:
        """Examine a program that has passed.

        Returns:
            The judgement, with another verdict if an error was found. A flag names the tools that did not finish.
        """
        unfinished: list[str] = []
        try:
            problem = self._sanitized(task, built.product, judgement, unfinished) or self._adverse(task, built.code)
        except (OracleError, SandboxError, NoGpuLeft) as error:
            problem = None
            unfinished.append(f"the judge ({error})")
        if unfinished:
            flag = f"not looked at to the end: {', '.join(unfinished)}"
            judgement = replace(judgement, flags=(*judgement.flags, shorten(flag)))
        if problem is None:
            return judgement
        verdict, case, message = problem
        return replace(judgement, verdict=verdict, case=case, message=shorten(message))

    def _sanitized(
        self, task: ProgramTask, binary: Path, judgement: Judgement, unfinished: list[str]
    ) -> tuple[Verdict, str, str] | None:
        """Run the program under each tool. Names of tools that do not finish are added to `unfinished`.

        Returns:
            Verdict, case and message, if a tool reports an error that it does not report for the task's own solution.
        """
        longest_s = max(result.run_s for result in judgement.cases)
        # A tool that hangs would hang with each case, so the time limit depends on the time of the plain runs.
        limits = replace(self.judge.limits, wall_s=min(self.judge.limits.wall_s, 12.0 + 10.0 * longest_s))

        def run(binary: Path, case: Case) -> Reported:
            prepared, gpus = self.judge.case(task, case), self.judge.gpus
            with gpus.lease() if gpus else nullcontext() as gpu:
                return self.sanitizer.run(tool, binary, prepared.inputs, gpu, limits)

        for tool, verdict in TOOLS.items():
            for case in examined_cases(task):
                reported = run(binary, case)
                errors, key = reported.errors, (task.fingerprint, case.name, tool)
                if errors and task.solution is not None:
                    if key not in self._of_solutions:
                        solution = self.judge.compile(task, task.solution).binary
                        self._of_solutions[key] = run(solution, case).errors if solution else set()
                    errors = errors - self._of_solutions[key]
                if errors:
                    return verdict, case.name, f"{tool}: {'; '.join(sorted(errors))}\n{reported.said}"
                if not reported.complete:
                    unfinished.append(tool)
                    break  # it would not finish with larger inputs either
        return None

    def _adverse(self, task: ProgramTask, code: str) -> tuple[Verdict, str, str] | None:
        """Run the program in its adverse forms.

        Returns:
            Verdict, case and message, if the program is wrong in an adverse form and right in the control form. None
            otherwise, and if no kernel is found in the program.
        """
        for variant, (pattern, late) in enumerate(VARIANTS):
            if (form := make_adverse(code, variant)) and (judgement := self.judge.judge(task, form)).verdict in WRONG:
                control = make_adverse(code, CONTROL)
                if control and self.judge.judge(task, control).passed:
                    how = f"with shared memory full of {pattern:#x} and {'odd' if late else 'even'} warps late"
                    return Verdict.UNDEFINED, judgement.case, f"{how}: {judgement.verdict}: {judgement.message}"
        return None
