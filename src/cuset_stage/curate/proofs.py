"""Proofs of a task that a model wrote, each finding kept: nothing is proved twice.

What a machine with a GPU found holds on one without. A message is for the model that wrote the task.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..files import file_sha256
from ..judge.comparison import compare_outputs
from ..judge.oracle import CaseCache, OracleError
from ..sandbox import Isolation, SandboxError
from .parallel import cpu_count
from .prove import CASE_LIMITS, bench_of, judged, weak_cases
from .questions import Draft
from .rows import RowError
from .settings import ProofSettings
from .store import find_once


_SCHEMA = 1


class Proofs:
    """Findings in `folder`. Thread-safe; no more is compiled at a time than there are CPUs.

    Raises:
        SandboxError: no GPU where one is wanted, no nvcc, or a GPU that cannot run what `arch` says.
    """

    def __init__(self, folder: Path, settings: ProofSettings) -> None:
        self._folder, self._settings = folder, settings
        bench = bench_of(settings)
        self._judge = bench.judge
        self._cases = bench.judge.cases or CaseCache(limits=CASE_LIMITS, isolation=Isolation(settings.isolation))
        self._turn = threading.BoundedSemaphore(cpu_count() + len(bench.pool or ()))

    def check_program(self, draft: Draft) -> None:
        """Raise RowError unless the program compiles."""

        def find() -> None:
            judgement = self._judge.build(draft.task, draft.program).judgement
            if judgement.infra:
                raise SandboxError(judgement.message)
            if not judgement.compiled:
                raise RowError(judgement.verdict.value, f"The program: {judgement.message}")

        compiler = self._judge.compiler
        flags = [compiler.toolkit.version, compiler.arch, list(compiler.flags)]
        self._kept(["program", flags, draft.program], find)

    def check_cases(self, draft: Draft) -> None:
        """Raise RowError where inputs or right outputs of a case cannot be made, or an output passes that nobody computed."""

        def find() -> None:
            try:
                for case in draft.task.cases:
                    self._cases.prepare(draft.task, case)
            except OracleError as error:
                raise RowError("reference_fails", f"The Python block: {_without_task(error, draft)}") from None
            if weak := weak_cases(draft.task, self._cases):
                said = "\n".join(f"- {each}" for each in weak)
                raise RowError("weak_cases", f"The cases do not tell right from wrong:\n{said}")

        self._kept(["cases", draft.record], find)

    def check_reference(self, draft: Draft, reference: str) -> None:
        """Hold another's reference against the task's in all cases.

        Raises:
            RowError: second_fails: it stops with an error, or returns something else than was asked for; references_disagree.
        """

        def find() -> None:
            second = draft.with_reference(reference)
            for first_case, case in zip(draft.task.cases, second.cases, strict=True):
                try:
                    theirs = self._cases.prepare(second, case)
                except OracleError as error:
                    raise RowError("second_fails", _without_task(error, draft)) from None
                ours = self._cases.prepare(draft.task, first_case)
                if list(map(file_sha256, ours.inputs.values())) != list(map(file_sha256, theirs.inputs.values())):
                    raise RowError(
                        "reference_fails",
                        f"case {case.name}: make_inputs makes other inputs each time: draw from rng alone",
                    )
                compared = compare_outputs(draft.task, first_case, ours, theirs.expected)
                if not compared.passed:
                    raise RowError("references_disagree", f"case {case.name}: {compared.message}")

        self._kept(["reference", draft.record, reference], find)

    def run(self, draft: Draft, kernel: str | None) -> dict[str, Any] | None:
        """Prove on a GPU that the program is right, twice, by its kernel, and try its mutants. Returns the finding; None without a GPU.

        Raises RowError for what is not right, or whose mutants all pass (weak_cases).
        """

        def find() -> dict[str, Any]:
            try:
                verified = judged(self._settings, draft.task, draft.program)
            except RowError as error:
                raise RowError(error.reason, f"The program on a GPU: {error}") from None
            ran = verified["kernels"]
            called = f"{len(kernel or '')}{kernel}"  # as the compiler mangles it: scan is not prescan
            if kernel and ran is not None and not any(called in name or kernel == name for name in ran):
                raise RowError("no_gpu_work", f"The kernel {kernel} did not run; these did: {', '.join(ran)}")
            return {"verified": verified}

        parts = ["run", draft.record, draft.program, self._settings.times, self._settings.mutants]
        return self._kept(parts, find if self._settings.runs_on_gpus else None).get("verified")

    def _kept(self, parts: list[Any], find: Callable[[], dict[str, Any] | None] | None) -> dict[str, Any]:
        """The finding about `parts`, kept or made now."""
        with self._turn:
            return find_once(self._folder, [_SCHEMA, *parts], find)


def _without_task(error: OracleError, draft: Draft) -> str:
    """The message without the task's id, which names the kernel."""
    return str(error).replace(f"task {draft.task.id}, ", "")
