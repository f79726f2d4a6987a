"""The study of docs/study.md on a CPU: killed, taken up, and reported."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[2]


def written(output: Path) -> dict[str, int]:
    """When each job's record was written, in nanoseconds."""
    return {str(path.relative_to(output)): path.stat().st_mtime_ns for path in (output / "done").glob("**/*.json")}


@pytest.mark.slow
def test_a_killed_study_is_taken_up_and_reported(tmp_path):
    output, model, file = (tmp_path / name for name in ("out", "model", "study.yaml"))
    sizes = ("--hidden-size", "64", "--layers", "2")
    subprocess.run([sys.executable, "scripts/make_tiny_model.py", str(model), *sizes], cwd=ROOT, check=True)
    study = (ROOT / "yaml_configs" / "studies" / "cpu.yaml").read_text(encoding="utf-8")
    file.write_text(study.replace("outputs/study-cpu-model", str(model)))
    command = [sys.executable, "-m", "cuset_stage.cli", "study", "run", str(file), f"output={output}"]
    first = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    while not list(output.glob("done/**/*.json")):
        assert first.poll() is None
        time.sleep(0.01)  # killed before Snakemake has noted that the job is done
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    kept = written(output)
    hour = 3600.0  # 21 jobs, most of which import torch
    second = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=hour)
    assert second.returncode == 0, second.stdout + second.stderr
    done = written(output)
    assert kept and {name: done[name] for name in kept} == kept  # nothing that was done is done again
    assert len(done) == 22
    rows = [json.loads(line) for line in (output / "results.jsonl").read_text().splitlines()]
    assert len(rows) == 3 * 2 * 4 * 2 and {row["method"] for row in rows} == {"vanilla", "sft", "cuset"}
    report = (output / "report" / "report.md").read_text()
    assert "| cuset | 2 |" in report and (output / "report" / "report.html").is_file()

    third = subprocess.Popen([*command, "seeds=0,1,2"], cwd=ROOT, start_new_session=True)
    while not list(output.glob("logs/train/**/seed2.log")):
        assert third.poll() is None
        time.sleep(0.01)
    third.kill()  # Snakemake goes on
    third.wait()
    beside = subprocess.Popen([*command, "seeds=0,1,2"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    while "this study is running already" not in (line := beside.stdout.readline()):
        assert line, "it ended without waiting"
    os.killpg(third.pid, signal.SIGKILL)
    beside.communicate(timeout=hour)
    assert beside.returncode == 0 and len(written(output)) == 33
