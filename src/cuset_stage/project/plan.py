"""What fits into a GPU's memory: a model's size and chat template, the memory that training takes, and the plan that fits.

The formula is held to benchmarks/memory_h200.json by the tests.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from ..text import InputError, nearest, one_line


Tuning = StrEnum("Tuning", ["full", "lora", "qlora"])
BATCH = 8  # the paper's: 8 GPUs with a row each
FULL_BELOW = 2e9  # parameters; the paper trains LoRA from 4 B on
LENGTHS = (4096, 2048, 1024)  # the paper's, then what still holds short kernels

LORA_RANK = 8
NF4 = 0.516  # bytes a weight in bitsandbytes' 4 bits, with the doubly quantized scales of its blocks of 64
# Bytes a token for each unit of hidden and intermediate size: the layer that is computed again in the backward pass. Fitted.
LAYER = {"full": 16, "lora": 23, "qlora": 15}
BUCKETS = 1.9  # GiB: 1e9 elements of 2 bytes, which the bundled DeepSpeed files allow for buckets and gathered weights; not measured


@dataclass(frozen=True)
class Shape:
    """What of a model decides the memory. tied: the output layer is the embedding."""

    parameters: float
    hidden_size: int
    intermediate_size: int
    layers: int
    vocab_size: int
    tied: bool


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


def shape_of(model: str) -> Shape:
    """The shape of a model's folder or hub name: of its config.json, else of KNOWN, else guessed from a number such as 7B.

    Raises:
        InputError: none of these tells it.
    """
    name = model.rstrip("/").rpartition("/")[2].lower()
    if found := _configured(model) or KNOWN.get(name):
        return found
    number = _SIZE.search(name)
    if number is None:
        raise InputError(
            f"--model {model}: it cannot be loaded here, and its name does not tell its size. Give its folder."
        )
    parameters = float(number[1]) * 1e9
    like = min(KNOWN.values(), key=lambda shape: abs(shape.parameters - parameters))
    scale = (parameters / like.parameters) ** (1 / 3)
    sizes = {key: round(scale * getattr(like, key)) for key in ("hidden_size", "intermediate_size", "layers")}
    return replace(like, parameters=parameters, **sizes)


def _configured(model: str) -> Shape | None:
    """From config.json, on this machine or the hub; the parameters are counted on a model without storage."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    try:
        config = AutoConfig.from_pretrained(model, trust_remote_code=False)
        with torch.device("meta"):
            built = AutoModelForCausalLM.from_config(config)
    except (OSError, ValueError, KeyError, ImportError) as error:  # no such model, no network, or code of its own
        if not Path(model).is_dir():
            return None
        raise InputError(f"--model {model}: its config.json cannot be used: {one_line(error)}") from None
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
        InputError: no such template, or LLaMA-Factory does not list the model with one.
    """
    from llamafactory.data.template import TEMPLATES
    from llamafactory.extras.constants import DEFAULT_TEMPLATE, SUPPORTED_MODELS

    if template is not None:
        if template not in TEMPLATES:
            raise InputError(f"--template {template}: not one of LLaMA-Factory's; {nearest(template, TEMPLATES)}")
        return template
    wanted = Path(model).name.lower() if Path(model).is_dir() else model.lower()
    found = {
        DEFAULT_TEMPLATE[name]
        for name, places in SUPPORTED_MODELS.items()
        for place in map(str.lower, places.values())
        if wanted in (place, place.rpartition("/")[2]) and name in DEFAULT_TEMPLATE
    }
    if len(found) != 1:
        raise InputError(
            f"--model {model}: LLaMA-Factory lists no chat template for it. Say --template, the one of the model it was made from: "
            "qwen (Qwen2.5), qwen3, deepseekcoder, seed_coder, llama3, ...; `default` for a base model."
        )
    return found.pop()


def training_gib(shape: Shape, tuning: str, cutoff_len: int, *, gpus: int = 1, zero: int = 0) -> float:
    """GiB that tensors take at most on each GPU: weights + trained parameters + activations of one row under gradient checkpointing.

    The fused head needs less than the layers have given back when it runs, so it adds nothing.

    Args:
        gpus: 0 is a CPU, where weights are float32.
        zero: DeepSpeed's ZeRO stage. 2 shards gradients and moments over the GPUs, 3 the weights as well.
    """
    hidden, intermediate = shape.hidden_size, shape.intermediate_size
    weight = 2 if gpus else 4  # bytes
    # LoRA on all linear layers: (inputs + outputs) x rank, keys and values counted as wide as queries.
    trained, frozen = LORA_RANK * shape.layers * (11 * hidden + 3 * intermediate), weight * shape.parameters
    if tuning == "full":
        trained, frozen = shape.parameters, 0.0
    elif tuning == "qlora":
        embeddings = shape.vocab_size * hidden * (1 if shape.tied else 2)  # which stay as they are
        unpacked = weight * hidden * intermediate  # the matrix that is being multiplied with
        frozen = weight * embeddings + NF4 * (shape.parameters - embeddings) + unpacked
    # A trained parameter takes 16 bytes: weight, gradient and Adam's two moments in float32. ZeRO-2 leaves 2 of them whole.
    whole, sharded = frozen + 2 * trained, 14 * trained
    states = whole / (gpus if zero == 3 else 1) + sharded / (gpus if zero else 1)
    a_token = 2 * hidden * shape.layers + LAYER[tuning] * (hidden + intermediate)
    buffers = BUCKETS if zero == 3 or (zero and tuning == "full") else 0.0
    return (states + cutoff_len * a_token) / 2**30 + buffers


def gpu_gib(tensors_gib: float) -> float:
    """The memory of a GPU for that: PyTorch holds up to 8 % more than tensors use, and the CUDA context takes 0.6 GiB."""
    return 1.08 * tensors_gib + 0.6


@dataclass(frozen=True)
class Plan:
    """gib: estimated memory that each GPU needs. zero: DeepSpeed's ZeRO stage, 0 without DeepSpeed."""

    tuning: Tuning
    cutoff_len: int
    zero: int
    accumulation: int
    gpus: int
    gib: float

    @property
    def batch(self) -> int:
        """Rows of an optimizer step."""
        return max(self.gpus, 1) * self.accumulation


