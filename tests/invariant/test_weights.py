"""Weights in the data multiply the loss and leave its divisor alone, to the last bit or the rounding of a sum, however the data reach it.

`EXACTNESS` says what is held equal to what; scripts/write_docs.py writes the list in docs/data.md from it.
"""

import copy
import json

import pytest
import torch
from data_sets import CHAT_TAGS, write_data_set
from exactness import EXACTNESS, WHOLE
from transformers import AutoModelForCausalLM

from cuset_stage.stage.loading import open_rows, open_tokenizer
from cuset_stage.stage.token_labels import LabelRules


TOLERANCE = 5e-5  # relative, as of test_trajectories
NOT_COMPARED = {"epoch", "step", "cuset/left_out_share"}  # a token of weight 0 is left out


def logged(run):
    return [{key: value for key, value in step.items() if key not in NOT_COMPARED} for step in run.steps]


def thoughtful(rows, said):
    """Rows that reason before each answer. said: whether a span says what the reasoning weighs."""
    thought = "<think>\nOne thread an element, and a bound check.\n</think>"
    rows = copy.deepcopy(rows)
    for row in rows:
        for message in row["messages"][1::2]:
            message["content"] = f"{thought}\n\n{message['content']}"
            if said:
                span = {"start": 0, "end": len(thought), "weight": 0.25}
                message |= {"loss_weight": 1, "spans": [span]}
    return rows


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
        "thoughts": thoughtful(rows, said=False),
        "thoughts_given": thoughtful(rows, said=True),
        "first": weighted(rows)[:4],
        "last": rows[4:],
        "ones": [{**row, "weight": 1} for row in rows],
        "twos": [{**row, "weight": 2} for row in rows],
        "twice": [*rows, rows[2]],
        "two": [{**row, "weight": 1 + (number == 2)} for number, row in enumerate(rows)],
        "two_and_none": [{**row, "weight": 1 + (number == 2)} for number, row in enumerate(rows)] + [{**rows[2], "weight": 0}],
    }  # fmt: skip
    for name, of in sets.items():
        gives_all = "loss_weight" in of[0]["messages"][1]
        columns = {"messages": "messages"} | ({"weight": "weight"} if "weight" in of[0] else {})
        tags = CHAT_TAGS | ({"loss_weight_tag": "loss_weight", "spans_tag": "spans"} if gives_all else {})
        write_data_set(folder, name, of, formatting="sharegpt", columns=columns, tags=tags)
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
        assert one.adapter == other.adapter
    for found, expected in zip(ours, theirs, strict=True):
        shared = set(found) & set(expected)  # stage: sft logs two of ours
        assert shared >= {"loss", "grad_norm"}
        for key in shared:
            factor = case.factor if key in ("loss", "grad_norm") else 1.0
            rel = 1e-6 if case.is_bitwise else TOLERANCE  # what is logged is a sum of its own
            assert found[key] == pytest.approx(factor * expected[key], rel=rel, abs=1e-7), key


def test_the_weights_of_these_data_matter(train):
    assert logged(train("weighted"))[0]["loss"] < 0.8 * logged(train("plain"))[0]["loss"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"neat_packing": True},
        pytest.param({"mask_history": True}, marks=pytest.mark.slow),
        pytest.param({"train_on_prompt": True}, marks=pytest.mark.slow),
        pytest.param({"cutoff_len": 48}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_loss_is_the_sum_of_weight_times_nll_over_the_number_of_tokens(train, data, tiny_model, options):
    """Computed from the rows and the model by transformers alone, under the objective sft."""
    batch = {"per_device_train_batch_size": 1, "cutoff_len": 2048} if "neat_packing" in options else {}
    run = train(**batch, **options, cuset_objective="sft", learning_rate=0.0, max_steps=1)
    tokenizer = open_tokenizer(str(tiny_model))
    keys = {"dataset": ["weighted"], "dataset_dir": str(data), "template": "qwen", "cutoff_len": 512, **options}
    keys["neat_packing"] = False
    rows = open_rows(tokenizer, str(tiny_model), LabelRules(("kernel_body",)), **keys).tokens()
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    total, count = 0.0, 0
    for row in rows:
        ids, labels = torch.tensor([row["input_ids"]]), torch.tensor(row["labels"])
        with torch.no_grad():
            logits = model(ids).logits[0, :-1]
        nll = torch.nn.functional.cross_entropy(logits, labels[1:], reduction="none", ignore_index=-100)
        total += float((nll * torch.tensor(row["token_weights"])[1:]).sum())
        count += int((labels != -100).sum())
    # Before transformers 5 the Trainer logs four decimals.
    assert run.steps[0]["loss"] in (pytest.approx(total / count, rel=1e-5), round(total / count, 4))


def test_eval_loss_stays_plain_and_the_objective_s_is_weighted(train):
    keys = {"dataset": "plain", "max_steps": 1, "learning_rate": 0.0, "eval_strategy": "steps", "eval_steps": 1}
    plain, twos = (train(**keys, eval_dataset=name).evaluations[0] for name in ("plain", "twos"))
    assert twos["eval_loss"] == plain["eval_loss"]
    assert twos["eval_cuset_loss"] == pytest.approx(2 * plain["eval_cuset_loss"], rel=1e-6)


def test_generation_leaves_weights_aside(train):
    keys = {"predict_with_generate": True, "do_predict": True, "do_sample": False, "max_new_tokens": 4}
    run = train("plain", eval_dataset="weighted", max_steps=1, **keys)
    assert len((run.output_dir / "generated_predictions.jsonl").read_text().splitlines()) == 8


def test_a_model_card_has_the_weight_of_reasoning(train):
    card = (train("thoughts", cuset_think_weight=0.25).output_dir / "README.md").read_text()
    assert "| `cuset_think_weight` | 0.25 |" in card
