"""Small folders of tasks and of .cu files for tests of curation.

They hold right programs with their tasks, a wrong program, a broken task, and a kernel without a program. The programs
use a GPU if there is one and compute on the CPU otherwise, as they do with HOST_FLAGS, so they can be
judged on any machine.
"""

import json
from pathlib import Path


KERNEL = "__global__ void f(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"
# Template of a PyTorch module; %s is an expression of x.
MODULE = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return %s


def get_inputs():
    return [torch.randn(16, 64)]
"""
# Template of a program that reads data/x.bin and writes data/y.bin. Without a GPU it computes on the CPU.
PROGRAM = """// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>
#include <cstdio>

__host__ __device__ inline float value(float x) { return %(expression)s; }

#ifdef __CUDACC__
__global__ void apply(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = value(x[i]);
}
#endif

float x[8192], y[8192];

int main() {
    std::FILE* in = std::fopen("data/x.bin", "rb");
    if (!in) return 1;
    const size_t n = std::fread(x, sizeof(float), 8192, in), bytes = n * sizeof(float);
    std::fclose(in);
    int devices = 0;
#ifdef __CUDACC__
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
        float *dx, *dy;
        if (cudaMalloc(&dx, bytes) != cudaSuccess || cudaMalloc(&dy, bytes) != cudaSuccess) return 2;
        if (cudaMemcpy(dx, x, bytes, cudaMemcpyHostToDevice) != cudaSuccess) return 2;
        apply<<<(n + 255) / 256, 256>>>(dx, dy, n);
        if (cudaMemcpy(y, dy, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    }
#endif
    for (size_t i = 0; devices == 0 && i < n; ++i) y[i] = value(x[i]);
    std::FILE* out = std::fopen("data/y.bin", "wb");
    if (!out || std::fwrite(y, sizeof(float), n, out) != n) return 3;
    return std::fclose(out);
}
"""

SIZES = (1, 3, 31, 1000, 4099)
REFERENCE = """import numpy as np

TOLERANCE = {"y": (1e-5, 1e-6)}


def make_inputs(rng, n):
    return {"x": rng.normal(size=n).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    return {"y": (%s).astype(np.float32)}
"""


def task_columns(prompt: str, numpy: str) -> dict:
    """Return the task's columns for a program that applies a function, in NumPy's terms, to every element of x."""
    return {
        "prompt": prompt,
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
        "cases": [{"name": f"n{size}", "parameters": {"n": size}} for size in SIZES],
        "reference": REFERENCE % numpy,
    }


def write_program(folder: Path, name: str, expression: str, numpy: str, **declared) -> None:
    """Write a task with its program into the folder of tasks `folder`, as `folder`/name/.

    The program computes `expression` of x, in C++, and the reference `numpy`. Columns that are declared replace the
    task's usual ones.
    """
    prompt = f"Apply {name} to every element of data/x.bin and write data/y.bin: y[i] = {expression}."
    record = {**task_columns(prompt, numpy), **declared}
    task = folder / name
    task.mkdir(parents=True)
    files = {"kernel.cu": PROGRAM % {"expression": expression}, "prompt.md": record.pop("prompt")}
    files |= {"reference.py": record.pop("reference"), "task.json": json.dumps(record)}
    for file, text in files.items():
        (task / file).write_text(text, encoding="utf-8")


def make_sources(root: Path) -> tuple[Path, Path]:
    """Write a folder of five tasks and a tree of one file, and return both.

    Of the tasks three are right (one of them a copy), one has a wrong program, and one a broken declaration. The file
    holds a bare kernel.
    """
    tasks, tree = root / "tasks", root / "tree"
    write_program(tasks, "square", "x * x", "x * x", family="element-wise")
    write_program(tasks, "halve", "0.5f * x + 1.0f", "0.5 * x + 1.0")
    write_program(tasks, "square_again", "x * x", "x * x")
    write_program(tasks, "wrong", "x * x * x", "x * x")
    write_program(tasks, "broken", "x", "x", cases=[{"name": "a"}])
    tree.mkdir()
    (tree / "bare.cu").write_text("// SPDX-License-Identifier: MIT\n__global__ void k(float* x) { *x = 1; }\n")
    return tasks, tree
