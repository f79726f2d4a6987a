"""This package's own format, "cuset": JSONL with one task per line, or a folder such as data/kernels with one per
folder.

A task has cases, which are inputs of different sizes for the same program. Shapes may be arithmetic over a case's
parameters: `["m", "2 * k + 1"]` with m = 3, k = 4 is (3, 9).
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
_WORDINGS = ("prompt", "bare", "detailed")  # the keys of the prompts of level 1, 2 and 3
_FILES = {"prompt": "prompt.md", "reference": "reference.py"}
_FILES_IF_THERE = {"bare": "bare.md", "detailed": "detailed.md", "solution": "kernel.cu", "alternative": "simple.cu"}
# At most 200 characters, which keeps the parser's recursion shallow, and no powers, which may be huge.
_ARITHMETIC = re.compile(r"(?!.*\*\*)[\w ()+\-*/%]{1,200}")
_NAMES = re.compile(r"[^\W\d]\w*")
MAX_SIZE = 2**48  # elements of one dimension; anything larger is taken for a mistake


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
    """Return the task of a row. Raises TaskError with the row and the key at fault."""
    task_row = row.read(_TaskRow)
    if not task_row.outputs:
        row.fail("outputs", "is empty; a task writes at least one file")
    if task_row.cases == []:
        row.fail("cases", "is empty; leave it out for one case without parameters")
    cases: dict[str, Case] = {}
    for index, case in enumerate(task_row.cases or [CaseRow(name="default", parameters={})]):
        if case.name in cases:
            row.fail(f"cases[{index}].name", f"{case.name!r} is used twice")
        inputs, outputs = (_tensors(row, key, getattr(task_row, key), case) for key in ("inputs", "outputs"))
        check_names(row, inputs, outputs)
        cases[case.name] = Case(case.name, case.parameters, inputs, outputs)
    return ProgramTask(
        **task_row.model_dump(include={"id", "system", "solution", "alternative", "split"}),
        name=task_row.name or task_row.id,
        family=task_row.family or task_row.id,
        prompts={level: text for level, key in enumerate(_WORDINGS, start=1) if (text := getattr(task_row, key))},
        cases=tuple(cases.values()),
        oracle=ReferenceOracle(task_row.reference),
        source=row.where,
    )


def _tensors(row: Row, key: str, tensors: list[TensorRow], case: CaseRow) -> tuple[Tensor, ...]:
    """Return the tensors with their shapes evaluated for one case."""
    evaluated = []
    for index, tensor in enumerate(tensors):
        try:
            shape = tuple(evaluate_size(entry, case.parameters) for entry in tensor.shape)
            evaluated.append(Tensor(tensor.name, tensor.dtype, shape))
        except ValueError as error:
            row.fail(f"{key}[{index}].shape", f"case {case.name}: {error}")
    return tuple(evaluated)


def read_folder(path: Path) -> tuple[list[ProgramTask], str]:
    """Read the tasks of a folder.

    Args:
        path: A folder with a folder <id>/ for each task, or the folder of one task, which holds a task.json.

    Returns:
        The tasks sorted by id, and a SHA-256 of their content. There are no tasks if the folder has another layout.

    Raises:
        TaskError: A file is missing or breaks the format.
    """
    if (path / "task.json").is_file():
        folders = {path}
    elif folders := {file.parent for file in path.glob("*/task.json")}:
        # A task that was copied in part is not left out: reading it names its task.json.
        folders |= {file.parent for file in path.glob("*/reference.py")}
    tasks, digest = [], hashlib.sha256()
    for folder in sorted(folders):
        values = read_object(folder / "task.json")
        optional = {key: name for key, name in _FILES_IF_THERE.items() if (folder / name).exists()}
        for key, name in (_FILES | optional).items():
            values[key] = read_text(folder / name)
        digest.update(json.dumps([folder.name, values], sort_keys=True).encode())
        tasks.append(read_task(Row(f"{folder.name}/task.json", {"id": folder.name, **values})))
    return tasks, digest.hexdigest()


def evaluate_size(entry: int | str, parameters: Mapping[str, Any]) -> int:
    """Return the size of one dimension.

    An expression is evaluated by Python. That is safe, because it may have no characters beyond those of the
    arithmetic, so no attribute or subscript, and no names beyond the parameters, so no keyword.

    Args:
        entry: A positive int, or arithmetic (names, ints, + - * // %, parentheses) over parameters.
        parameters: The parameters of the case. Only those that are ints may be used.

    Raises:
        ValueError: The entry is not such an expression, or its value is no size. The message says what was expected
            and what is there.
    """
    size: Any = entry
    if isinstance(entry, str):
        integers = {name: value for name, value in parameters.items() if type(value) is int}
        try:
            if not _ARITHMETIC.fullmatch(entry) or not integers.keys() >= {*_NAMES.findall(entry)}:
                raise SyntaxError
            size = eval(entry, {"__builtins__": {}}, integers)
        except (SyntaxError, ArithmeticError, TypeError, MemoryError, RecursionError) as error:
            reason = f": {error}" if isinstance(error, ArithmeticError) else ""
            allowed = f"{', '.join(integers) or 'no name'}, integers, + - * // % and parentheses"
            raise ValueError(f"{entry[:40]!r} is not an expression of {allowed}{reason}") from None
    if type(size) is not int or not 0 < size <= MAX_SIZE:
        raise ValueError(f"{entry!r} is {size!r}, a size is positive and at most {MAX_SIZE}, and an integer")
    return size
