"""What is said about mutants that passed: that they are no errors, that only a checker sees the error, or that the judge missed it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mutation_evidence import TOOLS, MachineCode, Sanitizer, find_sanitizer, machine_code, with_lines_of
from mutation_judging import PASSED, Run, Subject

from cuset_stage.judge.oracle import PreparedCase
from cuset_stage.mutants.adverse import VARIANTS, make_adverse
from cuset_stage.sandbox import SandboxError
from cuset_stage.tasks import ProgramTask


WRONG = ("mismatch", "missing_output", "runtime_error")


def compare_code(run: Run, subjects: list[Subject]) -> None:
    """Note of each mutant whether it is the original to the machine."""

    def code(source: str) -> MachineCode | None:
        return machine_code(run.compiler.toolkit, source, flags=run.compiler.flags, arch=run.compiler.arch)

    left = [subject for subject in subjects if run.ledger.get("code", run.key(subject)) is None]
    sources = {subject.task.id: subject.task.solution for subject in left}
    with ThreadPoolExecutor(run.options.jobs) as threads:
        originals = dict(zip(sources, threads.map(code, sources.values()), strict=True))

    def compare(subject: Subject) -> None:
        mutant = code(with_lines_of(subject.task.solution, subject.mutant.source, subject.mutant.line))
        if mutant is None or originals[subject.task.id] is None:
            raise SandboxError("nvcc did not compile it in time for the comparison of machine code")
        run.ledger.put("code", run.key(subject), {"same": mutant == originals[subject.task.id]})

    run.each(compare, left, run.options.jobs, "machine code")


def is_same_code(run: Run, subject: Subject) -> bool:
    known = run.ledger.get("code", run.key(subject))
    return known is not None and known["same"]


class SanitizerRun:
    """Programs under compute-sanitizer, each tool and case once."""

    def __init__(self, run: Run, sanitizer: Sanitizer) -> None:
        self.run, self.sanitizer = run, sanitizer

    def examine(self, subject: Subject) -> tuple[str | None, list[str]]:
        """The first error that the original does not have, and the tools under which both programs ran to the end."""
        complete = []
        for tool in TOOLS:
            ended = True
            for name, prepared in self._cases(subject.task):
                original = self._errors(tool, subject.task.solution, prepared)
                if not original["complete"]:
                    ended = False
                    break  # with larger inputs it would not end either
                mutant = self._errors(tool, subject.mutant.source, prepared)
                if more := set(mutant["errors"]) - set(original["errors"]):
                    return f"{tool}, case {name}: {'; '.join(sorted(more))}", [*complete, tool]
                ended = ended and mutant["complete"]
            if ended:
                complete.append(tool)
        return None, complete

    def _errors(self, tool: str, source: str, prepared: PreparedCase) -> dict[str, Any]:
        run = self.run

        def find() -> dict[str, Any]:
            if run.is_late():
                raise SandboxError("time is up before compute-sanitizer came to it")
            compiled = run.compiler.compile(source)
            if compiled.binary is None:
                raise SandboxError(f"what passed does not compile any more: {compiled.message}")
            with run.pool.lease() as gpu:
                ran = self.sanitizer.run(tool, compiled.binary, prepared.inputs, gpu.uuid)
            return {"complete": ran.complete, "errors": sorted(ran.errors)}

        parts = [tool, source, prepared.folder.name, self.sanitizer.seconds, run.settings]
        return run.ledger.once("sanitized", parts, find)

    def _cases(self, task: ProgramTask) -> list[tuple[str, PreparedCase]]:
        """By size, without the smallest, which is often a single element."""
        by_size = sorted(task.cases, key=lambda case: sum(tensor.nbytes or 0 for tensor in case.inputs + case.outputs))
        chosen = by_size[1 : 1 + self.run.options.sanitizer_cases] or by_size
        return [(case.name, self.run.judge.cases.prepare(task, case)) for case in chosen]


def sanitize(run: Run, subjects: list[Subject]) -> str:
    """Run mutants with machine code of their own under compute-sanitizer.

    Returns:
        What kept the tools from running, or "".
    """
    left = [
        subject
        for subject in subjects
        if not is_same_code(run, subject) and run.ledger.get("sanitizer", run.key(subject)) is None
    ]
    if not left or run.pool is None:
        return ""
    program = find_sanitizer(run.compiler.toolkit)
    if program is None:
        return "compute-sanitizer was found neither on PATH nor in the toolkit"
    runs = SanitizerRun(run, Sanitizer(program, run.options.sanitizer_timeout))
    unusable: set[str] = set()

    def examine(subject: Subject) -> None:
        found, complete = runs.examine(subject)
        if complete:
            run.ledger.put("sanitizer", run.key(subject), {"found": found, "complete": complete})
        else:
            unusable.add(subject.task.id)

    run.each(examine, left, len(run.pool), "compute-sanitizer")
    names = ", ".join(sorted(unusable))
    return f"no tool of compute-sanitizer came to an end with: {names}" if unusable else ""


class Adverse:
    """One form of `make_adverse`: a program in it, and what the judge said."""

    def __init__(self, run: Run, task: ProgramTask, source: str, variant: int) -> None:
        self.run, self.task, self.source = run, task, make_adverse(source, variant) or ""
        self.parts = [self.source, task.fingerprint, run.settings]

    @property
    def known(self) -> dict[str, Any]:
        """verdict, case, message; an empty object before it was judged."""
        return self.run.ledger.get("adverse verdict", self.run.ledger.key(self.parts)) or {}

    def judge(self) -> dict[str, Any]:
        return self.run.ledger.once("adverse verdict", self.parts, self._judge)

    def _judge(self) -> dict[str, Any]:
        if self.run.is_late():
            raise SandboxError("time is up before it came to be judged in its adverse form")
        judgement = self.run.judge.judge(self.task, self.source)
        if judgement.infra:
            raise SandboxError(judgement.message)
        return {"verdict": str(judgement.verdict), "case": judgement.case, "message": judgement.message[:300]}


def judge_adversely(run: Run, subjects: list[Subject]) -> None:
    """Judge what compute-sanitizer did not decide, and its original, in the forms of `make_adverse`: where the original passes
    and the mutant does not, the mutant lives from what CUDA leaves undefined."""

    def examine(subject: Subject) -> None:
        for variant in range(len(VARIANTS)):
            if Adverse(run, subject.task, subject.task.solution, variant).judge()["verdict"] != PASSED:
                continue
            if Adverse(run, subject.task, subject.mutant.source, variant).judge()["verdict"] in WRONG:
                return

    left = [
        subject
        for subject in subjects
        if not is_same_code(run, subject) and not (run.ledger.get("sanitizer", run.key(subject)) or {}).get("found")
    ]
    run.each(examine, left, len(run.pool) if run.pool else 1, "adverse forms")


def find_adverse(run: Run, subject: Subject) -> tuple[str, int]:
    """How the mutant went wrong in a form in which its original is right, or "", and in how many forms both were judged."""
    judged = 0
    for variant, (pattern, late) in enumerate(VARIANTS):
        if Adverse(run, subject.task, subject.task.solution, variant).known.get("verdict") != PASSED:
            continue
        mutant = Adverse(run, subject.task, subject.mutant.source, variant).known
        if mutant.get("verdict") in WRONG:
            warps = "odd" if late else "even"
            how = f"{mutant['verdict']} with shared memory full of {pattern:#x} and {warps} warps late"
            return f"{how}, case {mutant['case']}: {mutant['message']}", judged + 1
        judged += bool(mutant)
    return "", judged


def outcome(run: Run, subject: Subject, reasons: Mapping[str, str]) -> dict[str, Any]:
    """A row of the JSON: what the judge said, and what is made of it."""
    key = run.key(subject)
    judged = run.ledger.get("verdict", key) or {"verdict": None, "case": None, "message": "", "run_s": None}
    row = {
        "task": subject.task.id,
        "operator": subject.mutant.operator,
        "line": subject.mutant.line,
        "description": subject.mutant.description,
        "sha256": subject.sha256,
        "verdict": judged["verdict"],
        "case": judged["case"],
        "message": judged["message"],
        "run_s": judged["run_s"],
        "outcome": judged["verdict"] or "not judged",
        "evidence": "",
    }
    if is_same_code(run, subject):
        return row | {"outcome": "same code", "evidence": "nvcc makes the machine code of the original from it"}
    if judged["verdict"] != PASSED:
        return row
    sanitized = run.ledger.get("sanitizer", key)
    if sanitized is not None and sanitized["found"]:
        return row | {"outcome": "sanitizer", "evidence": sanitized["found"]}
    found, forms = find_adverse(run, subject)
    if found:
        return row | {"outcome": "adverse", "evidence": found}
    if subject.name in reasons:
        return row | {"outcome": "equivalent", "evidence": reasons[subject.name]}
    clean = f"clean under {', '.join(sanitized['complete'])}" if sanitized is not None else ""
    if forms:
        clean = f"{clean}{'; ' if clean else ''}right in its adverse form"
    return row | {"outcome": "survived", "evidence": clean}
