"""scripts/mutation_table.py: its evidence on real machine code, and whole runs of it on a program that needs no GPU."""

import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from cuset_stage.judge.thorough import read_reports
from cuset_stage.mutants import make_mutants
from cuset_stage.sandbox import find_toolkit


ROOT = Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "scripts"))
import mutation_evidence  # noqa: E402 - scripts are no package
import mutation_runs  # noqa: E402
import mutation_table  # noqa: E402
from mutation_evidence import machine_code, with_lines_of  # noqa: E402


NAMED = {"bound_off_by_one", "drop_syncthreads", "wrong_index", "wrong_launch_size", "swapped_dims"}
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")

# `work` is what the CPU runs; no kernel is ever launched, so every mutant of `unused` passes, and nothing of `gone` stays.
PROGRAM = """#include <cstdio>
#include <cstdlib>
__host__ __device__ void work(const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) {
        y[i] = 2.0f * x[i];
    }
}
__global__ void unused(float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = 1.0f;
}
static __device__ int gone(const int* a, int n) {
    int total = 0;
    for (int k = 0; k < n; ++k) total += a[k];
    return total;
}
int main() {
    float x[16], y[16] = {0};
    FILE* in = fopen("data/x.bin", "rb");
    if (fread(x, 4, 16, in) != 16) return __LINE__;
    work(x, y, 8);
    FILE* out = fopen("data/y.bin", "wb");
    fwrite(y, 4, 16, out);
    return fclose(out);
}
"""
REFERENCE = """import numpy as np
TOLERANCE = {"y": (0.0, 0.0)}
def make_inputs(rng):
    return {"x": rng.random(16, dtype=np.float32) + np.float32(1)}
def reference(inputs):
    return {"y": 2 * inputs["x"] * (np.arange(16) < 8)}
"""


