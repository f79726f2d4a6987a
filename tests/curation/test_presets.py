"""Rows of known data sets, by their own columns: what they become, and where their references come from."""

import ast
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cuset_stage.curation.adapt import run_adapt
from cuset_stage.curation.cases import run_cases
from cuset_stage.curation.importing import Source, run_import
from cuset_stage.curation.parallel import Executor
from cuset_stage.curation.stage import stage_files


CPU = "void add(const %(t)s* a, const int* at, %(t)s* c, int n) { for (int i = 0; i < n; ++i) c[i] = a[%(index)s]; }"
CUDA = """__global__ void add(const float* a, const int* at, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[at[i]];
}"""
WRAPPER = """void add_wrapper(const float* a, const int* at, float* c, int n) {
    float *da, *dc;
    int* dat;
    cudaMalloc(&da, n * sizeof(float)); cudaMalloc(&dat, n * sizeof(int)); cudaMalloc(&dc, n * sizeof(float));
    cudaMemcpy(da, a, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dat, at, n * sizeof(int), cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(da, dat, dc, n);
    cudaMemcpy(c, dc, n * sizeof(float), cudaMemcpyDeviceToHost);
}"""
MODULE = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return %s


def get_inputs():
    return [torch.randn(16, 64)]
"""
FUNCTIONAL = MODULE.replace("def forward(self, x):", "def forward(self, x, fn=None):") % "fn(x)"
EXTENSION = """#include <torch/extension.h>
__global__ void k(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    k<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def taken_to_cases(work, path, preset):
    run_import(work, Source(path, preset=preset))
    run_adapt(work, stage_files(work, "import"))
    return run_cases(work, stage_files(work, "adapt"), executor=Executor.INLINE)


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_babeltower_pairs_take_the_c_function_as_reference_and_find_out_index_arrays(tmp_path):
    path = tmp_path / "babel.jsonl"
    given = [
        {"id": 1, "cpp_code": CPU % {"t": "float", "index": "at[i]"}, "cuda_code": CUDA, "cuda_wrapper": WRAPPER},
        {"id": 2, "cpp_code": CPU % {"t": "float", "index": "at[i] + n"}, "cuda_code": CUDA, "cuda_wrapper": WRAPPER},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    summary = taken_to_cases(tmp_path / "work", path, "babeltower")
    row = lines(tmp_path / "work" / "cases" / "rows.jsonl")[0]
    # Free integers would run out of bounds, which the reference's sanitizer shows; indices below n do not.
    assert summary.kept == 1 and "at[i]" in row["cpu_code"] and row["form"] == "wrapper"
    assert '"indices"' in row["task"]["reference"] and row["provenance"][-1]["reference"] == "cpu_code"
    assert row["source"]["licence"] == "Apache-2.0" and "C++ function" in row["task"]["prompt"]
    assert summary.reasons == {"reference_fails": 1}  # reads behind the array whatever the indices are


def test_extensions_of_the_engineer_archive_become_modules_and_constant_ones_go(tmp_path):
    pytest.importorskip("torch")
    path = tmp_path / "archive.parquet"
    rows = [
        {
            "Op_Name": name,
            "Level_ID": 1,
            "Task_ID": "1",
            "Kernel_Name": name,
            "CUDA_Code": EXTENSION,
            "PyTorch_Code_Module": MODULE % expression,
            "PyTorch_Code_Functional": FUNCTIONAL,
            "CUDA_Speedup_Native": 1.5,
            "Correct": True,
        }
        for name, expression in (("double", "2 * x"), ("zero", "0 * x"))
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    summary = taken_to_cases(tmp_path / "work", path, "ai-cuda-engineer")
    assert summary.kept == 1 and summary.reasons == {"weak_cases": 1}
    row = lines(tmp_path / "work" / "cases" / "rows.jsonl")[0]
    names = {node.name for node in ast.parse(row["answer_code"]).body if isinstance(node, ast.ClassDef)}
    assert row["kind"] == "module" and "ModelNew" in names and "__global__" in row["answer_code"]
    assert row["speedup"] == 1.5 and row["source"]["licence"] == "CC-BY-4.0" and "ModelNew" in row["task"]["prompt"]
