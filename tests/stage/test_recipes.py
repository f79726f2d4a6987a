"""The bundled recipes: LLaMA-Factory accepts them, their headers say how to run them, and the baselines differ in the objective alone."""

import json
from pathlib import Path

import pytest
import yaml
from llamafactory.hparams import get_train_args

from cuset_stage.stage.arguments import objective_settings


ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "yaml_configs").rglob("*.yaml"))
BASELINES = sorted((ROOT / "yaml_configs" / "baselines").glob("*.yaml"))
SECTIONS = ["### model", "### method", "### dataset", "### output", "### train", "### eval"]


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def parse(path, tmp_path):
    recipe = {key: value for key, value in load(path).items() if key != "deepspeed"}  # DeepSpeed wants torchrun
    *_, finetuning_args, _ = get_train_args({**recipe, "output_dir": str(tmp_path), "use_cpu": True, "bf16": False})
    return finetuning_args


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_is_accepted_and_says_how_to_run_it(path, tmp_path):
    assert parse(path, tmp_path).is_cuset
    text = path.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("### ")] == SECTIONS
    header = text[: text.index("### model")]
    commands = [line for line in header.splitlines() if "llamafactory-cli train" in line]
    assert len(commands) >= 2  # the command, and an override
    assert all(str(path.relative_to(ROOT)) in command for command in commands)


def test_the_paper_s_recipe_is_the_paper_s(tmp_path):
    """Section 5.1."""
    recipe = load(ROOT / "yaml_configs" / "cuset_qwen7b.yaml")
    expected = {
        "model_name_or_path": "Qwen/Qwen2.5-Coder-7B-Instruct",
        "lora_rank": 8,
        "lora_alpha": 16,
        "lora_dropout": 0.05,
        "lora_target": "all",
        "cutoff_len": 4096,
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 1,
        "learning_rate": 1.0e-4,
        "num_train_epochs": 3.0,
        "cuset_tau": 0.1,
        "cuset_lambda": 1.0,
        "cuset_window": 256,
    }
    assert {key: recipe[key] for key in expected} == expected
    assert json.loads((ROOT / recipe["deepspeed"]).read_text())["zero_optimization"]["stage"] == 2


@pytest.mark.parametrize("path", BASELINES, ids=lambda path: path.stem)
def test_a_baseline_differs_in_the_objective_alone(path, tmp_path):
    ours, baseline = load(ROOT / "yaml_configs" / "cuset_qwen7b.yaml"), load(path)
    method = path.stem.removesuffix("_qwen7b")
    assert objective_settings(parse(path, tmp_path)).objective == method
    own_keys = {"cuset_objective", "eaft_alpha", "asft_alpha", "prob_threshold", "threshold_direction"}
    dropped = {"cuset_tau", "cuset_lambda", "cuset_window"}
    assert set(baseline) - set(ours) <= own_keys
    assert set(ours) - set(baseline) == dropped
    assert {key for key in set(ours) & set(baseline) if ours[key] != baseline[key]} == {"output_dir"}


def test_there_is_a_recipe_for_each_baseline():
    assert {path.stem for path in BASELINES} == {f"{name}_qwen7b" for name in ("sft", "dft", "eaft", "asft", "profit")}
