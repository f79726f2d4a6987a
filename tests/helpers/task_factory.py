"""Small tasks for tests: rows of each task format, and helpers that write and load them."""

import json
from pathlib import Path

from cuset_stage.tasks import ProgramTask, load_tasks


DOUBLE = """\
import numpy as np

TOLERANCE = {"y": (1e-5, 1e-6)}

def make_inputs(rng, n):
    return {"x": rng.normal(size=n).astype(np.float32)}

def reference(inputs):
    return {"y": 2 * inputs["x"]}
"""

GEN_INPUT = """\
import numpy as np

rng = np.random.default_rng(7)
x = rng.normal(size=64).astype(np.float32)
x.tofile("data/x.bin")
"""
GEN = GEN_INPUT + '(2 * x).tofile("data/y_ref.bin")\n'

COMPARE = """\
import numpy as np

y = np.fromfile("data/y.bin", dtype=np.float32)
expected = np.fromfile("data/y_ref.bin", dtype=np.float32)
print("T" if y.shape == expected.shape and np.allclose(y, expected, rtol=1e-5, atol=1e-6) else "F")
"""


def cuset_row(**changes) -> dict:
    """Return a task of our own format, y = 2 x in two sizes, with these keys changed."""
    return {
        "id": "double",
        "family": "elementwise",
        "split": "train",
        "prompt": "Double x.",
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
        "cases": [{"name": "even", "parameters": {"n": 32}}, {"name": "odd", "parameters": {"n": 17}}],
        "reference": DOUBLE,
    } | changes


def cudabench_row(**changes) -> dict:
    """Return a row of CUDABench's format, y = 2 x for 64 values, with these keys changed."""
    return {
        "id": 3,
        "task_name": "Double",
        "gpu": "Some GPU",
        "bench.cu": "int main() { return 0; }",
        "gen.py": GEN,
        "compare.py": COMPARE,
        "level1_prompt": "Write y = 2 x with one thread an element.",
        "level2_prompt": "Write y = 2 x.",
        "level3_prompt": "Double.",
        "inputs": [{"name": "x", "dtype": "float32", "shape": "(64,)"}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": "(64,)"}],
    } | changes


def write_lines(path: Path, *rows: dict) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def load_row(folder: Path, row: dict) -> ProgramTask:
    """Return the row's task, loaded from a file as a user's would be."""
    return load_tasks(write_lines(folder / "tasks.jsonl", row)).tasks[0]
