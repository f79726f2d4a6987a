"""What the jobs of a study ask Slurm for. The plugin of Snakemake is the real one; Slurm's commands write down what they are asked and refuse."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cuset_stage.files import write_atomically
from cuset_stage.study.settings import StudySettings


pytest.importorskip("snakemake_executor_plugin_slurm")

ROOT = Path(__file__).parents[2]
COMMANDS = {"sbatch": 'printf \'%s\\0\' "$@" >"$ASKED/$$"; exit 1', "sacctmgr": "echo lab"}
COMMANDS |= dict.fromkeys(("srun", "sacct", "squeue", "scancel", "scontrol", "sinfo"), "exit 0")
OF_ONE_JOB = r"--(job-name|output|comment) \S+ |-D \S+"  # options that say nothing of what a job needs
GPUS = {"large": {"train": 8}, "quarter": {"generate": 0.25}, "cpu": {"generate": 0}, "judged": {"evaluate": 0.5}}


@pytest.fixture
def asked(tmp_path):
    """Run a study of four models on Slurm; returns what sbatch is asked for by job, and what the command says."""

    def run(keys, snakemake):
        for name in ("bin", "asked"):
            (tmp_path / name).mkdir()
        for name, command in COMMANDS.items():
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{command}\n")
            (tmp_path / "bin" / name).chmod(0o755)
        of_all = {"model": "Hub/model", "recipe": "yaml_configs/cuset_smoke.yaml"}
        models = {name: {**of_all, "gpus": gpus} for name, gpus in GPUS.items()}
        only = ",".join(f"{name}/{'sft' if 'train' in gpus else 'vanilla'}/seed0" for name, gpus in GPUS.items())
        study = {"models": models, "methods": {"vanilla": None, "sft": {"stage": "sft"}}}
        (tmp_path / "study.yaml").write_text(yaml.safe_dump({**study, "tasks": "data/cuset_mini.jsonl"}))
        sampled = tmp_path / "out/done/generate/judged/vanilla/seed0.json"
        write_atomically(sampled, '{"seconds": 1, "gpus": 1}')
        write_atomically(tmp_path / "out/runs/judged/vanilla/seed0/answers.jsonl", "")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "SNAKEMAKE_"))}
        environment |= {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "ASKED": str(tmp_path / "asked")}
        command = [sys.executable, "-m", "cuset_stage.cli", "study", "run", tmp_path / "study.yaml", *keys]
        command += [f"only={only}", f"output={tmp_path / 'out'}", "executor=slurm"]
        command.append(f"snakemake={json.dumps(snakemake)}")
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        found = {}
        for file in (tmp_path / "asked").iterdir():
            *options, wrapped, _ = file.read_text().split("\0")
            kind, name = re.search(r"--target-jobs '?(\w+):run=([^' ]+)", wrapped).groups()
            found[f"{kind}/{name.removesuffix('/seed0')}"] = re.sub(OF_ONE_JOB, "", shlex.join(options)).split()
        assert done.returncode == 1, done.stderr
        return found

    return run


def snakemake_of_the_page():
    """Snakemake's arguments in docs/study.md."""
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    [command] = re.findall(r"```bash[^\n]*\n(cuset study run [^`]*executor=slurm[^`]*)```", page)
    return StudySettings.read(shlex.split(command.replace("\\\n", ""))[3:]).snakemake


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "keys", "common", "cores", "minutes"),
    [
        (["--jobs", "20"], ["evaluate={jobs: 12}"], "", (64, 12), None),
        (snakemake_of_the_page(), ["cores=20"], "-A lab -p gpu -t {} --mem-per-cpu 8000 ", (20, 16), (2880, 720)),
    ],
)
def test_a_job_asks_slurm_for_whole_gpus_and_its_cores(asked, given, keys, common, cores, minutes):
    training, other = (common.format(time) for time in minutes or ("", ""))
    expected = {
        "train/large/sft": f"{training}--nodes=1 --cpus-per-task={cores[0]} --gpus=8",
        "generate/quarter/vanilla": f"{other}--nodes=1 --cpus-per-task=8 --gpus=1",
        "generate/cpu/vanilla": f"{other}--nodes=1 --ntasks=1 --cpus-per-task=8",
        "evaluate/judged/vanilla": f"{other}--nodes=1 --cpus-per-task={cores[1]} --gpus=1",
    }
    found = asked(keys, [*given, "--slurm-init-seconds-before-status-checks", "1"])
    assert found == {name: f"--parsable --export=ALL {options}".split() for name, options in expected.items()}
