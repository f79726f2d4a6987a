"""Rows of known data sets, by their own columns: what they become, and where their references come from."""

import runpy
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from curation_steps import adapt, lines, put, split, take_in
from other_sets import robust_kbench

from cuset_stage.curate.adapt import load_task
from cuset_stage.curate.training_rows import answer_text, is_read_back
from cuset_stage.tasks import load_tasks
from cuset_stage.tasks.messages import chat_messages


CASES = yaml.safe_load(Path(__file__).with_name("presets.yaml").read_text(encoding="utf-8"))["cases"]


def put_rows(folder: Path, rows: list[dict], form: str) -> Path:
    path = folder / f"rows.{form}"
    if form in ("json", "jsonl"):
        return put(path, rows)
    table = pa.Table.from_pylist(rows)
    if form == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)
    return path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["preset"])
def test_rows_become_what_their_preset_says(tmp_path, case):
    path = put_rows(tmp_path, case["rows"], case["format"])
    imported = take_in(tmp_path, path, preset=case["preset"], **case.get("options", {}))
    assert imported.reasons == case.get("reasons", {}) and case.get("note", "") in " ".join(imported.notes)
    if "stage" not in case:
        return
    summary = split(tmp_path) if case["stage"] == "split" else adapt(tmp_path)
    rows = lines(tmp_path / case["stage"] / "rows.jsonl")
    assert summary.reasons == case.get("dropped", {}) and len(rows) == len(case.get("becomes", []))
    for row, expected in zip(rows, case.get("becomes", []), strict=True):
        said = row | {key: row["source"][key] for key in ("licence", "revision")}
        said["prompt"] = row.get("prompt") or (row.get("task") or {}).get("prompt")
        assert case["stage"] == "split" or not {"solution", "bench.cu"} & set(row["task"])  # which nobody is shown
        for key, value in expected.items():
            assert value in said[key[:-1]] if key.endswith("~") else said[key] == value, (key, said)


def adapted(work, path, **options):
    """What goes on, and what does not."""
    take_in(work, path, **options)
    adapt(work)
    return [lines(work / "adapt" / name) for name in ("rows.jsonl", "dropped.jsonl")]


def test_tasks_of_robust_kbench_keep_what_the_judge_needs(tmp_path):
    root = robust_kbench(tmp_path / "clone")
    (root / "LICENSE").write_text("Apache License\nVersion 2.0, January 2004\n")
    rows, dropped = adapted(tmp_path / "work", root, format="robust-kbench")
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
    row = {"entry_point": "Scaled", "python_code": KERNELBOOK % given, "triton_code": "import triton", "uuid": 7}
    row |= {"repo_name": "somebody/something", "licenses": ["MIT", "Apache-2.0"], "sha": "0" * 40}
    kept, dropped = adapted(tmp_path / "work", put(tmp_path / "book.jsonl", [row]), preset="kernelbook")
    assert not dropped and len(kept) == 1 and kept[0]["answer_code"] is None
    module, source = kept[0]["module_code"], kept[0]["source"]
    assert "class Model(" in module and "super(Model, self)" in module
    assert (source["licence"], source["revision"]) == ("Apache-2.0 AND MIT", "0" * 40)
    (tmp_path / "module.py").write_text(module, encoding="utf-8")
    names = runpy.run_path(str(tmp_path / "module.py"))
    if isinstance(made, str):
        with pytest.raises((TypeError, AssertionError), match=made):
            names["get_init_inputs"]()
    else:
        assert names["get_init_inputs"]() == made
        assert names["Model"](*made)(*names["get_inputs"]()).shape == (4, 4)
