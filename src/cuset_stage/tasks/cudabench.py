"""CUDABench's rows (arXiv 2603.02236), read as they are published. Nothing of the data set is kept here: it has no licence.

A row is one kernel at one size: id, task_name, inputs and outputs ({name, dtype, shape}, the shape a text such as
"(1024,)"), three prompts of falling detail, gen.py, compare.py and a whole program (bench.cu). Level 1 is the paper's.
"""

import ast
import re

from .base import Case, ProgramTask, ScriptOracle, Tensor
from .dtypes import canonical_dtype
from .task_rows import Row, check_names
from .wording import CUDABENCH_SYSTEM, cudabench_prompt


SIGN = {"gen.py", "compare.py", "task_name"}
LEVELS = (1, 2, 3)
UNDECLARED = "undeclared"  # the dtype of an output that only compare.py names
_DATA_FILE = re.compile(r"""["'](?:\./)?data/([\w.+-]+)\.bin["']""")


def read_task(row: Row) -> ProgramTask:
    """Raises TaskError with the row and the key at fault."""
    number = row.value("id")
    if type(number) is not int and not (isinstance(number, str) and number.strip()):
        row.fail("id", f"expected an integer or a text, found {number!r}")
    name = row.text("task_name")
    inputs, outputs = _tensors(row, "inputs"), _tensors(row, "outputs")
    oracle = ScriptOracle(generate=row.text("gen.py"), compare=row.text("compare.py"))
    case = Case("default", {}, inputs, outputs or _undeclared_outputs(row, oracle, inputs))
    check_names(row, case.inputs, case.outputs)
    gpu = row.optional_text("gpu")
    return ProgramTask(
        id=str(number),
        name=name,
        family=name,
        prompts={level: cudabench_prompt(name, row.text(f"level{level}_prompt"), inputs, outputs) for level in LEVELS},
        system=CUDABENCH_SYSTEM,
        cases=(case,),
        oracle=oracle,
        solution=row.optional_text("bench.cu"),
        source=row.where,
        gpu=None if gpu == "unknown" else gpu,
        names_gpu=True,
    )


def _tensors(row: Row, key: str) -> tuple[Tensor, ...]:
    tensors = []
    for index, record in enumerate(row.records(key)):
        part = Row(f"{row.where}: {key}[{index}]", record)
        shape = part.text("shape")
        try:
            sizes = ast.literal_eval(shape)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            sizes = None
        if type(sizes) is int:  # "(1024)" is a number to Python
            sizes = (sizes,)
        if not isinstance(sizes, tuple | list) or not all(type(size) is int and size > 0 for size in sizes):
            part.fail(
                "shape", f"{shape!r}: expected a tuple of positive integers such as '(1024, 3)'; '()' is a scalar"
            )
        tensors.append(Tensor(part.name("name"), canonical_dtype(part.text("dtype")), tuple(sizes)))
    return tuple(tensors)


def _undeclared_outputs(row: Row, oracle: ScriptOracle, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """What compare.py reads and gen.py does not write, for a row that declares no outputs."""
    made = set(_DATA_FILE.findall(oracle.generate)) | {tensor.name for tensor in inputs}
    names = [name for name in dict.fromkeys(_DATA_FILE.findall(oracle.compare)) if name not in made]
    if not names:
        row.fail("outputs", "declares none, and compare.py reads no data/<name>.bin that gen.py does not write")
    return tuple(Tensor(name, UNDECLARED, ()) for name in names)
