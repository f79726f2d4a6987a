"""From a source's columns to ours: what a row can hold, and the maps of known data sets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr, ValidationError

from ..row_checks import Object, RowModel, Text, Truth, wrong_value
from ..text import nearest
from .licence_names import UNKNOWN, all_of
from .stage_rows import CurationError, Row, RowError, is_utf8


_Key = Annotated[StrictStr | StrictInt, Field(description="text or a whole number")]
_Number = Annotated[float, Field(strict=True, description="a number")]
_List = Annotated[list[Any], Field(strict=True, description="a list")]
_Licence = Annotated[StrictStr | list[Any], Field(description="text or a list")]


class SourceRow(RowModel):
    """What a row can hold, in our names."""

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
    functional_code: Text | None = (
        None  # PyTorch: Model.forward(..., fn=module_fn), as the AI CUDA Engineer archive has it
    )
    entry: Text | None = None  # the module's class when it is not called Model
    licence: _Licence | None = None
    url: Text | None = None
    revision: Text | None = None
    speedup: _Number | None = None  # what the source claims; kept, and nothing is ranked by it: `verify` measures
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


# Where rows state their licence, whatever the map says: a statement must not be passed over for the way it is spelt.
_LICENCE_COLUMNS = ("licence", "license", "licences", "licenses", "License", "Licence")
_EMPTY = (None, "", [])


@dataclass(frozen=True)
class ColumnMap:
    """How a data set names what we need.

    columns: our field -> the data set's column. licence: what the data set states for all its rows; None: nothing.
    needs: fields without which a row is of no use.
    """

    columns: Mapping[str, str]
    licence: str | None = None
    needs: tuple[str, ...] = ("code",)


MAPS: dict[str, ColumnMap] = {
    # C and CUDA pairs: kernels without inputs
    "babeltower": ColumnMap(
        {"key": "id", "cpu_code": "cpp_code", "code": "cuda_code", "wrapper": "cuda_wrapper"},
        licence="Apache-2.0",
        needs=("code", "cpu_code"),
    ),
    "regrapht": ColumnMap({"key": "index", "name": "name", "code": "kernel"}),  # states no licence
    # PyTorch modules with Triton kernels: tasks without a CUDA answer
    "kernelbook": ColumnMap(
        {"module_code": "python_code", "entry": "entry_point", "licence": "licenses", "url": "repo_name"},
        needs=("module_code",),
    ),
    # made from KernelBench tasks: keep it out of KernelBench evaluation
    "ai-cuda-engineer": ColumnMap(
        {
            "name": "Kernel_Name",
            "description": "Op_Name",
            "level": "Level_ID",
            "key": "Task_ID",
            "code": "CUDA_Code",
            "module_code": "PyTorch_Code_Module",
            "functional_code": "PyTorch_Code_Functional",
            "speedup": "CUDA_Speedup_Native",
            "correct": "Correct",
        },
        licence="CC-BY-4.0",
        needs=("code", "functional_code"),
    ),
    "concur": ColumnMap(  # states no licence
        {
            "key": "uuid",
            "name": "problem_name",
            "module_code": "pytorch_code",
            "answer": "generated_code",
            "reasoning": "generated_think",
            "speedup": "speedup_over_eager",
        },
        needs=("module_code", "answer"),
    ),
    # a benchmark without a licence
    "cudabench": ColumnMap(
        {
            "key": "id",
            "name": "task_name",
            "description": "task_description",
            "prompt": "level1_prompt",
            "code": "bench.cu",
        }
    ),
    # a benchmark
    "kernelbench": ColumnMap(
        {"key": "problem_id", "name": "name", "level": "level", "module_code": "code"},
        licence="MIT",
        needs=("module_code",),
    ),
    # our own task format; inputs, outputs, cases and reference come with it
    "cuset": ColumnMap(
        {"key": "id", "code": "solution", **{n: n for n in ("family", "prompt", "licence", "idioms", "intro")}}
    ),
}


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
    return ColumnMap({**preset.columns, **columns}, preset.licence, preset.needs)


def apply_map(column_map: ColumnMap, given: Mapping[str, Any]) -> Row:
    """Our fields of a source's row. A column that is missing or null is left out.

    Raises:
        RowError: a column of another type than its field's, or not in UTF-8; one that is needed is missing.
    """
    columns = dict(column_map.columns)
    if given.get(columns.get("licence", "")) in _EMPTY:
        columns["licence"] = next((each for each in _LICENCE_COLUMNS if given.get(each) not in _EMPTY), "licence")
    row: Row = {ours: given[theirs] for ours, theirs in columns.items() if given.get(theirs) not in (None, "")}
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
        raise RowError("missing_column", f"column {missing[0]!r} is missing or empty")
    if not any(field in row for field in ("code", "answer", "module_code", "task")):
        there = ", ".join(sorted(map(str, given))[:12])
        raise RowError("missing_column", f"none of the columns holds code: {there}")
    return row


def licence_of(row: Row, column_map: ColumnMap) -> str:
    """The row's own licence, else the data set's; several in a list all apply."""
    stated = row.get("licence", column_map.licence)
    if stated is None:
        return UNKNOWN
    return all_of(str(name) for name in (stated if isinstance(stated, list) else [stated]))
