"""What a report reads beside results: the file of `cuset audit-tasks`, which says which tasks have oracles that wrong programs pass,
and what `cuset analyze` and `cuset pairs` measured on the models of its methods."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from ..jsonl import LinesError, read_objects
from ..row_checks import RowModel, Text, wrong_value
from ..text import InputError
from .collection import ReportError, Run
from .statistics import Estimate


NOTION = "section3"  # of sensitivity, in the table of methods
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


@dataclass(frozen=True)
class Measures:
    """Of one model: the accuracy on pairs of a right and a wrong program, and its entry in `cuset analyze`'s record; None: not measured."""

    pairs: Estimate | None = None
    confidence: dict[str, Any] | None = None


def read_measures(confidence: Path | None, pairs: Path | None, runs: Sequence[Run]) -> dict[str, Measures]:
    """The measures by the names that the files give their models. A method finds its own by its label.

    Raises:
        ReportError: a file that is none, or one whose models are called by the name of no method.
    """
    measures: dict[str, dict[str, Any]] = {}
    labels = [run.label for run in runs]
    for key, path, command in (("confidence", confidence, "analyze"), ("pairs", pairs, "pairs")):
        if path is None:
            continue
        try:
            models = json.loads(path.read_text(encoding="utf-8"))["models"]
            read = _confidence if key == "confidence" else _accuracy
            values = {name: read(record) for name, record in models.items()}
        except OSError as error:
            raise ReportError(f"{key}={path}: cannot be read ({error.strerror}).") from None
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ReportError(f"{key}={path}: expected the JSON file that `cuset {command}` writes.") from None
        if not values:
            raise ReportError(
                f"{key}={path}: models is empty; expected what `cuset {command}` measured on the methods' models."
            )
        if not values.keys() & set(labels):
            raise ReportError(
                f"{key}={path}: its models are called {', '.join(values)}, the methods {', '.join(labels)}. Call the models by the "
                f"methods' names (models: of `cuset {command}`)."
            )
        for name, value in values.items():
            measures.setdefault(name, {})[key] = value
    return {name: Measures(**values) for name, values in measures.items()}


def _accuracy(record: dict[str, Any]) -> Estimate | None:
    accuracy = record["accuracy"]["from_change"]
    return accuracy and Estimate(**accuracy)


def _confidence(record: dict[str, Any]) -> dict[str, Any]:
    """The record of a model, in which what the table shows is there."""
    for place in ("mean", "at_most_tau"):
        for kind in ("sensitive", "neutral"):
            record["notions"][NOTION][kind][place]["value"]
    record["notions"][NOTION]["windows"]["on_sensitive"]["centre"]["difference"]["value"]
    return record
