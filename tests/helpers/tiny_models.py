"""Makes further tiny models from one that exists.

Training the tokenizer takes nearly all of the time that a tiny model needs, so the new models use the tokenizer that
is there.
"""

from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer


def make_another(model: Path, path: Path, *, seed: int = 0, **sizes: Any) -> Path:
    """Save a model of the same type with other weights, or other values of its configuration, and return `path`."""
    base_config = AutoConfig.from_pretrained(model)
    # None makes the configuration derive the types of the layers anew, as their number may differ.
    config = type(base_config)(**{**base_config.to_dict(), "layer_types": None, **sizes})
    return _save(config, AutoTokenizer.from_pretrained(model), path, seed)


def make_of_type(model: Path, path: Path, **config: Any) -> Path:
    """Save a model of another `model_type`, with two small layers and this model's tokenizer, and return `path`."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
    sizes |= dict(num_key_value_heads=2, head_dim=8, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
    return _save(AutoConfig.for_model(**sizes, **config), tokenizer, path, seed=0)


def make_adapter(model: Path, path: Path, task_type: str | None = None) -> Path:
    """Save a LoRA adapter whose weights are not zero, so that it changes the model's outputs, and return `path`."""
    torch.manual_seed(1)
    lora = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False, task_type=task_type)
    get_peft_model(AutoModelForCausalLM.from_pretrained(model), lora).save_pretrained(path)
    return path


def _save(config: Any, tokenizer: Any, path: Path, seed: int) -> Path:
    torch.manual_seed(seed)
    AutoModelForCausalLM.from_config(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path
