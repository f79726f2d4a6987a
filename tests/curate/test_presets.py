"""Rows of known data sets, by their own columns: what they become, and where their references come from."""

import ast
import json
import runpy

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curation_steps import adapt, lines, take_in
from curation_tree import MODULE


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


def test_extensions_of_the_engineer_archive_become_modules(tmp_path):
    path = tmp_path / "archive.parquet"
    row = {
        "Op_Name": "double",
        "Level_ID": 1,
        "Task_ID": "1",
        "Kernel_Name": "double",
        "CUDA_Code": EXTENSION,
        "PyTorch_Code_Module": MODULE % "2 * x",
        "PyTorch_Code_Functional": FUNCTIONAL,
        "CUDA_Speedup_Native": 1.5,
        "Correct": True,
    }
    pq.write_table(pa.Table.from_pylist([row, {**row, "PyTorch_Code_Functional": None}]), path)
    imported, (row,), _ = adapted(tmp_path / "work", path, "ai-cuda-engineer")
    assert imported.reasons == {"missing_column": 1}
    names = {node.name for node in ast.parse(row["answer_code"]).body if isinstance(node, ast.ClassDef)}
    assert row["kind"] == "module" and "ModelNew" in names and "__global__" in row["answer_code"]
    assert row["speedup"] == 1.5 and row["source"]["licence"] == "CC-BY-4.0" and "ModelNew" in row["task"]["prompt"]


KERNELBOOK = """import torch
import torch.nn as nn


class Scaled(nn.Module):

    def __init__(self, in_channels, bias=True, *, quiet=False, out_channels=3):
        super(Scaled, self).__init__()
        self.linear = nn.Linear(in_channels, 4, bias=bias)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.rand([4, 4])]


def get_init_inputs():
    return %s
"""


def put_text(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def adapted(work, path, preset, **more):
    imported = take_in(work, path, preset=preset, **more)
    summary = adapt(work) if imported.kept else None
    kept = lines(work / "adapt" / "rows.jsonl") if summary else []
    return imported, kept, lines(work / "adapt" / "dropped.jsonl") if summary else []


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("[[], {'in_channels': 4}]", [4, True]),
        ("[[4], {'bias': False}]", [4, False]),
        ("[[4, True], {}]", [4, True]),
        ("[4, False]", [4, False]),
        ("[[], {'bias': 1}]", "in_channels"),
        ("[[4], {'quiet': True}]", "by name only"),
    ],
)
def test_kernelbook_modules_get_kernelbenchs_arguments(tmp_path, given, made):
    pytest.importorskip("torch")
    path = tmp_path / "book.jsonl"
    row = {
        "entry_point": "Scaled",
        "original_triton_code": "# of the compiler",
        "python_code": KERNELBOOK % given,
        "triton_code": "import triton",
        "repo_name": "somebody/something",
        "module_name": "Scaled",
        "synthetic": False,
        "uuid": 7,
        "licenses": ["MIT", "Apache-2.0"],
        "stars": 3,
        "sha": "0" * 40,
        "repo_link": "https://example.org/somebody/something",
    }
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    _, kept, dropped = adapted(tmp_path / "work", path, "kernelbook")
    assert not dropped and len(kept) == 1
    module = kept[0]["module_code"]
    assert "class Model(" in module and "super(Model, self)" in module
    assert kept[0]["source"]["licence"] == "Apache-2.0 AND MIT" and kept[0]["answer_code"] is None
    names = runpy.run_path(str(put_text(tmp_path / "module.py", module)))
    if isinstance(made, str):
        with pytest.raises((TypeError, AssertionError), match=made):
            names["get_init_inputs"]()
    else:
        assert names["get_init_inputs"]() == made
        assert names["Model"](*made)(*names["get_inputs"]()).shape == (4, 4)


def test_regrapht_concur_cudabench_and_kernelbench_rows_by_their_own_columns(tmp_path):
    kernel = "__global__ void two(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    graph = tmp_path / "kernels.jsonl"
    graph.write_text(json.dumps({"index": 3, "name": "two", "kernel": kernel}) + "\n", encoding="utf-8")
    imported, kept, _ = adapted(tmp_path / "graph", graph, "regrapht")
    assert imported.reasons == {"licence_unknown": 1} and not kept
    _, kept, dropped = adapted(tmp_path / "graph2", graph, "regrapht", allow_unknown=True)
    # A kernel alone: nothing says on which inputs it runs.
    assert not kept and dropped[0]["reason"] == "no_task" and dropped[0]["data"]["kernel"] == "two"

    answer = f"Here it is.\n```python\nimport torch\n{MODULE.replace('class Model', 'class ModelNew') % '2 * x'}```\n"
    concur = tmp_path / "concur.arrow"
    table = pa.Table.from_pylist(
        [
            {
                "uuid": "a1",
                "problem_name": "two",
                "pytorch_code": MODULE % "2 * x",
                "generated_code": answer,
                "generated_think": "Twice.",
                "speedup_over_eager": 1.25,
            }
        ]
    )
    with pa.OSFile(str(concur), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    _, kept, _ = adapted(tmp_path / "concur", concur, "concur", allow_unknown=True)
    assert kept[0]["form"] == "ModelNew" and kept[0]["reasoning"] == "Twice." and kept[0]["speedup"] == 1.25

    bench = tmp_path / "bench.jsonl"
    row = {
        "id": 0,
        "task_name": "two",
        "task_description": "Doubles the values of x.",
        "inputs": [{"name": "x", "dtype": "float32", "shape": "(64,)"}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": "(64,)"}],
        "gpu": "unknown",
        "bench.cu": kernel,
        "gen.py": "pass",
        "compare.py": "pass",
        "level1_prompt": "Double x.",
        "level2_prompt": "Double every x.",
        "level3_prompt": "y = 2 x.",
    }
    other = kernel.replace("2 * x[i]", "3 * x[i]")
    bench.write_text(
        json.dumps(row) + "\n" + json.dumps({**row, "id": 1, "gen.py": "", "bench.cu": other}) + "\n", encoding="utf-8"
    )
    _, kept, dropped = adapted(tmp_path / "bench", bench, "cudabench", allow_unknown=True)
    assert kept[0]["prompt"] == "Double x." and kept[0]["description"].startswith("Doubles")
    assert kept[0]["form"] == "task" and kept[0]["program"] == kernel and "data/x.bin" in kept[0]["task"]["prompt"]
    assert [each["reason"] for each in dropped] == ["bad_task"] and "gen.py is" in dropped[0]["detail"]

    problems = tmp_path / "kernelbench.parquet"
    given = {"code": MODULE % "x + 1", "level": 1, "name": "1_Add_one", "problem_id": 1}
    pq.write_table(pa.Table.from_pylist([given]), problems)
    _, kept, _ = adapted(tmp_path / "problems", problems, "kernelbench")
    assert kept[0]["form"] == "module without an answer" and kept[0]["source"]["licence"] == "MIT"
