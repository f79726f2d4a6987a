"""Further models beside a tiny one: its tokenizer, whose training takes nearly all of the time, serves them as well."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer


def make_another(model: Path, path: Path, *, seed: int = 0, **sizes: Any) -> Path:
    """A model in `path` as make_tiny_model would make it with this seed and these sizes, by their names in the configuration."""
    known = AutoConfig.from_pretrained(model)
    config = type(known)(**{**known.to_dict(), "layer_types": None, **sizes})  # the types of layers go by their number
    torch.manual_seed(seed)
    AutoModelForCausalLM.from_config(config).save_pretrained(path)
    AutoTokenizer.from_pretrained(model).save_pretrained(path)
    return path
