"""Read CUDABench's rows (arXiv 2603.02236) as they are published.

A row is one kernel at one size. It has an id, a task_name, inputs and outputs ({name, dtype, shape}, where the shape
is a text such as "(1024,)"), three prompts with less and less detail, gen.py, compare.py and a whole program
(bench.cu). The paper uses the prompts of level 1.

The data set has no licence, so this package contains no part of it.
"""

import ast
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictInt

from ..row_checks import RowModel
from .base import DTYPE_BYTES, FILE_BYTES, Case, ProgramTask, ScriptOracle, Tensor
from .messages import CUDABENCH_SYSTEM, cudabench_prompt
from .task_rows import NAME, Filled, MaybeText, Name, Row, check_names


SIGN = {"gen.py", "compare.py", "task_name"}
UNDECLARED = "undeclared"  # the dtype of an output that only compare.py names
_DATA_FILE = re.compile(rf"""["'](?:\./)?data/({NAME.pattern})\.bin["']""")


def _sizes(written: Any) -> tuple[int, ...]:
    """Return the shape that a text such as "(1024, 3)" means. Raises ValueError if it means none."""
    try:
        sizes = ast.literal_eval(written)
    except (SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError from None
    if type(sizes) is int:  # "(1024)" is a number to Python
        sizes = (sizes,)
    if not isinstance(sizes, tuple | list) or not all(type(size) is int and size > 0 for size in sizes):
        raise ValueError
    return tuple(sizes)


class _TensorRow(RowModel):
    name: Name
    dtype: Filled
    shape: Annotated[
        tuple[int, ...],
        Field(description="a tuple of positive integers such as '(1024, 3)'; '()' is a scalar"),
        BeforeValidator(_sizes),
    ]


class _TaskRow(RowModel):
    id: Annotated[StrictInt | Filled, Field(description="an integer or text")]
    task_name: Filled
    inputs: list[_TensorRow]
    outputs: list[_TensorRow]
    generate: Annotated[Filled, Field(alias="gen.py")]
    compare: Annotated[Filled, Field(alias="compare.py")]
    level1_prompt: Filled
    level2_prompt: Filled
    level3_prompt: Filled
    solution: Annotated[MaybeText, Field(alias="bench.cu")] = None
    gpu: MaybeText = None


def read_task(row: Row) -> ProgramTask:
    """Return the task of a row. Raises TaskError with the row and the key at fault."""
    task_row = row.read(_TaskRow)
    inputs, outputs = (
        tuple(Tensor(tensor.name, canonical_dtype(tensor.dtype), tensor.shape) for tensor in tensors)
        for tensors in (task_row.inputs, task_row.outputs)
    )
    oracle = ScriptOracle(task_row.generate, task_row.compare)
    case = Case("default", {}, inputs, outputs or _undeclared_outputs(row, oracle, inputs))
    check_names(row, case.inputs, case.outputs)
    prompts = enumerate((task_row.level1_prompt, task_row.level2_prompt, task_row.level3_prompt), start=1)
    return ProgramTask(
        id=str(task_row.id),
        name=task_row.task_name,
        family=task_row.task_name,
        prompts={level: cudabench_prompt(task_row.task_name, prompt, inputs, outputs) for level, prompt in prompts},
        system=CUDABENCH_SYSTEM,
        cases=(case,),
        oracle=oracle,
        solution=task_row.solution,
        source=row.where,
        gpu=None if task_row.gpu == "unknown" else task_row.gpu,
        row=row.values,
    )


def _undeclared_outputs(row: Row, oracle: ScriptOracle, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return the outputs of a row that declares none: the files that compare.py reads and gen.py does not write."""
    made = set(_DATA_FILE.findall(oracle.generate)) | {tensor.name for tensor in inputs}
    names = [name for name in dict.fromkeys(_DATA_FILE.findall(oracle.compare)) if name not in made]
    if not names:
        row.fail("outputs", "declares none, and compare.py reads no data/<name>.bin that gen.py does not write")
    return tuple(Tensor(name, UNDECLARED, ()) for name in names)


# Names of types as C and torch mean them on 64-bit Linux, where NumPy does not know the name or means another type.
_C_TYPES = {
    "half": "float16", "__half": "float16", "float": "float32", "double": "float64", "bf16": "bfloat16",
    "__nv_bfloat16": "bfloat16", "cfloat": "complex64", "cdouble": "complex128", "char": "int8", "signed char": "int8",
    "unsigned char": "uint8", "uchar": "uint8", "unsigned short": "uint16", "int": "int32", "unsigned": "uint32",
    "unsigned int": "uint32", "long": "int64", "long long": "int64", "unsigned long": "uint64",
    "unsigned long long": "uint64", "size_t": "uint64",
}  # fmt: skip


def canonical_dtype(written: str) -> str:
    """Return the name in DTYPE_BYTES (or "bfloat16") of a type as a task set writes it.

    Examples are "float", "torch.float32", "np.bool_", "<f4" and "int32_t". An unknown type is returned without the
    prefix of its library.
    """
    import numpy as np

    library, _, name = written.strip().rpartition(".")
    if name in FILE_BYTES:
        return name
    if library not in ("np", "numpy") and name in _C_TYPES:
        return _C_TYPES[name]
    try:
        dtype = np.dtype(name.removesuffix("_t").removesuffix("_"))
    except (TypeError, ValueError):
        return name
    return dtype.name if dtype.name in DTYPE_BYTES and dtype.isnative else name
