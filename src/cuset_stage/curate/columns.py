"""From a source's columns to ours: what a row can hold, and the maps of known data sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr, ValidationError

from ..row_checks import Object, RowModel, Text, Truth, wrong_value
from ..settings import read_yaml
from ..text import nearest
from .stage_rows import CurationError, Row, RowError, is_utf8


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
    wrapper: Text | None = None  # a host function that launches `code`'s kernel
    intro: Text | None = None  # stands before the program in a training response
    answer: Text | None = None  # a whole answer of a model; its code is taken out by `adapt`
    reasoning: Text | None = None
    cpu_code: Text | None = None  # C or C++ of the same function for the CPU
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


_PREPARE: dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "last_turn": _last_turn,
    "with_input": _with_input,
}
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
    for ours, value in row.items():
        if not is_utf8(json.dumps(value, ensure_ascii=False)):
            raise RowError("not_utf8", f"column {columns[ours]!r} is not UTF-8")
    missing = [columns[field] for field in column_map.needs if field not in row and field in columns]
    if missing:
        raise RowError("missing_column", f"column {missing[0]!r} is missing or empty; there are: {_names(given)}")
    if not any(field in row for field in ("code", "answer", "module_code", "task", "reference")):
        raise RowError("missing_column", f"none of the columns holds code or a task; there are: {_names(given)}")
    return row
