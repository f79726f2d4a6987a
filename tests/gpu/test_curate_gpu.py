"""Curation on a GPU: a kernel in its harness passes, a wrong one does not, and mutants must not all pass."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[2]
SAXPY = """/* Adds alpha times x to y, element by element: y[i] = alpha * x[i] + y[i] for all i below n. */
__global__ void saxpy(int n, float alpha, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + %s;
}

void saxpy_cpu(int n, float alpha, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] = alpha * x[i] + y[i];
}
"""


def curate(*arguments) -> str:
    command = [sys.executable, "-m", "cuset_stage.cli", "curate", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.gpu
def test_kernels_and_bundled_tasks_are_verified_on_the_gpu(tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "right.cu").write_text(SAXPY % "y[i]", encoding="utf-8")
    (tree / "wrong.cu").write_text(SAXPY % "x[i]", encoding="utf-8")
    kernels = tmp_path / "kernels"
    for name in ("transpose_padded", "row_argmax"):
        shutil.copytree(ROOT / "data" / "kernels" / name, kernels / name)
    curate(
        "run", tmp_path / "work", "--source", tree, "--source", kernels, "--licence", "Apache-2.0", "--validation", "0"
    )
    rows = {row["id"]: row for row in lines(tmp_path / "work" / "verify" / "rows.jsonl")}
    dropped = {row["id"]: row["reason"] for row in lines(tmp_path / "work" / "verify" / "dropped.jsonl")}
    assert set(rows) == {"tree:right.cu", "kernels:transpose_padded", "kernels:row_argmax"}
    assert dropped == {"tree:wrong.cu": "mismatch"}
    for row in rows.values():
        verified = row["verified"]
        assert verified["gpu"] and verified["driver"] and verified["mutants"]["found"]
        assert all(len(case["run_s"]) == 2 for case in verified["cases"])
