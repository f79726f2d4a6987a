"""Estimate the memory, time and disk space that training a model takes, and choose a plan that fits into the memory.

The tests check the formulas of memory and time against the measurements in benchmarks/memory_h200.json.
"""

import json
import math
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..text import InputError


Tuning = Literal["full", "lora", "qlora"]
BATCH = 8  # rows per optimizer step, as in the paper: 8 GPUs with one row each
HELD_OUT, MOST_HELD_OUT = 0.05, 500  # share of a user's rows that are held out for evaluation, and their limit
HELD_OUT_FROM = 20  # with fewer rows than this, none are held out
LENGTHS = (4096, 2048, 1024)  # tokens per row: the paper's length, then lengths that still hold short kernels

LORA_RANK = 8
NF4 = 0.516  # bytes per weight in bitsandbytes' 4 bits, with the doubly quantized scales of its blocks of 64
# Bytes per token for each unit of hidden and intermediate size, for the layer that gradient checkpointing computes
# again in the backward pass. Fitted.
LAYER = {"full": 16, "lora": 23, "qlora": 15}
H200 = 4.2e14  # operations per second that training reaches on an H200. Fitted.
# bf16 speed of cards relative to the H200, by their data sheets. A name that is part of another one comes after it.
CARDS = {"B200": 2.3, "H200": 1.0, "H100": 1.0, "A100": 0.32, "L40S": 0.37, "A6000": 0.16, "RTX 4090": 0.17}
CARDS |= {"RTX 3090": 0.07, "A10": 0.13, "L4": 0.12, "T4": 0.07}
CORE = 3e10  # operations per second that a CPU core reaches in float32, measured on one CPU
# Seconds that a row takes in each layer, however short the row is: the time to launch the kernels. Fitted.
LAYER_SECONDS = 0.0035
# GiB for buckets and gathered weights: the 1e9 elements of 2 bytes that the bundled DeepSpeed files allow. Not
# measured.
BUCKETS = 1.9


@dataclass(frozen=True)
class Shape:
    """The sizes of a model that decide how much memory it takes.

    Attributes:
        parameters: number of parameters.
        hidden_size: width of the hidden states.
        intermediate_size: width of the MLP.
        layers: number of layers.
        vocab_size: number of tokens in the vocabulary.
        tied: whether the output layer shares its weight with the embedding.
        guessed: whether the sizes are guessed from a number in the model's name.
    """

    parameters: float
    hidden_size: int
    intermediate_size: int
    layers: int
    vocab_size: int
    tied: bool
    guessed: bool = False


# The paper's models and small ones, with the numbers of their config.json. Planning for them needs no download.
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
    """Return the shape of a model.

    It comes from KNOWN or the model's config.json, or is guessed from a number such as 7B in the model's name.

    Args:
        model: the model's folder, or its name on the Hub.

    Raises:
        InputError: if none of these gives the size.
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
    """Return the shape by a model's config.json, on this machine or the Hub, and the headers of local weights.

    It is None where these do not tell the sizes. torch, transformers and safetensors are not used, because importing
    them takes longer than all the rest of `cuset init`.
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
    """Return the number of trained parameters.

    For LoRA this is (inputs + outputs) x rank, summed over all linear layers. Keys and values count as wide as
    queries.
    """
    lora = LORA_RANK * shape.layers * (11 * shape.hidden_size + 3 * shape.intermediate_size)
    return shape.parameters if tuning == "full" else lora


def disk_gib(shape: Shape, tuning: str) -> float:
    """Return the GiB of disk space that a run leaves behind.

    It writes its trained weights in float32, and one checkpoint. With LoRA the checkpoint also has the optimizer's
    moments. There is a tokenizer beside each of the two.
    """
    return (_trained(shape, tuning) * (8 if tuning == "full" else 16) + 25e6) / 2**30


def seconds_a_row(shape: Shape, tokens: float, speed: float) -> float:
    """Return the seconds that a forward and backward pass of one row takes with gradient checkpointing.

    Args:
        shape: the model's size.
        tokens: length of the row, or of several rows laid end to end.
        speed: operations per second, such as `H200`.
    """
    return 6 * shape.parameters * tokens / speed + LAYER_SECONDS * shape.layers


