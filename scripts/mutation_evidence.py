"""Why mutants passed: they are equivalent, only a checker sees the error, or the judge missed it.

Evidence: machine code equal to the original's; an error of compute-sanitizer that the original does not have; wrong outputs in the
adverse form (`cuset_stage.mutants.adverse`) where the original's are right. All of it is kept in the run's ledger.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mutation_runs import PASSED, Run, Subject

from cuset_stage.judge.thorough import TOOLS, WRONG, Sanitizer, examined_cases, find_sanitizer
from cuset_stage.mutants.adverse import VARIANTS, make_adverse
from cuset_stage.sandbox import SandboxError, Toolkit
from cuset_stage.tasks import ProgramTask


class MachineCode(NamedTuple):
    """SHA-256 of the cubin, and of the host's object file without the device code that is embedded in it."""

    device: str
    host: str


def machine_code(toolkit: Toolkit, source: str, *, flags: Sequence[str], arch: str) -> MachineCode | None:
    """What nvcc makes of a program; None when it does not compile in 120 seconds.

    The same source gives the same bytes, whatever the folder (seen with nvcc 13.0). Raises SandboxError without binutils.
    """
    objcopy = shutil.which("objcopy")
    if objcopy is None:
        raise SandboxError("no objcopy: comparing machine code needs binutils (`apt install binutils`)")
    with tempfile.TemporaryDirectory(prefix="cuset-code-") as name:
        folder = Path(name)
        (folder / "program.cu").write_text(source, encoding="utf-8", newline="")
        compile_ = [str(toolkit.nvcc), *flags, f"-arch={arch}", "--keep", "-c", "program.cu", "-o", "program.o"]
        (folder / "nothing").write_bytes(bytes(8))  # the section itself must stay: the host code refers to it
        without = [objcopy, "--update-section", ".nv_fatbin=nothing", "program.o", "host.o"]
        if any(run_limited(command, folder, 120.0)[0] != 0 for command in (compile_, without)):
            return None
        cubins = sorted(folder.glob("*.cubin"))
        if not cubins:
            raise SandboxError(f"nvcc -arch={arch} made no cubin; give a real architecture, such as sm_90")
        device = hashlib.sha256(b"".join(cubin.read_bytes() for cubin in cubins)).hexdigest()
        return MachineCode(device, hashlib.sha256((folder / "host.o").read_bytes()).hexdigest())


def with_lines_of(original: str, mutant: str, line: int) -> str:
    """The mutant with empty lines at `line` (1-based) for those that its edit took, so that __LINE__ stays what it was."""
    lost = original.count("\n") - mutant.count("\n")
    lines = mutant.split("\n")
    return "\n".join([*lines[: line - 1], *[""] * lost, *lines[line - 1 :]])


def compare_code(run: Run, subjects: list[Subject]) -> None:
    """Record for each mutant whether its machine code is the original's."""

    def code(source: str) -> dict[str, str]:
        def find() -> dict[str, str]:
            made = machine_code(run.compiler.toolkit, source, flags=run.compiler.flags, arch=run.compiler.arch)
            if made is None:
                raise SandboxError("nvcc did not compile it in time for the comparison of machine code")
            return made._asdict()

        known = run.ledger.once("machine code", [source, run.settings], find)
        return {part: known[part] for part in MachineCode._fields}

    def compare(subject: Subject) -> None:
        mutant = with_lines_of(subject.task.solution, subject.mutant.source, subject.mutant.line)
        run.ledger.put("code", run.key(subject), {"same": code(mutant) == code(subject.task.solution)})

    left = [subject for subject in subjects if run.known("code", subject) is None]
    run.each(compare, left, run.options.jobs, "machine code")


def is_same_code(run: Run, subject: Subject) -> bool:
    return (run.known("code", subject) or {}).get("same", False)


