"""A study on Slurm: what its jobs ask for, and a node that fails. The plugin of Snakemake is the real one, Slurm's commands are not."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import fake_slurm
import pytest
import yaml

from cuset_stage.study.settings import StudySettings


pytest.importorskip("snakemake_executor_plugin_slurm")

ROOT = Path(__file__).parents[2]
SOON = ["--jobs", "4", "--slurm-init-seconds-before-status-checks", "1"]


def study(output, environment, *keys, **popen):
    command = [sys.executable, "-m", "cuset_stage.cli", "study", "run", *keys, f"output={output}", "executor=slurm"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, **popen)


def snakemake_of_the_page():
    """Snakemake's arguments in docs/study.md."""
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    [command] = re.findall(r"```bash[^\n]*\n(cuset study run [^`]*executor=slurm[^`]*)```", page)
    return StudySettings.read(shlex.split(command.replace("\\\n", ""))[3:]).snakemake


@pytest.mark.parametrize(
    ("given", "keys", "asked"),
    [
        (
            ["--jobs", "20"],
            ["evaluate={jobs: 12}"],
            {
                "train/large/sft": "--nodes=1 --cpus-per-task=64 --gpus=8",
                "generate/quarter/vanilla": "--nodes=1 --cpus-per-task=8 --gpus=1",
                "generate/cpu/vanilla": "--nodes=1 --ntasks=1 --cpus-per-task=8",
                "evaluate/judged/vanilla": "--nodes=1 --cpus-per-task=12 --gpus=1",
            },
        ),
        (
            snakemake_of_the_page(),
            ["cores=20"],
            {
                "train/large/sft": "-A lab -p gpu -t 2880 --mem-per-cpu 8000 --nodes=1 --cpus-per-task=20 --gpus=8",
                "generate/quarter/vanilla": "-A lab -p gpu -t 720 --mem-per-cpu 8000 --nodes=1 --cpus-per-task=8 --gpus=1",
                "generate/cpu/vanilla": "-A lab -p gpu -t 720 --mem-per-cpu 8000 --nodes=1 --ntasks=1 --cpus-per-task=8",
                "evaluate/judged/vanilla": "-A lab -p gpu -t 720 --mem-per-cpu 8000 --nodes=1 --cpus-per-task=16 --gpus=1",
            },
        ),
    ],
    ids=["default", "page"],
)
def test_a_job_asks_slurm_for_whole_gpus_and_its_cores(tmp_path, given, keys, asked):
    environment, output = fake_slurm.install(tmp_path / "slurm"), tmp_path / "out"
    fake_slurm.refuse(tmp_path / "slurm")
    kinds = {"large": {"train": 8}, "quarter": {"generate": 0.25}, "cpu": {"generate": 0}, "judged": {"evaluate": 0.5}}
    models = {
        name: {
            "model": "Hub/model",
            "recipe": "yaml_configs/cuset_smoke.yaml",
            "gpus": gpus,
            "methods": ["sft" if "train" in gpus else "vanilla"],
        }
        for name, gpus in kinds.items()
    }
    file = tmp_path / "study.yaml"
    methods = {"vanilla": None, "sft": {"stage": "sft"}}
    file.write_text(yaml.safe_dump({"models": models, "methods": methods, "tasks": "data/cuset_mini.jsonl"}))
    sampled = output / "done/generate/judged/vanilla/seed0.json"
    sampled.parent.mkdir(parents=True)
    sampled.write_text('{"seconds": 1, "gpus": 1}')
    result = study(output, environment, str(file), *keys, f"snakemake={json.dumps([*given, *SOON[2:]])}")
    jobs = fake_slurm.submitted(tmp_path / "slurm")
    found = {job["job"].removesuffix("/seed0"): job["options"] for job in jobs}
    assert found == {name: f"--parsable --export=ALL {options}" for name, options in asked.items()}, result.stderr
    assert result.returncode == 1


@pytest.mark.slow
def test_a_study_goes_on_after_a_node_has_failed(tmp_path, tiny_model):
    environment, output = fake_slurm.install(tmp_path / "slurm"), tmp_path / "out"
    given = yaml.safe_load((ROOT / "yaml_configs" / "studies" / "cpu.yaml").read_text(encoding="utf-8"))
    given["models"]["tiny"] |= {
        "model": str(tiny_model),
        "gpus": {"train": 8, "generate": 0.25, "evaluate": 0},
    }
    file = tmp_path / "study.yaml"
    file.write_text(yaml.safe_dump({**given, "methods": {"cuset": {}}, "seeds": [0], "pairs": None}))
    begun = output / "locks" / "generate%tiny%cuset%seed0"
    fake_slurm.lose(tmp_path / "slurm", "generate/tiny/cuset/seed0", begun)
    memory = ["--default-resources", "mem_mb_per_cpu=2000"]
    command = str(file), f"snakemake={json.dumps([*SOON, *memory])}"
    first = study(output, environment, *command)
    assert first.returncode == 1 and "failed: generate/tiny/cuset/seed0" in first.stderr
    trained = output / "done/train/tiny/cuset/seed0.json"
    assert json.loads(trained.read_text())["gpus"] == 8 and [*output.glob("done/**/*.json")] == [trained]
    ended = trained.stat().st_mtime_ns
    second = study(output, environment, *command)
    assert second.returncode == 0, second.stderr
    jobs = fake_slurm.submitted(tmp_path / "slurm")
    assert [(job["job"].partition("/")[0], job["state"]) for job in jobs] == [
        ("train", "COMPLETED"),
        ("generate", "NODE_FAIL"),
        ("generate", "COMPLETED"),
        ("evaluate", "COMPLETED"),
    ]
    gpus = [re.findall(r"--gpus=(\d+)", job["options"]) for job in jobs]
    assert gpus == [["8"], ["1"], ["1"], []]
    assert trained.stat().st_mtime_ns == ended and (output / "report" / "report.md").is_file()
