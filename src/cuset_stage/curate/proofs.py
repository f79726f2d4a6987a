"""Checks of a task that a model wrote. Every finding is stored, so nothing is checked twice.

Findings of a machine with a GPU are also valid on a machine without one. The messages of the errors are sent to the
model that wrote the task.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..files import file_sha256
from ..judge.comparison import compare_outputs
from ..judge.oracle import CaseCache, OracleError
from ..sandbox import Isolation, SandboxError
from .parallel import cpu_count
from .prove import CASE_LIMITS, LIMITS, bench_of, judged, weak_cases
from .questions import Draft
from .rows import RowError
from .settings import ProofSettings
from .store import find_once


_SCHEMA = 1


class Proofs:
    """Checks tasks and stores the findings in `folder`.

    Thread-safe. The number of checks at a time is limited to the CPUs plus the GPU pool's places, whatever the number
    of threads.

    Raises:
        SandboxError: there is no GPU although one is wanted, there is no nvcc, or the GPU cannot run code for `arch`.
    """

    def __init__(self, folder: Path, settings: ProofSettings) -> None:
        self._folder, self._settings = folder, settings
        bench = bench_of(settings)
        self._judge = bench.judge
        self._cases = bench.judge.cases or CaseCache(limits=CASE_LIMITS, isolation=Isolation(settings.isolation))
        self._turn = threading.BoundedSemaphore(cpu_count() + len(bench.pool or ()))

    def check_program(self, draft: Draft) -> None:
        """Check that the program compiles.

        Raises:
            RowError: it does not.
            SandboxError: this machine could not tell. Nothing is stored then.
        """

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
        """Check that the reference makes all cases, and that outputs which nobody computed do not pass them.

        Raises:
            RowError: the inputs or the expected outputs of a case cannot be made (`reference_fails`), or an output
                passes that nobody computed, such as zeros (`weak_cases`).
        """

        def find() -> None:
            try:
                for case in draft.task.cases:
                    self._cases.prepare(draft.task, case)
            except OracleError as error:
                raise RowError("reference_fails", f"The Python block: {_without_task(error, draft)}") from None
            if weak := weak_cases(draft.task, self._cases):
                listed = "\n".join(f"- {problem}" for problem in weak)
                raise RowError("weak_cases", f"The cases do not tell right from wrong:\n{listed}")

        self._kept(["cases", draft.record], find)

    def check_reference(self, draft: Draft, reference: str) -> None:
        """Compare a second, independently written reference with the task's own in all cases.

        Raises:
            RowError: the second reference stops with an error or returns something else than was asked for
                (`second_fails`), the inputs are not reproducible (`reference_fails`), or the outputs differ
                (`references_disagree`).
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
                    problem = "make_inputs makes other inputs each time: draw from rng alone"
                    raise RowError("reference_fails", f"case {case.name}: {problem}")
                compared = compare_outputs(draft.task, first_case, ours, theirs.expected)
                if not compared.passed:
                    raise RowError("references_disagree", f"case {case.name}: {compared.message}")

        self._kept(["reference", draft.record, reference], find)

    def run(self, draft: Draft, kernel: str | None) -> dict[str, Any] | None:
        """Check on a GPU that the program passes every time (`times`, by default twice), and that its mutants fail.

        Args:
            draft: the task and its program.
            kernel: the name of the kernel that has to run. None: any kernel.

        Returns:
            The finding for the row's `verified` key. None if this machine has no GPU and no finding is stored.

        Raises:
            RowError: the program is wrong, the kernel did not run, or all mutants pass (`weak_cases`).
        """

        def find() -> dict[str, Any]:
            try:
                verified = judged(self._settings, draft.task, draft.program)
            except RowError as error:
                raise RowError(error.reason, f"The program on a GPU: {error}") from None
            launched = verified["kernels"]
            # The mangled name starts with its length, so that `scan` does not match `prescan`.
            mangled = f"{len(kernel or '')}{kernel}"
            if kernel and launched is not None and not any(mangled in name or kernel == name for name in launched):
                raise RowError("no_gpu_work", f"The kernel {kernel} did not run; these did: {', '.join(launched)}")
            return {"verified": verified}

        parts = ["run", draft.record, draft.program, self._settings.times, self._settings.mutants]
        # A program that failed at a limit is tried again under another one. Findings without any of these settings keep
        # their key.
        limits = {key: getattr(self._settings, key) for key in ("thorough", *LIMITS)}
        parts += [limits] if any(limits.values()) else []
        return self._kept(parts, find if self._settings.runs_on_gpus else None).get("verified")

    def _kept(self, parts: list[Any], find: Callable[[], dict[str, Any] | None] | None) -> dict[str, Any]:
        """Return the stored finding about `parts`, or make it now with `find`."""
        with self._turn:
            return find_once(self._folder, [_SCHEMA, *parts], find)


def _without_task(error: OracleError, draft: Draft) -> str:
    """Return the error's message without the task's id, which contains the kernel's name."""
    return str(error).replace(f"task {draft.task.id}, ", "")
