"""Reads and checks the tasks of data/kernels/; data/README.md says what is in a folder.

Needs numpy and the standard library only, so that a machine with nothing but a GPU and nvcc can verify the set. The shape
expressions are those of the package (src/cuset_stage/evaluation/tasks/shapes.py), loaded as a file for that reason.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np


ROOT = Path(__file__).resolve().parent.parent
DATA_DIR = ROOT / "data"
SPLITS = ("train", "eval")
FAMILIES = (
    "element-wise",
    "reduction",
    "scan",
    "matrix product",
    "transpose",
    "stencil",
    "convolution",
    "normalisation",
    "softmax",
    "histogram",
    "sort",
    "sparse",
    "attention",
    "random numbers",
    "image",
    "physics",
)
DTYPES = (
    *("float16", "float32", "float64"),
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
CASES = ("power_of_two", "odd", "small", "large", "special")
MAX_FILE_BYTES = 16 * 2**20
TASK_KEYS = {"family", "split", "idioms", "sizes", "inputs", "outputs", "cases"}


class DataError(ValueError):
    """A source file breaks the format; the message names the file and the key."""


def load_module(name: str, path: Path) -> ModuleType:
    """Execute a Python file that is in no package."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise DataError(f"{path}: missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


shapes = load_module("cuset_shapes", ROOT / "src" / "cuset_stage" / "evaluation" / "tasks" / "shapes.py")


@dataclass(frozen=True)
class TensorSpec:
    """A declared file: data/<name>.bin, raw little-endian, row-major; sizes may be expressions over a case's parameters."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]

    @property
    def shape_text(self) -> str:
        """The shape as a prompt writes it: `(rows, 64)` or `(n,)`."""
        return f"({', '.join(map(str, self.shape))}{',' if len(self.shape) == 1 else ''})"


@dataclass(frozen=True)
class Tensor:
    """A declared file with the sizes of one case."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Case:
    name: str
    parameters: Mapping[str, Any]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclass(frozen=True)
class Task:
    name: str
    family: str
    split: str
    idioms: tuple[str, ...]
    sizes: Mapping[str, tuple[int, int]]  # the entries of data/sizes.bin, in order, with the limits of each
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    cases: tuple[Case, ...]
    prompt: str
    intro: str
    source: str
    reference_source: str
    folder: Path

    @property
    def response(self) -> str:
        return f"{self.intro}\n\n```cpp\n{self.source}\n```"


# ------------------------------------------------------------------------------------------------------- task.json


def _read_text(path: Path) -> str:
    if not path.is_file():
        raise DataError(f"{path}: missing")
    text = path.read_text(encoding="utf-8").strip()
    if not text:
        raise DataError(f"{path}: empty")
    return text


def _read_tensors(path: Path, key: str, rows: Any) -> tuple[TensorSpec, ...]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{path}: {key}: expected a list of {{name, dtype, shape}}")
    tensors = []
    for index, row in enumerate(rows):
        where = f"{path}: {key}[{index}]"
        if set(row) != {"name", "dtype", "shape"}:
            raise DataError(f"{where}: keys are {sorted(row)}, expected name, dtype and shape")
        if not isinstance(row["name"], str) or not re.fullmatch(r"[A-Za-z_]\w*", row["name"]):
            raise DataError(f"{where}.name: {row['name']!r} is not an identifier")
        if row["dtype"] not in DTYPES:
            raise DataError(f"{where}.dtype: {row['dtype']!r}, allowed: {', '.join(DTYPES)}")
        if not isinstance(row["shape"], list) or not row["shape"]:
            raise DataError(f"{where}.shape: {row['shape']!r} is not a list of at least one size")
        tensors.append(TensorSpec(row["name"], row["dtype"], tuple(row["shape"])))
    return tuple(tensors)


