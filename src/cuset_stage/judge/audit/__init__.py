"""Which tasks of a set have an oracle that wrong outputs pass, or that right ones do not. No GPU is needed.

Each task is tried with what a program writes that computes nothing: zeros, ones, a constant, a copy of an input, what is right
for other inputs, random values of the right mean and deviation, NaN; and with the right values a little off. Its data is made
twice. A finding is an outcome that holds in every case of the task, since a program must pass all of them.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from ...sandbox import SandboxError
from ...tasks.base import ProgramTask, Task
from ..oracle import CaseCache
from ..oracle_runs import OracleError
from .findings import Audit, Code, Finding, Severity, is_findings_file, load_audit, store_audit
from .module_audit import audit_module
from .program_audit import ProgramAudit


__all__ = ["Audit", "Code", "Finding", "Severity", "audit_task", "audit_tasks", "is_findings_file", "load_audit"]


def audit_task(task: Task, cases: CaseCache, *, again: bool = False) -> Audit:
    """The task's audit: the one in the cache, else a new one that is then kept. again: a new one in any case.

    cases: where inputs and references are kept; judging uses the same ones. Raises OSError when a cache cannot be written.
    """
    known = None if again else load_audit(task)
    if known is not None:
        return known
    started = time.monotonic()
    findings: list[Finding] = []
    complete = True
    try:
        if isinstance(task, ProgramTask):
            if task.project is None:  # else its own tests decide, and its output says only that they have ended
                ProgramAudit(task, cases, findings).run()
        else:
            findings += audit_module(task, isolation=cases.isolation)
    except (OracleError, SandboxError) as error:
        complete = False
        findings.append(Finding(task.id, Code.ORACLE_FAILS, Severity.ERROR, str(error)))
    worst_first = sorted(findings, key=lambda finding: list(Severity).index(finding.severity))
    audit = Audit(task.id, task.fingerprint, tuple(worst_first), time.monotonic() - started, complete)
    if complete:
        store_audit(audit)
    return audit


def audit_tasks(tasks: Sequence[Task], cases: CaseCache, *, jobs: int = 1, again: bool = False) -> Iterator[Audit]:
    """The audits as they end, `jobs` at a time. What has not begun is given up when the iterator is closed."""
    pool = ThreadPoolExecutor(jobs)
    try:
        for future in as_completed([pool.submit(audit_task, task, cases, again=again) for task in tasks]):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)
