"""`cuset pairs make` on a task whose program runs without a GPU."""

import json

import pytest
from host_programs import HOST_FLAGS
from task_factory import cuset_row
from typer.testing import CliRunner

from cuset_stage.cli import app
from cuset_stage.pairs.rows import read_pairs


PROGRAM = """\
#include <cstdio>
#define __host__
#define __device__

static float x[64];

__host__ __device__ float doubled(const float* values, int at, int offset) {
    return values[at + offset] * 2;
}

__host__ __device__ void all(float* values, int n) {
    for (int i = 0; i < n; ++i) values[i] = doubled(values, i, 0);
}

int main() {
    FILE* file = fopen("data/x.bin", "rb");
    int n = fread(x, 4, 64, file);
    fclose(file);
    all(x, n);
    file = fopen("data/y.bin", "wb");
    fwrite(x, 4, n, file);
    return fclose(file);
}
"""


@pytest.fixture
def make(tmp_path, cache, monkeypatch, forked):
    """Run the command on a task set; its result and the pair file's rows. Programs compile without the GPU's half, which the program that
    tries nvcc's options has (tests/judge/test_runner.py holds that)."""
    monkeypatch.setattr("cuset_stage.judge.bench.check_options", lambda compiler: None)
    monkeypatch.setenv("CUSET_CACHE", str(cache))
    monkeypatch.chdir(tmp_path)

    def run(*more, solution=PROGRAM):
        row = cuset_row(system="Be brief.", **({"solution": solution} if solution else {}))
        (tmp_path / "tasks.jsonl").write_text(json.dumps(row) + "\n")
        result = CliRunner().invoke(
            app, ["pairs", "make", "tasks.jsonl", "output=pairs.jsonl", f"flags={' '.join(HOST_FLAGS)}", *more]
        )
        return result, read_pairs("pairs.jsonl") if result.exit_code == 0 else []

    return run


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_the_judge_has_said_decides(make, tmp_path):
    result, pairs = make("no_gpu=true", "pairs=2", "floor=1")
    assert result.exit_code == 0, result.output
    *wrong, equal = pairs
    assert [pair.verdict for pair in wrong] == ["mismatch"] * 2 and equal.is_floor and equal.verdict == "passed"
    known = lines(tmp_path / "pairs.evidence.jsonl")
    assert known[0]["kind"] == "right" and known[0]["verdict"] == "passed"
    # A mutant that still passes, as that of an offset of 0, has made room for another.
    assert {row["verdict"] for row in known if row["kind"] not in ("right", "equivalent")} == {"passed", "mismatch"}
    assert all(pair.right == f"```cpp\n{PROGRAM}```" and pair.wrong != pair.right for pair in pairs)
    assert pairs[0].messages == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Double x."}]

    # Nothing is judged twice: the same command needs neither nvcc nor a GPU any more.
    before = (tmp_path / "pairs.jsonl").read_bytes()
    again, _ = make("pairs=2", "floor=1")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "pairs.jsonl").read_bytes() == before and lines(tmp_path / "pairs.evidence.jsonl") == known


def test_without_a_gpu_it_says_what_to_do(make, monkeypatch):
    monkeypatch.setattr("cuset_stage.pairs.make.list_gpus", list)
    result, _ = make()
    assert result.exit_code == 2
    assert "1 programs are not verified yet" in result.output and "pairs.evidence.jsonl" in result.output


def test_tasks_without_a_right_program_are_refused(make):
    result, _ = make(solution=None)
    assert result.exit_code == 2 and "no task has a `solution`" in result.output
    result, _ = make("no_gpu=true", solution=PROGRAM.replace("* 2", "* 3"))
    assert result.exit_code == 2 and "no task's own solution passes" in result.output
    result, _ = make("compile_only=true")
    assert result.exit_code == 2 and "compile_only says nothing of what a program computes" in result.output


def test_a_record_of_something_else_is_refused(make, tmp_path):
    (tmp_path / "pairs.evidence.jsonl").write_text(
        '{"fingerprint": "a", "sha256": "b", "kind": "c", "verdict": "good"}\n'
    )
    result, _ = make()
    assert (
        result.exit_code == 2
        and "pairs.evidence.jsonl:1: 'good' is not a valid Verdict; expected what" in result.output
    )