def run_limited(
    command: Sequence[str], folder: Path, seconds: float, environment: Mapping[str, str] | None = None
) -> tuple[int | None, str]:
    """Exit code (None: stopped at the limit) and output of a command whose whole session ends with it."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            ended = process.wait(seconds)
        except subprocess.TimeoutExpired:
            ended = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.seek(0)
        return ended, log.read(4 * 2**20).decode(errors="replace")


def sanitize(run: Run, subjects: list[Subject]) -> str:
    """Run mutants with machine code of their own under compute-sanitizer, each tool and case once.

    Returns:
        What kept the tools from running, or "".
    """
    left = [one for one in subjects if not is_same_code(run, one) and run.known("sanitizer", one) is None]
    if not left or run.pool is None:
        return ""
    try:
        sanitizer = find_sanitizer(run.compiler.toolkit)
    except SandboxError as error:
        return str(error)
    unusable: set[str] = set()

    def examine(subject: Subject) -> None:
        """Record the first error that the original does not have, and the tools under which both programs finished."""
        found, complete = None, []
        cases = examined_cases(subject.task)[: run.options.sanitizer_cases]
        for tool in TOOLS:
            ended = True
            for case in cases:
                prepared = run.judge.cases.prepare(subject.task, case)
                original = _sanitized(run, sanitizer, tool, subject.task.solution, prepared)
                if not original["complete"]:
                    ended = False
                    break  # with larger inputs it would not end either
                mutant = _sanitized(run, sanitizer, tool, subject.mutant.source, prepared)
                ended = ended and mutant["complete"]
                if more := set(mutant["errors"]) - set(original["errors"]):
                    found, ended = f"{tool}, case {case.name}: {'; '.join(sorted(more))}", True
                    break
            complete += [tool] * ended
            if found:
                break
        if complete:
            run.ledger.put("sanitizer", run.key(subject), {"found": found, "complete": complete})
        else:
            unusable.add(subject.task.id)

    run.each(examine, left, len(run.pool), "compute-sanitizer")
    names = ", ".join(sorted(unusable))
    return f"no tool of compute-sanitizer finished for: {names}" if unusable else ""


def _sanitized(run: Run, sanitizer: Sanitizer, tool: str, source: str, prepared: Any) -> dict[str, Any]:
    def find() -> dict[str, Any]:
        if run.is_late():
            raise SandboxError("out of time before compute-sanitizer ran")
        compiled = run.compiler.compile(source)
        if compiled.binary is None:
            raise SandboxError(f"a program that passed no longer compiles: {compiled.message}")
        with run.pool.lease() as gpu:
            reported = sanitizer.run(tool, compiled.binary, prepared.inputs, gpu, run.judge.limits)
        return {"complete": reported.complete, "errors": sorted(reported.errors)}

    return run.ledger.once("sanitized", [tool, source, prepared.folder.name, run.settings], find)


def judge_adversely(run: Run, subjects: list[Subject]) -> None:
    """Judge the adverse forms of the mutants that compute-sanitizer did not decide, and of their originals."""
    left = [
        subject
        for subject in subjects
        if not is_same_code(run, subject) and not (run.known("sanitizer", subject) or {}).get("found")
    ]
    run.each(lambda one: find_adverse(run, one, judge=True), left, len(run.pool) if run.pool else 1, "adverse forms")


def find_adverse(run: Run, subject: Subject, *, judge: bool = False) -> tuple[str, int]:
    """How the mutant fails in an adverse form in which its original passes, or ""; and in how many forms both were judged.

    judge: judge what is not known yet; else only look it up.
    """
    judged = 0
    for variant, (pattern, late) in enumerate(VARIANTS):
        if _adverse_verdict(run, subject.task, subject.task.solution, variant, judge).get("verdict") != PASSED:
            continue
        mutant = _adverse_verdict(run, subject.task, subject.mutant.source, variant, judge)
        judged += bool(mutant)
        if mutant.get("verdict") in WRONG:
            warps = "odd" if late else "even"
            how = f"{mutant['verdict']} with shared memory full of {pattern:#x} and {warps} warps late"
            return f"{how}, case {mutant['case']}: {mutant['message']}", judged
    return "", judged


def _adverse_verdict(run: Run, task: ProgramTask, source: str, variant: int, judge: bool) -> dict[str, Any]:
    """verdict, case, message; an empty object before it was judged."""
    form = make_adverse(source, variant) or ""

    def find() -> dict[str, Any]:
        if run.is_late():
            raise SandboxError("out of time before its adverse form was judged")
        judgement = run.judge.judge(task, form)
        if judgement.infra:
            raise SandboxError(judgement.message)
        return {"verdict": str(judgement.verdict), "case": judgement.case, "message": judgement.message[:300]}

    parts = [form, task.fingerprint, run.settings]
    if judge:
        return run.ledger.once("adverse verdict", parts, find)
    return run.ledger.get("adverse verdict", run.ledger.key(parts)) or {}
