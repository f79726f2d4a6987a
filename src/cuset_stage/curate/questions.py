"""The questions that a model is asked about a kernel, and the parser of its replies.

There are two questions. The first shows the kernel and asks for a task with its program, inputs and reference. The
second shows only the prompt and the formats and asks for a second reference, which is therefore independent of the
first.

Replies are fenced blocks, because code needs no escapes in them, a reply that was cut off is recognised by its open
block, and every chat model can write them. The JSON block is checked by pydantic.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from ..answers import read_answer
from ..row_checks import RowModel
from ..settings import read_yaml
from ..tasks import ProgramTask, TaskError, native
from ..tasks.native import CaseRow, TensorRow
from ..tasks.task_rows import Filled, Name
from ..tasks.task_rows import Row as TaskRow
from .rows import Row, RowError


Messages = tuple[dict[str, str], ...]
KERNEL_LIMIT = 60_000  # most characters of code in a question
CASE_BYTES = 64 << 20  # most bytes of the files of a case
_PROGRAM, _PYTHON, _PROMPT = ("cuda", "cpp", "c++", "cu", "c"), ("python", "py"), ("prompt", "text", "txt")
_BLOCKS = {"json": ("json",), "prompt": _PROMPT, "cuda": _PROGRAM, "python": _PYTHON}
_SCHEME = re.compile(r"__\w+__|<<<|\b(?:threadIdx|blockIdx|blockDim|__shfl\w*)\b")

_TEXTS = read_yaml(Path(__file__).with_name("questions.yaml"))
ANSWERER: str = _TEXTS["answerer"]
TO_AUTHOR: dict[str, str] = _TEXTS["to_author"]  # reason -> message


@dataclass(frozen=True)
class Draft:
    """A task that a model wrote.

    Attributes:
        record: the task as a line of our own format.
        task: the task that was read from `record`.
        program: the CUDA program that answers the task.
    """

    record: dict[str, Any]
    task: ProgramTask
    program: str

    def with_reference(self, reference: str) -> ProgramTask:
        """Return the same task with the same inputs and tolerances, but with the outputs of another reference."""
        both = _SECOND.format(self.record["reference"], reference)
        return native.read_task(TaskRow(self.task.source, {**self.record, "reference": both}))


_SECOND = """\
first, second = {{"__name__": "reference"}}, {{"__name__": "reference"}}
exec({!r}, first)
exec({!r}, second)
make_inputs, TOLERANCE, reference = first["make_inputs"], first["TOLERANCE"], second["reference"]
"""


class _Tolerance(RowModel):
    rtol: Annotated[float, Field(ge=0, allow_inf_nan=False, description="a number of at least 0")]
    atol: Annotated[float, Field(ge=0, allow_inf_nan=False, description="a number of at least 0")]
    reason: Filled


class _Plan(RowModel):
    """The JSON block."""

    name: Name
    inputs: list[TensorRow]
    outputs: list[TensorRow]
    cases: list[CaseRow]
    tolerance: dict[str, _Tolerance]


def ask_for_task(row: Row, arch: str | None) -> Messages:
    """Return the question that shows a kernel and asks for a task.

    Args:
        row: a row of `split`. Its code is the kernel with the parts of its file that it needs.
        arch: the GPU architecture that programs are compiled for. None: the question does not name one.

    Raises:
        RowError: the code is too long to be shown.
    """
    if (length := len(row["code"])) > KERNEL_LIMIT:
        raise RowError("too_long", f"{length:,} characters with what it needs; at most {KERNEL_LIMIT:,} are shown")
    called = f"the kernel `{row['kernel']}`" if row.get("kernel") else "the kernel"
    built = f" Its program is built by nvcc for {arch}." if arch else ""
    text = f"Make a task of {called}.{built}\n\n```cuda\n{row['code'].rstrip()}\n```"
    return ({"role": "system", "content": _TEXTS["author"]}, {"role": "user", "content": text})


def ask_for_reference(draft: Draft) -> Messages:
    """Return the question that shows only the prompt and the formats, and asks for a second reference."""
    formats = [
        f"- {direction} {tensor['name']}: {tensor['dtype']}, shape ({', '.join(map(str, tensor['shape']))})"
        for direction in ("inputs", "outputs")
        for tensor in draft.record[direction]
    ]
    largest = max(tensor.nbytes or 0 for case in draft.task.cases for tensor in (*case.inputs, *case.outputs))
    arrays = "\n".join([*formats, f"The largest array has {largest:,} bytes."])
    text = f"{draft.record['prompt'].strip()}\n\nThe arrays (`inputs` are given, `outputs` are returned):\n{arrays}"
    return ({"role": "system", "content": _TEXTS["reader"]}, {"role": "user", "content": text})


def ask_again(question: Messages, reply: str, problem: str) -> Messages:
    """Return the question again, followed by the last reply (without its reasoning) and what is wrong with it."""
    read = read_answer(reply)
    fences = [f"```{block.tag}\n{read.code(block).rstrip()}\n```" for block in read.blocks]
    shown = "\n\n".join(fences) or reply[-2000:].strip() or "(nothing)"
    again = "Write the whole reply again, all of its blocks, with that put right."
    text = f"This does not work yet:\n\n{problem}\n\n{again}"
    return (*question, {"role": "assistant", "content": shown}, {"role": "user", "content": text})


def read_draft(reply: str, cut_off: bool, identity: str, kernel: str | None) -> Draft:
    """Return the task that a reply contains.

    Args:
        reply: the text of the reply.
        cut_off: whether the reply ended at its token limit.
        identity: the id for the task.
        kernel: the name of the kernel that the program must contain. None: any.

    Raises:
        RowError: there is no valid task. The reason is `refused`, `cut_off`, `bad_reply` or `bad_task`, and the
            message is meant for the model.
    """
    blocks = _read_blocks(reply, _BLOCKS, cut_off, other="refused")
    try:
        values = json.loads(blocks["json"])
    except (ValueError, RecursionError) as error:
        raise RowError("bad_reply", f"The json block is no JSON: {error}.") from None
    if not isinstance(values, dict):
        raise RowError("bad_reply", "The json block is no JSON object.")
    try:
        plan = TaskRow("the json block", values).read(_Plan)
        bounds = {name: (tolerance.rtol, tolerance.atol) for name, tolerance in plan.tolerance.items()}
        record = {
            "id": identity,
            "prompt": blocks["prompt"].strip(),
            **plan.model_dump(include={"inputs", "outputs", "cases", "tolerance"}),
            "reference": f"{blocks['python'].rstrip()}\n\n\nTOLERANCE = {bounds!r}\n",
            "name": plan.name,
        }
        task = native.read_task(TaskRow("the json block", record))
    except TaskError as error:
        raise RowError("bad_task", str(error)) from None
    _check(task, bounds, blocks, kernel)
    return Draft(record, task, blocks["cuda"])


def _check(task: ProgramTask, tolerance: dict[str, Any], blocks: dict[str, str], kernel: str | None) -> None:
    """Check the rules that go beyond the format. Raises RowError with a list of all problems."""
    wrong = []
    names = [tensor.name for tensor in task.cases[0].outputs]
    if set(tolerance) != set(names):
        named, expected = ", ".join(tolerance) or "nothing", ", ".join(names)
        wrong.append(f"tolerance is for {named}, expected one for each of the outputs {expected}")
    if len(task.cases) != 5:
        wrong.append(f"there are {len(task.cases)} cases, expected exactly five cases")
    for case in task.cases:
        if case.nbytes > CASE_BYTES:
            wrong.append(f"case {case.name} has {case.nbytes:,} bytes of files, at most {CASE_BYTES:,} are allowed")
    if len({tuple(tensor.shape for tensor in (*case.inputs, *case.outputs)) for case in task.cases}) < 4:
        wrong.append("the cases have the same sizes: at least four of the five have to differ")
    prompt = task.prompts[1]
    missing = [tensor.file for tensor in (*task.cases[0].inputs, *task.cases[0].outputs) if tensor.file not in prompt]
    if missing:
        wrong.append(f"the prompt does not name {', '.join(missing)}")
    if scheme := _SCHEME.search(prompt):
        wrong.append(f"the prompt shows code or a launch ({scheme[0]}): say what is computed, not how")
    if kernel and not re.search(rf"__global__[^{{}};]*\b{re.escape(kernel)}\s*\(", blocks["cuda"]):
        wrong.append(f"the program has no __global__ function {kernel}")
    if wrong:
        raise RowError("bad_task", "\n".join(f"- {problem}" for problem in wrong))


def read_reference(reply: str, cut_off: bool) -> str:
    """Return the Python code of a second reference.

    Raises:
        RowError: the reply has no reference. The reason is `unclear`, `cut_off` or `bad_reply`.
    """
    return _read_blocks(reply, {"python": _PYTHON}, cut_off, other="unclear")["python"]


def _read_blocks(reply: str, wanted: dict[str, tuple[str, ...]], cut_off: bool, other: str) -> dict[str, str]:
    """Return the code of the last closed block of each kind.

    Args:
        reply: the text of the reply.
        wanted: kind of block -> the tags that its fence may have.
        cut_off: whether the reply ended at its token limit.
        other: the tag of the block in which a model says that it cannot do what was asked. It is also the reason of
            the error then.

    Raises:
        RowError: a block is missing.
    """
    read = read_answer(reply)
    closed = [(block.tag, read.code(block)) for block in read.blocks if block.closed]
    codes_of = {kind: [code for tag, code in closed if tag in tags] for kind, tags in wanted.items()}
    if missing := ", ".join(f"```{kind}" for kind, codes in codes_of.items() if not codes):
        why = next((code.strip() for tag, code in closed if tag == other), None)
        if why is not None:
            raise RowError(other, why)
        if cut_off or len(closed) < len(read.blocks):
            raise RowError("cut_off", f"The reply was cut off before {missing} was there and closed: write less.")
        raise RowError("bad_reply", f"The reply has no block {missing}.")
    return {kind: codes[-1] for kind, codes in codes_of.items()}
