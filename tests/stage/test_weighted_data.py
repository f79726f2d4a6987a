"""Weights in the data survive LLaMA-Factory's own loading.

Data sets are mixed with others without weights, streamed, saved, cached, and used for evaluation.
"""

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from commands import small_files
from data_sets import CHAT_TAGS, write_data_set
from datasets.config import HF_DATASETS_CACHE

from cuset_stage.stage.dataset import labelled_dataset
from cuset_stage.stage.loading import OneProcess, open_template, open_tokenizer, quiet
from cuset_stage.stage.token_labels import LabelRules
from cuset_stage.text import InputError

from .conftest import data_args


ROOT = Path(__file__).parents[2]
ALPACA = {"prompt": "instruction", "response": "output"}


@pytest.fixture
def folder(tmp_path):
    """A folder with the data sets `rows` (weights 0, 0.5, 1, ...), `other` (the same with weight 7), `plain` (no
    weights) and `chats`.

    `chats` has a weight for each message. The answers of different rows are all different, so that they identify their
    weights.
    """
    rows = [
        {"instruction": "Go.", "output": f"answer {number};", "w": number / 2, "other": 7.0} for number in range(6)
    ]
    plain = [{"instruction": "Go.", "output": f"plain {number};"} for number in range(6)]
    chats = []
    for number in range(3):
        first = {"role": "assistant", "content": f"first {number};", "loss_weight": 4}
        last = {"role": "assistant", "content": f"last {number};", "loss_weight": 5}
        go, on = ({"role": "user", "content": text} for text in ("Go.", "On."))
        chats.append({"messages": [go, first, on, last]})
    write_data_set(tmp_path, "rows", rows, columns={**ALPACA, "weight": "w"})
    write_data_set(tmp_path, "other", rows, columns={**ALPACA, "weight": "other"})
    write_data_set(tmp_path, "plain", plain, columns=ALPACA)
    tags = {**CHAT_TAGS, "loss_weight_tag": "loss_weight"}
    write_data_set(tmp_path, "chats", chats, formatting="sharegpt", columns={"messages": "messages"}, tags=tags)
    return tmp_path


EXPECTED = {f"answer {number};": number / 2 for number in range(6)} | {f"plain {number};": 1.0 for number in range(6)}
EXPECTED |= {f"first {number};": 4.0 for number in range(3)} | {f"last {number};": 5.0 for number in range(3)}


@pytest.fixture
def load(tiny_model, folder):
    """A function that loads data sets as a run does: with LLaMA-Factory's get_dataset under our wrapper.

    It returns the tokenizer, the data sets and the logged summaries.
    """

    def run(dataset, *, rules=None, predict=False, evaluate=True, **options):
        tokenizer = open_tokenizer(str(tiny_model))
        known = {"dataset_dir": str(folder), "cutoff_len": 128, "overwrite_cache": True}
        args = data_args(dataset=dataset, **{**known, **options})
        training = OneProcess(seed=1, dataloader_num_workers=1, should_log=True)
        training.should_save, training.predict_with_generate = True, predict
        training.do_eval, training.do_predict = evaluate, False
        model = SimpleNamespace(cache_dir=None, hf_hub_token=None)
        summaries = []
        own = (rules or LabelRules(("kernel_body",)), summaries)
        module = labelled_dataset(*own, open_template(tokenizer, args), model, args, training, "sft", tokenizer)
        return tokenizer, module, summaries

    return run


def weights_of(tokenizer, dataset):
    """Return the weight of each response by its text, and check that all tokens of a response have it."""
    by_text = {}
    for row in dataset:
        for number in range(1, max(row["sample_ids"]) + 1):
            tokens = [index for index, of in enumerate(row["sample_ids"]) if of == number]
            (weight,) = {float(row["token_weights"][index]) for index in tokens}
            text = tokenizer.decode([row["input_ids"][index] for index in tokens]).removesuffix("<|im_end|>\n")
            assert by_text.setdefault(text, weight) == weight
    return by_text


however_read = pytest.mark.parametrize("streamed", [{}, {"streaming": True, "buffer_size": 2}], ids=["", "streaming"])


@however_read
@pytest.mark.parametrize("strategy", ["concat", "interleave_over"])
@pytest.mark.parametrize("names", ["rows", "plain,rows", "rows,plain", "chats,plain,rows"])
def test_each_response_has_its_weight_however_sets_are_mixed(load, names, strategy, streamed):
    shares = {1: "1.0", 2: "0.5,0.5", 3: "0.5,0.25,0.25"}[names.count(",") + 1]
    options = {"mix_strategy": strategy, "interleave_probs": None if strategy == "concat" else shares}
    tokenizer, module, _ = load(names, **options, **streamed)
    found = weights_of(tokenizer, module["train_dataset"])
    sets = {"rows": ("answer",), "plain": ("plain",), "chats": ("first", "last")}
    wanted = tuple(start for name in names.split(",") for start in sets[name])
    assert found == {text: weight for text, weight in EXPECTED.items() if text.startswith(wanted)}


