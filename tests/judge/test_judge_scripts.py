"""scripts/judge_references.py and scripts/bench_judge.py, on programs that need no GPU."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from host_programs import BROKEN, PROGRAM, task_row, write_lines


SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import bench_judge  # noqa: E402 - scripts are no package


pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")


def script(name: str, *arguments: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture
def twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Judge the programs of tasks twice; how the script ended, and its record."""
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "cache"))

    def twice(*rows: dict[str, Any]) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
        tasks, record = write_lines(tmp_path / "tasks.jsonl", list(rows)), tmp_path / "new" / "record.json"
        options = ("--twice", tmp_path / "out", "--options=no_gpu=true flags=-O0", "--json", record)
        done = script("judge_references.py", tasks, *options)
        return done, json.loads(record.read_text()) if record.exists() else {}

    return twice


@pytest.mark.slow
def test_references_are_judged_twice(twice: Any, tmp_path: Path) -> None:
    other = {"solution": f"{PROGRAM}\n// another\n"}
    done, record = twice(task_row("one", "right"), {**task_row("two", "right", "slow"), **other})
    assert done.returncode == 0, done.stderr
    assert "all 2 references passed in 2 runs" in done.stdout
    assert (record["passed"], record["total"]) == (2, 2)
    assert {name: (row["verdicts"], row["cases"]) for name, row in record["tasks"].items()} == {
        "one": (["passed", "passed"], 1),
        "two": (["passed", "passed"], 2),
    }
    for run, name in zip(record["runs"], ("first", "second"), strict=True):
        lines = [json.loads(line) for line in (tmp_path / "out" / f"{name}.jsonl").read_text().splitlines()[1:]]
        own = [1e3 * line["overhead_s"] for line in lines]
        assert run["own_ms"] == {
            "median": pytest.approx(sum(own) / 2, abs=0.06),
            "max": pytest.approx(max(own), abs=0.06),
        }
        assert run["per_gpu"] == 1
        assert [line["compile_cached"] for line in lines] == [name == "second"] * 2  # judged anew, not taken up
    assert "name a new folder" in twice(task_row("one", "right"))[0].stderr


@pytest.mark.slow
def test_a_reference_that_fails_is_named(twice: Any) -> None:
    done, record = twice(task_row("one", "right"), {**task_row("two", "right"), "solution": BROKEN})
    assert done.returncode == 1
    assert "two sample 0: compile_error" in done.stdout
    assert record["tasks"]["two"]["verdicts"] == ["compile_error"] * 2 and record["passed"] == 1


@pytest.mark.slow
def test_the_benchmark_without_a_gpu(tmp_path: Path) -> None:
    output = tmp_path / "judge.json"
    done = script("bench_judge.py", "--no-gpu", "--samples", 2, "--alone", 1, "--jobs", 2, "--output", output)
    assert done.returncode == 0, done.stderr
    record = json.loads(output.read_text())
    for name, samples in (("alone", 1), ("cold", 2), ("warm", 2)):
        assert record[name]["samples"] == samples and record[name]["verdicts"] == {"passed": samples}
    assert "single" not in record
    for name in ("cold", "warm"):
        ratio = 2 * record["alone"]["seconds"] / record[name]["seconds"]
        assert record[f"speedup_{name}"] == pytest.approx(ratio, rel=0.02, abs=0.01)


def test_all_samples_are_judged_alone_unless_told() -> None:
    jobs = list(range(40))
    assert bench_judge.spread_evenly(jobs, None) == bench_judge.spread_evenly(jobs, 100) == jobs
    assert bench_judge.spread_evenly(jobs, 8) == jobs[::5]
