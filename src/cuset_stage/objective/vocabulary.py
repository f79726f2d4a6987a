"""What a row of logits says of its target beyond the target's probability (torch only)."""

from collections.abc import Callable, Collection

import torch


Measure = Callable[[torch.Tensor, torch.Tensor, Collection[str]], dict[str, torch.Tensor]]
TOP_K = 20  # EAFT's
# What these are but for rounding.
BOUNDS = {
    **dict.fromkeys(("probability", "mass", "concentration"), (0.0, 1.0)),
    **dict.fromkeys(("entropy", "top_entropy"), (0.0, None)),
}


def at_least_zero(values: torch.Tensor) -> torch.Tensor:
    """`values` where they are above 0, and 0 elsewhere, with the gradient of `values` everywhere.

    For sums of logarithms that are at least 0 but for rounding. A clamp would stop the gradient of those it changes.
    """
    return values - values.detach().clamp(max=0.0)


def top_entropy(logits: torch.Tensor) -> torch.Tensor:
    """Entropy in nats of the 20 largest probabilities, scaled to sum to 1; [num_valid, vocab_size] to [num_valid]."""
    top = logits.topk(min(TOP_K, logits.size(-1)), dim=-1).values
    return torch.special.entr(top.softmax(dim=-1)).sum(dim=-1)  # entr(0) = 0: logits of minus infinity count nothing


def measure(logits: torch.Tensor, target: torch.Tensor, names: Collection[str]) -> dict[str, torch.Tensor]:
    r"""The statistics `names` of `rules.Tokens` that take the whole row, each [num_valid] of the logits' dtype.

    With z the logits, p = softmax(z) and y the target: probability p[y]; entropy -sum p log p in nats; rank, how many
    z[v] > z[y]; margin z[y] - max of the other z; mass p[y] + sum of the p[v] < p[y]; concentration sum p^2;
    top_entropy, see there.

    Args:
        logits: [num_valid, vocab_size], float32 or wider.
        target: [num_valid]; of one outside the vocabulary the statistics mean nothing.
    """
    place = target.clamp(0, logits.size(1) - 1)[:, None]
    log_p = logits.log_softmax(dim=-1)
    p, own, at_target = log_p.exp(), log_p.gather(1, place)[:, 0].exp(), logits.gather(1, place)
    statistics = {
        "probability": lambda: own,
        "entropy": lambda: torch.special.entr(p).sum(dim=-1),
        "top_entropy": lambda: top_entropy(logits),
        "rank": lambda: (logits > at_target).sum(dim=-1),
        "margin": lambda: at_target[:, 0] - logits.scatter(1, place, -torch.inf).amax(dim=-1),
        "mass": lambda: own + p.where(logits < at_target, 0.0).sum(dim=-1),
        "concentration": lambda: p.square().sum(dim=-1),
    }
    return {name: statistics[name]().to(logits.dtype) for name in names}


def measure_both(
    measure: Measure,
    logits: torch.Tensor,
    base_logits: torch.Tensor | None,
    target: torch.Tensor,
    names: Collection[str],
) -> dict[str, torch.Tensor]:
    """The statistics `names` by `measure`, within `BOUNDS`, those named `base_...` of the base model's logits."""
    own = [name for name in names if not name.startswith("base_")]
    of_base = [name.removeprefix("base_") for name in names if name.startswith("base_")]
    found = measure(logits, target, own) if own else {}
    of_base = measure(base_logits, target, of_base) if of_base else {}
    found |= {f"base_{name}": values for name, values in of_base.items()}
    for name in found:
        if bounds := BOUNDS.get(name.removeprefix("base_")):
            found[name] = found[name].clamp(*bounds)
    return found


def base_divergence(log_p: torch.Tensor, log_base: torch.Tensor) -> torch.Tensor:
    """KL(base || model) of each token over the vocabulary, a penalty that rules may ask for (ASFT). Unlike a weight it
    is differentiable, in `log_p`.

    Args:
        log_p, log_base: [num_valid, vocab_size], log-probabilities of the model and of the frozen base model.

    Returns:
        [num_valid], in nats, at least 0.
    """
    q = log_base.exp()
    # What the base model rules out adds nothing: 0 log 0, not 0 times infinity.
    return at_least_zero(torch.where(q == 0, 0.0, q * (log_base - log_p)).sum(dim=-1))
