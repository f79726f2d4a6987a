"""docs/questions.md: its blocks work when pasted, with the tests' tiny model in place of the first run's."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml


PAGE = Path(__file__).parent.parent / "docs" / "questions.md"
WEIGHTS, LOSS, JUDGE, PROFILE = re.findall(r"```bash\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
FIRST_RUN = "cuset init outputs/my_run model=outputs/tiny template=qwen gpus=0"


@pytest.fixture
def play(tiny_model, tmp_path):
    """Run shell commands in a folder where outputs/tiny is the tiny model."""
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "tiny").symlink_to(tiny_model)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def run(commands: str) -> None:
        environment = {**os.environ, "PATH": path, "CUDA_VISIBLE_DEVICES": ""}
        command = ["bash", "-e", "-c", commands]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{commands}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"

    return run


@pytest.fixture
def train(play, tmp_path, llamafactory):
    """Run a block whose last line trains; what LLaMA-Factory's command line reads is given to the tests' own runs of it."""

    def run(block: str, **changes):
        commands, _, line = block.rpartition("llamafactory-cli train ")
        play(commands)
        recipe, *options = shlex.split(line)
        keys = yaml.safe_load((tmp_path / recipe).read_text()) | changes
        for key, _, value in (option.partition("=") for option in options):
            keys[key] = str(tmp_path / value) if value.startswith("outputs/") else yaml.safe_load(value)
        return llamafactory(keys)

    return run


@pytest.mark.slow
def test_weights_beside_rows_and_messages_and_for_thoughts(train):
    run = train(WEIGHTS)
    assert len(run.steps) == 2
    # No weight is above 1, and the wrong launch and the thought have little: the loss is a part of the cross-entropy.
    assert all(0.2 < step["loss"] / step["cuset/nll"] < 0.8 for step in run.steps)


def test_a_loss_of_ones_own(train):
    run = train(f"{FIRST_RUN}\n{LOSS}", max_samples=8, cutoff_len=512, logging_steps=1)
    assert len(run.steps) == 2 and "rules.py:focal" in run.output
    assert all(step["loss"] < step["cuset/nll"] for step in run.steps)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_a_reply_is_judged_and_made_ready_for_a_profiler(play, tmp_path):
    play(JUDGE)
    verdicts = [json.loads(line).get("verdict") for line in (tmp_path / "outputs" / "judged.jsonl").open()]
    assert verdicts == [None, "compiled"]
    play(PROFILE)
    folder = tmp_path / "outputs" / "profile"
    rows, columns = np.fromfile(folder / "data" / "sizes.bin", np.int32)
    assert np.fromfile(folder / "data" / "scores.bin", np.float32).size == rows * columns > 1e6
    assert "k<<<1, 1>>>" in (folder / "kernel.cu").read_text() and os.access(folder / "kernel", os.X_OK)