def _read_sizes(path: Path, sizes: Any) -> dict[str, tuple[int, int]]:
    if not isinstance(sizes, dict) or not sizes:
        raise DataError(
            f"{path}: sizes: expected at least one {{name: [smallest, largest]}}, in the order of sizes.bin"
        )
    for name, limits in sizes.items():
        if not name.isidentifier():
            raise DataError(f"{path}: sizes: {name!r} is not an identifier")
        whole = isinstance(limits, list) and len(limits) == 2 and all(type(limit) is int for limit in limits)
        if not whole or not 1 <= limits[0] < limits[1] < 2**31:
            raise DataError(
                f"{path}: sizes.{name}: {limits!r}, expected [smallest, largest] with 1 <= smallest < largest"
            )
    return {name: (low, high) for name, (low, high) in sizes.items()}


def _case_tensors(where: str, specs: tuple[TensorSpec, ...], parameters: Mapping[str, Any]) -> tuple[Tensor, ...]:
    tensors = []
    for spec in specs:
        try:
            shape = shapes.evaluate_shape(spec.shape, parameters)
        except shapes.ShapeError as error:
            raise DataError(f"{where}: {spec.name}.shape: {error}") from error
        tensor = Tensor(spec.name, spec.dtype, shape)
        if tensor.nbytes > MAX_FILE_BYTES:
            raise DataError(
                f"{where}: {spec.name}: {tensor.nbytes} bytes, at most {MAX_FILE_BYTES}: choose smaller sizes"
            )
        tensors.append(tensor)
    return tuple(tensors)


def _read_cases(path: Path, task: Mapping[str, Any]) -> tuple[Case, ...]:
    rows, sizes = task["cases"], task["sizes"]
    if not isinstance(rows, list) or not all(isinstance(r, dict) and set(r) == {"name", "parameters"} for r in rows):
        raise DataError(f"{path}: cases: expected a list of {{name, parameters}}")
    if (names := tuple(row["name"] for row in rows)) != CASES:
        raise DataError(f"{path}: cases: names are {list(names)}, expected {list(CASES)} in this order")
    cases, seen = [], {}
    for row in rows:
        where, parameters = f"{path}: cases.{row['name']}", row["parameters"]
        if not isinstance(parameters, dict) or not all(isinstance(v, int | float | str) for v in parameters.values()):
            raise DataError(f"{where}.parameters: expected {{name: number or text}}")
        if missing := [name for name in sizes if name not in parameters]:
            raise DataError(f"{where}.parameters: lacks {', '.join(missing)}, which sizes names")
        for name, (low, high) in sizes.items():
            if type(parameters[name]) is not int or not low <= parameters[name] <= high:
                raise DataError(f"{where}.parameters.{name}: {parameters[name]!r}, allowed: {low} to {high}")
        entry = tuple(parameters[name] for name in sizes)
        if entry in seen:
            raise DataError(f"{where}: sizes {entry} are those of {seen[entry]}; every case has sizes of its own")
        seen[entry] = row["name"]
        inputs, outputs = (_case_tensors(where, task[key], parameters) for key in ("inputs", "outputs"))
        cases.append(Case(row["name"], parameters, inputs, outputs))
    return tuple(cases)


def load_task(folder: Path) -> Task:
    """Read and check one folder of data/kernels/. Raises DataError with the file and the key at fault."""
    path = folder / "task.json"
    try:
        meta = json.loads(_read_text(path))
    except json.JSONDecodeError as error:
        raise DataError(f"{path}: not JSON: {error}") from error
    if not isinstance(meta, dict) or set(meta) != TASK_KEYS:
        found = sorted(meta) if isinstance(meta, dict) else type(meta).__name__
        raise DataError(f"{path}: keys are {found}, expected {sorted(TASK_KEYS)}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", folder.name):
        raise DataError(f"{folder}: a task's name is lower case letters, digits and underscores")
    if meta["family"] not in FAMILIES:
        raise DataError(f"{path}: family: {meta['family']!r}, allowed: {', '.join(FAMILIES)}")
    if meta["split"] not in SPLITS:
        raise DataError(f"{path}: split: {meta['split']!r}, allowed: {', '.join(SPLITS)}")
    idioms = meta["idioms"]
    if not isinstance(idioms, list) or not idioms or not all(isinstance(idiom, str) and idiom for idiom in idioms):
        raise DataError(f"{path}: idioms: expected a list of at least one name")
    meta["sizes"] = _read_sizes(path, meta["sizes"])
    for key in ("inputs", "outputs"):
        meta[key] = _read_tensors(path, key, meta[key])
    if not meta["outputs"]:
        raise DataError(f"{path}: outputs: a task writes at least one file")
    names = [tensor.name for tensor in meta["inputs"] + meta["outputs"]]
    if len(set(names)) != len(names):
        raise DataError(f"{path}: inputs, outputs: a name is used twice: {names}")
    first = TensorSpec("sizes", "int32", (len(meta["sizes"]),))
    if not meta["inputs"] or meta["inputs"][0] != first:
        raise DataError(
            f"{path}: inputs[0]: expected sizes, int32, {list(first.shape)}: one entry for each key of sizes"
        )
    task = Task(
        name=folder.name,
        family=meta["family"],
        split=meta["split"],
        idioms=tuple(idioms),
        sizes=meta["sizes"],
        inputs=meta["inputs"],
        outputs=meta["outputs"],
        cases=_read_cases(path, meta),
        prompt=_read_text(folder / "prompt.md"),
        intro=_read_text(folder / "intro.md"),
        source=_read_text(folder / "kernel.cu"),
        reference_source=_read_text(folder / "reference.py"),
        folder=folder,
    )
    _check_prompt(task)
    _check_source(task)
    return task


