"""`split`: a row of each kernel, from files and from columns alike, and what happens when it is killed in between."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from curation_steps import lines, put, split, take_in

from cuset_stage.curate.rows import RowError
from cuset_stage.curate.split import split_row


TWO = """#include <cstdio>
__device__ float twice(float x) { return 2 * x; }
__global__ void one(float* y) { y[threadIdx.x] = twice(y[threadIdx.x]); }
__global__ void other(int* y) { y[threadIdx.x] += 1; }
int main() { one<<<1, 32>>>(nullptr); }
"""


def row(identity: str, **more) -> dict:
    return {"id": identity, "source": {"name": "t"}, **more}


def test_rows_of_columns_are_split_as_files_are(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "two.cu").write_text(TWO)
    take_in(tmp_path / "a", tmp_path / "tree", licence="MIT")
    take_in(tmp_path / "b", put(tmp_path / "rows.jsonl", [{"code": TWO, "licence": "MIT"}]))
    summaries = [split(tmp_path / each) for each in "ab"]
    assert [(each.read, each.kept) for each in summaries] == [(1, 2), (1, 2)]
    tree, columns = (lines(tmp_path / each / "split" / "rows.jsonl") for each in "ab")
    assert [each["id"] for each in tree] == ["tree:two.cu:one", "tree:two.cu:other"]
    assert [each["code"] for each in tree] == [each["code"] for each in columns]
    assert "twice" in tree[0]["code"] and "twice" not in tree[1]["code"] and "main" not in tree[0]["code"]
    assert len(tree[0]["fingerprints"]["kernels"]) == 1 and tree[0]["source"]["licence"] == "MIT"


def refused(row: dict) -> str:
    with pytest.raises(RowError) as error:
        split_row(row)
    return error.value.reason


def test_tasks_stay_whole_and_what_has_no_kernel_is_dropped():
    module = row("m", module_code="import torch", answer="...")
    assert [each["module_code"] for each in split_row(module)] == ["import torch"]
    assert refused(row("h", code="int main() { return 0; }")) == "no_kernel"
    assert refused(row("p", answer="There is no code here.")) == "no_code"
    hip = TWO.replace("<cstdio>", "<hip/hip_runtime.h>")
    assert refused(row("t", code=hip)) == "not_cuda"
    assert split_row(row("t", code=f"#ifndef __HIP__\n#include <cuda_runtime.h>\n#else\n{hip}#endif\n"))  # for both
    found = split_row(row("a", prompt="Add one.", answer=f"<think>no</think>\n```cuda\n{TWO}```\n"))
    assert [each["kernel"] for each in found] == ["one", "other"]
    assert found[0]["prompt"] == "Add one." and "answer" not in found[0]
    overloads = "__global__ void k(int* y) { *y = 1; }\n__global__ void k(float* y) { *y = 2; }\n"
    assert [each["id"] for each in split_row(row("f", code=overloads))] == ["f:k", "f:k-2"]


@pytest.mark.slow
def test_a_killed_run_leaves_no_process_and_is_done_again(tmp_path):
    given = [{"code": TWO.replace("+= 1", f"+= {number}"), "licence": "MIT"} for number in range(1200)]
    take_in(tmp_path, put(tmp_path / "rows.jsonl", given))
    command = [sys.executable, "-m", "cuset_stage.cli", "curate", "split", str(tmp_path), "workers=2"]
    process = subprocess.Popen(command, env=os.environ)
    rows, children = tmp_path / "split" / "rows.jsonl", []
    while process.poll() is None and not (rows.is_file() and rows.stat().st_size):
        children = psutil.Process(process.pid).children(recursive=True)
        time.sleep(0.02)
    assert process.poll() is None and len(children) >= 2
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not psutil.wait_procs(children, timeout=60)[1]
    summary = split(tmp_path, workers=2)
    assert summary.kept == 2400
    in_order = [number for number in range(1, 1201) for _ in range(2)]
    assert [each["source"]["row"] for each in lines(rows)] == in_order  # whichever process was first
