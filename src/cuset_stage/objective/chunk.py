"""What happens to a chunk of logits between the fused head's two products: the plain PyTorch version (torch only).

`triton_kernels` has functions of the same signatures and is what a GPU runs; these serve CPUs and GPUs without Triton, and is
what the kernels are tested against.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from .samples import weigh_samples
from .settings import ObjectiveSettings
from .supervision import read_supervision
from .weights import EAFT_ENTROPY_SCALE, EAFT_TOP_K


__all__ = [
    "LogitTransform",
    "WeightRule",
    "chunk_step",
    "read_supervision",
    "scatter_rows",
    "weigh_samples",
    "weight_rule",
]


@dataclass(frozen=True)
class LogitTransform:
    r"""What a model does to the head's product before the softmax: z = cap * tanh(scale * x / cap).

    Args:
        scale: multiplies the logits (Cohere's logit_scale, the inverse of Granite's logits_scaling).
        softcap: Gemma 2's cap, or None.
    """

    scale: float = 1.0
    softcap: float | None = None

    def __post_init__(self) -> None:
        if self.softcap is not None and not self.softcap > 0:
            raise ValueError(f"logit_softcap={self.softcap!r}: expected a number > 0, or None.")

    def __call__(self, logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | float]:
        """Transformed logits and the derivative of the transformation, both in the logits' shape (or a number)."""
        scaled = logits if self.scale == 1.0 else logits * self.scale
        if self.softcap is None:
            return scaled, self.scale
        bounded = torch.tanh(scaled / self.softcap)
        return bounded * self.softcap, (1.0 - bounded * bounded) * self.scale


@dataclass(frozen=True)
class WeightRule:
    r"""How a token's weight M follows from its logits, starting from a vector that is known beforehand.

    Args:
        kind: "given", the start as it is; "above", start + 1[c > low]; "within", 1[low <= c <= high]; "probability", c;
            "entropy", (H / 3.0)^alpha with H the entropy of the 20 largest probabilities.
        low, high: thresholds of "above" and "within".
        alpha: exponent of "entropy".
    """

    kind: str = "given"
    low: float = -float("inf")
    high: float = float("inf")
    alpha: float = 1.0


def weight_rule(
    settings: ObjectiveSettings, is_cuda: torch.Tensor, dtype: torch.dtype
) -> tuple[WeightRule, torch.Tensor]:
    """The rule of the chosen objective and the [num_valid] vector it starts from; `weights.token_weight` in two parts."""
    if settings.objective == "cuset":
        cuda = is_cuda.to(dtype).mul_(settings.lam if settings.use_cuda_mask else 0.0)
        if settings.use_confidence_mask:
            return WeightRule("above", low=settings.tau), cuda
        return WeightRule(), cuda.add_(1.0)
    ones = torch.ones(is_cuda.shape, dtype=dtype, device=is_cuda.device)
    match settings.objective:
        case "dft" | "asft":
            return WeightRule("probability"), ones
        case "eaft":
            return WeightRule("entropy", alpha=settings.eaft_alpha), ones
        case "profit":
            low, high = settings.prob_threshold[0], settings.prob_threshold[-1]
            match settings.threshold_direction:
                case "higher":
                    return WeightRule("within", low=low), ones
                case "lower":
                    return WeightRule("within", high=high), ones
                case "middle":
                    return WeightRule("within", low=low, high=high), ones
                case _:
                    return WeightRule(), (torch.rand_like(ones) >= low).to(dtype)
        case _:
            return WeightRule(), ones


def top_entropy(logits: torch.Tensor) -> torch.Tensor:
    """Entropy in nats of the 20 largest probabilities, scaled to sum to 1; [rows, vocab_size] to [rows]."""
    top = logits.topk(min(EAFT_TOP_K, logits.size(-1)), dim=-1).values
    return torch.special.entr(top.softmax(dim=-1)).sum(dim=-1)  # entr(0) = 0: logits of minus infinity count nothing


def entropy_to_weight(entropy: torch.Tensor, alpha: float) -> torch.Tensor:
    return (entropy.clamp_min(0.0) / EAFT_ENTROPY_SCALE).pow(alpha)


