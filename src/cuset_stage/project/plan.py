"""What fits into a GPU's memory: a model's size, the memory, time and disk that training takes, and the plan that fits.

The formulas of memory and time are held to benchmarks/memory_h200.json by the tests.
"""

import json
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..text import InputError


Tuning = Literal["full", "lora", "qlora"]
BATCH = 8  # the paper's: 8 GPUs with a row each
HELD_OUT, MOST_HELD_OUT = 0.05, 500  # share and number of a user's rows that evaluate
HELD_OUT_FROM = 20  # rows; of fewer, none are held out
LENGTHS = (4096, 2048, 1024)  # the paper's, then what still holds short kernels

LORA_RANK = 8
NF4 = 0.516  # bytes a weight in bitsandbytes' 4 bits, with the doubly quantized scales of its blocks of 64
# Bytes a token for each unit of hidden and intermediate size: the layer that is computed again in the backward pass. Fitted.
LAYER = {"full": 16, "lora": 23, "qlora": 15}
H200 = 4.2e14  # operations a second that training reaches there. Fitted.
# Other cards' bf16 arithmetic as a share of the H200's, by data sheet; a name that is part of another stands behind it.
CARDS = {"B200": 2.3, "H200": 1.0, "H100": 1.0, "A100": 0.32, "L40S": 0.37, "A6000": 0.16, "RTX 4090": 0.17}
CARDS |= {"RTX 3090": 0.07, "A10": 0.13, "L4": 0.12, "T4": 0.07}
CORE = 3e10  # operations a second that a core of a CPU reaches in float32; one was measured
LAYER_SECONDS = 0.0035  # of a row in each layer, however short it is: kernels that wait to be started. Fitted.
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
    guessed: bool = False  # by a number in the model's name


# The paper's models and small ones, which need no download to be planned for; numbers of their config.json.
KNOWN = {
    "qwen2.5-coder-0.5b-instruct": Shape(0.494e9, 896, 4864, 24, 151936, tied=True),
    "qwen2.5-coder-1.5b-instruct": Shape(1.544e9, 1536, 8960, 28, 151936, tied=True),
    "qwen2.5-coder-7b-instruct": Shape(7.616e9, 3584, 18944, 28, 152064, tied=False),
    "qwen2.5-coder-32b-instruct": Shape(32.76e9, 5120, 27648, 64, 152064, tied=False),
    "deepseek-coder-6.7b-instruct": Shape(6.741e9, 4096, 11008, 32, 32256, tied=False),
    "seed-coder-8b-instruct": Shape(8.250e9, 4096, 14336, 32, 155136, tied=False),
    "qwen3-4b": Shape(4.022e9, 2560, 9728, 36, 151936, tied=True),
    "qwen3-14b": Shape(14.77e9, 5120, 17408, 40, 151936, tied=False),
}
_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)


def shape_of(model: str) -> Shape:
    """The shape of a model's folder or hub name: of KNOWN or its config.json, else guessed from a number such as 7B.

    Raises:
        InputError: none of these tells it.
    """
    folder, name = Path(model), model.rstrip("/").rpartition("/")[2].lower()
    if not folder.is_dir() and name in KNOWN:
        return KNOWN[name]
    if shape := _of_config(model):
        return shape
    if (number := _SIZE.search(name)) is None:
        raise InputError(
            f"model={model}: neither its config.json (hidden_size, num_hidden_layers, vocab_size, ...) nor a number such as 7B in its "
            "name tells its size. Give the folder of a model, with its config.json."
        )
    parameters = float(number[1]) * 1e9
    like = min(KNOWN.values(), key=lambda shape: abs(shape.parameters - parameters))
    scale = (parameters / like.parameters) ** (1 / 3)
    sizes = {key: round(scale * getattr(like, key)) for key in ("hidden_size", "intermediate_size", "layers")}
    return replace(like, parameters=parameters, guessed=True, **sizes)


def _of_config(model: str) -> Shape | None:
    """From config.json, on this machine or the hub, and the headers of the weights where they are here; None where these do not tell it.

    Without torch, transformers and safetensors, whose imports take longer than all the rest of `cuset init`.
    """
    folder = Path(model)
    path = folder / "config.json"
    try:
        if not folder.is_dir():
            from huggingface_hub import hf_hub_download

            path = Path(hf_hub_download(model, "config.json"))
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no such model, or no network
        return None
    text = config.get("text_config", config)
    hidden = text.get("hidden_size") or text.get("n_embd")
    layers = text.get("num_hidden_layers") or text.get("n_layer")
    if not (hidden and layers and "vocab_size" in text):
        return None
    intermediate = text.get("intermediate_size") or text.get("n_inner") or 4 * hidden
    tied = text.get("tie_word_embeddings", True)
    sizes: dict[str, int] = {}
    for file in folder.glob("model*.safetensors") if "quantization_config" not in config else ():
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(8), "little")
            beginning = opened.read(min(length, file.stat().st_size))
        try:
            header = json.loads(beginning)
        except ValueError:
            fix = "expected weights (of a clone, after git lfs pull)"
            raise InputError(f"{file}: no safetensors file, or cut off; {fix}.") from None
        sizes |= {name: math.prod(about["shape"]) for name, about in header.items() if name != "__metadata__"}
    parameters = sum(sizes.values())
    if not parameters:
        heads = text.get("num_attention_heads") or text.get("n_head") or 1
        head = text.get("head_dim") or hidden // heads
        experts = text.get("num_experts") or text.get("num_local_experts") or 1
        attention = 2 * head * (heads + text.get("num_key_value_heads", heads))
        widths = attention + 3 * experts * text.get("moe_intermediate_size", intermediate)
        parameters = text["vocab_size"] * hidden * (1 if tied else 2) + layers * hidden * widths
    return Shape(parameters, hidden, intermediate, layers, text["vocab_size"], tied=tied)


