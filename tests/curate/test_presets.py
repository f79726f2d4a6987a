"""Rows of known data sets, by their own columns: what they become, and where their references come from."""

import ast
import runpy

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curation_steps import adapt, lines, put, split, take_in
from curation_tree import MODULE
from other_sets import robust_kbench

from cuset_stage.curate.adapt import load_task
from cuset_stage.curate.training_text import answer_text, is_read_back
from cuset_stage.tasks import load_tasks
from cuset_stage.tasks.messages import chat_messages


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
    given = [row, {**row, "PyTorch_Code_Functional": None}, {**row, "Correct": False, "CUDA_Code": "// wrong"}]
    pq.write_table(pa.Table.from_pylist(given), path)
    imported, (row,), _ = adapted(tmp_path / "work", path, "ai-cuda-engineer")
    assert imported.reasons == {"missing_column": 1, "incorrect": 1}
    assert "KernelBench's: keep it out" in imported.notes[0]
    names = {node.name for node in ast.parse(row["answer_code"]).body if isinstance(node, ast.ClassDef)}
    assert row["kind"] == "module" and "ModelNew" in names and "__global__" in row["answer_code"]
    assert row["speedup"] == 1.5 and row["source"]["licence"] == "CC-BY-4.0" and "ModelNew" in row["task"]["prompt"]


def test_tasks_of_robust_kbench_keep_what_the_judge_needs(tmp_path):
    root = robust_kbench(tmp_path / "clone")
    (root / "LICENSE").write_text("Apache License\nVersion 2.0, January 2004\n")
    _, rows, dropped = adapted(tmp_path / "work", root, None, format="robust-kbench")
    assert not dropped and all(row["source"]["licence"] == "Apache-2.0" for row in rows)
    judged = {task.id: task for task in load_tasks(root)}
    for task in map(load_task, rows):
        own = judged.pop(task.id)
        assert task.fingerprint == own.fingerprint and chat_messages(task) == chat_messages(own)
        assert (task.module("x"), task.language, task.solution) == (own.module("x"), "cuda", None)
    assert not judged
    assert all(row["module_code"] == row["task"]["own_source"] and "module" in row["fingerprints"] for row in rows)
    answered = next(row for row in rows if row["answer_code"])
    assert answer_text(answered).startswith("```cpp\n") and is_read_back(answered, answer_text(answered))


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
        "python_code": KERNELBOOK % given,
        "triton_code": "import triton",
        "repo_name": "somebody/something",
        "uuid": 7,
        "licenses": ["MIT", "Apache-2.0"],
        "sha": "0" * 40,
    }
    put(path, [row])
    _, kept, dropped = adapted(tmp_path / "work", path, "kernelbook")
    assert not dropped and len(kept) == 1
    module = kept[0]["module_code"]
    assert "class Model(" in module and "super(Model, self)" in module
    source = kept[0]["source"]
    assert (source["licence"], source["revision"]) == ("Apache-2.0 AND MIT", "0" * 40) and kept[0][
        "answer_code"
    ] is None
    names = runpy.run_path(str(put_text(tmp_path / "module.py", module)))
    if isinstance(made, str):
        with pytest.raises((TypeError, AssertionError), match=made):
            names["get_init_inputs"]()
    else:
        assert names["get_init_inputs"]() == made
        assert names["Model"](*made)(*names["get_inputs"]()).shape == (4, 4)


def test_regrapht_concur_cudabench_and_kernelbench_rows_by_their_own_columns(tmp_path):
    kernel = "__global__ void two(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }"
    graph = put(tmp_path / "kernels.jsonl", [{"index": 3, "name": "two", "kernel": kernel}])
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
    put(bench, [row, {**row, "id": 1, "gen.py": "", "bench.cu": other}])
    _, kept, dropped = adapted(tmp_path / "bench", bench, "cudabench", allow_unknown=True)
    assert kept[0]["prompt"] == "Double x." and kept[0]["description"].startswith("Doubles")
    assert kept[0]["form"] == "task" and kept[0]["program"] == kernel and "data/x.bin" in kept[0]["task"]["prompt"]
    assert [each["reason"] for each in dropped] == ["bad_task"] and "gen.py is" in dropped[0]["detail"]

    problems = tmp_path / "kernelbench.parquet"
    given = {"code": MODULE % "x + 1", "level": 1, "name": "1_Add_one", "problem_id": 1}
    pq.write_table(pa.Table.from_pylist([given]), problems)
    _, kept, _ = adapted(tmp_path / "problems", problems, "kernelbench")
    assert kept[0]["form"] == "module without an answer" and kept[0]["source"]["licence"] == "MIT"


SAXPY = "__global__ void saxpy(float a, const float* x, float* y) { y[threadIdx.x] += a * x[threadIdx.x]; }\n"
STACK = {
    "hexsha": "a" * 40,
    "max_stars_repo_path": "src/saxpy.cu",
    "max_stars_repo_name": "somebody/something",
    "max_stars_repo_head_hexsha": "b" * 40,
    "max_stars_repo_licenses": ["MIT", "Apache-2.0"],
    "max_stars_count": None,
    "content": SAXPY,
}
STACK_2 = {
    "blob_id": "a" * 40,
    "path": "/src/saxpy.cu",
    "detected_licenses": ["BSD-3-Clause"],
    "license_type": "permissive",
    "repo_name": "somebody/something",
    "revision_id": "c" * 40,
    "content": SAXPY,
}
CASS = {"filename": "saxpy.cu", "cuda_source": SAXPY, "cuda_host": "...", "hip_source": "hip", "hip_device": "..."}


