"""The study of docs/study.md on a CPU: killed, taken up, and reported."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_killed_study_is_taken_up_and_reported(tmp_path, load_script):
    output, study = tmp_path / "out", load_script("bench_study")
    command = study.command(study.prepare(tmp_path), output)
    first = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    while not list(output.glob("done/**/*.json")):
        assert first.poll() is None
        time.sleep(0.01)  # killed before Snakemake has noted that the job is done
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    kept = study.done(output)
    hour = 3600.0  # 21 jobs, most of which import torch
    second = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=hour)
    assert second.returncode == 0, second.stdout + second.stderr
    done = study.done(output)
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
    beside = subprocess.run([*command, "seeds=0,1,2"], cwd=ROOT, capture_output=True, text=True)
    os.killpg(third.pid, signal.SIGKILL)
    assert beside.returncode == 2 and "this study is running already" in beside.stderr
