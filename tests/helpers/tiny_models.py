"""Further models beside a tiny one: its tokenizer, whose training takes nearly all of the time, serves them as well."""

from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer


def make_another(model: Path, path: Path, *, seed: int = 0, **sizes: Any) -> Path:
    """A model in `path` as make_tiny_model would make it with this seed and these sizes, by their names in the configuration."""
    known = AutoConfig.from_pretrained(model)
    config = type(known)(**{**known.to_dict(), "layer_types": None, **sizes})  # the types of layers go by their number
    return _save(config, AutoTokenizer.from_pretrained(model), path, seed)


def make_of_type(model: Path, path: Path, **config: Any) -> Path:
    """A model in `path` of two small layers, from a configuration with its `model_type`."""
    tokenizer = AutoTokenizer.from_pretrained(model)
    sizes = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4)
    sizes |= dict(num_key_value_heads=2, head_dim=8, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
    return _save(AutoConfig.for_model(**sizes, **config), tokenizer, path, seed=0)


def make_adapter(model: Path, path: Path, task_type: str | None = None) -> Path:
    """A LoRA adapter in `path`, made by peft, with weights that change what the model says."""
    torch.manual_seed(1)
    lora = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False, task_type=task_type)
    get_peft_model(AutoModelForCausalLM.from_pretrained(model), lora).save_pretrained(path)
    return path


def _save(config: Any, tokenizer: Any, path: Path, seed: int) -> Path:
    torch.manual_seed(seed)
    AutoModelForCausalLM.from_config(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path
