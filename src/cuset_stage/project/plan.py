"""From a model's shape and the GPUs to the way of training: full, LoRA or QLoRA, row length, ZeRO stage and accumulation."""

from dataclasses import dataclass

from .memory import Shape, Tuning, gpu_gib, training_gib


BATCH = 8  # the paper's: 8 GPUs with a row each
FULL_BELOW = 2e9  # parameters; the paper trains LoRA from 4 B on
LENGTHS = (4096, 2048, 1024)  # the paper's, then what still holds short kernels


class PlanError(ValueError):
    """What was asked for cannot be trained; the message says what would be."""


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
    shape: Shape, gpus: int, memory_gib: float, *, tuning: Tuning | None = None, method: str = "cuset"
) -> Plan:
    """The first that fits of full (for a small model), LoRA and QLoRA at the paper's row length; then QLoRA with shorter rows.

    Args:
        gpus: 0 is a CPU, which trains in float32 and has no 4-bit weights.
        memory_gib: of each GPU, or of the machine.
        tuning: only this one.
        method: ASFT keeps a second copy of a model that is trained in full, so that has to be asked for.

    Raises:
        PlanError: nothing fits, or QLoRA on a CPU.
    """
    if gpus == 0 and tuning == "qlora":
        raise PlanError("--tuning qlora: 4-bit weights need a GPU; say --tuning lora, or --gpus 1.")
    tunings: list[Tuning] = [tuning] if tuning else ["lora", "qlora"] if gpus else ["lora"]
    if not tuning and shape.parameters < FULL_BELOW and method != "asft":
        tunings.insert(0, "full")
    candidates = [(one, LENGTHS[0]) for one in tunings] + [(tunings[-1], length) for length in LENGTHS[1:]]
    plans = [
        Plan(one, length, zero, max(1, round(BATCH / max(gpus, 1))), gpus, _gib(shape, one, length, gpus, zero))
        for one, length in candidates
        for zero in ((0,) if gpus < 2 else (2,) if one == "qlora" else (2, 3))  # ZeRO-3 does not shard 4-bit weights
    ]
    for plan in plans:
        if plan.gib <= memory_gib:
            return plan
    least = plans[-1]
    where = f"on each of {gpus} GPUs" if gpus > 1 else "on a GPU" if gpus else "in this machine's memory"
    raise PlanError(
        f"{shape.parameters / 1e9:.1f} B parameters do not fit into {memory_gib:g} GiB {where}: {least.tuning} with rows of "
        f"{least.cutoff_len} tokens needs about {least.gib:.1f}. Take a smaller model, or GPUs with more memory (--memory-gib)."
    )


def _gib(shape: Shape, tuning: Tuning, cutoff_len: int, gpus: int, zero: int) -> float:
    tensors = training_gib(shape, tuning, cutoff_len, gpus=max(gpus, 1), zero=zero, weight_bytes=2 if gpus else 4)
    return gpu_gib(tensors)