def pass_seconds(shape: Shape, tokens: float, card: str | None, gpus: int) -> dict[str, float]:
    """Return the seconds of a pass (see `seconds_a_row`) by the machine's name, such as "an H100" or "this CPU".

    Args:
        shape: the model's size.
        tokens: number of tokens that a GPU computes at a time.
        card: the name of this machine's GPU. If it is None or not in `CARDS`, two example cards are taken.
        gpus: number of GPUs. 0 means this machine's CPU.
    """
    names = [name for name in CARDS if card and re.search(rf"\b{name}\b", card)][:1] or ["H200", "RTX 4090"]
    speeds = {f"an {name}" if name[0] in "HLAR" else f"a {name}": CARDS[name] * H200 for name in names}
    if not gpus:
        speeds = {"this CPU": CORE * len(os.sched_getaffinity(0))}
    return {name: seconds_a_row(shape, tokens, speed) for name, speed in speeds.items()}


def training_gib(shape: Shape, tuning: str, tokens: int, *, gpus: int = 1, zero: int = 0) -> float:
    """Return the most GiB that tensors take on each GPU.

    This is the sum of the weights, the trained parameters with their optimizer states, and the activations of one row,
    or of several rows laid end to end, with gradient checkpointing. The fused head adds nothing: when it runs, it needs
    less than the layers have already freed.

    Args:
        shape: the model's size.
        tuning: full, lora or qlora.
        tokens: number of tokens that a GPU computes at a time.
        gpus: number of GPUs. 0 means a CPU, where weights are float32.
        zero: DeepSpeed's ZeRO stage, 0 without DeepSpeed. Stage 2 shards gradients and moments over the GPUs, and
            stage 3 the weights as well.
    """
    hidden, intermediate = shape.hidden_size, shape.intermediate_size
    weight = 2 if gpus else 4  # bytes
    trained, frozen = _trained(shape, tuning), 0.0 if tuning == "full" else weight * shape.parameters
    if tuning == "qlora":
        embeddings = shape.vocab_size * hidden * (1 if shape.tied else 2)  # these are not quantized
        unpacked = weight * hidden * intermediate  # the one matrix that is dequantized for its multiplication
        frozen = weight * embeddings + NF4 * (shape.parameters - embeddings) + unpacked
    # A trained parameter takes 16 bytes: weight, gradient and Adam's two moments in float32. ZeRO-2 keeps 2 of these
    # bytes on every GPU and shards the other 14.
    whole, sharded = frozen + 2 * trained, 14 * trained
    states = whole / (gpus if zero == 3 else 1) + sharded / (gpus if zero else 1)
    a_token = 2 * hidden * shape.layers + LAYER[tuning] * (hidden + intermediate)
    buffers = BUCKETS if zero == 3 or (zero and tuning == "full") else 0.0
    return (states + tokens * a_token) / 2**30 + buffers


def gpu_gib(tensors_gib: float) -> float:
    """Return the GiB of GPU memory that are needed for so many GiB of tensors.

    PyTorch holds up to 8 % more than the tensors use, and the CUDA context takes 0.6 GiB.
    """
    return 1.08 * tensors_gib + 0.6


@dataclass(frozen=True)
class Plan:
    """A way of training that fits into the memory.

    Attributes:
        tuning: full, lora or qlora.
        cutoff_len: longest row in tokens.
        zero: DeepSpeed's ZeRO stage, 0 without DeepSpeed.
        rows: number of rows that a GPU computes at a time.
        accumulation: number of micro-batches of gradient accumulation.
        gpus: number of GPUs, 0 for a CPU.
        gib: estimated memory in GiB that each GPU needs.
    """

    tuning: Tuning
    cutoff_len: int
    zero: int
    rows: int
    accumulation: int
    gpus: int
    gib: float

    @property
    def batch(self) -> int:
        """Number of rows in an optimizer step."""
        return max(self.gpus, 1) * self.rows * self.accumulation


@dataclass(frozen=True)
class Schedule:
    """The length of a run.

    Attributes:
        rows: number of rows that are trained on.
        held_out: number of rows that are held out for evaluation. 0 if there are too few rows, or if the evaluation
            has a file of its own.
        epochs: number of epochs.
        steps: number of optimizer steps.
        logging_steps: number of steps between two log entries.
    """

    rows: int
    held_out: int
    epochs: int
    steps: int
    logging_steps: int


