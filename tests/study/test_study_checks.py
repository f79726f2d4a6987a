"""What is wrong with a study is said before a job starts: typos anywhere in its file, and what is not there."""

import subprocess
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path

import pytest
import yaml
from commands import cuset
from results_factory import write_results

from cuset_stage.files import write_atomically
from cuset_stage.objective.rules import RULES
from cuset_stage.study.checks import objectives, recipe_keys
from cuset_stage.study.plan import jobs_of
from cuset_stage.study.run import write_study
from cuset_stage.study.settings import StudySettings


ROOT = Path(__file__).parents[2]


run = partial(cuset, "study", "run")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The study of docs/study.md with a model's folder that has a config.json; returns its file, and a way to change it."""
    monkeypatch.chdir(ROOT)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    given = yaml.safe_load((ROOT / "yaml_configs/studies/cpu.yaml").read_text())
    given["output"] = str(tmp_path / "out")
    given["models"]["tiny"]["model"] = str(tmp_path / "model")
    file = tmp_path / "study.yaml"

    def write(*place, **changes):
        inner = given
        for key in place:
            inner = inner[key]
        inner.update(changes)
        file.write_text(yaml.safe_dump(given))
        return file

    write()
    return write


def test_the_keys_of_a_recipe_are_those_it_is_parsed_into():
    from llamafactory.hparams import parser

    assert recipe_keys().keys() == {
        field.name for group in parser._TRAIN_ARGS for field in fields(group) if field.init
    }


def test_the_objectives_are_those_of_the_registry(study):
    assert objectives() == list(RULES)
    for value in ({"cuset_objective": "module:focal"}, {"cuset_fused": True}):
        assert "left:" in run(study("methods", cuset=value), "dry_run=true")