def choose_plan(
    shape: Shape, gpus: int, memory_gib: float, *, tuning: str | None = None, method: str = "cuset"
) -> Plan:
    """The first that fits of full (for a small model), LoRA and QLoRA at the paper's row length; then QLoRA with shorter rows.

    Args:
        gpus: 0 is a CPU, which trains in float32 and has no 4-bit weights.
        memory_gib: of each GPU, or of the machine.
        tuning: only this one.
        method: ASFT keeps a second copy of a model that is trained in full, so that has to be asked for.

    Raises:
        InputError: nothing fits, or QLoRA on a CPU.
    """
    if gpus == 0 and tuning == "qlora":
        raise InputError("tuning=qlora: 4-bit weights need a GPU; say tuning=lora, or gpus=1.")
    tunings = [Tuning(tuning)] if tuning else [Tuning.lora, Tuning.qlora] if gpus else [Tuning.lora]
    if not tuning and shape.parameters < FULL_BELOW and method != "asft":
        tunings.insert(0, Tuning.full)
    candidates = [(one, LENGTHS[0]) for one in tunings] + [(tunings[-1], length) for length in LENGTHS[1:]]
    for one, length in candidates:
        for zero in (0,) if gpus < 2 else (2,) if one == "qlora" else (2, 3):  # ZeRO-3 does not shard 4-bit weights
            needed = gpu_gib(training_gib(shape, one, length, gpus=gpus, zero=zero))
            if needed <= memory_gib:
                return Plan(one, length, zero, max(1, round(BATCH / max(gpus, 1))), gpus, needed)
    where = f"on each of {gpus} GPUs" if gpus > 1 else "on a GPU" if gpus else "in this machine's memory"
    raise InputError(
        f"{shape.parameters / 1e9:.1f} B parameters do not fit into {memory_gib:g} GiB {where}: {one} with rows of "
        f"{length} tokens needs about {needed:.1f}. Take a smaller model, or GPUs with more memory (memory_gib=)."
    )
