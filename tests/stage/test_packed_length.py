"""Packed rows of a length that LLaMA-Factory's padding breaks: refused before a tokenizer or a model is loaded, and nothing else is."""

import json

import pytest


REFUSAL = "LLaMA-Factory crashes on packed rows whose length is no multiple of 8"
CRASH = "must match the size of tensor b"


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"packing": True, "cutoff_len": 250}, "cutoff_len: 250 tokens with packing or neat_packing"),
        ({"neat_packing": True, "cutoff_len": 251, "flash_attn": "disabled"}, "Set cutoff_len: 248 or 256."),
        ({"packing": True, "cutoff_len": 7}, "Set cutoff_len: 8."),
    ],
    ids=str,
)
def test_what_crashes_under_sft_is_refused_first(llamafactory, keys, named):
    run = llamafactory({"stage": "cuset", "max_steps": 1, **keys}, check=False)
    assert run.returncode and REFUSAL in run.output and named in run.output, run.output[-3000:]
    assert "Running tokenizer" not in run.output and CRASH not in run.output
    if keys["cutoff_len"] > 8:
        sft = llamafactory({"stage": "sft", "max_steps": 1, **keys}, check=False)
        assert sft.returncode and CRASH in sft.output


@pytest.mark.parametrize(
    "keys",
    [
        {"packing": True, "cutoff_len": 248},
        {"neat_packing": True, "cutoff_len": 256},
        {"cutoff_len": 250},
        {"packing": True, "cutoff_len": 250, "do_train": False, "do_eval": True, "eval_dataset": "cuset_kernels_eval"},
    ],
    ids=str,
)
def test_what_sft_runs_runs(llamafactory, keys):
    for stage in ("sft", "cuset"):
        run = llamafactory({"stage": stage, "max_steps": 1, **keys}, check=False)
        assert run.returncode == 0 and REFUSAL not in run.output, run.output[-3000:]


def test_saved_rows_count_and_not_cutoff_len(llamafactory, tmp_path):
    """What an evaluation wrote into tokenized_path crashes in a training, whatever its cutoff_len says."""
    keys = {"stage": "cuset", "packing": True, "tokenized_path": str(tmp_path / "rows"), "max_steps": 1}
    evaluation = {"do_train": False, "do_eval": True, "val_size": 2}
    llamafactory({**keys, **evaluation, "cutoff_len": 250})
    llamafactory({**keys, **evaluation, "cutoff_len": 250})
    run = llamafactory({**keys, "cutoff_len": 256}, check=False)
    assert run.returncode and f"tokenized_path: {tmp_path / 'rows'}: packed rows: 250 tokens" in run.output, (
        run.output[-3000:]
    )


def test_multimodal_positions_are_left_alone(tmp_path):
    """Theirs are computed after the padding."""
    from types import SimpleNamespace

    from llamafactory.hparams import ModelArguments

    from cuset_stage.stage.dataset import check_packed_length

    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen2_vl"}))
    check_packed_length(250, ModelArguments(model_name_or_path=str(tmp_path)), "cutoff_len")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen2"}))
    with pytest.raises(ValueError, match=REFUSAL):
        check_packed_length(250, ModelArguments(model_name_or_path=str(tmp_path)), "cutoff_len")
    check_packed_length(256, SimpleNamespace(), "cutoff_len")
