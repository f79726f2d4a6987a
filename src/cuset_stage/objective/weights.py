"""The weight each objective gives a token's negative log-likelihood, one function an objective, and ASFT's penalty (torch only).

All weights are constants of the optimisation (stop-gradient), so the functions of weights expect detached tensors.
"""

import torch
import torch.nn.functional as F

from .settings import ObjectiveSettings


EAFT_TOP_K = 20
EAFT_ENTROPY_SCALE = 3.0  # the authors' stand-in for ln 20


def hybrid_mask(confidence: torch.Tensor, is_cuda: torch.Tensor, settings: ObjectiveSettings) -> torch.Tensor:
    r"""CuSeT's token weight M = 1[c > tau] + lambda * 1[CUDA], Eq. 2 to 4 of arXiv 2606.16231; tau 0.1 and lambda 1 in the paper,
    which trains with lr 1e-4, LoRA r 8, alpha 16, dropout 0.05 and batches of 8.

    Args:
        confidence: c, [num_valid] float32, the probability of each target token.
        is_cuda: [num_valid] boolean, the tokens inside kernel bodies and launch configurations.

    Returns:
        M, [num_valid] float32, one of 0, 1, lambda, 1 + lambda.
    """
    is_confident = confidence > settings.tau if settings.use_confidence_mask else torch.ones_like(is_cuda)
    weight = is_confident.float()
    return weight + settings.lam * is_cuda.float() if settings.use_cuda_mask else weight


def no_weight(confidence: torch.Tensor) -> torch.Tensor:
    """Plain SFT's token weight, 1 for every token: the loss is the cross-entropy -log p. It has no hyper-parameters.

    Args:
        confidence: p, [num_valid] float32.

    Returns:
        [num_valid] float32.
    """
    return torch.ones_like(confidence)


def own_probability(confidence: torch.Tensor) -> torch.Tensor:
    """DFT's token weight p, arXiv 2508.05629, and that of ASFT, arXiv 2509.23753: the loss is -sg(p) log p. It has no
    hyper-parameters; DFT's authors train with lr 5e-5 and batches of 256.

    Args:
        confidence: p, [num_valid] float32.

    Returns:
        [num_valid] float32.
    """
    return confidence


def base_divergence(logits: torch.Tensor, base_logits: torch.Tensor) -> torch.Tensor:
    """KL(base || model) of each token over the whole vocabulary: what ASFT, arXiv 2509.23753, adds to DFT's loss times asft_alpha.

    The authors' code takes asft_alpha 0.1, their README 0.05, with LoRA r 8, alpha 16. Unlike a weight this is differentiable, in `logits`.

    Args:
        logits: [num_valid, vocab_size] float32.
        base_logits: [num_valid, vocab_size] of the frozen base model.

    Returns:
        [num_valid] float32, in nats.
    """
    log_base = base_logits.float().log_softmax(dim=-1)
    divergence = F.kl_div(logits.log_softmax(dim=-1), log_base, reduction="none", log_target=True)
    # What the base model rules out adds nothing: 0 log 0, not 0 times infinity.
    return divergence.masked_fill(log_base.isneginf(), 0.0).sum(dim=-1)


def entropy_weight(logits: torch.Tensor, alpha: float) -> torch.Tensor:
    r"""EAFT's token weight (H / 3.0)^alpha, arXiv 2601.02151; alpha is 1 in the authors' code.

    H is the entropy, in nats, of the 20 largest probabilities after they are scaled to sum to 1; 3.0 stands for ln 20. The authors
    train with lr 1e-5, batches of 64, a cosine schedule and a warm-up of 0.03.

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
    r"""ProFit's token weight 1[p >= threshold], arXiv 2601.09195, and its three other directions; the authors take 0.1, `higher`
    and lr 1e-5.

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
            return own_probability(confidence)
        case "eaft":
            return entropy_weight(logits, settings.eaft_alpha)
        case "profit":
            return probability_selection(confidence, settings)
        case _:
            return no_weight(confidence)


def largest_weight(settings: ObjectiveSettings) -> float:
    """What a token's gradient may be multiplied by at most, ASFT's penalty included."""
    match settings.objective:
        case "cuset":
            return 1.0 + (settings.lam if settings.use_cuda_mask else 0.0)
        case "asft":
            return 1.0 + settings.asft_alpha
        case _:
            return 1.0
