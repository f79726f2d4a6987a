#!/usr/bin/env python3
"""Builds the bundled training set from data/kernels/.

    python scripts/build_data.py                 write data/cuset_kernels*.json and the table in data/README.md
    python scripts/build_data.py --check         write nothing; exit 1 when a built file is out of date

Needs numpy and the standard library only. The source of a task is the folder data/kernels/<name>/; data/README.md says what is
in it. scripts/verify_data.py runs the programs on a GPU.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


DATA_DIR = Path(__file__).resolve().parent.parent / "data"
SPLIT_FILES = {"train": "cuset_kernels.json", "eval": "cuset_kernels_eval.json"}
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
TABLE_MARKS = ("<!-- table: written by scripts/build_data.py -->", "<!-- end of table -->")
TASK_KEYS = {"family", "split", "idioms", "inputs", "outputs"}


class DataError(ValueError):
    """A source file breaks the format; the message names the file and the key."""


@dataclass(frozen=True)
class Tensor:
    """One binary file of a task: data/<name>.bin, raw little-endian, row-major."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Task:
    name: str
    family: str
    split: str
    idioms: tuple[str, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    prompt: str
    intro: str
    source: str
    folder: Path

    @property
    def response(self) -> str:
        return f"{self.intro}\n\n```cpp\n{self.source}\n```"

    def record(self) -> dict[str, str]:
        """The row of the training file; LLaMA-Factory reads the alpaca columns and ignores name and family."""
        return {
            "instruction": self.prompt,
            "input": "",
            "output": self.response,
            "name": self.name,
            "family": self.family,
        }


@dataclass(frozen=True)
class Reference:
    """The NumPy oracle of a task, from its reference.py."""

    make_inputs: Callable[[np.random.Generator], dict[str, np.ndarray]]
    reference: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]
    tolerance: dict[str, tuple[float, float]]


# ---------------------------------------------------------------------------------------------------------- reading


def _read_text(path: Path) -> str:
    if not path.is_file():
        raise DataError(f"{path}: missing")
    text = path.read_text(encoding="utf-8").strip()
    if not text:
        raise DataError(f"{path}: empty")
    return text


def _tensors(path: Path, key: str, rows: Any) -> tuple[Tensor, ...]:
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
        shape = row["shape"]
        if not isinstance(shape, list) or not shape or not all(type(size) is int and size > 0 for size in shape):
            raise DataError(f"{where}.shape: {shape!r} is not a list of positive integers")
        tensors.append(Tensor(row["name"], row["dtype"], tuple(shape)))
    return tuple(tensors)


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
    if meta["split"] not in SPLIT_FILES:
        raise DataError(f"{path}: split: {meta['split']!r}, allowed: {', '.join(SPLIT_FILES)}")
    idioms = meta["idioms"]
    if not isinstance(idioms, list) or not idioms or not all(isinstance(idiom, str) and idiom for idiom in idioms):
        raise DataError(f"{path}: idioms: expected a list of at least one name")
    task = Task(
        name=folder.name,
        family=meta["family"],
        split=meta["split"],
        idioms=tuple(idioms),
        inputs=_tensors(path, "inputs", meta["inputs"]),
        outputs=_tensors(path, "outputs", meta["outputs"]),
        prompt=_read_text(folder / "prompt.md"),
        intro=_read_text(folder / "intro.md"),
        source=_read_text(folder / "kernel.cu"),
        folder=folder,
    )
    if not task.outputs:
        raise DataError(f"{path}: outputs: a task writes at least one file")
    names = [tensor.name for tensor in task.inputs + task.outputs]
    if len(set(names)) != len(names):
        raise DataError(f"{path}: inputs, outputs: a name is used twice: {names}")
    _check_prompt(task)
    _check_source(task)
    return task


def _check_prompt(task: Task) -> None:
    path = task.folder / "prompt.md"
    for tensor in task.inputs + task.outputs:
        # A file and its layout stand on one line, so that no reader has to guess which shape belongs to which file.
        lines = [line for line in task.prompt.splitlines() if f"data/{tensor.name}.bin" in line]
        if not any(tensor.dtype in line and str(tensor.shape) in line for line in lines):
            raise DataError(
                f"{path}: {tensor.name}: no line names data/{tensor.name}.bin, {tensor.dtype} and {tensor.shape}"
            )
    for word in ("little-endian", "row-major"):
        if word not in task.prompt:
            raise DataError(f"{path}: the file contract lacks the word {word!r}")
    if "```" in task.prompt:
        raise DataError(f"{path}: a prompt holds no fenced block")


