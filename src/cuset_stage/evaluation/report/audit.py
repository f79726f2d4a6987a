"""Findings of an audit of a task set: which tasks have oracles that wrong programs pass."""

import json
from collections.abc import Mapping
from pathlib import Path


class AuditError(ValueError):
    """An audit file that cannot be read; the message names the file, the line and what was expected."""


def read_audit(path: Path) -> Mapping[str, list[str]]:
    """Task id -> findings, from a JSONL with {"task": id, "findings": [...]} a line.

    A finding is a sentence, or an object with a "message". Lines without a "task" (a header) are passed over.
    """
    expected = 'expected {"task": id, "findings": [sentence, ...]}'
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AuditError(
            f"--audit {path}: cannot be read ({error}). `cuset audit-tasks` writes such a file."
        ) from None
    findings: dict[str, list[str]] = {}
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
        found = record.get("findings")
        if not isinstance(found, list):
            raise AuditError(f'{path}:{number}: "findings" is {found!r}; {expected}.')
        texts = findings.setdefault(str(record["task"]), [])
        for finding in found:
            text = finding.get("message") if isinstance(finding, dict) else finding
            if not isinstance(text, str):
                raise AuditError(f"{path}:{number}: a finding is {finding!r}; {expected}.")
            texts.append(text)
    return findings


def read_audit_notes(path: Path) -> Mapping[str, dict[str, str]]:
    """Code of a note -> task id -> its message, from a file that `read_audit` takes."""
    notes: dict[str, dict[str, str]] = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        record = json.loads(line) if line.strip() else {}
        for note in record.get("notes") or []:
            if "task" in record and isinstance(note, dict) and {"code", "message"} <= note.keys():
                notes.setdefault(str(note["code"]), {})[str(record["task"])] = str(note["message"])
    return notes
