"""Weights in the data multiply the loss and leave its divisor alone, to the last bit or the rounding of a sum, however the data reach it.

`EXACTNESS` says what is held equal to what; scripts/write_docs.py writes docs/data.md's table from it.
"""

import copy
import hashlib
import json

import pytest
from exactness import EXACTNESS, WHOLE


TOLERANCE = 5e-5  # relative, as of test_trajectories
NOT_COMPARED = {"epoch", "step", "cuset/left_out_share"}  # a token of weight 0 is left out
COLUMNS = {"messages": "messages"}
TAGS = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}


def logged(run):
    return [{key: value for key, value in step.items() if key not in NOT_COMPARED} for step in run.steps]


def weights_of(run):
    return hashlib.sha256((run.output_dir / "adapter_model.safetensors").read_bytes()).hexdigest()


def weighted(rows):
    """Rows with a weight each, a loss_weight for each answer, and a span in some."""
    rows = copy.deepcopy(rows)
    for number, row in enumerate(rows):
        row["weight"] = (1.0, 0.25, 2.0, 0.0, 3.0)[number % 5]
        for message in row["messages"][1::2]:
            message["loss_weight"] = (1.0, 0.5)[number % 2]
            half = len(message["content"]) // 2
            message["spans"] = [{"start": 3, "end": half, "weight": 0.125}] if number % 3 else []
    return rows


@pytest.fixture(scope="module")
def data(eight_samples, tmp_path_factory):
    """Data sets in one folder: as they are, with weights, with weight 1 and 2, and one row twice in two ways."""
    folder = tmp_path_factory.mktemp("weighted")
    rows = json.loads((eight_samples / "eight.json").read_text())
    sets = {
        "plain": rows,
        "weighted": weighted(rows),
        "first": weighted(rows)[:4],
        "last": rows[4:],
        "ones": [{**row, "weight": 1} for row in rows],
        "twos": [{**row, "weight": 2} for row in rows],
        "twice": [*rows, rows[2]],
        "two": [{**row, "weight": 1 + (number == 2)} for number, row in enumerate(rows)],
        "two_and_none": [{**row, "weight": 1 + (number == 2)} for number, row in enumerate(rows)] + [{**rows[2], "weight": 0}],
    }  # fmt: skip
    info = {}
    for name, of in sets.items():
        (folder / f"{name}.json").write_text(json.dumps(of))
        gives_all = "loss_weight" in of[0]["messages"][1]
        columns = COLUMNS | ({"weight": "weight"} if "weight" in of[0] else {})
        tags = TAGS | ({"loss_weight_tag": "loss_weight", "spans_tag": "spans"} if gives_all else {})
        info[name] = {"file_name": f"{name}.json", "formatting": "sharegpt", "columns": columns, "tags": tags}
    (folder / "dataset_info.json").write_text(json.dumps(info))
    return folder


@pytest.fixture(scope="module")
def train(llamafactory, data):
    def run(dataset="weighted", *, ranks=1, check=True, **keys):
        recipe = {"stage": "cuset", "cuset_window": 16, "dataset_dir": str(data), "dataset": dataset, **WHOLE, **keys}
        return llamafactory(recipe, ranks=ranks, check=check)

    return run


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if one.is_quick else pytest.mark.slow) for name, one in EXACTNESS.items()]
)
def test_exactness(train, name):
    case = EXACTNESS[name]
    one, other = (train(ranks=each.ranks, **each.keys) for each in (case.one, case.other))
    ours, theirs = logged(one), logged(other)
    assert len(ours) == len(theirs) == 3
    if case.is_bitwise:
        assert weights_of(one) == weights_of(other)
    for found, expected in zip(ours, theirs, strict=True):
        shared = set(found) & set(expected)  # stage: sft logs two of ours
        assert shared >= {"loss", "grad_norm"}
        for key in shared:
            factor = case.factor if key in ("loss", "grad_norm") else 1.0
            rel = 1e-6 if case.is_bitwise else TOLERANCE  # what is logged is a sum of its own
            assert found[key] == pytest.approx(factor * expected[key], rel=rel, abs=1e-7), key


def test_the_weights_of_these_data_matter(train):
    assert logged(train("weighted"))[0]["loss"] < 0.8 * logged(train("plain"))[0]["loss"]
