"""Our own format, "cuset": JSONL with a task a line, or a folder such as data/kernels with a folder a task.

A task has cases: the same program on inputs of different sizes. Shapes may be arithmetic over a case's parameters.
"""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ..row_checks import RowModel, Texts
from .base import DTYPE_BYTES, Case, ProgramTask, ReferenceOracle, Tensor
from .shapes import ShapeError, evaluate_shape
from .task_rows import Filled, MaybeText, Name, Row, check_names, check_text, read_json, read_text


SIGN = {"id", "prompt", "inputs", "outputs", "reference"}
LAYOUT = "<task>/task.json"
_WORDINGS = ("prompt", "bare", "detailed")  # by level
_FILES = {"prompt": "prompt.md", "reference": "reference.py"}
_FILES_IF_THERE = {"bare": "bare.md", "detailed": "detailed.md", "solution": "kernel.cu", "alternative": "simple.cu"}


class TensorRow(RowModel):
    name: Name
    dtype: Annotated[Literal[tuple(DTYPE_BYTES)], Field(description=f"one of {', '.join(DTYPE_BYTES)}")]
    shape: Annotated[list[Any], Field(description="a list of sizes")]


class CaseRow(RowModel):
    name: Name
    parameters: Annotated[
        dict[Annotated[str, Field(pattern=r"^[^\W\d]\w*$")], Any],
        Field(description="an object whose keys are Python identifiers: make_inputs takes them"),
    ]


class _TaskRow(RowModel):
    id: Name
    prompt: Filled
    inputs: list[TensorRow]
    outputs: list[TensorRow]
    reference: Filled
    cases: list[CaseRow] | None = None
    bare: MaybeText = None
    detailed: MaybeText = None
    name: MaybeText = None
    family: MaybeText = None
    system: MaybeText = None
    solution: MaybeText = None
    alternative: MaybeText = None
    split: MaybeText = None
    idioms: Texts | None = None


def read_task(row: Row) -> ProgramTask:
    """Raises TaskError with the row and the key at fault."""
    read = row.read(_TaskRow)
    if not read.outputs:
        row.fail("outputs", "is empty; a task writes at least one file")
    if read.cases == []:
        row.fail("cases", "is empty; leave it out for one case without parameters")
    cases: dict[str, Case] = {}
    for index, case in enumerate(read.cases or [CaseRow(name="default", parameters={})]):
        if case.name in cases:
            row.fail(f"cases[{index}].name", f"{case.name!r} is used twice")
        inputs, outputs = (_tensors(row, key, getattr(read, key), case) for key in ("inputs", "outputs"))
        check_names(row, inputs, outputs)
        cases[case.name] = Case(case.name, case.parameters, inputs, outputs)
    return ProgramTask(
        id=read.id,
        name=read.name or read.id,
        family=read.family or read.id,
        prompts={level: text for level, key in enumerate(_WORDINGS, start=1) if (text := getattr(read, key))},
        system=read.system,
        cases=tuple(cases.values()),
        oracle=ReferenceOracle(read.reference),
        solution=read.solution,
        alternative=read.alternative,
        source=row.where,
        split=read.split,
        idioms=tuple(read.idioms or ()),
    )


def _tensors(row: Row, key: str, tensors: list[TensorRow], case: CaseRow) -> tuple[Tensor, ...]:
    found = []
    for index, tensor in enumerate(tensors):
        try:
            found.append(Tensor(tensor.name, tensor.dtype, evaluate_shape(tensor.shape, case.parameters)))
        except ShapeError as error:
            row.fail(f"{key}[{index}].shape", f"case {case.name}: {error}")
    return tuple(found)


def is_folder(path: Path) -> bool:
    return (path / "task.json").is_file() or next(path.glob("*/task.json"), None) is not None


def read_folder(path: Path) -> tuple[list[ProgramTask], str]:
    """The tasks of <path>/<id>/ (or of `path` itself when it holds a task.json), sorted by id, and a SHA-256."""
    folders = [path] if (path / "task.json").is_file() else sorted(file.parent for file in path.glob("*/task.json"))
    tasks, digest = [], hashlib.sha256()
    for folder in folders:
        values = read_json(folder / "task.json", dict)
        check_text(str(folder / "task.json"), values)
        found = {key: name for key, name in _FILES_IF_THERE.items() if (folder / name).exists()}
        for key, name in (_FILES | found).items():
            values[key] = read_text(folder / name)
        digest.update(json.dumps([folder.name, values], sort_keys=True).encode())
        tasks.append(read_task(Row(f"{folder.name}/task.json", {"id": folder.name, **values})))
    return tasks, digest.hexdigest()