def test_a_dry_run_says_what_is_left_without_torch(study):
    code = (
        "import sys; from cuset_stage.cli import app; app(standalone_mode=False); "
        "assert not {'torch', 'llamafactory', 'transformers'} & sys.modules.keys()"
    )
    command = [sys.executable, "-c", code, "study", "run", str(study()), "--dry-run"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "left: 22 jobs" in result.stdout and "missing" not in result.stdout


@pytest.mark.parametrize(
    ("place", "changes", "message"),
    [
        ((), {"sedes": [0]}, "sedes: no such key; did you mean seeds"),
        ((), {"methods": {True: {}}}, "methods[1]: expected a valid string, found True"),
        ((), {"seeds": ["0-3"]}, "seeds[0]='0-3': a range; name each number, such as 0,1,2\n"),
        ((), {"seeds": ["x"]}, "seeds[0]='x': expected a valid integer\n"),
        ((), {"snakemake": "--jobs"}, "snakemake='--jobs': expected a list, such as [a, b]"),
        ((), {"keys": {"learning_rate": "abc"}}, "train/tiny/cuset/seed0: learning_rate='abc': expected a number."),
        ((), {"keys": {"dataset": 3}}, "train/tiny/cuset/seed0: dataset=3: expected a data set's name, or a list of names.\n"),
        ((), {"keys": {"dataset": ["cuset_kernels", 3]}}, "seed0: dataset=['cuset_kernels', 3]: expected a data set's name"),
        (("models", "tiny"), {"gpus": {"train": float("inf")}}, "models: tiny: gpus: train=inf: expected a finite number"),
        (("models", "tiny"), {"key": {}}, "models: tiny: key: no such key; did you mean keys?"),
        (("models", "tiny"), {"gpus": {"trian": 1}}, "models: tiny: gpus: trian: expected 'train', 'generate'"),
        (("models", "tiny", "keys"), {"max_stpes": 4}, "models: tiny: keys: max_stpes: no such key in a recipe; did you mean max_steps"),
        (("models", "tiny", "keys"), {"seed": 4}, "models: tiny: keys: seed: the study sets it; give them as seeds."),
        (("models", "tiny"), {"recipe": "RECIPE"}, "recipe.yaml: learning_rate_: no such key in a recipe; did you mean learning_rate"),
        ((), {"keys": {"datset": "a"}}, "keys: datset: no such key in a recipe; did you mean dataset"),
        (("methods",), {"new": {"cuset_tua": 0.3}}, "methods: new: cuset_tua: no such key in a recipe; did you mean cuset_tau"),
        (("methods",), {"new": {"stage": "sft", "cuset_tau": 0.3}}, "train/tiny/new/seed0: cuset_tau has no effect under stage: sft. Add stage: cuset"),
        (("methods",), {"cuset": {"stage": "cusset"}}, "train/tiny/cuset/seed0: stage=cusset: no such value; did you mean cuset?"),
        (("methods",), {"cuset": {"cuset_objective": "pro_fit"}}, "cuset_objective=pro_fit: no such value; did you mean profit?"),
        ((), {"ablations": {"runs": {"a": {"cuset_tua": 1}}}}, "ablations: a: cuset_tua: no such key"),
        ((), {"ablations": {"rnus": {}, "runs": {}}}, "ablations: rnus: no such key; did you mean runs?"),
        ((), {"sweeps": {"runs": {"cuset_tua": [1, 2]}}}, "sweeps: cuset_tua: no such key"),
        (("generate",), {"sample": 3}, "generate (of tiny): sample: no such key; did you mean samples?"),
        (("generate",), {"samples": 3, "temperature": 0}, "generate (of tiny): samples=3 with temperature=0: greedy"),
        (("generate",), {"output": "a.jsonl"}, "generate: output: the study sets it; leave it out."),
        (("generate",), {"prompts": "x"}, "prompts: the study sets it"),
        (("generate",), {"adapter": "x"}, "generate: adapter: the study sets it; leave it out."),
        (("evaluate",), {"per_gpus": 3}, "evaluate (of tiny): per_gpus: no such key; did you mean per_gpu"),
        (("pairs",), {"samples": "x"}, "pairs (of tiny): samples='x': expected a valid integer"),
        ((), {"analyze": {}}, "analyze (of tiny): give either code=... (files or folders) or dataset=..."),
    ],
)  # fmt: skip
def test_a_typo_is_found_wherever_it_stands(study, tmp_path, place, changes, message):
    (tmp_path / "recipe.yaml").write_text("stage: cuset\nlearning_rate_: 1\n")
    changes = {key: str(tmp_path / "recipe.yaml") if value == "RECIPE" else value for key, value in changes.items()}
    for arguments in ((), ("dry_run=true",)):
        output = run(study(*place, **changes), *arguments, exit_code=2)
        assert message in output and "left:" not in output


@pytest.mark.parametrize(
    ("place", "changes", "message"),
    [
        (("models", "tiny"), {"model": "outputs/none/at/all"}, "models: tiny: model=outputs/none/at/all: there is no such folder"),
        ((), {"keys": {"dataset": "cuset_kernel"}}, "dataset=cuset_kernel: not in data/dataset_info.json; did you mean cuset_kernels"),
        ((), {"keys": {"dataset_dir": "none"}}, "dataset_dir=none: no dataset_info.json there"),
        ((), {"tasks": "none.jsonl"}, "tasks: none.jsonl: no such file or folder; give the path of your copy"),
        ((), {"tasks": "README.md"}, "tasks: README.md: expected a folder or a file that ends in"),
        (("generate",), {"only": [1]}, "tasks: data/cuset_mini_2.jsonl: no task '1'"),
        (("generate",), {"only": "nix"}, "tasks: data/cuset_mini_2.jsonl: no task 'nix'"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_by_a_dry_run_and_stops_a_run(study, tmp_path, place, changes, message):
    file = study(*place, **changes)
    output = run(file, "dry_run=true")
    assert f"missing: {message}" in output
    absent = [line.split("=")[-1] for line in output.splitlines() if line.startswith("missing")]
    assert len(set(absent)) == len(absent)  # each once, though four runs need it
    assert message in run(file, exit_code=2) and not (tmp_path / "out").exists()


def test_data_on_the_hub_and_an_adapter_as_a_model(study, tmp_path):
    for info, message in (('{"mine": "mine.json"}', "its entry in"), ("[]", "not in")):
        (tmp_path / "dataset_info.json").write_text(info)
        file = study(keys={"dataset": "mine", "dataset_dir": str(tmp_path)})
        assert f"missing: dataset=mine: {message}" in run(file, "dry_run=true")
    assert "missing" not in run(study(keys={"dataset": "a/b", "dataset_dir": "ONLINE"}), "dry_run=true")
    (tmp_path / "model" / "config.json").rename(tmp_path / "model" / "adapter_config.json")
    output = run(study(), "dry_run=true")
    assert "this is an adapter" in output and "for a study, merge the two first (llamafactory-cli export)" in output


def test_an_interrupted_study_has_its_report(study, monkeypatch):
    def interrupted(settings, every):
        write_study(settings, every)
        judged = next(job for job in every if job.kind == "evaluate")
        write_results(Path(judged.settings["output"]), "sft", {"t": ["compiled"] * 2})
        Path(judged.settings["answers"]).touch()
        for kind in ("train", "generate", "evaluate"):
            record = settings.output / "done" / kind / f"{judged.run.name}.json"
            write_atomically(record, '{"seconds": 1, "gpus": 0}')
        raise KeyboardInterrupt

    monkeypatch.setattr("cuset_stage.study.run.run_study", interrupted)
    output = run(study(), exit_code=130)
    assert "out/report/report.md" in output and "Run the same command again" in output


def test_a_job_larger_than_the_machine_is_said_by_a_dry_run(study, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,-1")
    file = study("models", "tiny", gpus={"train": 2})
    said = "train/tiny/cuset/seed0 needs 2 GPUs, but only {} are available. Lower"
    assert "missing: " + said.format(1) in run(file, "dry_run=true")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1,0")  # a plan for another machine
    assert "missing" not in run(file, "dry_run=true") and said.format(0) in run(file, exit_code=2)


def test_judging_alone_needs_no_model(study, tmp_path):
    write_atomically(tmp_path / "out/runs/tiny/cuset/seed1/answers.jsonl", "")
    for kind in ("train", "generate"):
        write_atomically(tmp_path / "out" / "done" / kind / "tiny/cuset/seed1.json", '{"seconds": 1, "gpus": 0}')
    study(pairs=None)
    file = study("models", "tiny", model="outputs/none/at/all")
    assert "missing" not in run(file, "only=tiny/cuset/seed1", "dry_run=true")
    assert "missing: models: tiny" in run(file, "only=tiny/*/seed1", "dry_run=true")


def test_prompts_are_read_before_a_job_starts_and_sampled_with(study, tmp_path):
    file = study(prompts=str(tmp_path))
    assert f"prompts={tmp_path}:" in run(file, "dry_run=true")
    (tmp_path / "prompt.py").write_text("SYSTEM_PROMPT = 'a'\nPROMPT = '{task_description}'\n")
    assert "prompts" not in run(file, "dry_run=true")
    jobs = jobs_of(StudySettings.read([str(file)]))
    assert {job.settings.get("prompts") for job in jobs if job.kind == "generate"} == {str(tmp_path)}
    assert not any("prompts" in job.settings for job in jobs if job.kind != "generate")
