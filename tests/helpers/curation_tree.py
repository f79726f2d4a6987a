"""A small tree of .cu files: host programs that use a GPU when there is one, kernels with a CPU function beside them, and faults."""

import json
from pathlib import Path


# A PyTorch module, to be filled with an expression of x.
MODULE = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return %s


def get_inputs():
    return [torch.randn(16, 64)]
"""
# Reads data/x.bin, writes data/y.bin; on a machine without a GPU it computes on the CPU.
PROGRAM = """// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

__host__ __device__ inline float value(float x) { return %(expression)s; }

__global__ void apply(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = value(x[i]);
}

int main() {
    std::FILE* in = std::fopen("data/x.bin", "rb");
    if (!in) return 1;
    std::fseek(in, 0, SEEK_END);
    const long bytes = std::ftell(in);
    std::rewind(in);
    const int n = static_cast<int>(bytes / sizeof(float));
    std::vector<float> x(n), y(n);
    if (std::fread(x.data(), sizeof(float), n, in) != static_cast<std::size_t>(n)) return 1;
    std::fclose(in);
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
        float *dx, *dy;
        if (cudaMalloc(&dx, bytes) != cudaSuccess || cudaMalloc(&dy, bytes) != cudaSuccess) return 2;
        if (cudaMemcpy(dx, x.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess) return 2;
        apply<<<(n + 255) / 256, 256>>>(dx, dy, n);
        if (cudaMemcpy(y.data(), dy, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    } else {
        for (int i = 0; i < n; ++i) y[i] = value(x[i]);
    }
    std::FILE* out = std::fopen("data/y.bin", "wb");
    if (!out || std::fwrite(y.data(), sizeof(float), n, out) != static_cast<std::size_t>(n)) return 3;
    return std::fclose(out);
}
"""

SPEC = {
    "sizes": {"n": {"min": 1, "max": 65536}},
    "inputs": {"x": {"dtype": "float32", "shape": ["n"]}},
    "outputs": {"y": {"dtype": "float32", "shape": ["n"], "tolerance": [1e-5, 1e-6]}},
}

# A kernel with the CPU function that its author compares it with.
KERNEL = """// SPDX-License-Identifier: BSD-3-Clause
/* Adds alpha times x to y, element by element: y[i] = alpha * x[i] + y[i] for all i below n. */
__global__ void saxpy(int n, float alpha, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy_cpu(int n, float alpha, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] = alpha * x[i] + y[i];
}
"""


def write_program(folder: Path, name: str, expression: str, numpy: str, **declared) -> Path:
    """name.cu with its declaration and a NumPy reference beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.cu"
    path.write_text(PROGRAM % {"expression": expression}, encoding="utf-8")
    record = {"spec": SPEC, "description": f"Apply {name} to every element of x: y[i] = {expression}.", **declared}
    path.with_suffix(".json").write_text(json.dumps(record), encoding="utf-8")
    source = f"import numpy as np\n\n\ndef reference(inputs):\n    x = inputs['x'].astype(np.float64)\n    return {{'y': ({numpy}).astype(np.float32)}}\n"
    (folder / f"{name}.ref.py").write_text(source, encoding="utf-8")
    return path


def make_tree(root: Path) -> Path:
    """Six files: three right programs (one of them a copy), a wrong one, a kernel, and one that does not parse."""
    write_program(root, "square", "x * x", "x * x", family="element-wise")
    write_program(root / "deep", "halve", "0.5f * x + 1.0f", "0.5 * x + 1.0")
    write_program(root, "square_again", "x * x", "x * x")
    write_program(root, "wrong", "x * x * x", "x * x")
    (root / "saxpy.cu").write_text(KERNEL, encoding="utf-8")
    (root / "broken.cu").write_text(KERNEL.replace("}", "", 1), encoding="utf-8")
    return root
