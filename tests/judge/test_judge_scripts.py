"""scripts/judge_references.py and scripts/bench_judge.py, run on programs that need no GPU."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from host_programs import task_row
from task_factory import write_lines


SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_a_set_s_own_programs_are_written_and_judged(tmp_path):
    tasks = write_lines(tmp_path / "tasks.jsonl", task_row("one", "right"), task_row("two", "right", "slow"))
    answers, output = tmp_path / "answers.jsonl", tmp_path / "judge.json"
    written = [sys.executable, SCRIPTS / "judge_references.py", tasks, "--samples", "3", "--output", answers]
    subprocess.run(written, check=True)
    assert len(answers.read_text().splitlines()) == 6
    options = ["--samples", "3", "--alone", "1", "--options", '{"no_gpu": true, "flags": "-O0"}', "--output", output]
    subprocess.run([sys.executable, SCRIPTS / "bench_judge.py", tasks, *options], check=True, timeout=300)
    record = json.loads(output.read_text())
    for name, samples in (("alone", 1), ("single", 3), ("cold", 3), ("warm", 3)):
        assert record[name]["samples"] == samples and record[name]["verdicts"] == {"passed": samples}
    assert record["speedup_warm"] > 1
