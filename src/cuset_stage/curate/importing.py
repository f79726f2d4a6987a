"""Stage `import`: rows of any source in our fields, with where they come from and under which licence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr, ValidationError

from ..row_checks import Object, RowModel, Text, Truth, wrong_value
from ..settings import read_yaml
from ..text import nearest
from . import licences, readers
from .licences import UNKNOWN
from .rows import CurationError, Row, RowError
from .settings import ImportSettings
from .stage import Summary, run_stage


# -------------------------------------------------------------------------------------------- the columns of a source

_Key = Annotated[StrictStr | StrictInt, Field(description="text or a whole number")]
_Number = Annotated[float, Field(strict=True, description="a number")]
_List = Annotated[list[Any], Field(strict=True, description="a list")]
_Licence = Annotated[StrictStr | list[Any], Field(description="text or a list")]


class SourceRow(RowModel):
    """The fields that a row can hold, in our names."""

    name: Text | None = None  # what people call the task
    family: Text | None = None
    prompt: Text | None = None
    description: Text | None = None  # one or two sentences
    code: Text | None = None  # CUDA C++: a program, a kernel, or a torch extension
    intro: Text | None = None  # stands before the program in a training response
    answer: Text | None = None  # a whole answer of a model; its code is taken out by `adapt`
    reasoning: Text | None = None
    module_code: Text | None = None  # PyTorch: Model, get_inputs, get_init_inputs
    functional_code: Text | None = None  # PyTorch: Model.forward(..., fn=module_fn), as the AI CUDA Engineer has it
    entry: Text | None = None  # the module's class when it is not called Model
    licence: _Licence | None = None
    url: Text | None = None
    revision: Text | None = None
    speedup: _Number | None = None  # what the source claims; kept, and nothing is ranked by it: `prove` measures
    correct: Truth | None = None
    task: Object | None = None  # a whole task in the `cuset` format, or these parts of one:
    inputs: _List | None = None
    outputs: _List | None = None
    cases: _List | None = None
    reference: Text | None = None
    system: Text | None = None
    split: Text | None = None
    level: _Key | None = None
    idioms: _List | None = None
    key: _Key | None = None  # the source's own identifier


_EMPTY = (None, "", [])


@dataclass(frozen=True)
class ColumnMap:
    """How a data set names what we need: an entry of presets.yaml, which explains the fields, or what the user gives."""

    columns: Mapping[str, str]
    licence: str | None = None
    needs: Sequence[str] = ("code",)
    note: str = ""
    prepare: str | None = None


def _text_of(content: Any) -> str:
    """A turn's content: text, or parts of which those of text count ([{type: text, text: ...}])."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and part.get("text"))
    return str(content or "")


