"""What a model is asked of a kernel, and what of its replies is used: a task with its program, and a second reference.

Two questions. One shows the kernel and asks for everything; the other shows the prompt and the formats alone and asks for a reference, which
so knows nothing of the first. Replies are fenced blocks: code needs no escapes there, a reply that was cut off is seen, and every chat model
writes them. Where the server has a JSON mode, they may be the values of one JSON object. What is data is checked by pydantic.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from ..answers import read_answer
from ..cuda_source import Source
from ..row_checks import RowModel
from ..tasks import ProgramTask, TaskError, native
from ..tasks.native import CaseRow, TensorRow
from ..tasks.task_rows import Filled, Name
from ..tasks.task_rows import Row as TaskRow
from .stage_rows import Row, RowError


Messages = tuple[dict[str, str], ...]
KERNEL_LIMIT = 60_000  # characters of code in a question
CASE_BYTES = 64 << 20  # of the files of a case
_PROGRAM, _PYTHON, _PROMPT = ("cuda", "cpp", "c++", "cu", "c"), ("python", "py"), ("prompt", "text", "txt")
_BLOCKS = {"json": ("json",), "prompt": _PROMPT, "cuda": _PROGRAM, "python": _PYTHON}
_FENCED = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
_SCHEME = re.compile(r"__\w+__|<<<|\b(?:threadIdx|blockIdx|blockDim|__shfl\w*)\b")

_AUTHOR = """\
You make programming tasks of CUDA kernels. From a kernel that somebody wrote you make a task whose right answer is a whole program \
around that kernel, with inputs and a reference that show whether a program is right.

A program reads every input <name> from data/<name>.bin, writes every output <name> to data/<name>.bin and returns 0; paths are relative \
to its working directory. A file holds the values alone, little-endian and row-major, without a header. The first input is `sizes`, int32: \
the sizes of the other files, from which the program learns them; it gets no arguments. One program serves all five cases.

Reply with these four blocks, each once, in this order, and close each with ```. Write nothing between backticks elsewhere.

```json
{"name": "lower_case_name_of_the_task",
 "inputs": [{"name": "sizes", "dtype": "int32", "shape": [1]}, {"name": "x", "dtype": "float32", "shape": ["n"]}],
 "outputs": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
 "cases": [{"name": "power_of_two", "parameters": {"n": 65536}}, ...],
 "tolerance": {"y": {"rtol": 1e-4, "atol": 1e-6, "reason": "why: how errors arise here, and how large they become"}}}
```

- Shapes are numbers, names of case parameters, and arithmetic of them (+ - * // % and parentheses). dtypes are NumPy's: bool, int8 to int64, \
uint8 to uint64, float16, float32, float64, complex64, complex128. Any structure is such arrays: CSR is row offsets, columns and values; a \
graph, an image, a string of bytes likewise. Sizes that the data decides (non-zeros, edges) are parameters of the case.
- Exactly five cases of different sizes: powers of two; sizes that are no multiple of a block or a warp; very small ones; large ones (1 to 16 \
MiB of files); and a special one, whose values catch what the others do not (ties, zeros, extremes, empty rows), asked for by a parameter \
such as "values": "ties".
- rtol 0 and atol 0 compare exactly: for integers and for what is only moved. Else as tight as right programs in other orders of \
summation allow. An output must not depend on the order in which threads run: sort it, count it, or leave it out.

```prompt
What to compute, for somebody who has not seen the kernel: the operation with its formulas, every file with its path data/<name>.bin, \
dtype, shape and meaning, what each entry of sizes is and its limits, borders, ties and special values, rounding, and the tolerance.
```

- In the manner of a benchmark's bare prompt: 500 to 1500 characters of plain text. It names no kernel, no threads, blocks, memory or \
launch, shows no code and prescribes no method. Everything that decides the values has to stand in it: from this text and the formats \
alone somebody else writes a second reference, and both have to agree.

```cuda
The whole program, one .cu file for nvcc -std=c++17 with the CUDA runtime and its headers alone: the kernel, and main.
```

- Keep the kernel's name and its code; change only what is wrong or does not compile by itself (a missing type, macro or header, a template \
parameter that has to be fixed). Bring no library and no other file. The outputs are computed by that kernel on the GPU.
- Check every CUDA call, cudaGetLastError after each launch, the sizes of all files and the limits of sizes; return 1 where something fails.

```python
import numpy as np

