"""The file of `cuset audit-tasks`: which tasks have oracles that wrong programs pass."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from ..jsonl import LinesError, read_objects
from ..row_checks import RowModel, Text, wrong_value
from ..text import InputError


ORACLE_FAILS = "oracle_fails"  # judge.audit's code for an audit that met an error


class AuditError(InputError):
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


class _Note(RowModel):
    code: Text
    message: Text


class _Finding(_Note):
    code: Text = ORACLE_FAILS


class _Line(RowModel):
    task: Annotated[
        Text, BeforeValidator(lambda task: str(task) if type(task) is int else task), Field(description="text")
    ]
    findings: Annotated[
        list[Annotated[_Finding, BeforeValidator(lambda said: {"message": said} if isinstance(said, str) else said)]],
        Field(description="a list of sentences, or of objects with a message"),
    ]
    notes: Annotated[list[_Note], Field(description='a list of {"code": word, "message": sentence}')] | None = None
    complete: Any = True


def read_audit(path: Path) -> AuditFile:
    """Read a JSONL with {"task": id, "findings": [...], "notes": [...]} a line.

    A finding is a sentence, or an object with a "message"; a note an object with "code" and "message"; "notes" may be left out.
    Lines without a "task" (a header) are passed over. In a line with "complete": false the findings say why the audit did not
    end, all but those with a code of their own other than "oracle_fails".

    Raises:
        AuditError: The file cannot be read, or a line of it holds something else.
    """
    findings: dict[str, list[str]] = {}
    notes: dict[str, dict[str, str]] = {}
    audited: set[str] = set()
    unfinished: dict[str, list[str]] = {}
    try:
        for number, record in read_objects(Path(path)):
            if "task" not in record:
                continue
            try:
                line = _Line.model_validate(record)
            except ValidationError as error:
                problem = wrong_value(error, _Line, record)
                raise AuditError(f"{path}:{number}: {problem}, as `cuset audit-tasks` writes it.") from None
            texts = reasons = findings.setdefault(line.task, [])
            if line.complete is False:
                reasons = unfinished.setdefault(line.task, [])
            else:
                audited.add(line.task)
            for finding in line.findings:
                (reasons if finding.code == ORACLE_FAILS else texts).append(finding.message)
            for note in line.notes or ():
                notes.setdefault(note.code, {})[line.task] = note.message
    except LinesError as error:
        raise AuditError(f"audit={path}: {error} `cuset audit-tasks` writes such a file.") from None
    told = {task: "; ".join(texts) or "it was not finished" for task, texts in unfinished.items()}
    return AuditFile(findings, notes, frozenset(audited) - told.keys(), told)
