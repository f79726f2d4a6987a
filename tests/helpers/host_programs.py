"""Tasks that need no GPU, and one program that can earn every verdict on them.

The program doubles `x`. An input of the case, `mode`, tells it what to do wrong. All tests can share this one program,
so it is compiled once.
"""

from pathlib import Path
from typing import Any

from task_factory import cuset_row, load_row, write_lines

from cuset_stage.tasks import ProgramTask


MODES = {
    "right": 0, "wrong": 1, "returns_3": 2, "hangs": 3, "silent": 4, "short": 5, "says_no_device": 6, "slow": 7, "plain": 8,
}  # fmt: skip

PROGRAM = r"""
#include <cstdio>
#include <unistd.h>

static float x[1 << 16];

int main() {
  int mode = -1;
  FILE* file = fopen("data/mode.bin", "rb");
  if (!file || fread(&mode, 4, 1, file) != 1) return 90;
  fclose(file);
  file = fopen("data/x.bin", "rb");
  if (!file) return 91;
  size_t n = fread(x, 4, 1 << 16, file);
  fclose(file);
  for (size_t i = 0; i < n; ++i) x[i] *= 2;
  if (mode == 1) x[n / 2] += 1;
  if (mode == 2) { fprintf(stderr, "bad luck\n"); return 3; }
  if (mode == 3) sleep(3600);
  if (mode == 4) return 0;
  if (mode == 6) { fprintf(stderr, "no CUDA-capable device is detected\n"); return 1; }
  if (mode == 7) usleep(300000);
  file = fopen("data/y.bin", "wb");
  fwrite(x, 4, mode == 5 ? n - 1 : n, file);
  fclose(file);
  return 0;
}
"""

# Plain C++, without a step of linking for the device and without CUDA's runtime: these would be nine tenths of nvcc's time.
HOST_FLAGS = ("-O0", "-std=c++17", "-x", "c++", "-nodlink", "-cudart=none")
AS_HOST = f"flags={' '.join(HOST_FLAGS)}"

BROKEN = PROGRAM.replace("fopen(", "fupen(")

REFERENCE = """
import numpy as np

TOLERANCE = {"y": (1e-6, 1e-6)}


def make_inputs(rng, n, mode):
    return {"mode": np.array([mode], np.int32), "x": rng.normal(size=n).astype(np.float32)}


def reference(inputs):
    return {"y": 2 * inputs["x"]}
"""


def task_row(name: str, *modes: str, split: str = "eval", reference: str = REFERENCE) -> dict[str, Any]:
    """Return the row of a task with one case for each of these modes, keys of `MODES`, that has the mode's name."""
    inputs = [{"name": "mode", "dtype": "int32", "shape": [1]}, *cuset_row()["inputs"]]
    cases = [{"name": mode, "parameters": {"n": n, "mode": MODES[mode]}} for n, mode in enumerate(modes, start=100)]
    return cuset_row(id=name, split=split, inputs=inputs, cases=cases, reference=reference, solution=PROGRAM)


def make_task(folder: Path, *modes: str, **options: Any) -> ProgramTask:
    """Return the task of `task_row` for these modes, loaded from a file as a user's would be."""
    return load_row(folder, task_row("double", *modes, **options))


def answer_row(task: str, sample: int, code: str | None = PROGRAM, **more: Any) -> dict[str, Any]:
    """Return a row of an answers file whose answer contains this code. None: an answer without code."""
    text = "I would rather not." if code is None else f"Here it is.\n\n```cpp\n{code}\n```\n"
    row = {"task": task, "sample": sample, "answer": text, "tokens": 100, "finish_reason": "stop", "model": "m"}
    return row | more


TASKS = [task_row("one", "right"), task_row("two", "right", "wrong", split="train"), task_row("three", "slow")]


def arguments(folder: Path, answers: list[dict[str, Any]], tasks: list[dict[str, Any]] = TASKS) -> list[str]:
    """Write the answers and the tasks to files, and return the words of `cuset evaluate` on them.

    The results go to results.jsonl in the folder. Programs are compiled with HOST_FLAGS and run without a GPU.
    """
    command = ["evaluate", str(write_lines(folder / "answers.jsonl", *answers)), f"output={folder / 'results.jsonl'}"]
    return [*command, f"tasks={write_lines(folder / 'tasks.jsonl', *tasks)}", AS_HOST, "no_gpu=true"]
