"""What an audit finds, and where it is kept: cache_root()/audit, by the fingerprint of the task."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ...files import write_atomically
from ...sandbox import cache_root
from ...tasks.base import Task


AUDIT_VERSION = 4  # raised when checks change: earlier audits are then made again


class Severity(StrEnum):
    """ERROR: a program that computes nothing passes, or the right outputs do not. WARNING: some wrong programs may pass.
    NOTE: the verdicts hold; for whoever compares numbers with other judges, or looks after the set."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(StrEnum):
    """What was found. Those that end in _pass or _passes: such outputs pass in every case of the task."""

    ORACLE_FAILS = "oracle_fails"
    REFERENCE_REFUSED = "reference_refused"
    REFERENCE_UNPAIRED = "reference_unpaired"
    SIZE_DIFFERS = "size_differs"
    UNKNOWN_DTYPE = "unknown_dtype"
    ZEROS_PASS = "zeros_pass"
    ONES_PASS = "ones_pass"
    CONSTANT_PASSES = "constant_passes"
    INPUT_PASSES = "input_passes"
    OTHER_CASE_PASSES = "other_case_passes"
    RANDOM_PASSES = "random_passes"
    NAN_PASSES = "nan_passes"
    OUTPUT_UNCHECKED = "output_unchecked"
    PART_UNCHECKED = "part_unchecked"
    NOISE_PASSES = "noise_passes"
    SCRIPT_ACCEPTS_NOTHING = "script_accepts_nothing"
    SCRIPT_ACCEPTS_EMPTY = "script_accepts_empty"
    SCRIPT_ACCEPTS_NAN = "script_accepts_nan"
    NOT_FINITE = "not_finite"
    INPUT_INDEPENDENT = "input_independent"
    UNSEEDED_INPUTS = "unseeded_inputs"
    NOT_REPRODUCIBLE = "not_reproducible"
    ONE_SIZE = "one_size"


@dataclass(frozen=True)
class Finding:
    task: str
    code: Code
    severity: Severity
    message: str


@dataclass(frozen=True)
class Audit:
    """The findings of one task, the worst first. complete: False when something of this machine, such as a GPU that is not
    there, kept the audit from its end; it is then not kept."""

    task: str
    fingerprint: str
    findings: tuple[Finding, ...]
    seconds: float
    complete: bool = True

    @property
    def flagged(self) -> tuple[Finding, ...]:
        """The findings that put a verdict on the task in doubt."""
        return tuple(finding for finding in self.findings if finding.severity is not Severity.NOTE)

    @property
    def notes(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity is Severity.NOTE)

    def as_record(self) -> dict[str, Any]:
        """A line of audit.jsonl: "findings" are those that put a verdict in doubt, "notes" the others."""
        record = {"task": self.task, "fingerprint": self.fingerprint}
        record |= {"findings": [*map(asdict, self.flagged)], "notes": [*map(asdict, self.notes)]}
        return record | {"seconds": round(self.seconds, 3), "complete": self.complete}


_STORED = TypeAdapter(tuple[int, Audit])  # with AUDIT_VERSION


def load_audit(task: Task) -> Audit | None:
    """The task's audit, when one was made with the task's present content; else None."""
    try:
        version, audit = _STORED.validate_json(_place(task.fingerprint).read_bytes())
    except (OSError, ValueError):
        return None
    return audit if version == AUDIT_VERSION else None


def store_audit(audit: Audit) -> None:
    """Keep a complete audit. Raises OSError when the cache cannot be written."""
    write_atomically(_place(audit.fingerprint), _STORED.dump_json((AUDIT_VERSION, audit)).decode())


def _place(fingerprint: str) -> Path:
    return cache_root() / "audit" / fingerprint[:2] / f"{fingerprint}.json"
