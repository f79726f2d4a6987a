"""A task in words: the prompt, an answer around its program, and the NumPy reference that decides what is right."""

import random
from typing import Any

from .space import FACTORS, Task
from .style import wording


TYPE_WORDS = {
    "float32": ("float32", "float", "single-precision"),
    "float64": ("float64", "double", "double-precision"),
    "int32": ("int32", "int", "32-bit integer"),
}
CASES = {
    "power_of_two": (64, 128),
    "odd": (37, 53),
    "small": (3, 5),
    "large": (301, 1030),
    "special": (1, 333),
}
"""Name of a case -> rows, cols; a pitch is cols + 7."""


def phrase(task: Task, factor: str, rng: random.Random) -> str:
    """The task's value of a factor in one of its wordings, constants filled in."""
    constants = {"a": task.a, "b": task.b, "shift": task.shift, "limit": task.limit}
    return rng.choice(wording()[factor][getattr(task, factor)]).format(**constants)


def phrase_steps(task: Task, rng: random.Random) -> str:
    """The steps with neighbours, in one sentence; that there is none, too."""
    return rng.choice((", then ", "; after that ", "; then ")).join(
        rng.choice(wording()["neighbour"][step]) for step in task.steps or ("none",)
    )


def describe(task: Task, rng: random.Random) -> str:
    """What is to be computed and how, in one of many wordings."""
    words = {name: phrase(task, name, rng) for name in FACTORS if name != "type"}
    words |= {"type": rng.choice(TYPE_WORDS[task.type]), "neighbour": phrase_steps(task, rng)}
    return rng.choice(wording()["prompt"]).format(**words)


def tensors(task: Task) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(inputs, outputs) of the task's files, as a row of a task set has them; shapes are over the parameters of a case."""
    stored = {"row": ["rows", "cols"], "column": ["cols", "rows"], "padded": ["rows", "pitch"]}[task.layout]
    high, wide = ("cols", "rows") if task.transposed else ("rows", "cols")
    inputs = [{"name": "sizes", "dtype": "int32", "shape": [3 if task.layout == "padded" else 2]}]
    inputs += [{"name": name, "dtype": task.type, "shape": stored} for name in ("x", "y")]
    if task.epilogue == "bias_relu":
        inputs.append({"name": "bias", "dtype": task.type, "shape": [wide]})
    shape = [high] if task.epilogue.startswith("row") else [high, wide]
    return inputs, [{"name": "out", "dtype": task.type, "shape": shape}]


def prompt(task: Task, rng: random.Random) -> str:
    """The whole prompt: the description and the files, with their types and shapes."""
    inputs, outputs = tensors(task)
    rows = []
    for tensor in (*inputs, *outputs):
        role = "output" if tensor["name"] == "out" else "input"
        shape = ", ".join(map(str, tensor["shape"])) + ("," if len(tensor["shape"]) == 1 else "")
        rows.append(f"data/{tensor['name']}.bin ({role}, {tensor['dtype']}, shape ({shape}))")
    sizes = "rows, cols, pitch" if task.layout == "padded" else "rows, cols"
    listed = "; ".join(rows) if rng.random() < 0.5 else "\n- " + "\n- ".join(rows)
    text = f"{describe(task, rng)}\n{rng.choice(wording()['files'])}{listed}"
    return f"{text}\n{rng.choice(('sizes holds', 'The sizes are', 'data/sizes.bin contains'))} {sizes}."


def answer(program: str, rng: random.Random) -> str:
    """A response: an introduction, the program in a fenced block, and sometimes a closing sentence."""
    intro, closing = rng.choice(wording()["intro"]), rng.choice(wording()["closing"])
    return f"{intro}\n\n```cpp\n{program.strip()}\n```" + (f"\n\n{closing}" if closing else "")


