"""`cuset pairs` on tiny models."""

import json

import pytest
from commands import cuset
from tiny_models import make_another


@pytest.fixture(scope="module")
def second(tmp_path_factory, tiny_model):
    """Another tiny model with the same tokenizer."""
    return make_another(tiny_model, tmp_path_factory.mktemp("model") / "second", seed=1)


@pytest.fixture(scope="module")
def record(tmp_path_factory, pair_file, tiny_model, second):
    folder = tmp_path_factory.mktemp("out")
    models = f"{{first: {tiny_model}, again: {tiny_model}, second: {{model: {second}}}}}"
    (folder / "pairs.yaml").write_text(f"pairs: {pair_file}\nmodels: {models}\n")
    said = cuset("pairs", folder / "pairs.yaml", output=folder / "pairs.json", device="cpu")
    assert "right preferred" in said and "second - first" in said
    return json.loads((folder / "pairs.json").read_text())


def test_what_is_recorded(record, tiny_model):
    assert record["type"] == "pairs" and record["pairs"]["count"] == 16 and record["pairs"]["kinds"]["equivalent"] == 1
    first, again, second = record["models"].values()
    assert first["model"] == str(tiny_model) and len(first["differences"]) == 16
    assert all(first[key] == again[key] for key in ("accuracy", "kinds", "lengths"))
    assert first["differences"] != second["differences"]
    assert first["accuracy"]["from_change"]["tasks"] == 3 and first["floor"]["from_change"]["tasks"] == 1
    # By hand, from the differences that the record keeps.
    rows = [(gap > 0) + 0.5 * (gap == 0) for gap in first["differences"][:15]]
    assert first["accuracy"]["from_change"]["value"] == pytest.approx(sum(rows) / 15)
    names = [(one["first"], one["second"]) for one in record["comparisons"]]
    assert names == [("again", "first"), ("second", "first"), ("second", "again")]
    assert record["comparisons"][0]["difference"]["value"] == 0 and record["comparisons"][0]["p_value"] == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["models=/nowhere/model"], "cuset: pairs: models: model: model="),
        (["make", "models={model}"], "pairs=make: no such file; give a JSONL file with task, right, wrong and kind"),
        (["pairs=nowhere.jsonl", "models={model}"], "pairs=nowhere.jsonl: no such file"),
        (["pairs={pairs}", "models={model}", "template=qwem"], "no template 'qwem'; did you mean"),
        (["pairs={pairs}", "models={model}", "sample=3"], "sample: no such key; did you mean samples"),
        (["pairs={pairs}", "models={model}", "limit=3"], "limit: no such key; samples= takes the first so many"),
    ],
)
def test_errors_name_the_key(arguments, message, pair_file, tiny_model):
    filled = [one.format(model=tiny_model, pairs=pair_file) for one in arguments]
    assert message in cuset("pairs", *filled, "device=cpu", exit_code=2)


def test_the_pairs_are_not_overwritten(tiny_model, tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_text("mine")
    assert "the command reads this file" in cuset("pairs", file, f"models={tiny_model}", output=file, exit_code=2)
    assert file.read_text() == "mine"