def make_inputs(rng, n, values="normal"):  # rng: numpy.random.Generator; the case's parameters by name
    return {"sizes": np.array([n], dtype=np.int32), "x": ...}

def reference(inputs):  # what make_inputs returned
    return {"y": ...}
```

- NumPy and the standard library alone, without files. All randomness comes from rng. Arrays have exactly the declared dtype and shape, \
and hold finite values. `reference` computes what the kernel computes from its code, in float64 where it sums; it is vectorised: a case has 60 \
seconds.
- Inputs have to tell right from wrong: values of both signs and different magnitudes; no output may be right when it is all zeros, one \
constant or a copy of an input, and 10 % errors have to be noticed. Every branch of the kernel is taken in some case.

If no such task can be made of the kernel (it needs a library, prints only, is random by design, does nothing), reply with one block instead:

```refused
why
```"""

_READER = """\
You write a NumPy reference for a programming task. You see the task's prompt and the formats of its files and nothing else; no program \
is shown to you. Your reference decides whether programs are right, so compute exactly what the prompt says.

Reply with one block:

```python
import numpy as np

def reference(inputs):  # dict: name of an input -> numpy array of its dtype and shape
    return {...}  # dict: name of each output -> numpy array of exactly the declared dtype and shape
```

NumPy and the standard library alone, without files and without printing. Sum in float64 and convert at the end, unless the prompt says \
otherwise. Vectorise: a call has 60 seconds for the largest arrays. Do not change the inputs.

If the prompt leaves open something that decides the values, reply with one block instead that says what it is:

```unclear
what is not said
```"""

ANSWERER = """\
You write CUDA C++. Reply with one whole program in a fenced block: a single .cu file for nvcc and the CUDA runtime, whose results are \
computed on the GPU by a kernel of its own."""

_IN_JSON = """

Write no fences: reply with one JSON object, which has a key for each block, named as that block is, and what would stand in the block as \
its value; a string, and of a block named json an object."""


@dataclass(frozen=True)
class Draft:
    """A task as a model wrote it. record: a line of our own format; program: the CUDA program that answers it."""

    record: dict[str, Any]
    task: ProgramTask
    program: str

    def with_reference(self, reference: str) -> ProgramTask:
        """The same task on the same inputs, judged by another's `reference`."""
        return native.read_task(
            TaskRow(
                self.task.source, {**self.record, "reference": _SECOND.format(self.record["reference"], reference)}
            )
        )


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


def in_json(question: Messages) -> Messages:
    """The question with a reply in JSON mode."""
    system, *rest = question
    return ({**system, "content": system["content"] + _IN_JSON}, *rest)


def ask_for_task(row: Row, arch: str | None) -> Messages:
    """The question that shows a kernel, with what it needs of its file. arch: where the programs are for one kind of GPU."""
    name = row.get("kernel")
    called = f"the kernel `{name}`" if name else "the kernel"
    built = f" Its program is built by nvcc for {arch}." if arch else ""
    text = f"Make a task of {called}.{built}\n\n```cuda\n{cut(row['code'], name)}\n```"
    return ({"role": "system", "content": _AUTHOR}, {"role": "user", "content": text})


def ask_for_reference(draft: Draft) -> Messages:
    """The question that shows the prompt and the formats alone."""
    formats = [
        f"- {kind} {tensor['name']}: {tensor['dtype']}, shape ({', '.join(map(str, tensor['shape']))})"
        for kind in ("inputs", "outputs")
        for tensor in draft.record[kind]
    ]
    most = max(tensor.nbytes or 0 for case in draft.task.cases for tensor in (*case.inputs, *case.outputs))
    largest = f"The largest array has {most:,} bytes."
    text = "\n".join(
        [
            draft.record["prompt"].strip(),
            "",
            "The arrays (`inputs` are given, `outputs` are returned):",
            *formats,
            largest,
        ]
    )
    return ({"role": "system", "content": _READER}, {"role": "user", "content": text})


def ask_again(question: Messages, reply: str, problem: str) -> Messages:
    """The same once more, with the last reply (without its reasoning) and what was wrong with it."""
    if values := _json_object(reply):
        said = json.dumps(values, ensure_ascii=False)
    else:
        fences = [f"```{tag}\n{code.rstrip()}\n```" for tag, code, _ in _blocks(reply)]
        said = "\n\n".join(fences) or reply[-2000:].strip() or "(nothing)"
    text = (
        f"This does not work yet:\n\n{problem}\n\nWrite the whole reply again, all of its blocks, with that put right."
    )
    return (*question, {"role": "assistant", "content": said}, {"role": "user", "content": text})


def cut(code: str, kernel: str | None, limit: int = KERNEL_LIMIT) -> str:
    """The code, or of a longer one what stands before the kernel's end, from the first whole line on."""
    if len(code) <= limit:
        return code.rstrip()
    ends = [each.body[1] for each in Source(code).functions if each.is_kernel and each.name == kernel]
    end = ends[-1] if ends else len(code)
    kept = code[max(0, end - limit) : end]
    return "// What stands before this is left out: it is too long.\n" + kept.partition("\n")[2].rstrip()


def read_draft(reply: str, cut_off: bool, identity: str, kernel: str | None) -> Draft:
    """The task in a reply.

    Raises:
        RowError: there is none; the reason is refused, cut_off, bad_reply or bad_task, and the message is for the model.
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
        bounds = {name: (each.rtol, each.atol) for name, each in plan.tolerance.items()}
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
    """What the format does not say. Raises RowError with everything that is wrong."""
    wrong = []
    names = [tensor.name for tensor in task.cases[0].outputs]
    if set(tolerance) != set(names):
        wrong.append(
            f"tolerance is for {', '.join(tolerance) or 'nothing'}, expected one for each of the outputs {', '.join(names)}"
        )
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
    if found := _SCHEME.search(prompt):
        wrong.append(f"the prompt shows code or a launch ({found[0]}): say what is computed, not how")
    if kernel and not re.search(rf"__global__[^{{}};]*\b{re.escape(kernel)}\s*\(", blocks["cuda"]):
        wrong.append(f"the program has no __global__ function {kernel}")
    if wrong:
        raise RowError("bad_task", "\n".join(f"- {each}" for each in wrong))


def read_reference(reply: str, cut_off: bool) -> str:
    """The Python of a second reference.

    Raises:
        RowError: there is none; the reason is unclear, cut_off or bad_reply.
    """
    return _read_blocks(reply, {"python": _PYTHON}, cut_off, other="unclear")["python"]


def _read_blocks(reply: str, wanted: dict[str, tuple[str, ...]], cut_off: bool, other: str) -> dict[str, str]:
    """The last block of each kind; `other` is what a model replies with when it cannot do what was asked."""
    blocks = _blocks(reply)
    closed = [(tag, code) for tag, code, is_closed in blocks if is_closed]
    found = {kind: [code for tag, code in closed if tag in tags] for kind, tags in wanted.items()}
    if missing := [f"```{kind}" for kind, codes in found.items() if not codes]:
        why = next((code.strip() for tag, code in closed if tag == other), None)
        if why is not None:
            raise RowError(other, why)
        if cut_off or len(closed) < len(blocks):
            raise RowError(
                "cut_off", f"The reply was cut off before {', '.join(missing)} was there and closed: write less."
            )
        raise RowError("bad_reply", f"The reply has no block {', '.join(missing)}.")
    return {kind: codes[-1] for kind, codes in found.items()}


def _blocks(reply: str) -> list[tuple[str, str, bool]]:
    """Name, content and whether it is closed, of each block of a reply or each key of one in JSON."""
    if values := _json_object(reply):
        return [(key, value if isinstance(value, str) else json.dumps(value), True) for key, value in values.items()]
    read = read_answer(reply)
    return [(block.tag, read.code(block), block.closed) for block in read.blocks]


def _json_object(text: str) -> dict[str, Any] | None:
    """The object that a reply is: as it stands, behind its reasoning, or in a fence that a model wrote all the same."""
    reasoning = read_answer(text).reasoning
    behind = text[reasoning[-1][1] :].strip() if reasoning else text.strip()
    fenced = _FENCED.fullmatch(behind)
    for each in (text, fenced[1] if fenced else behind):
        with suppress(ValueError, RecursionError):
            values = json.loads(each)
            if isinstance(values, dict) and (not fenced or values.keys() & {"python", "refused", "unclear"}):
                return values
    return None
