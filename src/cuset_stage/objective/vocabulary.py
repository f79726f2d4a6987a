"""Statistics of a token that need the whole row of its logits: entropy, rank, margin and others (torch only)."""

from collections.abc import Callable, Collection

import torch


Measure = Callable[[torch.Tensor, torch.Tensor, Collection[str]], dict[str, torch.Tensor]]
TOP_K = 20  # as in EAFT
# Lower and upper bounds of the statistics, which rounding errors could violate; see `measure_both`.
BOUNDS = {
    **dict.fromkeys(("probability", "mass", "concentration"), (0.0, 1.0)),
    **dict.fromkeys(("entropy", "top_entropy"), (0.0, None)),
}


def at_least_zero(values: torch.Tensor) -> torch.Tensor:
    """Return max(values, 0), with the gradient of `values` everywhere.

    This is for sums of logarithms that are below 0 only because of rounding. A clamp would stop the gradient of the
    values that it changes.
    """
    return values - values.detach().clamp(max=0.0)


def top_entropy(logits: torch.Tensor) -> torch.Tensor:
    """Return the entropy in nats of the 20 largest probabilities, scaled to sum to 1.

    Args:
        logits: [num_valid, vocab_size].

    Returns:
        [num_valid].
    """
    top = logits.topk(min(TOP_K, logits.size(-1)), dim=-1).values
    return torch.special.entr(top.softmax(dim=-1)).sum(dim=-1)  # entr(0) = 0, so a logit of minus infinity adds 0


def measure(logits: torch.Tensor, target: torch.Tensor, names: Collection[str]) -> dict[str, torch.Tensor]:
    r"""Compute statistics of `rules.Tokens` that need the whole row of logits.

    With z the logits, p = softmax(z) and y the target:

        probability    p[y]
        entropy        -sum p log p, in nats
        top_entropy    see the function of this name
        rank           the number of v with z[v] > z[y]
        margin         z[y] - max of the other z
        mass           p[y] + sum of the p[v] < p[y]
        concentration  sum p^2

    Args:
        logits: [num_valid, vocab_size]. The computation is in float32 or wider.
        target: [num_valid]. The statistics of a target outside the vocabulary are meaningless.
        names: which statistics to compute.

    Returns:
        Name -> [num_valid] in the logits' dtype, or float32 where that is narrower.
    """
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    place = target.clamp(0, logits.size(1) - 1)[:, None]
    log_p = logits.log_softmax(dim=-1)
    p, p_target, at_target = log_p.exp(), log_p.gather(1, place)[:, 0].exp(), logits.gather(1, place)
    statistics = {
        "probability": lambda: p_target,
        "entropy": lambda: torch.special.entr(p).sum(dim=-1),
        "top_entropy": lambda: top_entropy(logits),
        "rank": lambda: (logits > at_target).sum(dim=-1),
        "margin": lambda: at_target[:, 0] - logits.scatter(1, place, -torch.inf).amax(dim=-1),
        "mass": lambda: p_target + p.where(logits < at_target, 0.0).sum(dim=-1),
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
    """Compute statistics of the model and of the base model, clamped to `BOUNDS`.

    Args:
        measure: this module's `measure`, or a backend's function of the same name.
        logits: [num_valid, vocab_size] of the model.
        base_logits: [num_valid, vocab_size] of the base model. May be None if no name begins with `base_`.
        target: [num_valid].
        names: which statistics to compute. Those named `base_...` are computed from `base_logits`.

    Returns:
        Name -> [num_valid].
    """
    own = [name for name in names if not name.startswith("base_")]
    of_base = [name.removeprefix("base_") for name in names if name.startswith("base_")]
    statistics = measure(logits, target, own) if own else {}
    of_base = measure(base_logits, target, of_base) if of_base else {}
    statistics |= {f"base_{name}": values for name, values in of_base.items()}
    for name in statistics:
        if bounds := BOUNDS.get(name.removeprefix("base_")):
            statistics[name] = statistics[name].clamp(*bounds)
    return statistics


def base_divergence(log_p: torch.Tensor, log_base: torch.Tensor) -> torch.Tensor:
    """Compute KL(base || model) of each token over the vocabulary, a penalty that rules may use (ASFT).

    Unlike a weight it is differentiable, in `log_p`.

    Args:
        log_p, log_base: [num_valid, vocab_size], log-probabilities of the model and of the frozen base model.

    Returns:
        [num_valid], in nats, at least 0.
    """
    q = log_base.exp()
    # A token that the base model rules out adds 0 (0 log 0 = 0), where the product would be 0 times infinity, NaN.
    return at_least_zero(torch.where(q == 0, 0.0, q * (log_base - log_p)).sum(dim=-1))
