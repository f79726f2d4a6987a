"""Our own format, "cuset": JSONL with a task a line, or a folder such as data/kernels with a folder a task.

A task has cases: the same program on inputs of different sizes. Shapes may be arithmetic over a case's parameters.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from .base import DTYPE_BYTES, Case, ProgramTask, ReferenceOracle, TaskError, Tensor
from .shapes import ShapeError, evaluate_shape
from .task_rows import TOO_DEEP, Row, check_names, check_text


SIGN = {"id", "prompt", "inputs", "outputs", "reference"}
_FILES = {"prompt": "prompt.md", "reference": "reference.py", "solution": "kernel.cu"}


def read_task(row: Row) -> ProgramTask:
    """Raises TaskError with the row and the key at fault."""
    identity = row.name("id")
    cases = _cases(row)
    return ProgramTask(
        id=identity,
        name=row.optional_text("name") or identity,
        family=row.optional_text("family") or identity,
        prompts={1: row.text("prompt")},
        system=row.optional_text("system"),
        cases=cases,
        oracle=ReferenceOracle(row.text("reference")),
        solution=row.optional_text("solution"),
        source=row.where,
        split=row.optional_text("split"),
        idioms=row.texts("idioms"),
        licence=row.optional_text("licence"),
    )


def read_folder(path: Path) -> tuple[list[ProgramTask], str]:
    """The tasks of <path>/<id>/ (or of `path` itself when it holds a task.json), sorted by id, and a SHA-256."""
    folders = [path] if (path / "task.json").is_file() else sorted(file.parent for file in path.glob("*/task.json"))
    if not folders:
        raise TaskError(f"{path}: no <task>/task.json in it")
    tasks, digest = [], hashlib.sha256()
    for folder in folders:
        values = _read_meta(folder / "task.json")
        for key, name in _FILES.items():
            file = folder / name
            if file.is_file():
                values[key] = _read_text(file)
            elif key != "solution":
                raise TaskError(f"{file}: missing")
        digest.update(json.dumps([folder.name, values], sort_keys=True).encode())
        tasks.append(read_task(Row(f"{folder.name}/task.json", {"id": folder.name, **values})))
    return tasks, digest.hexdigest()


def _read_meta(file: Path) -> dict[str, Any]:
    try:
        values = json.loads(_read_text(file))
    except ValueError as error:
        raise TaskError(f"{file}: not JSON: {error}") from None
    except RecursionError:
        raise TaskError(f"{file}: {TOO_DEEP}") from None
    if not isinstance(values, dict):
        raise TaskError(f"{file}: expected an object with inputs, outputs and cases")
    check_text(str(file), values)
    return values


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{file}: cannot be read: {error}") from None


def _cases(row: Row) -> tuple[Case, ...]:
    if row.values.get("cases") is None:
        return (_case(row, "default", {}),)
    cases: dict[str, Case] = {}
    for index, record in enumerate(row.records("cases")):
        part = Row(f"{row.where}: cases[{index}]", record)
        name, parameters = part.name("name"), part.value("parameters")
        if not isinstance(parameters, dict) or not all(str(key).isidentifier() for key in parameters):
            part.fail("parameters", "expected an object whose keys are Python identifiers: make_inputs takes them")
        if name in cases:
            part.fail("name", f"{name!r} is used twice")
        cases[name] = _case(row, name, parameters)
    if not cases:
        row.fail("cases", "is empty; leave it out for one case without parameters")
    return tuple(cases.values())


def _case(row: Row, name: str, parameters: dict[str, Any]) -> Case:
    inputs, outputs = (_tensors(row, key, name, parameters) for key in ("inputs", "outputs"))
    if not outputs:
        row.fail("outputs", "is empty; a task writes at least one file")
    check_names(row, inputs, outputs)
    return Case(name, parameters, inputs, outputs)


def _tensors(row: Row, key: str, case: str, parameters: dict[str, Any]) -> tuple[Tensor, ...]:
    tensors = []
    for index, record in enumerate(row.records(key)):
        part = Row(f"{row.where}: {key}[{index}]", record)
        dtype = part.text("dtype")
        if dtype not in DTYPE_BYTES:
            part.fail("dtype", f"{dtype!r}: expected one of {', '.join(DTYPE_BYTES)}")
        try:
            shape = evaluate_shape(part.value("shape"), parameters)
        except ShapeError as error:
            part.fail("shape", f"case {case}: {error}")
        tensors.append(Tensor(part.name("name"), dtype, shape))
    return tuple(tensors)
