"""Tasks: their prompts, their cases, and where right outputs come from. Standard library only."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..text import InputError, nearest


DTYPE_BYTES: Mapping[str, int] = {
    "bool": 1,
    "float16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
    **{f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
# Bytes of an element in a file: also of what NumPy cannot read.
FILE_BYTES: Mapping[str, int] = {**DTYPE_BYTES, "bfloat16": 2}
ORACLE_VERSION = 2  # raised when the way inputs, references or verdicts are made changes: old caches are then not read


class TaskError(InputError):
    """A task set breaks its format; the message names the file, the row and the key, and what was expected."""


@dataclass(frozen=True)
class Tensor:
    """One binary file, `data/<name>.bin`: the values alone, little-endian, row-major, no header.

    `dtype` is a NumPy name, "bfloat16", or what the task set wrote when it is neither: the size is unknown then.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int | None:
        """Bytes of the file; None for a dtype that is not in FILE_BYTES."""
        item = FILE_BYTES.get(self.dtype)
        return None if item is None else math.prod(self.shape) * item

    @property
    def file(self) -> str:
        """The path a program uses, relative to its working directory."""
        return f"data/{self.name}.bin"


@dataclass(frozen=True)
class Case:
    """One set of inputs of a task, with the sizes it implies."""

    name: str
    parameters: Mapping[str, Any]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of its files; those of a dtype that is not in FILE_BYTES count as 0."""
        return sum(tensor.nbytes or 0 for tensor in (*self.inputs, *self.outputs))


@dataclass(frozen=True)
class ScriptOracle:
    """CUDABench's kind: `generate` (gen.py) writes data/<input>.bin and data/<name>_ref.bin, `compare` (compare.py)
    reads data/<output>.bin and the references and prints T or F.
    """

    generate: str
    compare: str


@dataclass(frozen=True)
class ReferenceOracle:
    """Our own kind: `source` defines make_inputs(rng, **parameters), reference(inputs) and TOLERANCE."""

    source: str


@dataclass(frozen=True)
class Project:
    """The files and options that make a program of an answer which is one file of several. Paths are relative to the compiled folder.

    requires: of each group of names, the answer has to use one.
    """

    answer: str  # the answer's path: "solution.cu"
    files: Mapping[str, str]  # path -> text of the other files
    options: tuple[str, ...]  # nvcc's, with the paths that it compiles
    requires: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class _AnyTask:
    id: str
    name: str
    family: str  # such as "level1"
    prompts: Mapping[int, str]  # level -> what the user asks
    system: str | None


@dataclass(frozen=True)
class ProgramTask(_AnyTask):
    """The answer is a whole CUDA program that reads data/<input>.bin and writes data/<output>.bin; with a `project` it is
    the part that is missing in such a program.
    """

    cases: tuple[Case, ...]
    oracle: ScriptOracle | ReferenceOracle
    solution: str | None  # a right program, when the set has one
    source: str  # "tasks.jsonl:12"
    split: str | None = None
    gpu: str | None = None  # the GPU the set names for this task
    alternative: str | None = None  # another right program, when the set has one: the pairs of two right programs
    project: Project | None = None
    time_limit: float | None = None  # seconds that the set gives a run
    row: Mapping[str, Any] | None = None  # of CUDABench, as published: fills the benchmark's own prompts
    language: str = field(default="cuda", init=False)

    @property
    def asks_whole_program(self) -> bool:
        """True if the answer has a `main` of its own."""
        return self.project is None

    @property
    def draws_inputs(self) -> bool:
        """True if inputs can be drawn anew from a seed; else they are the task set's own."""
        return isinstance(self.oracle, ReferenceOracle)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what decides judgement: cases and oracle, not the wording of the prompt."""
        cases = [vars(case) for case in self.cases]
        oracle = {"oracle": type(self.oracle).__name__, **vars(self.oracle)}
        project = {"project": vars(self.project), "time_limit": self.time_limit} if self.project else {}
        return _sha256({"version": ORACLE_VERSION, "id": self.id, "cases": cases, **oracle, **project})


@dataclass(frozen=True)
class ModuleTask(_AnyTask):
    """KernelBench's kind: `reference` is Python source with Model, get_inputs and get_init_inputs; the answer is
    Python source with ModelNew, or with a `frame` what the frame makes a ModelNew of.
    """

    reference: str
    source: str
    split: str | None = None
    solution: str | None = None  # a right answer, when the set has one
    own_source: str | None = None  # the set's module, where the reference is made of it
    frame: str | None = None  # Python source with a function load_answer(code) that defines ModelNew
    notes: tuple[str, ...] = ()  # what the set itself says against the task: reports show it as flags
    language: str = "python"
    draws_inputs: bool = field(default=True, init=False)
    asks_whole_program: bool = field(default=False, init=False)

    def module(self, code: str) -> str:
        """The Python source that has ModelNew."""
        return code if self.frame is None else f"{self.frame}\n\nload_answer({code!r})\n"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what decides judgement."""
        frame = {"frame": self.frame, "notes": self.notes} if self.frame else {}
        return _sha256({"version": ORACLE_VERSION, "id": self.id, "reference": self.reference, **frame})


Task = ProgramTask | ModuleTask


@dataclass(frozen=True)
class TaskSet:
    """The tasks of one file or folder, in its order. `sha256` is over the content that was read, before `split` and
    `only` choose from it.
    """

    path: Path
    format: str  # a key of FORMATS
    tasks: tuple[Task, ...]
    sha256: str
    left_out: str = ""  # which tasks of the copy the judge cannot judge

    @cached_property
    def _index(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    def by_id(self, task_id: str) -> Task:
        """Raises TaskError with the nearest ids when there is no such task."""
        if task_id not in self._index:
            left_out = f" (left out are {self.left_out})" if self.left_out else ""
            raise TaskError(f"{self.path}: no task {task_id!r}; {nearest(task_id, self._index)}{left_out}")
        return self._index[task_id]

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)


def _sha256(record: Mapping[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True, ensure_ascii=False, default=astuple)  # of a tensor
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