def _last_turn(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The last answer of a conversation and the question before it, as columns `question` and `answer`.

    Turns are {role, content} or {from, value}. Raises RowError: there is no such column, or no answer.
    """
    if not given.keys() & {"messages", "conversations"}:
        raise RowError("missing_column", f"there is no column messages or conversations; there are: {_names(given)}")
    turns = given.get("messages") or given.get("conversations") or []
    spoken = [
        (str(turn.get("role") or turn.get("from")), _text_of(turn.get("content") or turn.get("value")))
        for turn in turns
        if isinstance(turn, dict)
    ]
    last = max((number for number, (role, _) in enumerate(spoken) if role in ("assistant", "gpt")), default=None)
    if last is None:
        raise RowError("no_answer", "the conversation has no turn of assistant or gpt")
    question = next((text for role, text in reversed(spoken[:last]) if role in ("user", "human")), "")
    return {**given, "question": question, "answer": spoken[last][1]}


def _with_input(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """`instruction` and `input` as a column `question`."""
    parts = (given.get("instruction"), given.get("input"))
    return {**given, "question": "\n".join(str(each) for each in parts if each)}


_PREPARE = {"last_turn": _last_turn, "with_input": _with_input}
MAPS = {name: ColumnMap(**entry) for name, entry in read_yaml(Path(__file__).with_name("presets.yaml")).items()}


def choose_map(name: str | None, columns: Mapping[str, str]) -> ColumnMap:
    """The map of a known data set with the user's columns over it; without a name the user's, or our own field names.

    Raises:
        CurationError: no such data set, or no such field.
    """
    for ours in columns:
        if ours not in SourceRow.model_fields:
            raise CurationError(f"columns: there is no field {ours!r}; {nearest(ours, SourceRow.model_fields)}")
    if name is None:
        needs = ("code",) if "code" in columns else ()
        return ColumnMap(columns or {name: name for name in SourceRow.model_fields}, needs=needs)
    if name not in MAPS:
        raise CurationError(f"preset={name}: {nearest(name, MAPS)}; or say columns=ours=theirs,...")
    preset = MAPS[name]
    return replace(preset, columns={**preset.columns, **columns})


def _names(given: Mapping[str, Any]) -> str:
    return ", ".join(sorted(map(str, given))[:12]) or "none"


def _says_nothing(value: Any) -> bool:
    """True for a missing value; str() of a missing one, as CUDA-L1's files hold it, is no code."""
    return value is None or (isinstance(value, str) and value.strip() in ("", "None", "null", "nan", "NaN"))


def apply_map(column_map: ColumnMap, given: Mapping[str, Any]) -> Row:
    """Our fields of a source's row. A column that is missing, empty or null is left out.

    Raises:
        RowError: a column of another type than its field's, or not in UTF-8; one that is needed is missing.
    """
    if column_map.prepare:
        given = _PREPARE[column_map.prepare](given)
    columns = dict(column_map.columns)
    if given.get(columns.get("licence", "")) in _EMPTY:  # a statement must not be passed over for the way it is spelt
        spelt = ("licence", "license", "licences", "licenses")
        stated = (key for key, value in given.items() if key.lower() in spelt and value not in _EMPTY)
        columns["licence"] = next(stated, "licence")
    row: Row = {ours: given[theirs] for ours, theirs in columns.items() if not _says_nothing(given.get(theirs))}
    try:
        SourceRow.model_validate(row)
    except ValidationError as error:
        column = columns[str(error.errors()[0]["loc"][0])]
        raise RowError("wrong_type", f"column {column!r}: {wrong_value(error, SourceRow, row)}") from None
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a lone surrogate stands for a byte that is not UTF-8
        raise RowError("not_utf8", f"one of the columns {', '.join(map(columns.get, row))} is not UTF-8") from None
    missing = [columns[field] for field in column_map.needs if field not in row and field in columns]
    if missing:
        raise RowError("missing_column", f"column {missing[0]!r} is missing or empty; there are: {_names(given)}")
    if not any(field in row for field in ("code", "answer", "module_code", "task", "reference")):
        raise RowError("missing_column", f"none of the columns holds code or a task; there are: {_names(given)}")
    return row


# ---------------------------------------------------------------------------------------------------------- the stage

# Fields that may state a licence in a comment.
_CODE = ("code", "module_code", "functional_code")


def run_import(settings: ImportSettings) -> Summary:
    """Read a source into `folder`/import/<name>/.

    Raises:
        CurationError: nothing at the path, an unknown format, preset or field.
    """
    path = settings.path
    kind = settings.format or readers.guess_format(path)
    preset = settings.preset or ("cuset" if kind in ("tasks", "robust-kbench") else None)
    columns, suffixes = settings.columns, settings.suffixes
    if preset == "kernelbench" and kind == "tree":  # a clone of it
        columns, suffixes = {"name": "path", **columns}, (".py",)
    # What is left open by the user, and found out once for all rows.
    revision = settings.revision or readers.git_revision(path)
    found = {"name": settings.label, "format": kind, "preset": preset, "revision": revision}
    settled = settings.model_copy(update=found)
    column_map = choose_map(preset, columns)
    return run_stage(
        settings.folder,
        "import",
        readers.read(path, kind, suffixes),
        partial(import_row, settings=settled, column_map=column_map),
        name=settings.label,
        settings=settled.model_dump(mode="json"),
        workers=settings.workers,
        processes=True,
        notes=[column_map.note] if column_map.note else (),
    )


def import_row(read: Row, settings: ImportSettings, column_map: ColumnMap) -> list[Row]:
    """A source's row in our fields. read: as a reader yields it. Raises RowError."""
    if "problem" in read:
        raise RowError(*read["problem"])
    given, file, number = read["given"], read["file"], read["row"]
    row = apply_map(column_map, given)
    if row.get("correct") is False:
        raise RowError("incorrect", "its source says that it is wrong")
    if settings.preset in ("cuset", "cudabench"):
        row["task"] = given
    licence, stated_by = _licence(row, column_map, read.get("stated", (UNKNOWN, None)), settings.licence)
    if not licences.is_allowed(licence, settings.allow, allow_unknown=settings.allow_unknown):
        if licences.is_known(licence):
            raise RowError("licence_not_allowed", licence)
        by_name = "" if licence == UNKNOWN else "allow= with this name or "
        raise RowError("licence_unknown", f"{licence} ({by_name}allow_unknown=true keeps such rows)")
    place = file if settings.format in readers.FOLDERS else f"{number:06d}"
    if settings.format not in readers.FOLDERS and settings.path.is_dir():  # each shard counts from 1
        place = f"{file}#{place}"
    row.pop("licence", None)
    source = {
        "name": settings.name,
        "file": file,
        "row": number,
        "key": row.pop("key", None),
        "revision": row.pop("revision", None) or settings.revision,
        "licence": licence,
        "licence_from": stated_by,
        "url": row.get("url"),
    }
    return [{"id": f"{settings.name}:{place}", **row, "source": source}]


def _licence(
    row: Row, column_map: ColumnMap, of_folder: tuple[str, str | None], by_user: str | None
) -> tuple[str, str | None]:
    """The licence of a row and where it is stated: by the row or the data set and by its code, which both apply; else by its
    folder; else by the user. Several in a list all apply."""
    stated = row.get("licence", column_map.licence) or UNKNOWN
    stated = licences.all_of(map(str, stated if isinstance(stated, list) else [stated]))
    in_code = {licences.of_source(str(row[key])) for key in _CODE if row.get(key)} - {UNKNOWN}
    if stated != UNKNOWN:
        by = "row" if "licence" in row else "data set"
        return licences.all_of([stated, *in_code]), by if in_code <= {stated} else f"{by}, code"
    if in_code:
        return licences.all_of(in_code), "code"
    if of_folder[0] != UNKNOWN or not by_user:
        return of_folder
    return licences.spdx(by_user), "user"
