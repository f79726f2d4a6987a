"""The classes of tasks: prompts, cases, and oracles, which say where right outputs come from. Standard library only.

There are two kinds of tasks. The answer to a `ProgramTask` is a CUDA program, or a part of one. The answer to a
`ModuleTask` replaces a PyTorch module. All readers of task sets make one of the two.
"""

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
# Bytes of an element in a file. Unlike DTYPE_BYTES, it includes a type that NumPy cannot read.
FILE_BYTES: Mapping[str, int] = {**DTYPE_BYTES, "bfloat16": 2}
# Raised when the way inputs, references or verdicts are made changes. Old caches are then not read.
ORACLE_VERSION = 2


class TaskError(InputError):
    """A task set breaks its format. The message names the file, the row and the key, and says what was expected."""


@dataclass(frozen=True)
class Tensor:
    """One binary file, `data/<name>.bin`. It holds only the values, little-endian and row-major, without a header.

    Attributes:
        name: The name of the tensor and of its file.
        dtype: A NumPy name or "bfloat16". Otherwise it is what the task set wrote, and the size is unknown.
        shape: The sizes of the dimensions.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int | None:
        """Size of the file in bytes, or None for a dtype that is not in FILE_BYTES."""
        item = FILE_BYTES.get(self.dtype)
        return None if item is None else math.prod(self.shape) * item

    @property
    def file(self) -> str:
        """The path that a program uses, relative to its working directory."""
        return f"data/{self.name}.bin"


@dataclass(frozen=True)
class Case:
    """One set of inputs of a task, with the sizes that it implies.

    Attributes:
        name: The name of the case.
        parameters: Arguments of the oracle's make_inputs. Shapes may be computed from them.
        inputs: The files that the program reads.
        outputs: The files that it writes.
    """

    name: str
    parameters: Mapping[str, Any]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]

    @property
    def nbytes(self) -> int:
        """Size of all files in bytes. A file of a dtype that is not in FILE_BYTES counts as 0."""
        return sum(tensor.nbytes or 0 for tensor in (*self.inputs, *self.outputs))


@dataclass(frozen=True)
class ScriptOracle:
    """The oracle of a CUDABench task: two Python scripts.

    Attributes:
        generate: gen.py, which writes data/<input>.bin and the references data/<name>_ref.bin.
        compare: compare.py, which reads data/<output>.bin and the references, and prints T or F.
    """

    generate: str
    compare: str


@dataclass(frozen=True)
class ReferenceOracle:
    """The oracle of this package's own format.

    Attributes:
        source: Python source that defines make_inputs(rng, **parameters), reference(inputs) and TOLERANCE.
    """

    source: str


@dataclass(frozen=True)
class Project:
    """The files and options that make a program from an answer that is one of several files.

    Paths are relative to the folder in which nvcc runs.

    Attributes:
        answer: The path of the answer, such as "solution.cu".
        files: Path -> text of the other files.
        options: nvcc's options, with the paths that it compiles.
        requires: Groups of names. The answer has to use at least one name of each group.
    """

    answer: str
    files: Mapping[str, str]
    options: tuple[str, ...]
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
    """A task whose answer is a CUDA program that reads data/<input>.bin and writes data/<output>.bin.

    With a `project`, the answer is the part that is missing in such a program.
    """

    cases: tuple[Case, ...]
    oracle: ScriptOracle | ReferenceOracle
    solution: str | None  # a right program, if the set has one
    source: str  # where the task was read, such as "tasks.jsonl:12"
    split: str | None = None
    gpu: str | None = None  # the GPU that the set names for this task
    alternative: str | None = None  # another right program, if the set has one; used for pairs of two right programs
    project: Project | None = None
    time_limit: float | None = None  # seconds that the set allows for one run
    row: Mapping[str, Any] | None = None  # CUDABench's row as published, which fills the benchmark's own prompts
    language: str = field(default="cuda", init=False)

    @property
    def asks_whole_program(self) -> bool:
        """True if the answer must define `main`."""
        return self.project is None

    @property
    def draws_inputs(self) -> bool:
        """True if inputs can be drawn anew from a seed. Otherwise they are those of the task set."""
        return isinstance(self.oracle, ReferenceOracle)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what decides a verdict: the cases and the oracle, but not the wording of the prompt."""
        cases = [vars(case) for case in self.cases]
        oracle = {"oracle": type(self.oracle).__name__, **vars(self.oracle)}
        project = {"project": vars(self.project), "time_limit": self.time_limit} if self.project else {}
        return _sha256({"version": ORACLE_VERSION, "id": self.id, "cases": cases, **oracle, **project})


@dataclass(frozen=True)
class ModuleTask(_AnyTask):
    """A task in the manner of KernelBench, whose answer replaces a PyTorch module.

    The answer is Python source with ModelNew. With a `frame`, it is whatever the frame makes a ModelNew from.
    """

    reference: str  # Python source with Model, get_inputs and get_init_inputs
    source: str  # where the task was read
    split: str | None = None
    solution: str | None = None  # a right answer, if the set has one
    own_source: str | None = None  # the set's module, if the reference is made from it
    frame: str | None = None  # Python source with a function load_answer(code) that defines ModelNew
    notes: tuple[str, ...] = ()  # problems of the task that the set itself names; reports show them as flags
    language: str = "python"
    draws_inputs: bool = field(default=True, init=False)
    asks_whole_program: bool = field(default=False, init=False)

    def module(self, code: str) -> str:
        """Return the Python source that defines ModelNew, for the code of an answer."""
        return code if self.frame is None else f"{self.frame}\n\nload_answer({code!r})\n"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what decides a verdict."""
        frame = {"frame": self.frame, "notes": self.notes} if self.frame else {}
        return _sha256({"version": ORACLE_VERSION, "id": self.id, "reference": self.reference, **frame})


Task = ProgramTask | ModuleTask


@dataclass(frozen=True)
class TaskSet:
    """The tasks of one file or folder, in its order.

    Attributes:
        path: The file or folder.
        format: One of `FORMATS`.
        tasks: The tasks.
        sha256: SHA-256 of the whole content that was read, whatever `choose_tasks` chooses from it.
        left_out: Which tasks of the copy the judge cannot judge, as a phrase. Empty if there are none.
    """

    path: Path
    format: str
    tasks: tuple[Task, ...]
    sha256: str
    left_out: str = ""

    @cached_property
    def _index(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    def by_id(self, task_id: str) -> Task:
        """Return the task with this id. Raises TaskError with the nearest ids if there is none."""
        if task_id not in self._index:
            left_out = f" (left out are {self.left_out})" if self.left_out else ""
            raise TaskError(f"{self.path}: no task {task_id!r}; {nearest(task_id, self._index)}{left_out}")
        return self._index[task_id]

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)


def _sha256(record: Mapping[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True, ensure_ascii=False, default=astuple)  # for a Tensor
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
