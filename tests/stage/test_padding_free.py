"""Training without padding: rows laid end to end give the losses of the padded batch.

If a model does not allow this, padding is computed and the log says why.
"""

import pytest
import torch
from features import OFF
from tiny_models import make_of_type
from transformers import AutoModelForCausalLM, AutoTokenizer, masking_utils

from cuset_stage.stage import padding_free


LAID = "Padding is not computed: the rows of a batch are laid end to end."
KEYS = {"stage": "cuset", "per_device_train_batch_size": 3, "max_samples": 12, "cutoff_len": 1100, "max_steps": 2}


def slow(*values):
    """Return a test parameter that belongs to the slow test runs."""
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"cuset_objective": "asft", "gradient_accumulation_steps": 2},
        slow({"cuset_fused": "off", "disable_gradient_checkpointing": True}),
        slow({"cuset_normalization": "samples", "train_on_prompt": True}),
        slow({**OFF, "finetuning_type": "full", "learning_rate": 1.0e-3}),
    ],
    ids=lambda keys: next(iter(keys), "plain"),
)
def test_the_loss_is_that_of_the_padded_batch(llamafactory, keys):
    padded = llamafactory({**KEYS, **keys, "cuset_padding_free": False})
    laid = llamafactory({**KEYS, **keys})
    assert LAID in laid.output
    assert LAID not in padded.output
    assert laid.losses_and_norms == pytest.approx(padded.losses_and_norms, rel=1e-5)


def test_lora_in_bf16_without_float32_copies_is_sft_s_but_for_its_head(llamafactory):
    """PEFT copies the input of LoRA layers to float32, and autocast rounds it to bf16 again, so a training step leaves
    the copy out.

    The losses stay those of SFT, up to the rounding of the head.
    """
    keys = {"bf16": True, "cutoff_len": 1500, "per_device_train_batch_size": 2, "max_steps": 2}
    sft = llamafactory({**keys, "stage": "sft"})
    run = llamafactory({**keys, **OFF, "stage": "cuset"})
    assert run.losses_and_norms == pytest.approx(sft.losses_and_norms, rel=1e-2)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"model_type": "mistral", "sliding_window": 64}, "it has layers of sliding_attention"),
        slow({"model_type": "nemotron"}, "not all of its layers use transformers' attention"),
        slow({"model_type": "bloom", "flash_attn": "disabled"}, "its attention is eager, not sdpa"),
        slow({"model_type": "biogpt", "max_position_embeddings": 2048}, "its positions are not rotary"),
        slow({"model_type": "mixtral"}, ""),
        slow({"model_type": "qwen3"}, ""),
    ],
    ids=lambda value: value.get("model_type") if isinstance(value, dict) else None,
)
def test_other_models_are_laid_or_say_why_not(llamafactory, tiny_model, tmp_path, config, reason):
    attention = config.get("flash_attn", "sdpa")
    make_of_type(tiny_model, tmp_path, **{key: value for key, value in config.items() if key != "flash_attn"})
    keys = {**KEYS, "model_name_or_path": str(tmp_path), "flash_attn": attention}
    padded = llamafactory({**keys, "cuset_padding_free": False})
    run = llamafactory(keys)
    assert (f"Padding is computed: {reason}." if reason else LAID) in run.output
    assert (LAID in run.output) is not bool(reason)
    assert run.losses_and_norms == pytest.approx(padded.losses_and_norms, rel=1e-5)


def test_samples_of_different_rows_stay_apart_and_no_first_token_is_a_label():
    ids = torch.tensor([[1, 2, 2], [1, 2, 0]])
    batch = {"attention_mask": (ids > 0).long(), "labels": ids, "sample_ids": ids}
    laid, _ = padding_free.lay(batch)
    assert laid["labels"].tolist() == [[-100, 2, 2, -100, 2]] and laid["sample_ids"].unique().numel() == 4
    assert padding_free.lay({name: column.flip(1) for name, column in batch.items()}) is None


def test_no_step_asks_the_device_for_the_rows(recipe, monkeypatch):
    from llamafactory.train.tuner import run_exp

    from cuset_stage.stage import collator

    assert collator.row_lengths is padding_free.row_lengths  # the patch below does not affect the collator's import
    monkeypatch.setattr(padding_free, "row_lengths", lambda mask: pytest.fail("a step asked for the lengths of rows"))
    monkeypatch.setattr(
        masking_utils, "_ignore_causal_mask_sdpa", lambda *_: pytest.fail("a step asked whether the mask is full")
    )
    run_exp({**recipe, "per_device_train_batch_size": 3, "cutoff_len": 1100})


def test_padding_that_is_supervised_is_computed(llamafactory):
    run = llamafactory({**KEYS, "ignore_pad_token_for_loss": False, "max_steps": 1})
    assert "Padding is computed: ignore_pad_token_for_loss: false supervises it." in run.output


@pytest.mark.slow
def test_answers_are_generated_in_an_evaluation_of_a_bf16_model(llamafactory, tiny_model, tmp_path):
    """Generation runs outside of autocast, where LoRA layers still need PEFT's casts of their inputs."""
    AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.bfloat16).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_model).save_pretrained(tmp_path)
    keys = {"model_name_or_path": str(tmp_path), "bf16": True, "max_samples": 3, "max_steps": 2, "eval_steps": 1}
    keys |= {"eval_dataset": "cuset_kernels", "do_eval": True, "eval_strategy": "steps"}
    run = llamafactory({**KEYS, **keys, "predict_with_generate": True, "max_new_tokens": 4})
    assert "eval_rouge-1" in run.output


@pytest.mark.slow
def test_ranks_find_out_alike(llamafactory, tiny_model, tmp_path):
    """One rank's first batch has no padding and the other's has.

    Both ranks must give up together, or one would wait for the other.
    """
    make_of_type(tiny_model, tmp_path, model_type="nemotron")
    keys = {**KEYS, "model_name_or_path": str(tmp_path), "per_device_train_batch_size": 1, "cutoff_len": 1504}
    run = llamafactory(keys, ranks=2)
    padded = llamafactory({**keys, "cuset_padding_free": False}, ranks=2)
    assert "Padding is computed: not all of its layers use transformers' attention." in run.output
    assert run.losses_and_norms == pytest.approx(padded.losses_and_norms, rel=1e-5)
