"""The weight each objective gives a token's negative log-likelihood: one function an objective (torch only).

All weights are constants of the optimisation (stop-gradient), so every function here expects detached tensors.
"""

import torch

from .settings import ObjectiveSettings


EAFT_TOP_K = 20
EAFT_ENTROPY_SCALE = 3.0  # the authors' stand-in for ln 20


def hybrid_mask(confidence: torch.Tensor, is_cuda: torch.Tensor, settings: ObjectiveSettings) -> torch.Tensor:
    r"""CuSeT's token weight M = 1[c > tau] + lambda * 1[CUDA], Eq. 2 to 4 of arXiv 2606.16231.

    Args:
        confidence: c, [num_valid] float32, the probability of each target token.
        is_cuda: [num_valid] boolean, the tokens inside kernel bodies and launch configurations.

    Returns:
        M, [num_valid] float32, one of 0, 1, lambda, 1 + lambda.
    """
    is_confident = confidence > settings.tau if settings.use_confidence_mask else torch.ones_like(is_cuda)
    weight = is_confident.float()
    return weight + settings.lam * is_cuda.float() if settings.use_cuda_mask else weight


def entropy_weight(logits: torch.Tensor, alpha: float) -> torch.Tensor:
    r"""EAFT's token weight (H / 3.0)^alpha, arXiv 2601.02151.

    H is the entropy, in nats, of the 20 largest probabilities after they are scaled to sum to 1.

    Args:
        logits: [num_valid, vocab_size].

    Returns:
        [num_valid] float32.
    """
    top = logits.topk(min(EAFT_TOP_K, logits.size(-1)), dim=-1).values.float()
    # entr takes 0 log 0 for 0; rounding can leave the entropy of a sure token a hair below 0, which a power would make NaN.
    entropy = torch.special.entr(top.softmax(dim=-1)).sum(dim=-1).clamp_min(0)
    return (entropy / EAFT_ENTROPY_SCALE).pow(alpha)


def probability_selection(confidence: torch.Tensor, settings: ObjectiveSettings) -> torch.Tensor:
    r"""ProFit's token weight 1[p >= threshold], arXiv 2601.09195, and its three other directions.

    Args:
        confidence: p, [num_valid] float32.

    Returns:
        [num_valid] float32, 0 or 1.
    """
    low, high = settings.prob_threshold[0], settings.prob_threshold[-1]
    match settings.threshold_direction:
        case "higher":
            keep = confidence >= low
        case "lower":
            keep = confidence <= high
        case "middle":
            keep = (confidence >= low) & (confidence <= high)
        case _:
            keep = torch.rand_like(confidence) >= low
    return keep.float()


def token_weight(
    logits: torch.Tensor, confidence: torch.Tensor, is_cuda: torch.Tensor, settings: ObjectiveSettings
) -> torch.Tensor:
    """The token weight of the chosen objective, [num_valid] float32; `logits` is [num_valid, vocab_size], detached."""
    match settings.objective:
        case "cuset":
            return hybrid_mask(confidence, is_cuda, settings)
        case "dft" | "asft":
            return confidence
        case "eaft":
            return entropy_weight(logits, settings.eaft_alpha)
        case "profit":
            return probability_selection(confidence, settings)
        case _:
            return torch.ones_like(confidence)
