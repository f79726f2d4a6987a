"""CUDABench's rows (arXiv 2603.02236), read as they are published. Nothing of the data set is kept here: it has no licence.

A row is one kernel at one size: id, task_name, inputs and outputs ({name, dtype, shape}, the shape a text such as
"(1024,)"), three prompts of falling detail, gen.py, compare.py and a whole program (bench.cu). Level 1 is the paper's.
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
    """The shape that a text such as "(1024, 3)" means."""
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
    """Raises TaskError with the row and the key at fault."""
    read = row.read(_TaskRow)
    inputs, outputs = (
        tuple(Tensor(one.name, canonical_dtype(one.dtype), one.shape) for one in tensors)
        for tensors in (read.inputs, read.outputs)
    )
    oracle = ScriptOracle(read.generate, read.compare)
    case = Case("default", {}, inputs, outputs or _undeclared_outputs(row, oracle, inputs))
    check_names(row, case.inputs, case.outputs)
    prompts = enumerate((read.level1_prompt, read.level2_prompt, read.level3_prompt), start=1)
    return ProgramTask(
        id=str(read.id),
        name=read.task_name,
        family=read.task_name,
        prompts={level: cudabench_prompt(read.task_name, prompt, inputs, outputs) for level, prompt in prompts},
        system=CUDABENCH_SYSTEM,
        cases=(case,),
        oracle=oracle,
        solution=read.solution,
        source=row.where,
        gpu=None if read.gpu == "unknown" else read.gpu,
        row=row.values,
    )


def _undeclared_outputs(row: Row, oracle: ScriptOracle, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The files that compare.py reads and gen.py does not write, as outputs of a row that declares none."""
    made = set(_DATA_FILE.findall(oracle.generate)) | {tensor.name for tensor in inputs}
    names = [name for name in dict.fromkeys(_DATA_FILE.findall(oracle.compare)) if name not in made]
    if not names:
        row.fail("outputs", "declares none, and compare.py reads no data/<name>.bin that gen.py does not write")
    return tuple(Tensor(name, UNDECLARED, ()) for name in names)


_C_TYPES = {  # as C and torch mean them, on 64-bit Linux, where NumPy does not know the name or means another type
    "half": "float16", "__half": "float16", "float": "float32", "double": "float64", "bf16": "bfloat16",
    "__nv_bfloat16": "bfloat16", "cfloat": "complex64", "cdouble": "complex128", "char": "int8", "signed char": "int8",
    "unsigned char": "uint8", "uchar": "uint8", "unsigned short": "uint16", "int": "int32", "unsigned": "uint32",
    "unsigned int": "uint32", "long": "int64", "long long": "int64", "unsigned long": "uint64",
    "unsigned long long": "uint64", "size_t": "uint64",
}  # fmt: skip


def canonical_dtype(written: str) -> str:
    """The name in DTYPE_BYTES (or "bfloat16") of what a task set wrote: "float", "torch.float32", "np.bool_", "<f4",
    "int32_t". What is not known comes back without its library's prefix."""
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