def test_what_the_weights_come_to_is_told(load):
    _, _, summaries = load("rows")
    assert summaries[1].startswith("Weights of the training data: 1.")
    assert summaries[1].endswith("from 0 to 2.5; 16.7% of them weigh 0.")
    assert len(load("plain")[2]) == 1


def test_a_saved_data_set_keeps_its_weights_and_other_rules_are_refused(load, tmp_path):
    saved = {"tokenized_path": str(tmp_path / "tokenized")}
    tokenizer, first, _ = load("rows,plain", **saved)
    _, second, summaries = load("rows,plain", **saved)
    assert weights_of(tokenizer, first["train_dataset"]) == weights_of(tokenizer, second["train_dataset"])
    assert len(summaries) == 2
    with pytest.raises(ValueError, match=r"labelled by other rules \(think_weight: 1.0 there, 0.2 here\)"):
        load("rows,plain", rules=LabelRules(("kernel_body",), think_weight=0.2), **saved)


@pytest.mark.parametrize("predict", [False, True])
def test_saved_evaluation_rows_of_the_other_kind_are_refused_only_where_they_are_needed(load, tmp_path, predict):
    saved = {"eval_dataset": "rows", "tokenized_path": str(tmp_path / "tokenized")}
    load("plain", predict=predict, **saved)
    assert len(load("plain", predict=not predict, evaluate=False, **saved)[2]) == 1
    with pytest.raises(ValueError, match=f"was written with{'' if predict else 'out'} predict_with_generate"):
        load("plain", predict=not predict, **saved)


def test_another_column_is_not_answered_from_the_cache(load):
    of_rows = {0.0, 0.5, 1.0, 1.5, 2.0, 2.5}
    for name, expected in (("rows", of_rows), ("other", {7.0}), ("rows", of_rows)):
        tokenizer, module, _ = load(name, overwrite_cache=False)
        assert set(weights_of(tokenizer, module["train_dataset"]).values()) == expected


def test_the_folder_without_room_is_named(load, tmp_path):
    saved = {"tokenized_path": f"{tmp_path}/saved", "overwrite_cache": False}
    # quiet: pytest keeps what is printed in files, too
    with quiet(), small_files(), pytest.raises(InputError, match=rf"{HF_DATASETS_CACHE}: .* HF_DATASETS_CACHE\.$"):
        load("rows", **saved)
    load("rows", **saved)
    shutil.rmtree(tmp_path / "saved")  # it alone is left to write, as the cache is filled
    with quiet(), small_files(), pytest.raises(InputError, match=r"saved: File too large\. .* delete this folder"):
        load("rows", **saved)


@pytest.mark.parametrize("predict", [False, True])
def test_evaluation_sets_have_their_own(load, predict):
    tokenizer, module, _ = load("plain", eval_dataset="rows", predict=predict)
    assert "token_weights" not in module["train_dataset"].column_names
    if predict:
        columns = {"input_ids", "attention_mask", "labels", "images", "videos", "audios"}
        assert set(module["eval_dataset"].column_names) == columns
    else:
        assert set(weights_of(tokenizer, module["eval_dataset"]).values()) == {0.0, 0.5, 1.0, 1.5, 2.0, 2.5}


@however_read
def test_a_missing_weight_is_told_with_file_row_and_fix(load, folder, streamed):
    rows = json.loads((folder / "rows.json").read_text())
    del rows[4]["w"]
    (folder / "rows.json").write_text(json.dumps(rows))
    with pytest.raises(ValueError, match=r"rows.json: row 5: 'w', the weight column, is missing\. Give every row"):
        list(load("plain,rows", **streamed)[1]["train_dataset"])


def test_the_page_s_example_is_what_it_says(load, tmp_path):
    """The files, the entry and the recipe keys of docs/data.md work as they stand."""
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"`(my_data/[\w.]+)`:\n\n```json\n(.*?)```", page, re.DOTALL))
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert len(files) == 3
    recipe = yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    rules = LabelRules(("kernel_body", "launch_config"), think_weight=recipe["cuset_think_weight"])
    tokenizer, module, _ = load(recipe["dataset"], rules=rules, dataset_dir=str(tmp_path / recipe["dataset_dir"]))
    kernel, warp, chat = module["train_dataset"]

    def texts(row, column, value):
        """Return the text of the supervised tokens that have this value in the column."""
        chosen = [each == value and of > 0 for each, of in zip(row[column], row["sample_ids"], strict=True)]
        return tokenizer.decode(
            [token for token, is_chosen in zip(row["input_ids"], chosen, strict=True) if is_chosen]
        )

    assert texts(kernel, "token_weights", 0.0).strip() == "Sure!"
    assert texts(kernel, "token_weights", 2.0).strip().startswith("__global__ void twice")
    assert set(weights_of(tokenizer, [warp]).values()) == {0.5}
    assert texts(warp, "cuda_mask", 1).strip() == "32 threads"
    assert weights_of(tokenizer, [chat]) == {"twice<<<1, 32>>>(y);": 0.0, "twice<<<1, 32>>>(x);": 1.0}