def reference(task: Task) -> str:
    """The source of a reference.py (`tasks/native.py`): whole-array NumPy, nothing of how the programs compute.

    Values are integers so small that every result is exact in every type and order of summation; padding holds large ones.
    """
    pitch = ", pitch" if task.layout == "padded" else ""
    shape = {"row": "rows, cols", "column": "cols, rows", "padded": "rows, pitch"}[task.layout]
    wide = "rows" if task.transposed else "cols"
    dense = {"row": "{0}", "column": "{0}.T", "padded": "{0}[:, : sizes[1]]"}[task.layout]
    x, y = (dense.format(f'inputs["{name}"]') for name in ("x", "y"))
    mapped = {"reverse": "x[:, ::-1]", "flip": "x[::-1]", "shift": f"np.roll(x, -{task.shift}, axis=1)"}.get(
        task.map, "x"
    )
    combined = {
        "weighted": f"{task.a} * x + {task.b} * y",
        "axpy": f"{task.a} * x + y",
        "absdiff": "np.abs(x - y)",
        "product": "x * y",
        "maximum": "np.maximum(x, y)",
        "sqdiff": "np.square(x - y)",
    }[task.operation]
    finished = {
        "bias_relu": 'np.maximum(z + inputs["bias"], 0)',
        "clamp": f"np.clip(z, -{task.limit}, {task.limit})",
        "row_sum": "z.sum(axis=1)",
        "row_max": "z.max(axis=1)",
    }[task.epilogue]
    steps = {
        "weighted": "2 * z + np.pad(z, ((0, 0), (1, 0)))[:, :-1] + np.pad(z, ((0, 0), (0, 1)))[:, 1:]",
        "axpy": "np.diff(z, axis=1, prepend=0)",
        "absdiff": "sliding_window_view(np.pad(z, ((0, 0), (1, 1)), 'edge'), 3, axis=1).max(axis=-1)",
        "product": "z + np.roll(z, -1, axis=1)",
        "maximum": "np.diff(z, axis=0, prepend=0)",
        "sqdiff": "z + np.pad(z, ((0, 1), (0, 0)))[1:]",
    }
    sliding = "from numpy.lib.stride_tricks import sliding_window_view\n" if "absdiff" in task.steps else ""
    padding = "    for name in ('x', 'y'):\n        inputs[name][:, cols:] = 99\n" if pitch else ""
    bias = f"    inputs['bias'] = rng.integers(-9, 10, {wide}).astype(np.{task.type})\n"
    bias = bias if task.epilogue == "bias_relu" else ""
    then = [*(["z.T"] if task.transposed else []), *(steps[step] for step in task.steps)]
    then = "".join(f"    z = {value}\n" for value in then)
    return f"""\
import numpy as np
{sliding}

TOLERANCE = {{'out': (1e-6, 1e-6)}}


def make_inputs(rng, rows, cols{pitch}):
    inputs = {{name: rng.integers(-9, 10, ({shape})).astype(np.{task.type}) for name in ('x', 'y')}}
{padding}{bias}    return {{'sizes': np.array([rows, cols{pitch}], dtype=np.int32), **inputs}}


def reference(inputs):
    sizes = inputs['sizes']
    x, y = {x}, {y}
    x = {mapped}
    z = {combined}
{then}    return {{'out': ({finished}).astype(np.{task.type})}}
"""


def task_row(task: Task, rng: random.Random, split: str) -> dict[str, Any]:
    """A row of a task set in our own format (data/README.md), with five cases. It has no solution: the judge would measure its time."""
    inputs, outputs = tensors(task)
    cases = []
    for name, (rows, cols) in CASES.items():
        pitch = {"pitch": cols + 7} if task.layout == "padded" else {}
        cases.append({"name": name, "parameters": {"rows": rows, "cols": cols, **pitch}})
    return {
        "id": task.id,
        "prompt": prompt(task, rng),
        "inputs": inputs,
        "outputs": outputs,
        "reference": reference(task),
        "cases": cases,
        "family": split,
        "split": split,
    }