def _weight(rule: WeightRule, start: torch.Tensor, confidence: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    match rule.kind:
        case "given":
            return start
        case "above":
            return start + (confidence > rule.low)
        case "within":
            return ((confidence >= rule.low) & (confidence <= rule.high)).to(start.dtype)
        case "probability":
            return confidence
        case "entropy":
            return entropy_to_weight(top_entropy(logits), rule.alpha)
    raise AssertionError(rule.kind)


def chunk_step(
    logits: torch.Tensor,
    target: torch.Tensor,
    nll: torch.Tensor,
    weight: torch.Tensor,
    penalty: torch.Tensor | None,
    rule: WeightRule,
    transform: LogitTransform,
    *,
    reference: torch.Tensor | None = None,
    penalty_scale: float = 0.0,
    want_gradient: bool = True,
    gradient_scale: float = 1.0,
    factor: torch.Tensor | None = None,
) -> None:
    r"""Turn a chunk of logits into statistics and, in place, into the gradient with respect to those logits.

    With p = softmax(transform(logits)), q = softmax(transform(reference)), a = penalty_scale and M the token's weight, constant:

        nll = -log p[target];  penalty = a * KL(q || p)
        gradient = gradient_scale * (M * (p - onehot(target)) + a * (p - q)) * transform'(logits)

    Args:
        logits: [rows, vocab_size] of the dtype the model computes in; holds the gradient afterwards when that is wanted.
        target: [rows].
        nll: [rows], written; NaN where the target is outside the vocabulary.
        weight: [rows], the start of `rule` on entry, M afterwards.
        penalty: [rows], written when there is a reference.
        rule: how M follows from the logits.
        transform: what the model does to its logits.
        reference: [rows, vocab_size], logits of the base model before the transformation.
        penalty_scale: weight of the KL term.
        want_gradient: False leaves the logits alone.
        gradient_scale: a power of two that keeps small probabilities in the range of the logits' dtype.
        factor: [rows], written when it is there and a gradient is wanted: the gradient is then `logits` times this, row by row, which
            spares the kernel that does so a second read of the logits. Here it is 1.
    """
    dtype = nll.dtype
    transformed, slope = transform(logits.to(dtype))  # [rows, vocab_size]
    log_p = F.log_softmax(transformed, dim=-1)
    known = (target >= 0) & (target < logits.size(1))
    target = target.where(known, 0)
    nll.copy_((-log_p.gather(1, target[:, None])[:, 0]).where(known, torch.nan))
    weight.copy_(_weight(rule, weight, (-nll).exp(), transformed))
    del transformed

    q = None
    if reference is not None:
        log_q = F.log_softmax(transform(reference.to(dtype))[0], dim=-1)
        q = log_q.exp()
        divergence = torch.where(q == 0, 0.0, q * (log_q - log_p)).sum(dim=-1)
        penalty.copy_(divergence * penalty_scale)
        del log_q

    if not want_gradient:
        return
    if factor is not None:
        factor.fill_(1.0)
    kl = penalty_scale if q is not None else 0.0
    gradient = log_p.exp_().mul_((weight + kl)[:, None])
    gradient[torch.arange(target.numel(), device=target.device), target] -= weight
    if q is not None:
        gradient.sub_(q, alpha=kl)
    logits.copy_(gradient.mul_(slope).mul_(gradient_scale))


def scatter_rows(
    rows: torch.Tensor,
    position: torch.Tensor,
    row_scale: torch.Tensor,
    grad_output: torch.Tensor,
    out: torch.Tensor,
) -> None:
    """out[position] = rows * row_scale * grad_output, the backward pass of the hidden states.

    Args:
        rows: [num_valid, hidden_size].
        position: [num_valid], rows of `out`, each at most once.
        row_scale: [num_valid] in full precision: in float16, 1 / count alone would underflow.
        grad_output: a scalar.
        out: [batch * length, hidden_size], written where `position` points.
    """
    scale = row_scale * grad_output
    for start in range(0, rows.size(0), 1024):  # slices keep the temporaries small
        part = slice(start, start + 1024)
        out.index_copy_(0, position[part], (rows[part] * scale[part, None]).to(out.dtype))
