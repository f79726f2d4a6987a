"""Rows laid end to end train as the padded batch does; where a model does not allow it, padding is computed and the log says why."""

import pytest
import torch
from features import OFF
from peft import LoraConfig, get_peft_model
from peft.helpers import disable_input_dtype_casting
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, Qwen2Config, Qwen2ForCausalLM


LAID = "Padding is not computed: the rows of a batch are laid end to end."
KEYS = {"stage": "cuset", "per_device_train_batch_size": 3, "max_samples": 12, "cutoff_len": 1100}


def slow(*values):
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


def test_lora_without_float32_copies_has_the_same_gradients_in_bf16(llamafactory):
    """PEFT's float32 copy of an input is rounded again by autocast: without it every bit stays, and the run is SFT's but for its head."""
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=500,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    model = Qwen2ForCausalLM(config).bfloat16()
    model = get_peft_model(model, LoraConfig(target_modules="all-linear", init_lora_weights=False))
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for parameter in trained:
        parameter.data = parameter.data.float()
    ids = torch.randint(0, 500, (2, 60))
    gradients = []
    for without in (False, True):
        with disable_input_dtype_casting(model, active=without), torch.autocast("cpu", torch.bfloat16):
            loss = model(ids, labels=ids).loss
        gradients.append(torch.autograd.grad(loss, trained))
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))

    keys = {"bf16": True, "cutoff_len": 1500, "per_device_train_batch_size": 2}
    sft = llamafactory({**keys, "stage": "sft"})
    run = llamafactory({**keys, **OFF, "stage": "cuset"})
    assert run.losses_and_norms == pytest.approx(sft.losses_and_norms, rel=1e-2)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"model_type": "mistral", "sliding_window": 64}, "its attention is not causal over whole rows"),
        slow({"model_type": "gemma2"}, "it has layers of sliding_attention"),
        slow({"model_type": "bloom", "flash_attn": "disabled"}, "its attention is eager, not sdpa"),
        slow({"model_type": "biogpt", "max_position_embeddings": 2048}, "its positions are not rotary"),
        slow({"model_type": "mixtral"}, ""),
        slow({"model_type": "qwen3"}, ""),
    ],
    ids=lambda value: value.get("model_type") if isinstance(value, dict) else None,
)
def test_other_models_are_laid_or_say_why_not(llamafactory, tiny_model, tmp_path, config, reason):
    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    sizes = dict(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2
    )
    attention = config.get("flash_attn", "sdpa")
    config = {
        **sizes,
        **{k: v for k, v in config.items() if k != "flash_attn"},
        "vocab_size": len(tokenizer),
        "head_dim": 8,
        "pad_token_id": tokenizer.pad_token_id,
    }
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(AutoConfig.for_model(**config)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    keys = {**KEYS, "model_name_or_path": str(tmp_path), "flash_attn": attention}
    padded = llamafactory({**keys, "cuset_padding_free": False})
    run = llamafactory(keys)
    assert (f"Padding is computed: {reason}." if reason else LAID) in run.output
    assert (LAID in run.output) is not bool(reason)
    assert run.losses_and_norms == pytest.approx(padded.losses_and_norms, rel=1e-5)
