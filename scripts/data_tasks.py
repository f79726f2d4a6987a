"""Reads data/kernels/ as the judge does, and checks the bundled set's additional rules, which data/README.md states."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from build_data import DATA as DATA_DIR
from build_data import FAMILIES, WORDINGS

from cuset_stage.files import file_sha256
from cuset_stage.tasks.base import ProgramTask, TaskError
from cuset_stage.tasks.native import read_folder


SPLITS = ("train", "eval")
CASES = ("power_of_two", "odd", "small", "large", "special")
MAX_FILE_BYTES = 16 * 2**20
PROGRAMS = ("kernel.cu", "simple.cu")  # the second only where a task has two
TASK_KEYS = {"family", "split", "idioms", "sizes", "inputs", "outputs", "cases"}


@dataclass(frozen=True)
class BundledTask:
    """One folder: the task as the judge reads it, task.json as it stands, the sentence before kernel.cu, and what stands in
    <wording>.md, by wording.
    """

    program: ProgramTask
    meta: Mapping[str, Any]
    intro: str
    wordings: Mapping[str, str]
    folder: Path

    @property
    def name(self) -> str:
        return self.program.id

    @property
    def family(self) -> str:
        return self.meta["family"]

    @property
    def split(self) -> str:
        return self.meta["split"]

    @property
    def sizes(self) -> dict[str, list[int]]:
        """The entries of data/sizes.bin, in order, with the smallest and the largest value of each."""
        return self.meta["sizes"]

    @property
    def tensors(self) -> list[dict[str, Any]]:
        """Inputs and outputs as task.json declares them: sizes may be expressions over a case's parameters."""
        return self.meta["inputs"] + self.meta["outputs"]

    @property
    def programs(self) -> dict[str, str]:
        """The right programs by file: the fast one, and the simple one where there is one."""
        sources = (self.program.solution, self.program.alternative)
        return {name: source.strip() for name, source in zip(PROGRAMS, sources, strict=True) if source}

    def sha256(self, program: str) -> dict[str, str]:
        """SHA-256 of the files that decide a program's verdict, by name: its record holds for these bytes alone."""
        return {name: file_sha256(self.folder / name) for name in ("task.json", program, "reference.py")}