def load_tasks(data_dir: Path = DATA_DIR, only: tuple[str, ...] = ()) -> list[Task]:
    """The tasks of the set (all, or those named), sorted by family (in the order of FAMILIES) and name."""
    folders = sorted(path for path in (data_dir / "kernels").iterdir() if path.is_dir())
    if not folders:
        raise DataError(f"{data_dir / 'kernels'}: holds no task folder")
    if unknown := set(only) - {folder.name for folder in folders}:
        raise DataError(f"--only: no such task: {', '.join(sorted(unknown))}")
    tasks = [load_task(folder) for folder in folders if not only or folder.name in only]
    return sorted(tasks, key=lambda task: (FAMILIES.index(task.family), task.name))


# ----------------------------------------------------------------------------------------------- prompt and program


def _check_prompt(task: Task) -> None:
    path = task.folder / "prompt.md"
    for tensor in task.inputs + task.outputs:
        # A file and its layout stand on one line, so that no reader has to guess which shape belongs to which file.
        lines = [line for line in task.prompt.splitlines() if f"data/{tensor.name}.bin" in line]
        if not any(tensor.dtype in line and tensor.shape_text in line for line in lines):
            raise DataError(
                f"{path}: {tensor.name}: no line names data/{tensor.name}.bin, {tensor.dtype} and {tensor.shape_text}"
            )
    in_order = r"\b.*\b".join(map(re.escape, task.sizes))
    if not any("data/sizes.bin" in line and re.search(rf"\b{in_order}\b", line) for line in task.prompt.splitlines()):
        raise DataError(
            f"{path}: the line of data/sizes.bin does not name its entries in order: {', '.join(task.sizes)}"
        )
    for name, limits in task.sizes.items():
        for limit in limits[0 if limits[0] > 1 else 1 :]:
            if not re.search(rf"(?<!\d)(?<!\d\.){limit}(?!\d)", task.prompt):
                raise DataError(f"{path}: sizes.{name}: the limit {limit} is not in the prompt")
    for word in ("little-endian", "row-major"):
        if word not in task.prompt:
            raise DataError(f"{path}: the file contract lacks the word {word!r}")
    if "```" in task.prompt:
        raise DataError(f"{path}: a prompt holds no fenced block")


def _check_source(task: Task) -> None:
    path = task.folder / "kernel.cu"
    for part in ("__global__", "int main("):
        if part not in task.source:
            raise DataError(f"{path}: lacks {part!r}: a response is a whole program with a kernel and its launch")
    if "<<<" not in task.source and "cudaLaunch" not in task.source:
        raise DataError(f"{path}: launches nothing: neither '<<<' nor a cudaLaunch call")
    for tensor in task.inputs + task.outputs:
        if f'"data/{tensor.name}.bin"' not in task.source:
            raise DataError(f'{path}: {tensor.name}: never names "data/{tensor.name}.bin"')
    if "```" in task.source or "```" in task.intro:
        raise DataError(f"{path}: a response has one fenced block, the one that build_data.py adds")