@pytest.mark.parametrize(
    ("preset", "row", "licence", "revision"),
    [
        ("the-stack", STACK, "Apache-2.0 AND MIT", "b" * 40),
        ("the-stack-v2", STACK_2, "BSD-3-Clause", "c" * 40),
        ("cass", CASS, "MIT", None),
    ],
)
def test_files_of_repositories_become_kernels_under_their_licences(tmp_path, preset, row, licence, revision):
    path = tmp_path / "part.parquet"
    pq.write_table(pa.Table.from_pylist([row]), path)
    assert take_in(tmp_path, path, preset=preset).kept == 1 and split(tmp_path).kept == 1
    (found,) = lines(tmp_path / "split" / "rows.jsonl")
    assert found["kernel"] == "saxpy" and found["code"] == SAXPY and found["name"].endswith("saxpy.cu")
    assert found["source"]["licence"] == licence and found["source"]["revision"] == revision


def test_files_that_are_listed_without_their_content_are_dropped_with_the_way_to_it(tmp_path):
    path = tmp_path / "part.parquet"
    unknown = {**STACK_2, "detected_licenses": [], "license_type": "no_license"}
    pq.write_table(pa.Table.from_pylist([{**STACK_2, "content": None}, unknown]), path)
    summary = take_in(tmp_path, path, preset="the-stack-v2")
    assert summary.reasons == {"missing_column": 1, "licence_unknown": 1} and "Software Heritage" in summary.notes[0]


ANSWER = f"<think>\nOne line.\n</think>\nHere it is:\n```cuda\n{SAXPY}```\n"
CONVERSATIONS = {
    "messages": {
        "messages": [
            {"role": "system", "content": "Write CUDA."},
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": "Write saxpy."},
            {"role": "assistant", "content": ANSWER},
        ]
    },
    "messages of parts": {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Write saxpy."}]},
            {
                "role": "assistant",
                "content": [{"type": "image_url", "image_url": {}}, {"type": "text", "text": ANSWER}],
            },
        ]
    },
    "sharegpt": {"conversations": [{"from": "human", "value": "Write saxpy."}, {"from": "gpt", "value": ANSWER}]},
    "alpaca": {"instruction": "Write", "input": "saxpy.", "output": ANSWER},
}


@pytest.mark.parametrize("form", CONVERSATIONS)
def test_the_code_of_a_conversations_last_answer_is_taken_with_its_question(tmp_path, form):
    preset = form.split()[0]
    silent = {"messages": [{"role": "user", "content": "?"}]} if preset == "messages" else {}
    path = put(tmp_path / "talk.jsonl", [CONVERSATIONS[form], silent])
    summary = take_in(tmp_path, path, preset=preset, licence="MIT")
    assert summary.kept == 1 and summary.reasons == {"no_answer" if preset == "messages" else "missing_column": 1}
    split(tmp_path)
    (found,) = lines(tmp_path / "split" / "rows.jsonl")
    assert found["code"] == SAXPY and found["prompt"].replace("\n", " ") == "Write saxpy."


def test_modules_of_cuda_l1_and_drkernel_come_with_and_without_an_answer(tmp_path):
    module = MODULE % "2 * x"
    row = {
        "level_id": 1,
        "task_id": 3,
        "ref_code": module,
        "custom_code": module.replace("class Model", "class ModelNew"),
        "cuda_graph_code": "...",
        "score_default": 1.7,
    }
    path = put(tmp_path / "h100.json", [row, {**row, "custom_code": None, "ref_code": MODULE % "x"}])
    imported, kept, _ = adapted(tmp_path / "l1", path, "cuda-l1")
    assert [each["form"] for each in kept] == ["ModelNew", "module without an answer"]
    assert kept[0]["source"]["licence"] == "GPL-3.0-only" and kept[0]["level"] == 1
    assert "cuda_graph_code" in imported.notes[0]

    # Two answers that are the text None are no answers and not alike; a ModelNew that holds its extension as text is no extension.
    written = [{**row, "custom_code": "None"}, {**row, "custom_code": "None", "ref_code": MODULE % "x"}]
    inline = f"import torch\n\nsource = '''{EXTENSION}'''\n\n\nclass ModelNew(torch.nn.Module):\n    pass\n"
    put(path, [*written, {**row, "custom_code": inline}])
    _, kept, dropped = adapted(tmp_path / "text", path, "cuda-l1")
    assert [each["form"] for each in kept] == ["module without an answer"] * 2 + ["ModelNew"] and not dropped

    table = tmp_path / "coldstart.parquet"
    talk = [{"role": "user", "content": "..."}, {"role": "assistant", "content": "import triton"}]
    given = {
        "messages": talk,
        "uuid": 1,
        "entry_point": "Model",
        "original_python_code": module,
        "final_speedup": 2.0,
    }
    pq.write_table(pa.Table.from_pylist([given]), table)
    imported, kept, _ = adapted(tmp_path / "dr", table, "drkernel")
    assert kept[0]["form"] == "module without an answer" and kept[0]["answer_code"] is None
    assert kept[0]["source"]["licence"] == "MIT" and "Triton" in imported.notes[0]


def test_a_data_set_that_was_saved_to_disk_is_read_without_saying_what_it_is(tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = [{**STACK, "content": SAXPY.replace("a *", f"{number} * a *")} for number in range(3)]
    parts = {"train": datasets.Dataset.from_list(rows[:2]), "test": datasets.Dataset.from_list(rows[2:])}
    datasets.DatasetDict(parts).save_to_disk(tmp_path / "saved")
    summary = take_in(tmp_path / "work", tmp_path / "saved", preset="the-stack")
    assert (summary.read, summary.kept) == (3, 3)