def choose_schedule(rows: int, batch: int, *, has_evaluation: bool = False) -> Schedule:
    """Choose how long a run trains.

    The default is three epochs, as the study trains on 4,020 rows. Few rows are seen more often, and more than 30,000
    rows only once. At least 20 losses are logged if there are that many steps. Only the three epochs were measured.
    The others are a rule of thumb that `eval_loss` has to confirm.

    Args:
        rows: number of rows in the data.
        batch: number of rows in an optimizer step.
        has_evaluation: whether the evaluation has a file of its own, so that no rows are held out.
    """
    held_out = 0 if has_evaluation or rows < HELD_OUT_FROM else max(2, min(MOST_HELD_OUT, round(HELD_OUT * rows)))
    epochs = 1 if rows > 30_000 else max(3, min(10, math.ceil(600 / rows)))
    steps = epochs * math.ceil((rows - held_out) / batch)
    return Schedule(rows - held_out, held_out, epochs, steps, max(1, min(10, steps // 20)))


def choose_learning_rate(shape: Shape, tuning: str, method: str) -> float:
    """Return the learning rate for a model, a tuning and a method.

    With LoRA, below 3 B parameters, it is the study's rate, chosen among three on its development tasks with a 1.5 B
    model. Otherwise it is the paper's rate, which the study chose for DFT and ASFT. Larger models and full fine-tuning
    were not measured.
    """
    if tuning == "full":
        return 1.0e-5
    best = {"sft": 2.0e-4, "cuset": 2.0e-4, "profit": 2.0e-4, "eaft": 5.0e-5}
    return best.get(method, 1.0e-4) if shape.parameters < 3e9 else 1.0e-4


def choose_plan(
    shape: Shape, gpus: int, memory_gib: float, *, tuning: Tuning | None = None, lays_rows: bool = True
) -> Plan:
    """Return the first plan that fits into the memory.

    LoRA and QLoRA are tried with the paper's row length first, and then QLoRA (on a CPU LoRA) with shorter rows. Full
    fine-tuning is only chosen if the user asks for it. A GPU computes as many of its rows at a time as fit, because
    with few tokens it waits for the CPU.

    Args:
        shape: the model's size.
        gpus: number of GPUs. 0 means a CPU, which trains in float32 and has no 4-bit weights.
        memory_gib: memory in GiB of each GPU, or of the machine.
        tuning: the only tuning to try. None means LoRA and QLoRA.
        lays_rows: whether the GPUs can train without padding. If not, they compute one row at a time.

    Raises:
        InputError: if nothing fits, or for QLoRA on a CPU.
    """
    if gpus == 0 and tuning == "qlora":
        raise InputError("tuning=qlora: 4-bit weights need a GPU; say tuning=lora, or gpus=1.")
    tunings: list[Tuning] = [tuning] if tuning else ["lora", "qlora"] if gpus else ["lora"]
    candidates = [(way, LENGTHS[0]) for way in tunings] + [(tunings[-1], length) for length in LENGTHS[1:]]
    of_a_gpu = max(1, round(BATCH / max(gpus, 1)))  # rows of a step
    rows_at_a_time = [rows for rows in range(of_a_gpu, 0, -1) if of_a_gpu % rows == 0] if gpus and lays_rows else [1]
    for way, length in candidates:
        for zero in (0,) if gpus < 2 else (2,) if way == "qlora" else (2, 3):  # ZeRO-3 does not shard 4-bit weights
            for rows in rows_at_a_time:
                needed = gpu_gib(training_gib(shape, way, rows * length, gpus=gpus, zero=zero))
                if needed <= memory_gib:
                    return Plan(way, length, zero, rows, of_a_gpu // rows, gpus, needed)
    where = f"each of {gpus} GPUs with" if gpus > 1 else "a GPU with" if gpus else "a CPU with"
    fix = "or GPUs with more memory (memory_gib=)" if gpus else "or say that it trains on GPUs (gpus=1)"
    raise InputError(
        f"{shape.parameters / 1e9:.1f} B parameters do not fit {where} {memory_gib:g} GiB: {way} with rows of {length} tokens needs about "
        f"{needed:.1f} GiB. Take a smaller model, {fix}."
    )
