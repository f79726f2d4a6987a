"""Our own format, "cuset": JSONL with a task a line, or a folder such as data/kernels with a folder a task.

A task has cases: the same program on inputs of different sizes. Shapes may be arithmetic over a case's parameters:
`["m", "2 * k + 1"]` with m = 3, k = 4 is (3, 9).
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ..row_checks import RowModel
from .base import DTYPE_BYTES, Case, ProgramTask, ReferenceOracle, Tensor
from .task_rows import Filled, MaybeText, Name, Row, check_names, read_object, read_text


SIGN = {"id", "prompt", "inputs", "outputs", "reference"}
LAYOUT = "<task>/task.json"
_WORDINGS = ("prompt", "bare", "detailed")  # by level
_FILES = {"prompt": "prompt.md", "reference": "reference.py"}
_FILES_IF_THERE = {"bare": "bare.md", "detailed": "detailed.md", "solution": "kernel.cu", "alternative": "simple.cu"}
# Of at most 200 characters, which keeps the parser's recursion shallow, and without powers, which may be huge.
_ARITHMETIC = re.compile(r"(?!.*\*\*)[\w ()+\-*/%]{1,200}")
_NAMES = re.compile(r"[^\W\d]\w*")
MAX_SIZE = 2**48  # elements of one dimension: what is larger is a mistake, not a tensor


class TensorRow(RowModel):
    name: Name
    dtype: Annotated[Literal[tuple(DTYPE_BYTES)], Field(description=f"one of {', '.join(DTYPE_BYTES)}")]
    shape: Annotated[list[Any], Field(min_length=1, description="a list of sizes")]


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
        **read.model_dump(include={"id", "system", "solution", "alternative", "split"}),
        name=read.name or read.id,
        family=read.family or read.id,
        prompts={level: text for level, key in enumerate(_WORDINGS, start=1) if (text := getattr(read, key))},
        cases=tuple(cases.values()),
        oracle=ReferenceOracle(read.reference),
        source=row.where,
    )


def _tensors(row: Row, key: str, tensors: list[TensorRow], case: CaseRow) -> tuple[Tensor, ...]:
    evaluated = []
    for index, tensor in enumerate(tensors):
        try:
            shape = tuple(evaluate_size(entry, case.parameters) for entry in tensor.shape)
            evaluated.append(Tensor(tensor.name, tensor.dtype, shape))
        except ValueError as error:
            row.fail(f"{key}[{index}].shape", f"case {case.name}: {error}")
    return tuple(evaluated)


def read_folder(path: Path) -> tuple[list[ProgramTask], str]:
    """The tasks of <path>/<id>/ (or of `path` itself when it holds a task.json), sorted by id, and a SHA-256; none of another folder."""
    folders = [path] if (path / "task.json").is_file() else sorted(file.parent for file in path.glob("*/task.json"))
    tasks, digest = [], hashlib.sha256()
    for folder in folders:
        values = read_object(folder / "task.json")
        optional = {key: name for key, name in _FILES_IF_THERE.items() if (folder / name).exists()}
        for key, name in (_FILES | optional).items():
            values[key] = read_text(folder / name)
        digest.update(json.dumps([folder.name, values], sort_keys=True).encode())
        tasks.append(read_task(Row(f"{folder.name}/task.json", {"id": folder.name, **values})))
    return tasks, digest.hexdigest()


def evaluate_size(entry: int | str, parameters: Mapping[str, Any]) -> int:
    """One dimension: a positive int, or arithmetic (names, ints, + - * // %, parentheses) over those of `parameters` that are ints.

    Python evaluates it where it has no other characters, so no attribute or subscript, and no other names, so no keyword.
    Raises ValueError with what was expected and what is there.
    """
    size: Any = entry
    if isinstance(entry, str):
        integers = {name: value for name, value in parameters.items() if type(value) is int}
        try:
            if not _ARITHMETIC.fullmatch(entry) or not integers.keys() >= {*_NAMES.findall(entry)}:
                raise SyntaxError
            size = eval(entry, {"__builtins__": {}}, integers)
        except (SyntaxError, ArithmeticError, TypeError, MemoryError, RecursionError):
            names = ", ".join(integers) or "no name"
            raise ValueError(
                f"{entry[:40]!r} is not an expression of {names}, integers, + - * // % and parentheses"
            ) from None
    if type(size) is not int or not 0 < size <= MAX_SIZE:
        raise ValueError(f"{entry!r} is {size!r}, a size is positive and at most {MAX_SIZE}, and an integer")
    return size
