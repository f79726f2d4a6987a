"""The commands read real weights, and the adapter that was just trained on them."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from cuset_stage.cli import app

from .conftest import ON_GPU, ROWS, STEPS


pytestmark = pytest.mark.real
DEVICE = "cuda" if ON_GPU else "cpu"
ADD = "__global__ void add(const float* x, float* y, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] += x[i];\n}"
WRONG = {"bound": ("i < n", "i < x"), "index": ("y[i] +=", "y(i) +="), "name": ("threadIdx", "thread")}
PROMPT = "Write only a CUDA kernel that doubles each of n floats. No main function, no explanation."


def cuset(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def values(found, name):
    """Every number under the key `name`, at any depth."""
    if isinstance(found, dict):
        for key, value in found.items():
            if key == name and isinstance(value, float | int):
                yield value
            elif key == name and isinstance(value, list):
                yield from (one for one in value if one is not None)
            else:
                yield from values(value, name)
    elif isinstance(found, list):
        for value in found:
            yield from values(value, name)


@pytest.fixture(scope="module")
def trained(train):
    """A run of `stage: cuset`; its first step saw the weights as they are."""
    return train(stage="cuset", cuset_objective="cuset")


@pytest.fixture(scope="module")
def models(weights, trained, tmp_path_factory) -> Path:
    """A file with the two models that analyze and pairs compare."""
    path = tmp_path_factory.mktemp("models") / "models.yaml"
    adapted = {"model": str(weights), "adapter": str(trained.output_dir)}
    path.write_text(yaml.safe_dump({"models": {"base": str(weights), "trained": adapted}, "device": DEVICE}))
    return path


@pytest.fixture
def rows(eight_samples):
    return ["dataset=eight", f"dataset_dir={eight_samples}", "cutoff_len=256"]


def test_label_counts_what_was_trained(weights, trained, rows):
    found = json.loads(cuset("label", f"model={weights}", *rows, f"max_samples={ROWS}", "numbers=-", "workers=1"))
    assert f"of {found['supervised_tokens']:,} supervised tokens" in trained.output
    assert found["cuda_share"] == pytest.approx(trained.steps[0]["cuset/cuda_share"])


def test_analyze(models, trained, rows, tmp_path):
    cuset("analyze", models, *rows, f"samples={ROWS}", "window=16", "resamples=100", f"output={tmp_path}")
    (file,) = tmp_path.glob("*.json")
    found = json.loads(file.read_text())["models"]
    base, after = (found[name]["notions"]["eq3"] for name in ("base", "trained"))
    for model, notion in ((found["base"], base), (found["trained"], after)):
        read = [model["kinds"], notion["sensitive"], notion["neutral"]]
        shares = [value for name in ("value", "low", "high", "means") for value in values(read, name)]
        assert len(shares) > 25 and all(0 <= value <= 1 for value in shares)
    for kind, name in (("sensitive", "cuda_confidence"), ("neutral", "other_confidence")):
        before = base[kind]["mean"]["value"]
        assert before == pytest.approx(trained.steps[0][f"cuset/{name}"], rel=2e-2 if ON_GPU else 1e-4)
        assert 0.2 < before < after[kind]["mean"]["value"]


def test_heatmap(weights, trained, rows, tmp_path):
    page = tmp_path / "page.html"
    given = [f"model={weights}", f"adapter={trained.output_dir}", f"samples={ROWS}", f"device={DEVICE}"]
    cuset("heatmap", *given, *rows, "numbers=true", f"output={page}")
    assert "<html" in page.read_text(encoding="utf-8")
    samples = json.loads(page.with_suffix(".json").read_text())["samples"]
    assert len(samples) == ROWS
    for name in ("confidence", "window", "weight"):
        assert all(0 <= value <= 1 for value in values(samples, name))
    assert all(sample["summary"]["after"]["nll"] < sample["summary"]["before"]["nll"] for sample in samples)
    lowest = min(values([sample["readings"]["before"] for sample in samples], "weight"))
    assert lowest == pytest.approx(trained.steps[0]["cuset/sample_weight_min"], rel=2e-2 if ON_GPU else 1e-4)


def test_pairs_prefer_what_compiles(models, tmp_path):
    rows = [
        {"task": kind, "prompt": "Add x to y.", "right": ADD, "wrong": ADD.replace(*change), "kind": kind}
        for kind, change in WRONG.items()
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    cuset("pairs", models, f"pairs={tmp_path / 'pairs.jsonl'}", f"output={tmp_path / 'pairs.json'}")
    found = json.loads((tmp_path / "pairs.json").read_text())["models"]
    for model in found.values():
        assert model["accuracy"]["from_change"]["value"] == 1
    assert found["base"]["differences"] != found["trained"]["differences"]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory) -> Path:
    """A task whose answer is short."""
    from task_factory import cuset_row, write_lines

    row = cuset_row(prompt=PROMPT, bare=PROMPT, detailed=PROMPT, system="")
    return write_lines(tmp_path_factory.mktemp("tasks") / "tasks.jsonl", row)


@pytest.mark.parametrize("adapted", [False, True], ids=["base", "trained"])
def test_generate_and_evaluate(weights, trained, tasks, tmp_path, adapted):
    answers, results = tmp_path / "answers.jsonl", tmp_path / "results.jsonl"
    given = [f"adapter={trained.output_dir}"] * adapted
    cuset("generate", tasks, f"model={weights}", *given, f"device={DEVICE}", "max_tokens=96", f"output={answers}")
    (answer,) = map(json.loads, answers.read_text().splitlines())
    assert "__global__ void" in answer["answer"] and "main(" not in answer["answer"]
    program = answer["answer"].replace("\n```", "\n\nint main() { return 0; }\n```")
    with answers.open("a") as file:
        file.write(json.dumps(answer | {"sample": 1, "answer": program}) + "\n")
    cuset("evaluate", answers, f"tasks={tasks}", "compile_only=true", f"output={results}")
    verdicts = {
        row["sample"]: row["verdict"] for row in map(json.loads, results.read_text().splitlines()) if "sample" in row
    }
    assert verdicts == {0: "compile_error", 1: "compiled"}


def test_init_writes_a_recipe_that_trains(weights, train, tmp_path):
    folder = tmp_path / "project"
    cuset("init", folder, f"model={weights}", f"gpus={int(ON_GPU)}", "template=qwen", "tuning=lora")
    recipe = yaml.safe_load((folder / "train.yaml").read_text())
    short = {"logging_steps": 1, "gradient_accumulation_steps": 1, "max_steps": STEPS, "max_samples": ROWS}
    run = train(**recipe | short | {"cutoff_len": 256})
    assert all(0 < loss < 4 for loss in [*run.losses, run.evaluations[0]["eval_loss"]]) and len(run.losses) == STEPS
    assert (folder / "output" / "adapter_model.safetensors").is_file()
