"""How much memory a GPU needs for training: one formula, held to benchmarks/memory_h200.json by the tests."""

from dataclasses import dataclass
from typing import Literal


Tuning = Literal["full", "lora", "qlora"]
GIB = 2**30
LORA_RANK = 8
TRAINED = 16  # bytes a trained parameter: weight, gradient and Adam's two moments in float32
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

    @property
    def embeddings(self) -> float:
        """Parameters of embedding and output layer, which no quantization touches."""
        return self.vocab_size * self.hidden_size * (1 if self.tied else 2)

    @property
    def lora(self) -> float:
        """Parameters of LoRA on all linear layers: (inputs + outputs) x rank, keys and values counted as wide as queries."""
        return LORA_RANK * self.layers * (11 * self.hidden_size + 3 * self.intermediate_size)


def training_gib(
    shape: Shape, tuning: Tuning, cutoff_len: int, *, gpus: int = 1, zero: int = 0, weight_bytes: int = 2
) -> float:
    """GiB that tensors take at most on each GPU: weights + trained parameters + activations of one row under gradient checkpointing.

    The fused head needs less than the layers have given back when it runs, so it adds nothing.

    Args:
        gpus, zero: the number of GPUs and DeepSpeed's ZeRO stage. 2 shards gradients and moments, 3 the weights as well.
        weight_bytes: of a frozen weight: 2 in bfloat16, 4 on a CPU.
    """
    trained = shape.parameters if tuning == "full" else shape.lora
    frozen = 0.0 if tuning == "full" else weight_bytes * shape.parameters
    if tuning == "qlora":
        unpacked = (
            weight_bytes * shape.hidden_size * shape.intermediate_size
        )  # the matrix that is being multiplied with
        frozen = weight_bytes * shape.embeddings + NF4 * (shape.parameters - shape.embeddings) + unpacked
    if zero == 2:
        states = frozen + trained * (2 + (TRAINED - 2) / gpus)
    elif zero == 3:
        states = (frozen + trained * TRAINED) / gpus
    else:
        states = frozen + trained * TRAINED
    a_token = 2 * shape.hidden_size * shape.layers + LAYER[tuning] * (shape.hidden_size + shape.intermediate_size)
    buffers = BUCKETS if zero == 3 or (zero and tuning == "full") else 0.0
    return (states + cutoff_len * a_token) / GIB + buffers


def gpu_gib(tensors_gib: float) -> float:
    """The memory of a GPU for that: PyTorch holds up to 8 % more than tensors use, and the CUDA context takes 0.6 GiB."""
    return 1.08 * tensors_gib + 0.6
