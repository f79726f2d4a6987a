"""From a source's columns to ours: the maps of known data sets, and `columns=ours=theirs`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..text import nearest
from .licence_names import UNKNOWN, all_of
from .stage_rows import CurationError, Problem, Row, is_utf8


# What a row can hold, and the type it has to have. `Any` columns are kept as they come.
FIELDS: dict[str, type | tuple[type, ...]] = {
    "name": str,  # what people call the task
    "family": str,
    "prompt": str,
    "description": str,  # one or two sentences; a prompt is made from it
    "code": str,  # CUDA C++: a program, a kernel, or a torch extension
    "wrapper": str,  # a host function that launches `code`'s kernel
    "intro": str,  # stands before the program in a training response
    "answer": str,  # a whole answer of a model; its code is taken out by `adapt`
    "reasoning": str,
    "cpu_code": str,  # C or C++ of the same function for the CPU
    "module_code": str,  # PyTorch: Model, get_inputs, get_init_inputs
    "functional_code": str,  # PyTorch: Model.forward(..., fn=module_fn), as the AI CUDA Engineer archive has it
    "entry": str,  # the module's class when it is not called Model
    "licence": (str, list),
    "url": str,
    "revision": str,
    "speedup": (float, int),  # what the source claims; kept, and nothing is ranked by it: `verify` measures
    "correct": bool,
    "task": dict,  # a whole task in the `cuset` format, or these parts of one:
    "inputs": list,
    "outputs": list,
    "cases": list,
    "reference": str,
    "system": str,
    "split": str,
    "level": (str, int),
    "idioms": list,
    "key": (str, int),  # the source's own identifier
}


# Where rows state their licence, whatever the map says: a statement must not be passed over for the way it is spelt.
_LICENCE_COLUMNS = ("licence", "license", "licences", "licenses", "License", "Licence")


@dataclass(frozen=True)
class ColumnMap:
    """How a data set names what we need.

    columns: our field -> the data set's column. licence: what the data set states for all its rows; None: nothing.
    needs: fields without which a row is of no use.
    """

    columns: Mapping[str, str]
    licence: str | None = None
    needs: tuple[str, ...] = ("code",)
    note: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict)


MAPS: dict[str, ColumnMap] = {
    "babeltower": ColumnMap(
        {
            "key": "id",
            "cpu_code": "cpp_code",
            "code": "cuda_code",
            "wrapper": "cuda_wrapper",
        },
        licence="Apache-2.0",
        needs=("code", "cpu_code"),
        note="C and CUDA pairs; the C function is the reference. Its test cases (consistent_cuda_inputs, consistent_outputs) are not taken: "
        "each is a statement of C++ with a handful of literal elements, less than a warp, and its result is text with six digits. The same "
        "C function gives exact results for larger inputs",
    ),
    "regrapht": ColumnMap({"key": "index", "name": "name", "code": "kernel"}, note="states no licence of its own"),
    "kernelbook": ColumnMap(
        {"module_code": "python_code", "entry": "entry_point", "licence": "licenses", "url": "repo_name"},
        needs=("module_code",),
        note="PyTorch modules with Triton kernels: tasks without a CUDA answer",
    ),
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
        note="made from KernelBench tasks: keep it out of KernelBench evaluation",
    ),
    "concur": ColumnMap(
        {
            "key": "uuid",
            "name": "problem_name",
            "module_code": "pytorch_code",
            "answer": "generated_code",
            "reasoning": "generated_think",
            "speedup": "speedup_over_eager",
        },
        needs=("module_code", "answer"),
        note="states no licence",
    ),
    "cudabench": ColumnMap(
        {
            "key": "id",
            "name": "task_name",
            "description": "task_description",
            "prompt": "level1_prompt",
            "code": "bench.cu",
        },
        note="a benchmark without a licence: for decontamination",
    ),
    "kernelbench": ColumnMap(
        {"key": "problem_id", "name": "name", "level": "level", "module_code": "code"},
        licence="MIT",
        needs=("module_code",),
        note="a benchmark: for decontamination",
    ),
    "cuset": ColumnMap(
        {
            "key": "id",
            "family": "family",
            "prompt": "prompt",
            "code": "solution",
            "licence": "licence",
            "idioms": "idioms",
            "intro": "intro",
        },
        note="our own task format; inputs, outputs, cases and reference come with it",
    ),
}


def choose_map(name: str | None, columns: Mapping[str, str]) -> ColumnMap:
    """The map of a known data set with the user's columns over it; without a name the user's, or our own field names.

    Raises:
        CurationError: no such data set, or no such field.
    """
    for ours in columns:
        if ours not in FIELDS:
            raise CurationError(f"columns: there is no field {ours!r}; {nearest(ours, FIELDS)}")
    if name is None:
        if columns:
            return ColumnMap(columns, needs=tuple(field for field in ("code",) if field in columns))
        return ColumnMap({field: field for field in FIELDS}, needs=())
    if name not in MAPS:
        raise CurationError(f"preset={name}: {nearest(name, MAPS)}; or say columns=ours=theirs,...")
    preset = MAPS[name]
    return ColumnMap({**preset.columns, **columns}, preset.licence, preset.needs, preset.note, preset.constants)


def apply_map(column_map: ColumnMap, given: Mapping[str, Any]) -> tuple[Row, Problem | None]:
    """Our fields of a source's row, and what is wrong with it (None: nothing).

    A column that is missing or null is left out; one of another type than its field's, or not in UTF-8, is an error of the row.
    """
    row: Row = dict(column_map.constants)
    columns = dict(column_map.columns)
    if given.get(columns.get("licence", "")) in (None, "", []):
        columns["licence"] = next(
            (each for each in _LICENCE_COLUMNS if given.get(each) not in (None, "", [])), "licence"
        )
    for ours, theirs in columns.items():
        value = given.get(theirs)
        if value is None or value == "":
            continue
        wanted = FIELDS[ours]
        if isinstance(value, bool) and wanted is not bool:
            return row, Problem("wrong_type", f"column {theirs!r} holds a truth value, {_name(wanted)} was expected")
        if not isinstance(value, wanted):
            detail = f"column {theirs!r} holds {_name(type(value))}, {_name(wanted)} was expected"
            return row, Problem("wrong_type", detail)
        if not is_utf8(json.dumps(value, ensure_ascii=False)):
            return row, Problem("not_utf8", f"column {theirs!r} is not UTF-8")
        row[ours] = value
    missing = [
        column_map.columns[field] for field in column_map.needs if field not in row and field in column_map.columns
    ]
    if missing:
        return row, Problem("missing_column", f"column {missing[0]!r} is missing or empty")
    if not any(field in row for field in ("code", "answer", "module_code", "task")):
        there = ", ".join(sorted(map(str, given))[:12])
        return row, Problem("missing_column", f"none of the columns holds code: {there}")
    return row, None


def licence_of(row: Row, column_map: ColumnMap) -> str:
    """The row's own licence, else the data set's; several in a list all apply."""
    stated = row.get("licence", column_map.licence)
    if stated is None:
        return UNKNOWN
    names: Iterable[str] = stated if isinstance(stated, list) else [stated]
    return all_of(str(name) for name in names)


def _name(kind: type | tuple[type, ...]) -> str:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    words = {
        str: "text",
        list: "a list",
        dict: "an object",
        float: "a number",
        int: "a whole number",
        bool: "true or false",
    }
    return " or ".join(words.get(each, each.__name__) for each in kinds)
