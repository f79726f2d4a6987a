"""Findings of an audit of a task set: which tasks have oracles that wrong programs pass."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


ORACLE_FAILS = "oracle_fails"  # evaluation.audit's code for an audit that met an error


class AuditError(ValueError):
    """An audit file that cannot be read; the message names the file, the line and what was expected."""


@dataclass(frozen=True)
class AuditFile:
    """What an audit file says of its tasks.

    findings: task id -> sentences on why its oracle is weak. notes: code of a note -> task id -> its message. audited: the
    tasks whose audit came to its end. unfinished: task id -> what kept it from its end, such as a GPU that is not there or a
    reference that fails: of these it is not known whether the oracle is weak.
    """

    findings: Mapping[str, list[str]] = field(default_factory=dict)
    notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    audited: frozenset[str] = frozenset()
    unfinished: Mapping[str, str] = field(default_factory=dict)

    @property
    def tasks(self) -> frozenset[str]:
        """All that the file speaks of."""
        return self.audited | self.unfinished.keys()


def read_audit(path: Path) -> Mapping[str, list[str]]:
    """The findings of `read_audit_file`."""
    return read_audit_file(path).findings


def read_audit_file(path: Path) -> AuditFile:
    """Read a JSONL with {"task": id, "findings": [...], "notes": [...]} a line.

    A finding is a sentence, or an object with a "message"; a note an object with "code" and "message"; "notes" may be left out.
    Lines without a "task" (a header) are passed over. In a line with "complete": false the findings say why the audit did not
    end, all but those with a code of their own other than "oracle_fails".

    Raises:
        AuditError: The file cannot be read, or a line of it holds something else.
    """
    expected = 'expected {"task": id, "findings": [sentence, ...]}, as `cuset audit-tasks` writes it'
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")  # U+2028 and U+0085 may stand within
    except (OSError, UnicodeDecodeError) as error:
        raise AuditError(
            f"--audit {path}: cannot be read ({error}). `cuset audit-tasks` writes such a file."
        ) from None
    findings: dict[str, list[str]] = {}
    notes: dict[str, dict[str, str]] = {}
    audited: set[str] = set()
    unfinished: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise AuditError(f"{path}:{number}: not JSON ({error}); {expected}.") from None
        if not isinstance(record, dict):
            raise AuditError(f"{path}:{number}: a JSON {type(record).__name__}; {expected}.")
        if "task" not in record:
            continue
        found, noted, task = record.get("findings"), record.get("notes"), record["task"]
        if not isinstance(task, str | int) or isinstance(task, bool):
            raise AuditError(f'{path}:{number}: "task" is {task!r:.60}; {expected}.')
        if not isinstance(found, list):
            raise AuditError(f'{path}:{number}: "findings" is {found!r:.60}; {expected}.')
        if noted is not None and not (isinstance(noted, list) and all(map(_is_note, noted))):
            raise AuditError(
                f'{path}:{number}: "notes" is {noted!r:.60}; expected a list of {{"code": word, "message": sentence}}, or '
                "leave it out."
            )
        task = str(task)
        texts = findings.setdefault(task, [])
        complete = record.get("complete", True) is not False
        if complete:
            audited.add(task)
        else:
            unfinished.setdefault(task, [])
        for finding in found:
            text = finding.get("message") if isinstance(finding, dict) else finding
            if not isinstance(text, str):
                raise AuditError(f"{path}:{number}: a finding is {finding!r:.60}; {expected}.")
            code = finding.get("code", ORACLE_FAILS) if isinstance(finding, dict) else ORACLE_FAILS
            (unfinished[task] if not complete and code == ORACLE_FAILS else texts).append(text)
        for note in noted or []:
            notes.setdefault(note["code"], {})[task] = note["message"]
    reasons = {task: "; ".join(texts) or "it was not finished" for task, texts in unfinished.items()}
    return AuditFile(findings, notes, frozenset(audited) - unfinished.keys(), reasons)


def _is_note(note: Any) -> bool:
    return isinstance(note, dict) and all(isinstance(note.get(key), str) for key in ("code", "message"))