def shape_text(shape: list[int | str]) -> str:
    """A shape as a prompt writes it: `(rows, 64)` or `(n,)`."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def load_task(folder: Path) -> BundledTask:
    """Read and check one folder of data/kernels/. Raises TaskError with the file and the key at fault."""
    path = folder / "task.json"
    if not path.is_file():
        raise TaskError(f"{path}: missing")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", folder.name):
        raise TaskError(f"{folder}: a task's name is lower case letters, digits and underscores")
    wordings = [f"{wording}.md" for wording in WORDINGS]
    for name in ("intro.md", "kernel.cu", *wordings):
        if not (folder / name).is_file():
            raise TaskError(f"{folder / name}: missing")
    (program,), _ = read_folder(folder)
    meta = json.loads(path.read_text(encoding="utf-8"))
    if set(meta) != TASK_KEYS:
        raise TaskError(f"{path}: keys are {sorted(meta)}, expected {sorted(TASK_KEYS)}")
    intro, *texts = ((folder / name).read_text(encoding="utf-8").strip() for name in ("intro.md", *wordings))
    task = BundledTask(program, meta, intro, dict(zip(WORDINGS, texts, strict=True)), folder)
    _check_meta(task, path)
    _check_sizes(task, path)
    _check_cases(task, path)
    for wording, text in task.wordings.items():
        _check_wording(task, folder / f"{wording}.md", text)
    for name, source in task.programs.items():
        _check_program(task, folder / name, source)
    if not intro or "```" in intro:
        raise TaskError(
            f"{folder / 'intro.md'}: is empty or has a fenced block; a response has the one of its program"
        )
    return task


def load_tasks(data_dir: Path = DATA_DIR, only: tuple[str, ...] = ()) -> list[BundledTask]:
    """The tasks of the set (all, or those named), sorted by family (in the order of FAMILIES) and name."""
    root = data_dir / "kernels"
    folders = sorted(path for path in root.iterdir() if path.is_dir())
    if not folders:
        raise TaskError(f"{root}: holds no task folder")
    if unknown := set(only) - {folder.name for folder in folders}:
        raise TaskError(f"--only: no such task: {', '.join(sorted(unknown))}")
    tasks = [load_task(folder) for folder in folders if not only or folder.name in only]
    return sorted(tasks, key=lambda task: (FAMILIES.index(task.family), task.name))


# ------------------------------------------------------------------------------------------------------- task.json


def _check_meta(task: BundledTask, path: Path) -> None:
    if task.family not in FAMILIES:
        raise TaskError(f"{path}: family: {task.family!r}, allowed: {', '.join(FAMILIES)}")
    if task.split not in SPLITS:
        raise TaskError(f"{path}: split: {task.split!r}, allowed: {', '.join(SPLITS)}")
    if not task.program.idioms:
        raise TaskError(f"{path}: idioms: expected a list of at least one name")


def _check_sizes(task: BundledTask, path: Path) -> None:
    if not isinstance(task.sizes, dict) or not task.sizes:
        raise TaskError(f"{path}: sizes: expected {{name: [smallest, largest]}}, in the order of data/sizes.bin")
    for name, limits in task.sizes.items():
        whole = isinstance(limits, list) and len(limits) == 2 and all(type(limit) is int for limit in limits)
        if not name.isidentifier() or not whole or not 1 <= limits[0] < limits[1] < 2**31:
            raise TaskError(f"{path}: sizes.{name}: {limits!r}, expected [smallest, largest], 1 <= smallest < largest")
    first = {"name": "sizes", "dtype": "int32", "shape": [len(task.sizes)]}
    if task.meta["inputs"][:1] != [first]:
        raise TaskError(f"{path}: inputs[0]: expected {json.dumps(first)}: one entry for each key of sizes")


def _check_cases(task: BundledTask, path: Path) -> None:
    if (names := tuple(case.name for case in task.program.cases)) != CASES:
        raise TaskError(f"{path}: cases: names are {list(names)}, expected {list(CASES)} in this order")
    seen: dict[tuple[int, ...], str] = {}
    for case in task.program.cases:
        where = f"{path}: cases.{case.name}"
        for name, (low, high) in task.sizes.items():
            value = case.parameters.get(name)
            if type(value) is not int or not low <= value <= high:
                raise TaskError(f"{where}.parameters.{name}: {value!r}, allowed: {low} to {high}")
        entry = tuple(case.parameters[name] for name in task.sizes)
        if entry in seen:
            raise TaskError(f"{where}: sizes {entry} are those of {seen[entry]}; every case has sizes of its own")
        seen[entry] = case.name
        for tensor in case.inputs + case.outputs:
            if (tensor.nbytes or 0) > MAX_FILE_BYTES:
                raise TaskError(f"{where}: {tensor.name}: {tensor.nbytes} bytes, at most {MAX_FILE_BYTES}")


# ----------------------------------------------------------------------------------------------- prompt and program


def _check_wording(task: BundledTask, path: Path, text: str) -> None:
    """Each wording is complete by itself."""
    lines = text.splitlines()
    for tensor in task.tensors:
        # A file and its layout stand on one line, so that no reader has to guess which shape belongs to which file.
        parts = (f"data/{tensor['name']}.bin", tensor["dtype"], shape_text(tensor["shape"]))
        if not any(all(part in line for part in parts) for line in lines):
            raise TaskError(f"{path}: {tensor['name']}: no line names {parts[0]}, {parts[1]} and {parts[2]}")
    in_order = r"\b.*\b".join(map(re.escape, task.sizes))
    if not any("data/sizes.bin" in line and re.search(rf"\b{in_order}\b", line) for line in lines):
        raise TaskError(
            f"{path}: the line of data/sizes.bin does not name its entries in order: {', '.join(task.sizes)}"
        )
    for name, (low, high) in task.sizes.items():
        for limit in (high,) if low == 1 else (low, high):
            if not re.search(rf"(?<!\d)(?<!\d\.){limit}(?!\d)", text):
                raise TaskError(f"{path}: sizes.{name}: the limit {limit} is not in the prompt")
    for word in ("little-endian", "row-major"):
        if word not in text.lower():
            raise TaskError(f"{path}: the file contract lacks the word {word!r}")
    if "```" in text:
        raise TaskError(f"{path}: a prompt holds no fenced block")


def _check_program(task: BundledTask, path: Path, source: str) -> None:
    for part in ("__global__", "int main("):
        if part not in source:
            raise TaskError(f"{path}: lacks {part!r}: a response is a whole program with a kernel and its launch")
    if "<<<" not in source and "cudaLaunch" not in source:
        raise TaskError(f"{path}: launches nothing: neither '<<<' nor a cudaLaunch call")
    for tensor in task.tensors:
        if f'"data/{tensor["name"]}.bin"' not in source:
            raise TaskError(f'{path}: {tensor["name"]}: never names "data/{tensor["name"]}.bin"')
    if "```" in source:
        raise TaskError(f"{path}: has a fenced block; a response has one, the one that build_data.py adds")
