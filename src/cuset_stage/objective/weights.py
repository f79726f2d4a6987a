"""What each objective makes of a token, in a form that works on any slice of the tokens (torch only).

`weight_rule` says how a token's weight, the constant factor of its negative log-likelihood, follows from its logits;
the readable loss and both backends of the fused head use it. CuSeT's weight is spelled out in `cuset.py` (Eq. 2 to 4).
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch

from .settings import ObjectiveSettings


EAFT_TOP_K = 20
EAFT_ENTROPY_SCALE = 3.0  # the authors' stand-in for ln 20


class HeadStatistics(NamedTuple):
    """Per supervised token, [num_valid]: the negative log-likelihood, the weight M and ASFT's penalty (or None)."""

    nll: torch.Tensor
    weight: torch.Tensor
    penalty: torch.Tensor | None = None


@dataclass(frozen=True)
class WeightRule:
    r"""How a token's weight M follows from its logits and a start that is known before them; ASFT's penalty.

    Args:
        kind: "given", the start as it is; "above", start + 1[c > low]; "within", 1[low <= c <= high]; "probability",
            c; "entropy", (H / 3.0)^alpha with H the entropy of the 20 largest probabilities.
        low, high: thresholds of "above" and "within".
        alpha: exponent of "entropy".
        penalty_scale: what the KL term to the base model is multiplied by, where there is one.
    """

    kind: str = "given"
    low: float = -float("inf")
    high: float = float("inf")
    alpha: float = 1.0
    penalty_scale: float = 0.0

    def __call__(self, start: torch.Tensor, confidence: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        """M, [num_valid], from the start and c, [num_valid], and the logits [num_valid, vocab_size], detached."""
        match self.kind:
            case "above":
                return start + (confidence > self.low)
            case "within":
                return ((confidence >= self.low) & (confidence <= self.high)).to(start.dtype)
            case "probability":
                return confidence
            case "entropy":
                return entropy_to_weight(top_entropy(logits), self.alpha)
            case _:
                return start


def weight_rule(
    settings: ObjectiveSettings, is_cuda: torch.Tensor, dtype: torch.dtype
) -> tuple[WeightRule, torch.Tensor]:
    """The rule of the chosen objective and the vector it starts from, [num_valid] of `dtype`.

    Args:
        settings: the objective.
        is_cuda: [num_valid] boolean, the tokens inside kernel bodies and launch configurations.
        dtype: of the weights.
    """
    if settings.objective == "cuset":  # arXiv 2606.16231; lr 1e-4, LoRA r 8, alpha 16, batches of 8
        cuda = is_cuda.to(dtype).mul_(settings.lam if settings.use_cuda_mask else 0.0)
        if settings.use_confidence_mask:
            return WeightRule("above", low=settings.tau), cuda
        return WeightRule(), cuda.add_(1.0)

    ones = torch.ones(is_cuda.shape, dtype=dtype, device=is_cuda.device)
    match settings.objective:
        case "dft" | "asft":  # arXiv 2508.05629 and 2509.23753: its own probability; DFT: lr 5e-5, batches of 256
            scale = settings.asft_alpha if settings.needs_reference else 0.0
            return WeightRule("probability", penalty_scale=scale), ones
        case "eaft":  # arXiv 2601.02151; lr 1e-5, batches of 64, cosine, warm-up 0.03; alpha 1 in the authors' code
            return WeightRule("entropy", alpha=settings.eaft_alpha), ones
        case "profit":  # arXiv 2601.09195: 1[p >= threshold] or another direction; authors: 0.1, `higher`, lr 1e-5
            low, high = settings.prob_threshold[0], settings.prob_threshold[-1]
            if settings.threshold_direction == "random":
                return WeightRule(), (torch.rand_like(ones) >= low).to(dtype)
            kept = {"higher": {"low": low}, "lower": {"high": high}, "middle": {"low": low, "high": high}}
            return WeightRule("within", **kept[settings.threshold_direction]), ones
        case _:  # sft: plain cross-entropy
            return WeightRule(), ones


def top_entropy(logits: torch.Tensor) -> torch.Tensor:
    """Entropy in nats of the 20 largest probabilities, scaled to sum to 1; [num_valid, vocab_size] to [num_valid]."""
    top = logits.topk(min(EAFT_TOP_K, logits.size(-1)), dim=-1).values
    return torch.special.entr(top.softmax(dim=-1)).sum(dim=-1)  # entr(0) = 0: logits of minus infinity count nothing


def entropy_to_weight(entropy: torch.Tensor, alpha: float) -> torch.Tensor:
    """EAFT's (H / 3.0)^alpha."""
    # Rounding can leave the entropy of a sure token a hair below 0, which a power would make NaN.
    return (entropy.clamp_min(0.0) / EAFT_ENTROPY_SCALE).pow(alpha)


def base_divergence(log_p: torch.Tensor, log_base: torch.Tensor) -> torch.Tensor:
    """KL(base || model) of each token over the vocabulary: what ASFT adds to DFT's loss times asft_alpha (0.1 in the
    authors' code, 0.05 in their README, with LoRA r 8, alpha 16). Unlike a weight it is differentiable, in `log_p`.

    Args:
        log_p, log_base: [num_valid, vocab_size], log-probabilities of the model and of the frozen base model.

    Returns:
        [num_valid], in nats.
    """
    q = log_base.exp()
    # What the base model rules out adds nothing: 0 log 0, not 0 times infinity.
    return torch.where(q == 0, 0.0, q * (log_base - log_p)).sum(dim=-1)
