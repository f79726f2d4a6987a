"""Mutants on a GPU: the judge fails them, and compute-sanitizer shows what right outputs hide."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from cuset_stage.sandbox import Compiler, find_toolkit, list_gpus


GPUS = list_gpus()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="needs a CUDA GPU")]
ROOT = Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "scripts"))
import mutation_table  # noqa: E402 - scripts are no package
from mutation_evidence import Sanitizer, find_sanitizer  # noqa: E402


# One warp, so that without the barrier the outputs are right all the same. Threads beyond n stay away from both arrays.
REVERSE = """#include <cstdio>
__global__ void reverse(const int* x, int* y, int n) {
    __shared__ int tile[32];
    int i = threadIdx.x;
    tile[i] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) y[i] = tile[n - 1 - i];
}
int main() {
    int host[32], *x, *y;
    FILE* in = fopen("data/x.bin", "rb");
    if (fread(host, 4, 32, in) != 32) return 1;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&y, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    reverse<<<1, 32>>>(x, y, 32);
    if (cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    FILE* out = fopen("data/y.bin", "wb");
    fwrite(host, 4, 32, out);
    return fclose(out);
}
"""
WITHOUT_BARRIER = REVERSE.replace("    __syncthreads();\n", "")
BEYOND_THE_END = REVERSE.replace("if (i < n) y[i]", "y[i + 1]")


@pytest.fixture(scope="module")
def sanitizer(tmp_path_factory):
    """What a tool reports on a program; skipped where compute-sanitizer does not run the right one."""
    program = find_sanitizer(find_toolkit())
    if program is None:
        pytest.skip("needs compute-sanitizer")
    compiler = Compiler(arch=GPUS[0].arch)
    file = tmp_path_factory.mktemp("case") / "x.bin"
    file.write_bytes(bytes(128))

    def run(tool: str, source: str):
        binary = compiler.compile(source).binary
        return Sanitizer(program, 120.0).run(tool, binary, {"data/x.bin": file}, GPUS[0].uuid)

    if not run("memcheck", REVERSE).complete:
        pytest.skip("compute-sanitizer does not support this device")
    return run


@pytest.mark.parametrize("tool", ["memcheck", "racecheck", "synccheck", "initcheck"])
def test_no_tool_reports_a_right_program(sanitizer, tool):
    found = sanitizer(tool, REVERSE)
    assert (found.complete, found.errors) == (True, frozenset())


def test_planted_errors_are_reported(sanitizer):
    assert any("Race reported" in error for error in sanitizer("racecheck", WITHOUT_BARRIER).errors)
    assert any("Invalid __global__ write" in error for error in sanitizer("memcheck", BEYOND_THE_END).errors)


def test_table_of_one_program(sanitizer, tmp_path):
    row = {
        "id": "reverse",
        "prompt": "Reverse 32 numbers.",
        "inputs": [{"name": "x", "dtype": "int32", "shape": [32]}],
        "outputs": [{"name": "y", "dtype": "int32", "shape": [32]}],
        "reference": "import numpy as np\nTOLERANCE = {'y': (0.0, 0.0)}\n"
        "def make_inputs(rng):\n    return {'x': rng.integers(1, 1000, 32, dtype=np.int32)}\n"
        "def reference(inputs):\n    return {'y': inputs['x'][::-1].copy()}\n",
        "solution": REVERSE,
    }
    (tmp_path / "tasks.jsonl").write_text(json.dumps(row) + "\n")
    record = tmp_path / "table.json"
    arguments = ["--tasks", str(tmp_path / "tasks.jsonl"), "--json", str(record), "--originals", "--per-task", "12"]
    assert mutation_table.main(arguments) == 0
    found = json.loads(record.read_text())
    assert found["originals"][0]["verdicts"] == ["passed", "passed"]
    assert found["sanitizer_problem"] == ""
    outcomes = {mutant["operator"]: mutant["outcome"] for mutant in found["mutants"]}
    assert outcomes["drop_syncthreads"] in ("mismatch", "sanitizer")
    caught, wrong = (mutation_table.detectable(Counter(found["operators"]["all"]))[at] for at in (1, 0))
    assert caught >= wrong / 2
