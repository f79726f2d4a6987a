"""The bundled recipes: LLaMA-Factory accepts them, their headers say how to run them, and they differ only as their
names say.
"""

import json
from pathlib import Path

import pytest
import yaml
from llamafactory.extras.constants import DEFAULT_TEMPLATE, SUPPORTED_MODELS
from llamafactory.hparams import get_infer_args, get_train_args, read_args

from cuset_stage.objective import OBJECTIVES
from cuset_stage.stage.arguments import objective_settings


ROOT = Path(__file__).parents[2]
EXPORT = ROOT / "yaml_configs" / "export.yaml"
OTHERS = {path for folder in ("studies", "curate") for path in (ROOT / "yaml_configs" / folder).glob("*")}
RECIPES = sorted({*(ROOT / "yaml_configs").rglob("*.yaml")} - {EXPORT} - OTHERS)
MODELS = sorted({*(ROOT / "yaml_configs").glob("*.yaml")} - {EXPORT, ROOT / "yaml_configs" / "cuset_smoke.yaml"})
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
    assert len(commands) >= 2  # the command, and one with an override
    assert all(str(path.relative_to(ROOT)) in command for command in commands)


def test_the_paper_s_recipe_is_the_paper_s(tmp_path):
    """The values are those of section 5.1 of the paper."""
    recipe = load(ROOT / "yaml_configs" / "cuset_qwen7b.yaml")
    expected = {"model_name_or_path": "Qwen/Qwen2.5-Coder-7B-Instruct", "cutoff_len": 4096, "learning_rate": 1.0e-4}
    expected |= {"lora_rank": 8, "lora_alpha": 16, "lora_dropout": 0.05, "lora_target": "all", "num_train_epochs": 3.0}
    expected |= {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1}
    expected |= {"cuset_tau": 0.1, "cuset_lambda": 1.0, "cuset_window": 256}
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
    assert {path.stem for path in BASELINES} == {f"{name}_qwen7b" for name in OBJECTIVES if name != "cuset"}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_s_recipe_has_llamafactory_s_template_and_the_paper_s_batch(path):
    paper, recipe = load(ROOT / "yaml_configs" / "cuset_qwen7b.yaml"), load(path)
    model = recipe["model_name_or_path"]
    names = [
        name for name, places in SUPPORTED_MODELS.items() if name in DEFAULT_TEMPLATE and model in places.values()
    ]
    assert {DEFAULT_TEMPLATE[name] for name in names} == {recipe["template"]}
    differing = {key for key in paper | recipe if paper.get(key) != recipe.get(key)}
    quantized = {"quantization_bit", "gradient_accumulation_steps"} if "qlora" in path.stem else set()
    assert differing <= {"model_name_or_path", "template", "output_dir", "deepspeed"} | quantized
    assert recipe["gradient_accumulation_steps"] * (8 if "deepspeed" in recipe else 1) == 8
    if "deepspeed" in recipe:
        assert json.loads((ROOT / recipe["deepspeed"]).read_text())["zero_optimization"]["stage"] in (2, 3)


def test_there_is_a_recipe_for_each_model_of_the_paper():
    """The models are those of section 5.1 and of tables 3 and 4 of the paper."""
    models = {load(path)["model_name_or_path"].partition("/")[2].lower() for path in MODELS}
    named = {"qwen2.5-coder-7b-instruct", "qwen2.5-coder-32b-instruct", "deepseek-coder-6.7b-instruct"}
    assert models == named | {"seed-coder-8b-instruct", "qwen3-4b", "qwen3-14b"}


def test_the_export_recipe_is_accepted():
    model_args, *_ = get_infer_args(load(EXPORT))
    assert model_args.export_dir and model_args.adapter_name_or_path and model_args.quantization_bit is None
    with pytest.raises(ValueError, match=r"not used by the HfArgumentParser: \['do_train', 'output_dir'"):
        get_infer_args({**load(EXPORT), "stage": "cuset", "do_train": True, "output_dir": "out"})


def test_a_recipe_s_paths_are_found_from_any_folder(tmp_path, monkeypatch):
    """A relative path is looked for in the working directory, then beside the recipe, then in the package.

    That is in what Ray's workers are given, too. Recipes of other stages are left as they are.
    """
    recipe = tmp_path / "recipes" / "mine.yaml"
    recipe.parent.mkdir()
    monkeypatch.setattr("sys.argv", ["llamafactory-cli", str(recipe)])
    monkeypatch.chdir(tmp_path)
    asked = {"stage": "cuset", "dataset_dir": "data", "deepspeed": "yaml_configs/deepspeed/ds_z3_config.json"}
    packaged = {key: str(ROOT / asked[key]) for key in ("dataset_dir", "deepspeed")}
    assert read_args(asked) == {**asked, **packaged}
    (recipe.parent / "data").mkdir()
    assert read_args(asked)["dataset_dir"] == str(recipe.parent / "data")
    (tmp_path / "data").mkdir()
    assert read_args(asked)["dataset_dir"] == "data"
    for left in ({**asked, "stage": "sft"}, {"stage": "cuset", "dataset_dir": "ONLINE"}, {"stage": "cuset"}):
        assert read_args(left) == left


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stage": "cusset"}, "stage: cusset: no such stage; did you mean cuset"),
        ({"stage": "CUSET"}, "stage: CUSET: no such stage; did you mean cuset"),
        ({"stage": "cuset", "cuset_tua": 0.2}, "cuset_tua: no such key in a recipe; did you mean cuset_tau"),
        ({"cuset_lamda": 2}, "cuset_lamda: no such key in a recipe; did you mean cuset_lambda"),
        ({"stage": "cuset", "learning_rat": 1}, "learning_rat: no such key in a recipe; did you mean learning_rate"),
        ({"stage": "sft", "learning_rat": 1}, "Some keys are not used by the HfArgumentParser"),  # LLaMA-Factory's own
    ],
)
def test_a_stage_or_key_that_does_not_exist_is_named_with_what_to_write(wrong, message, tmp_path):
    keys = {"model_name_or_path": "m", "output_dir": str(tmp_path), "dataset": "d", "use_cpu": True}
    with pytest.raises(ValueError, match=message):
        get_train_args({**keys, **wrong})


def test_a_bundled_recipe_trains_from_another_folder(llamafactory, tiny_model, tmp_path):
    """The run's working directory has no data/, so the package's is used."""
    recipe = load(ROOT / "yaml_configs" / "cuset_smoke.yaml")
    own = {"model_name_or_path": str(tiny_model), "output_dir": str(tmp_path / "out"), "max_steps": 1}
    own |= {"max_samples": 4, "do_eval": False, "eval_strategy": "no", "plot_loss": False}
    run = llamafactory({**recipe, **own})
    assert len(run.evaluations) == 0 and (run.output_dir / "model.safetensors").exists()
    assert run.output.count(f"taken from: dataset_dir: {ROOT / 'data'}") == 1