def _check_source(task: Task) -> None:
    path = task.folder / "kernel.cu"
    for part in ("__global__", "<<<", "int main("):
        if part not in task.source:
            raise DataError(f"{path}: lacks {part!r}: a response is a whole program with a kernel and its launch")
    for tensor in task.inputs + task.outputs:
        if f'"data/{tensor.name}.bin"' not in task.source:
            raise DataError(f'{path}: {tensor.name}: never names "data/{tensor.name}.bin"')
    if "```" in task.source or "```" in task.intro:
        raise DataError(f"{path}: a response has one fenced block, the one that build_data.py adds")


def load_tasks(data_dir: Path = DATA_DIR) -> list[Task]:
    """Every task of the set, sorted by family (in the order of FAMILIES) and name."""
    folders = sorted(path for path in (data_dir / "kernels").iterdir() if path.is_dir())
    if not folders:
        raise DataError(f"{data_dir / 'kernels'}: holds no task folder")
    tasks = [load_task(folder) for folder in folders]
    return sorted(tasks, key=lambda task: (FAMILIES.index(task.family), task.name))


def load_reference(task: Task) -> Reference:
    """Import the task's reference.py and check its names and tolerances."""
    path = task.folder / "reference.py"
    spec = importlib.util.spec_from_file_location(f"cuset_reference_{task.name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise DataError(f"{path}: missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for key in ("make_inputs", "reference", "TOLERANCE"):
        if key not in vars(module):
            raise DataError(f"{path}: {key}: missing")
    tolerance = module.TOLERANCE
    if set(tolerance) != {tensor.name for tensor in task.outputs}:
        raise DataError(f"{path}: TOLERANCE: names {sorted(tolerance)}, expected one (rtol, atol) for every output")
    return Reference(module.make_inputs, module.reference, tolerance)


def task_rng(task: Task) -> np.random.Generator:
    """The task's own generator: its inputs stay the same when other tasks come or go."""
    return np.random.default_rng(zlib.crc32(task.name.encode()))


def check_arrays(task: Task, key: str, arrays: dict[str, np.ndarray]) -> None:
    """Raise DataError unless the arrays have the declared names, dtypes and shapes and are finite."""
    path = task.folder / "reference.py"
    tensors = task.inputs if key == "inputs" else task.outputs
    if set(arrays) != {tensor.name for tensor in tensors}:
        raise DataError(f"{path}: {key}: returns {sorted(arrays)}, task.json has {[t.name for t in tensors]}")
    for tensor in tensors:
        array = arrays[tensor.name]
        if array.dtype != np.dtype(tensor.dtype) or array.shape != tensor.shape:
            raise DataError(
                f"{path}: {tensor.name}: {array.dtype} {array.shape}, task.json has {tensor.dtype} {tensor.shape}"
            )
        if not np.isfinite(array).all():
            raise DataError(f"{path}: {tensor.name}: holds values that are not finite")


# --------------------------------------------------------------------------------------------------------- building


def family_table(tasks: list[Task]) -> str:
    lines = ["| family | train | eval | tasks |", "|---|---:|---:|---|"]
    for family in FAMILIES:
        members = [task for task in tasks if task.family == family]
        counts = [sum(task.split == split for task in members) for split in SPLIT_FILES]
        cells = ", ".join(f"[{task.name}](kernels/{task.name}) ({', '.join(task.idioms)})" for task in members)
        lines.append(f"| {family} | {counts[0]} | {counts[1]} | {cells} |")
    totals = [sum(task.split == split for task in tasks) for split in SPLIT_FILES]
    lines.append(f"| total | {totals[0]} | {totals[1]} | |")
    return "\n".join(lines)


def build(tasks: list[Task], data_dir: Path = DATA_DIR) -> dict[Path, str]:
    """The text of every built file, by path."""
    built = {}
    for split, name in SPLIT_FILES.items():
        rows = [task.record() for task in tasks if task.split == split]
        built[data_dir / name] = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    readme = data_dir / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    begin, end = TABLE_MARKS
    if text.count(begin) != 1 or text.count(end) != 1:
        raise DataError(f"{readme}: expected the lines {begin!r} and {end!r} once each")
    head, rest = text.split(begin)
    built[readme] = f"{head}{begin}\n{family_table(tasks)}\n{end}{rest.split(end)[1]}"
    return built


def command_build(check: bool, data_dir: Path = DATA_DIR) -> int:
    tasks = load_tasks(data_dir)
    stale = [
        (path, text)
        for path, text in build(tasks, data_dir).items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if not check:
            path.write_text(text, encoding="utf-8")
        print(f"{'out of date' if check else 'written'}: data/{path.name}")
    if check and stale:
        print("run: python scripts/build_data.py", file=sys.stderr)
        return 1
    print(f"{len(tasks)} tasks, {'up to date' if not stale else f'{len(stale)} files written'}")
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a built file is out of date")
    options = parser.parse_args(arguments)
    try:
        return command_build(options.check)
    except DataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