def _trained(shape: Shape, tuning: str) -> float:
    """How many parameters are trained. LoRA: (inputs + outputs) x rank of all linear layers, keys and values as wide as queries."""
    lora = LORA_RANK * shape.layers * (11 * shape.hidden_size + 3 * shape.intermediate_size)
    return shape.parameters if tuning == "full" else lora


def disk_gib(shape: Shape, tuning: str) -> float:
    """GiB that a run leaves: its weights in float32, and one checkpoint, which has LoRA's moments as well; a tokenizer beside each."""
    return (_trained(shape, tuning) * (8 if tuning == "full" else 16) + 25e6) / 2**30


def seconds_a_row(shape: Shape, tokens: float, speed: float) -> float:
    """Seconds of a row in training under gradient checkpointing. speed: operations a second, such as `H200`."""
    return 6 * shape.parameters * tokens / speed + LAYER_SECONDS * shape.layers


def training_gib(shape: Shape, tuning: str, cutoff_len: int, *, gpus: int = 1, zero: int = 0) -> float:
    """GiB that tensors take at most on each GPU: weights + trained parameters + activations of one row under gradient checkpointing.

    The fused head needs less than the layers have given back when it runs, so it adds nothing.

    Args:
        gpus: 0 is a CPU, where weights are float32.
        zero: DeepSpeed's ZeRO stage. 2 shards gradients and moments over the GPUs, 3 the weights as well.
    """
    hidden, intermediate = shape.hidden_size, shape.intermediate_size
    weight = 2 if gpus else 4  # bytes
    trained, frozen = _trained(shape, tuning), 0.0 if tuning == "full" else weight * shape.parameters
    if tuning == "qlora":
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


@dataclass(frozen=True)
class Schedule:
    """How long a run is. held_out: rows that are not trained on; 0 where there are too few, or where the evaluation has a file of its own."""

    rows: int
    held_out: int
    epochs: int
    steps: int
    logging_steps: int


def choose_schedule(rows: int, batch: int, *, has_evaluation: bool = False) -> Schedule:
    """Three epochs, as the study trains on 4,020 rows; fewer rows are seen more often, and very many once. At least 20 losses are logged
    where there are as many steps.

    Only the three epochs were measured; the others are a rule of thumb that `eval_loss` has to confirm.
    """
    held_out = 0 if has_evaluation or rows < HELD_OUT_FROM else max(2, min(MOST_HELD_OUT, round(HELD_OUT * rows)))
    epochs = 1 if rows > 30_000 else max(3, min(10, math.ceil(600 / rows)))
    steps = epochs * math.ceil((rows - held_out) / batch)
    return Schedule(rows - held_out, held_out, epochs, steps, max(1, min(10, steps // 20)))


def choose_learning_rate(shape: Shape, tuning: str, method: str) -> float:
    """With LoRA, for SFT and CuSeT below 3 B parameters, the best of three on the development tasks of the study with 1.5 B; else the paper's.

    DFT was best at the paper's rate there; other methods and larger models were not measured, and neither was full fine-tuning.
    """
    if tuning == "full":
        return 1.0e-5
    return 2.0e-4 if method in ("sft", "cuset") and shape.parameters < 3e9 else 1.0e-4


def choose_plan(shape: Shape, gpus: int, memory_gib: float, *, tuning: Tuning | None = None) -> Plan:
    """The first that fits of LoRA and QLoRA at the paper's row length; then QLoRA with shorter rows. Full fine-tuning where it is asked for.

    Args:
        gpus: 0 is a CPU, which trains in float32 and has no 4-bit weights.
        memory_gib: of each GPU, or of the machine.
        tuning: only this one.

    Raises:
        InputError: nothing fits, or QLoRA on a CPU.
    """
    if gpus == 0 and tuning == "qlora":
        raise InputError("tuning=qlora: 4-bit weights need a GPU; say tuning=lora, or gpus=1.")
    tunings: list[Tuning] = [tuning] if tuning else ["lora", "qlora"] if gpus else ["lora"]
    candidates = [(one, LENGTHS[0]) for one in tunings] + [(tunings[-1], length) for length in LENGTHS[1:]]
    for one, length in candidates:
        for zero in (0,) if gpus < 2 else (2,) if one == "qlora" else (2, 3):  # ZeRO-3 does not shard 4-bit weights
            needed = gpu_gib(training_gib(shape, one, length, gpus=gpus, zero=zero))
            if needed <= memory_gib:
                return Plan(one, length, zero, max(1, round(BATCH / max(gpus, 1))), gpus, needed)
    where = f"each of {gpus} GPUs with" if gpus > 1 else "a GPU with" if gpus else "a CPU with"
    fix = "or GPUs with more memory (memory_gib=)" if gpus else "or say that it trains on GPUs (gpus=1)"
    raise InputError(
        f"{shape.parameters / 1e9:.1f} B parameters do not fit {where} {memory_gib:g} GiB: {one} with rows of {length} tokens needs about "
        f"{needed:.1f} GiB. Take a smaller model, {fix}."
    )
