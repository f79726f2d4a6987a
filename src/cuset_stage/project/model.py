"""What is known of a model before it is loaded: its size, and LLaMA-Factory's chat template for it."""

import re
from dataclasses import replace
from pathlib import Path

from ..text import nearest, one_line
from .memory import Shape
from .plan import PlanError


# The paper's models, for a machine that cannot reach the hub; numbers of their config.json.
KNOWN = {
    "qwen2.5-coder-7b-instruct": Shape(7.616e9, 3584, 18944, 28, 152064, tied=False),
    "qwen2.5-coder-32b-instruct": Shape(32.76e9, 5120, 27648, 64, 152064, tied=False),
    "deepseek-coder-6.7b-instruct": Shape(6.741e9, 4096, 11008, 32, 32256, tied=False),
    "seed-coder-8b-instruct": Shape(8.250e9, 4096, 14336, 32, 155136, tied=False),
    "qwen3-4b": Shape(4.022e9, 2560, 9728, 36, 151936, tied=True),
    "qwen3-14b": Shape(14.77e9, 5120, 17408, 40, 151936, tied=False),
}
_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)


def shape_of(model: str, size: str | None = None) -> Shape:
    """The shape of a model's folder or hub name: of its config.json, else of KNOWN, else guessed from a number such as 7B.

    size: said by the user in place of looking, such as 7B.

    Raises:
        PlanError: none of these tells it.
    """
    name = model.rstrip("/").rpartition("/")[2].lower()
    if size is None:
        if (found := _configured(model)) is not None:
            return found
        if name in KNOWN:
            return KNOWN[name]
    number = _SIZE.search(size or name)
    if number is None:
        asked = (
            f"--size {size}: expected billions of parameters, such as 7B."
            if size
            else (
                f"--model {model}: it cannot be loaded here, and its name does not tell its size. Say --size, such as --size 7B."
            )
        )
        raise PlanError(asked)
    parameters = float(number[1]) * 1e9
    like = min(KNOWN.values(), key=lambda shape: abs(shape.parameters - parameters))
    scale = (parameters / like.parameters) ** (1 / 3)
    sizes = {key: round(scale * getattr(like, key)) for key in ("hidden_size", "intermediate_size", "layers")}
    return replace(like, parameters=parameters, **sizes)


def _configured(model: str) -> Shape | None:
    """From config.json, on this machine or the hub; the parameters are counted on a model without storage."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    folder = Path(model).expanduser()
    if folder.is_dir() and not (folder / "config.json").is_file():
        raise PlanError(f"--model {model}: no config.json in this folder, so it is not a model.")
    try:
        config = AutoConfig.from_pretrained(str(folder) if folder.is_dir() else model, trust_remote_code=False)
        with torch.device("meta"):
            built = AutoModelForCausalLM.from_config(config)
    except (OSError, ValueError, KeyError, ImportError) as error:  # no such model, no network, or code of its own
        if folder.is_dir():
            raise PlanError(
                f"--model {model}: its config.json cannot be used: {one_line(error)} Say --size, such as --size 7B."
            ) from None
        return None
    text = config.get_text_config()
    return Shape(
        built.num_parameters(),
        text.hidden_size,
        getattr(text, "intermediate_size", None) or 4 * text.hidden_size,  # GPT-2 states none
        text.num_hidden_layers,
        text.vocab_size,
        tied=bool(text.tie_word_embeddings),
    )


def template_of(model: str, template: str | None = None) -> str:
    """LLaMA-Factory's template for a model that it lists, by hub name or by the name of the folder; or the one that was given.

    Raises:
        PlanError: no such template, or LLaMA-Factory does not list the model with one.
    """
    if template is not None:
        from llamafactory.data.template import TEMPLATES

        if template not in TEMPLATES:
            raise PlanError(
                f"--template {template}: LLaMA-Factory has no such template; {nearest(template, TEMPLATES)}"
            )
        return template
    from llamafactory.extras.constants import DEFAULT_TEMPLATE, SUPPORTED_MODELS

    wanted = model.rstrip("/").lower()
    if Path(model).expanduser().is_dir():
        wanted = wanted.rpartition("/")[2]
    found = set()
    for name, places in SUPPORTED_MODELS.items():
        ids = {place.lower() for place in places.values()} | {
            place.rpartition("/")[2].lower() for place in places.values()
        }
        if wanted in ids and name in DEFAULT_TEMPLATE:
            found.add(DEFAULT_TEMPLATE[name])
    if len(found) != 1:
        raise PlanError(
            f"--model {model}: LLaMA-Factory lists no chat template for it. Say --template, the one of the model it was made from: "
            "qwen (Qwen2.5), qwen3, deepseekcoder, seed_coder, llama3, ...; `default` for a base model."
        )
    return found.pop()
