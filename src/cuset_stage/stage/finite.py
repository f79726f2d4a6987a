"""Why numbers of a training are NaN or infinite, as far as can be seen when they are."""

import math
from typing import Any

import torch

from .. import attention
from ..objective.cuset import NonFiniteError


def is_finite(norm: Any) -> bool:
    """Whether a gradient norm is a finite number; None, as where none was computed, counts as one."""
    return norm is None or math.isfinite(norm.item() if isinstance(norm, torch.Tensor) else norm)


def gradient_error(norm: Any, step: int, args: Any) -> NonFiniteError:
    """The error for a gradient norm that is not finite. step: that of the optimizer; args: the training arguments."""
    return NonFiniteError(f"step {step}: the gradient norm is {float(norm)}, which ruins the weights", _causes(args))


def logits_error(
    error: NonFiniteError, where: str, model: torch.nn.Module, args: Any, has_trained: bool
) -> NonFiniteError:
    """The error for logits that are not finite though the last gradient norm was. has_trained: whether a step was made in this process."""
    parameters = dict(model.named_parameters())
    damaged = [name for name, weight in parameters.items() if not _is_finite(weight)]
    found = f"{where}: {error.found}"
    if not damaged:
        return NonFiniteError(f"{found}; the weights are finite", _causes(args))
    others = f" and {len(damaged) - 1} others" if damaged[1:] else ""
    found += f"; weights are not finite either, {damaged[0]}{others}"
    if has_trained and parameters[damaged[0]].requires_grad:
        return NonFiniteError(f"{found}, since an earlier step", _causes(args))
    return NonFiniteError(found, "The files of the model or of its adapter are damaged: load others.")


def _causes(args: Any) -> str:
    """What may have made the numbers NaN, each with its fix."""
    causes = [
        attention.suspicion(args.device),
        "float16 overflows: use bf16 in place of fp16" if args.fp16 else None,
        "training has diverged: lower learning_rate or set max_grad_norm",
    ]
    return f"Possible causes: {'; '.join(filter(None, causes))}."


def _is_finite(weight: torch.Tensor) -> bool:
    """Whether a parameter is finite; quantised ones, and what is sharded over other ranks, count as finite."""
    weight = getattr(weight, "_local_tensor", weight).detach()  # an FSDP 2 shard
    return not weight.is_floating_point() or weight.element_size() == 1 or bool(torch.isfinite(weight).all())