@pytest.fixture
def tasks(tmp_path) -> Path:
    row = {
        "id": "double",
        "prompt": "Double the first eight numbers.",
        "inputs": [{"name": "x", "dtype": "float32", "shape": [16]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": [16]}],
        "reference": REFERENCE,
        "solution": PROGRAM,
    }
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(row) + "\n")
    return path


@pytest.fixture
def without_gpu(monkeypatch, cache):
    """Runs the table with a judge that has no GPU to lease: the program of this file needs none."""
    monkeypatch.setenv("CUSET_CACHE", str(cache))
    monkeypatch.setattr(mutation_table, "list_gpus", lambda: [_NoGpu()])
    monkeypatch.setattr(mutation_runs, "GpuPool", lambda gpus, per_gpu=1: None)


class _NoGpu:
    name, driver, arch = "none", "none", "sm_90"


def table(path: Path, *options: str) -> tuple[int, dict[str, dict]]:
    """Exit code, and description -> row."""
    record = path.with_name("table.json")
    code = mutation_table.main(["--tasks", str(path), "--json", str(record), "--jobs", "2", *options])
    return code, {row["description"]: row for row in json.loads(record.read_text())["mutants"]}


@needs_nvcc
def test_whole_run(tasks, without_gpu, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(mutation_evidence, "VARIANTS", mutation_evidence.VARIANTS[:1])
    code, rows = table(tasks, "--per-task", "3", "--timeout", "20", "--originals")
    outcomes = Counter(row["outcome"] for row in rows.values())
    assert code == 0, outcomes
    record = json.loads((tmp_path / "table.json").read_text())
    assert record["originals"][0]["verdicts"] == ["passed", "passed"]
    assert outcomes["mismatch"] >= 1 and outcomes["same code"] >= 1 and outcomes["survived"] >= 1
    places = {"work": range(3, 8), "unused": range(8, 12), "gone": range(12, 17)}
    expected = {"work": {"mismatch", "runtime_error", "same code"}, "unused": {"survived"}, "gone": {"same code"}}
    for row in rows.values():
        place = next(name for name, lines in places.items() if row["line"] in lines)
        assert row["outcome"] in expected[place], row
    assert (
        sum(
            counter["survived"]
            for name, counter in record["operators"].items()
            if name != "all" and "survived" in counter
        )
        == outcomes["survived"]
    )
    printed = capsys.readouterr().out
    assert f"| all | {len(rows)} |" in printed
    assert printed.count("SURVIVED double:") == outcomes["survived"]
    assert PROGRAM not in (tmp_path / "table.json").read_text()  # no sources in the record

    # A second call judges nothing anew; a reason by hand decides about one survivor and no other.
    verdicts = (tmp_path / "table.jsonl").read_bytes()
    survivor = next(row for row in rows.values() if row["outcome"] == "survived")
    reasons = tmp_path / "reasons.json"
    reasons.write_text(json.dumps({f"double:{survivor['sha256']}": "Nothing launches it.", "double:00": "Old."}))
    code, again = table(tasks, "--per-task", "3", "--timeout", "20", "--equivalent", str(reasons))
    assert (code, (tmp_path / "table.jsonl").read_bytes()) == (0, verdicts)
    assert again[survivor["description"]]["outcome"] == "equivalent"
    assert again[survivor["description"]]["evidence"] == "Nothing launches it."
    assert Counter(row["outcome"] for row in again.values()) == outcomes - Counter(survived=1) + Counter(equivalent=1)
    assert "double:00: no such mutant" in capsys.readouterr().out


@needs_nvcc
def test_an_original_that_fails_is_an_error(tasks, without_gpu, capsys):
    tasks.write_text(tasks.read_text().replace("2.0f", "3.0f"))
    code, _ = table(tasks, "--per-task", "1", "--originals", "--timeout", "20")
    assert code == 1
    assert "ORIGINAL double: mismatch and mismatch" in capsys.readouterr().out


def test_options_and_files(tasks, tmp_path, capsys):
    assert mutation_table.main(["--tasks", str(tmp_path / "none.jsonl"), "--jsonl", str(tmp_path / "v.jsonl")]) == 2
    assert "none.jsonl: no such file" in capsys.readouterr().err
    reasons = tmp_path / "reasons.json"
    reasons.write_text('{"double:00": ""}')
    arguments = ["--tasks", str(tasks), "--jsonl", str(tmp_path / "v.jsonl"), "--equivalent", str(reasons)]
    assert mutation_table.main(arguments) == 2
    assert "double:00: expected a sentence" in capsys.readouterr().err


@pytest.mark.slow
@needs_nvcc
def test_machine_code_tells_the_device_from_the_host():
    def code(source: str):
        return machine_code(find_toolkit(), source, flags=("-O3", "-std=c++17"), arch="sm_90")

    original = code(PROGRAM)
    assert code(f"{PROGRAM}// a comment at the end\n") == original
    kernel = code(PROGRAM.replace("if (i < n) a[i]", "if (i <= n) a[i]"))
    assert (kernel.device != original.device, kernel.host) == (True, original.host)
    launch = code(PROGRAM.replace("work(x, y, 8)", "work(x, y, 7)"))
    assert (launch.device, launch.host != original.host) == (original.device, True)
    moved = "\n" + PROGRAM
    assert code(moved).host != original.host  # __LINE__ is in it, which is what with_lines_of is for
    assert code("no program") is None


def test_lines_stay_where_they_were():
    original = "a\nb\nc\nd\n"
    assert with_lines_of(original, "a\nc\nd\n", 2) == "a\n\nc\nd\n"
    assert with_lines_of(original, "a\nd\n", 2) == "a\n\n\nd\n"
    assert with_lines_of(original, "a\nB\nc\nd\n", 2) == "a\nB\nc\nd\n"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", set()),
        (
            "========= COMPUTE-SANITIZER\n"
            "========= Invalid __global__ write of size 4 bytes\n"
            "=========     at k(float *)+0x70 in program.cu:6\n"
            "=========     by thread (0,0,0) in block (0,0,0)\n"
            "=========     Address 0x7f1 is out of bounds\n"
            "========= Invalid __global__ write of size 4 bytes\n"
            '========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on CUDA API '
            "call to cudaDeviceSynchronize.\n"
            "========= Target application returned an error\n"
            "========= ERROR SUMMARY: 3 errors\n",
            {"Invalid __global__ write of size N bytes", "Program hit cudaErrorLaunchFailure (error N)"},
        ),
        (
            "========= Error: Race reported between Write access at k(int *)+0x1b0 in raw.cu:30\n"
            "=========     and Read access at k(int *)+0x240 in raw.cu:33 [508 hazards]\n"
            "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n",
            {"Error: Race reported between Write access"},
        ),
        (
            "========= Uninitialized __global__ memory read of size 4 bytes\n",
            {"Uninitialized __global__ memory read of size N bytes"},
        ),
        (
            "========= Barrier error detected. Divergent thread(s) in block.\n",
            {"Barrier error detected. Divergent thread(s)"},
        ),
        ("the program printed ========= this\n", set()),
    ],
)
def test_reports_of_compute_sanitizer(printed, expected):
    assert read_reports(printed) == expected


def test_choice_of_mutants():
    for path in sorted((ROOT / "data" / "kernels").glob("*/kernel.cu"))[::10]:
        source = path.read_text(encoding="utf-8")
        chosen = mutation_runs.choose_mutants(source, 10)
        assert len(chosen) >= 8, path
        possible = NAMED & {mutant.operator for mutant in make_mutants(source, per_operator=1)}
        assert possible <= {mutant.operator for mutant in chosen}, path


def test_counting():
    rows = [
        {"operator": "wrong_index", "outcome": outcome}
        for outcome in ("mismatch", "timeout", "compile_error", "same code", "equivalent", "survived", "sanitizer")
    ]
    counts = mutation_table.count_outcomes([*rows, {"operator": "swapped_dims", "outcome": "missing_output"}])
    assert list(counts) == ["wrong_index", "swapped_dims", "all"]
    assert mutation_table.detectable(counts["wrong_index"]) == (4, 2)
    assert mutation_table.detectable(counts["all"]) == (5, 3)
