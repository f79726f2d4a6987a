"""CuSeT from confidence to loss: Eq. 1 to 9 of arXiv 2606.16231 in order, on materialised logits (torch only).

Everything works on the supervised tokens of a batch laid end to end, `[num_valid]`, in which the tokens of a sample
stand together, and costs O(num_valid) whatever the window. `cuset_loss`, at the end, is the whole; the fused head
(`fused.py`) gives the same loss and gradients without the logits, and is tested against this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F

from .settings import ObjectiveSettings
from .weights import base_divergence, weight_rule


IGNORE_INDEX = -100
# Prefix sums are kept in integers of 2**-40. A confidence is at most 1, so 2**22 tokens fit; adding integers is exact
# in any order, and unlike a floating-point cumsum it is allowed under torch.use_deterministic_algorithms on CUDA.
FIXED_POINT = 2**40


# ---- the tokens


class SupervisedTokens(NamedTuple):
    """The supervised tokens of a batch, each [num_valid]."""

    row: torch.Tensor  # where in [batch, length] the token is predicted:
    column: torch.Tensor  # the position before its own
    position: torch.Tensor  # the same in [batch * length]
    target: torch.Tensor  # the token
    is_cuda: torch.Tensor  # boolean, the CUDA mask
    sample_id: torch.Tensor | None  # the number of its sample within the row; None: a row is a sample
    given_weight: torch.Tensor | None = None  # float32, what the data multiply its loss with; None: 1


def supervised_positions(labels: torch.Tensor) -> torch.Tensor:
    """[batch, length - 1] boolean: True at t where the token t + 1 is supervised, so that logits[t] are needed."""
    return labels[:, 1:] != IGNORE_INDEX


def supervised_tokens(
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    token_weights: torch.Tensor | None = None,
    positions: torch.Tensor | None = None,
) -> SupervisedTokens:
    """The tokens that follow `positions` [num_valid, 2], row and column; other arguments as in `cuset_loss`.

    None: the supervised ones; this waits for the device, for their number.
    """
    row, column = (supervised_positions(labels).nonzero() if positions is None else positions).unbind(1)
    position = torch.add(column, row, alpha=labels.size(1))

    def of_tokens(values: torch.Tensor) -> torch.Tensor:
        return values.reshape(-1).index_select(0, position + 1)

    target = of_tokens(labels).long()
    is_cuda = torch.zeros_like(target, dtype=torch.bool) if cuda_mask is None else of_tokens(cuda_mask) != 0
    sample_id = None if sample_ids is None else of_tokens(sample_ids)
    given_weight = None if token_weights is None else of_tokens(token_weights).float()
    return SupervisedTokens(row, column, position, target, is_cuda, sample_id, given_weight)


@dataclass
class TokenTerms:
    r"""The supervised tokens of a batch with what the objective makes of each.

    The loss is sum over tokens of `given_weight * (sample_weight[sample] * weight * nll + penalty)`, divided by a
    count. Trainers log the terms, and evaluate row by row. All are [num_valid] and float32 unless said; the fused head does not wait to
    learn how many samples there are, so that some entries of `region_confidence` and `sample_weight` may stand for
    none: see `is_sample`.
    """

    nll: torch.Tensor  # -log c in nats, differentiable where it comes from `token_terms`
    confidence: torch.Tensor  # c = softmax(logits)[target], Eq. 1
    weight: torch.Tensor  # the objective's token weight (for CuSeT the hybrid mask M, Eq. 4)
    is_cuda: torch.Tensor  # boolean, the CUDA mask before lambda, Eq. 3
    row: torch.Tensor  # integer, the row of the batch
    sample: torch.Tensor  # integer, the token's sample: its entry in the next two
    region_confidence: torch.Tensor  # [num_samples or more], C of the sample's least confident window, Eq. 7
    sample_weight: torch.Tensor  # [num_samples or more], w = 1 - C, Eq. 8
    penalty: torch.Tensor | None = None  # added to the weighted nll (ASFT's KL term)
    given_weight: torch.Tensor | None = None  # what the data multiply the token's loss with; None: 1

    @property
    def is_sample(self) -> torch.Tensor:
        """Which entries of `region_confidence` and `sample_weight` stand for a sample; boolean, of their length."""
        return torch.zeros_like(self.sample_weight, dtype=torch.bool).index_fill_(0, self.sample, True)

    def count(self, normalization: str, given: torch.Tensor | int | None = None) -> torch.Tensor | int:
        """What the loss is divided by: what is given, or else its own tokens or samples (on the device)."""
        if given is not None:
            return given
        return self.nll.numel() if normalization == "tokens" else self.is_sample.sum()

    @property
    def loss(self) -> torch.Tensor:
        """[num_valid] float32: each token's share of the loss before the division."""
        loss = self.sample_weight[self.sample] * self.weight * self.nll
        loss = loss if self.penalty is None else loss + self.penalty
        return loss if self.given_weight is None else loss * self.given_weight


# ---- the equations


def hybrid_mask(confidence: torch.Tensor, is_cuda: torch.Tensor, settings: ObjectiveSettings) -> torch.Tensor:
    r"""The token weight M = 1[c > tau] + lambda * 1[CUDA], Eq. 2 to 4; tau 0.1 and lambda 1 in the paper.

    Args:
        confidence: c, [num_valid] float32, the probability of each target token, Eq. 1.
        is_cuda: [num_valid] boolean, the tokens inside kernel bodies and launch configurations.

    Returns:
        M, [num_valid] float32, one of 0, 1, lambda, 1 + lambda.
    """
    is_confident = confidence > settings.tau if settings.use_confidence_mask else torch.ones_like(is_cuda)  # Eq. 2
    weight = is_confident.float()
    return weight + settings.lam * is_cuda.float() if settings.use_cuda_mask else weight  # Eq. 3 and 4


def number_samples(row: torch.Tensor, sample_id: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Number the samples of a batch from 0: a sample is the run of tokens with the same row and the same id.

    Args:
        row: [num_valid], the row of the batch each token stands in.
        sample_id: [num_valid], the number of the token's sample within its row; None: a row is a sample.

    Returns:
        The sample of each token, [num_valid], and the length of each sample in tokens, [num_samples].
    """
    key = row.long() if sample_id is None else row.long() * 2**32 + sample_id.long()
    _, sample, lengths = torch.unique_consecutive(key, return_inverse=True, return_counts=True)
    return sample, lengths


def window_confidence(
    confidence: torch.Tensor, sample: torch.Tensor, lengths: torch.Tensor, window: int
) -> torch.Tensor:
    r"""Mean confidence of the window around each token, Eq. 5 and 6.

    R_t = [t - floor(l/2), t + ceil(l/2) - 1], clipped to the sample; a sample shorter than l is one window.

    Args:
        confidence: [num_valid] float32, the probability of each target token.
        sample: [num_valid], the sample of each token, from `number_samples`.
        lengths: [num_samples], tokens of each sample.
        window: l, in tokens.

    Returns:
        C_t, [num_valid] float32.
    """
    device = confidence.device
    prefix = torch.zeros(
        confidence.numel() + 1, dtype=torch.int64, device=device
    )  # a window's sum: a difference of two
    torch.cumsum((confidence.float() * FIXED_POINT).to(torch.int64), dim=0, out=prefix[1:])

    ends = lengths.cumsum(0)
    start, end = (ends - lengths)[sample], ends[sample]  # [num_valid]
    position = torch.arange(confidence.numel(), device=device)
    is_short = lengths[sample] < window
    left = torch.where(is_short, start, torch.maximum(start, position - window // 2))
    right = torch.where(is_short, end, torch.minimum(end, position + (window + 1) // 2))  # exclusive
    return (prefix[right] - prefix[left]).float() / ((right - left).float() * FIXED_POINT)


def least_confident_window(
    window_means: torch.Tensor, sample: torch.Tensor, num_samples: int, is_candidate: torch.Tensor | None = None
) -> torch.Tensor:
    r"""Confidence of each sample's least confident window, Eq. 7: C_n = min_t C_t.

    Args:
        window_means: C_t, [num_valid].
        sample: [num_valid], the sample of each token.
        num_samples: how many samples there are.
        is_candidate: [num_valid] boolean; when given, only windows centred on these tokens count, except in a sample
            that has none of them, where every window does.

    Returns:
        C_n, [num_samples] float32.
    """

    def minimum(values: torch.Tensor) -> torch.Tensor:
        result = torch.full((num_samples,), torch.inf, dtype=values.dtype, device=values.device)
        return result.scatter_reduce_(0, sample, values, "amin", include_self=True)

    over_all = minimum(window_means)
    if is_candidate is None:
        return over_all

    over_candidates = minimum(window_means.masked_fill(~is_candidate, torch.inf))
    return torch.where(over_candidates.isinf(), over_all, over_candidates)


def weigh_samples(
    confidence: torch.Tensor, tokens: SupervisedTokens, settings: ObjectiveSettings
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Eq. 5 to 8: (the sample of each token [num_valid], C [num_samples], w = 1 - C [num_samples])."""
    sample, lengths = number_samples(tokens.row, tokens.sample_id)
    means = window_confidence(confidence, sample, lengths, int(settings.window))  # Eq. 5 and 6
    candidates = tokens.is_cuda if settings.region_scope == "cuda" else None
    region = least_confident_window(means, sample, lengths.numel(), candidates)  # Eq. 7
    return sample, region, 1.0 - region if settings.weighs_samples else torch.ones_like(region)  # Eq. 8


def token_terms(
    logits: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    settings: ObjectiveSettings,
    reference_logits: torch.Tensor | None = None,
    token_weights: torch.Tensor | None = None,
) -> TokenTerms:
    r"""The terms of any of the six objectives at every supervised token of a batch.

    Args:
        logits, labels, cuda_mask, sample_ids, token_weights: as in `cuset_loss`.
        settings: the objective.
        reference_logits: [batch, length, vocab_size] of the base model, for ASFT.

    Raises:
        ValueError: shapes that do not match, labels outside the vocabulary, NaN or infinite logits, ASFT without a
            reference.
    """
    check_shapes("logits", logits, labels, cuda_mask, sample_ids, token_weights)
    tokens = supervised_tokens(labels, cuda_mask, sample_ids, token_weights)
    check_targets(tokens.target, logits.size(-1))

    valid_logits = logits[tokens.row, tokens.column].float()  # [num_valid, vocab_size]
    nll = F.cross_entropy(valid_logits, tokens.target, reduction="none")  # [num_valid]
    check_finite(torch.isfinite(nll))

    confidence = (-nll.detach()).exp()  # Eq. 1
    if settings.objective == "cuset":
        weight = hybrid_mask(confidence, tokens.is_cuda, settings)  # Eq. 2 to 4
    else:
        rule, start = weight_rule(settings, tokens.is_cuda, confidence.dtype)
        weight = rule(start, confidence, valid_logits.detach())
    sample, region, sample_weight = weigh_samples(confidence, tokens, settings)  # Eq. 5 to 8

    penalty = None
    if settings.needs_reference:
        if reference_logits is None:
            raise ValueError("the objective asft needs the base model's logits: pass reference_logits.")
        log_base = reference_logits[tokens.row, tokens.column].float().log_softmax(dim=-1)
        penalty = settings.asft_alpha * base_divergence(valid_logits.log_softmax(dim=-1), log_base)

    samples = sample, region, sample_weight, penalty
    return TokenTerms(nll, confidence, weight, tokens.is_cuda, tokens.row, *samples, tokens.given_weight)


def objective_loss(
    logits: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    settings: ObjectiveSettings,
    *,
    num_items_in_batch: torch.Tensor | int | None = None,
    reference_logits: torch.Tensor | None = None,
    token_weights: torch.Tensor | None = None,
) -> torch.Tensor:
    r"""The loss of any of the six objectives; arguments as in `cuset_loss`, hyper-parameters in `settings`."""
    terms = token_terms(logits, labels, cuda_mask, sample_ids, settings, reference_logits, token_weights)
    if terms.nll.numel() == 0:
        return no_loss(logits)
    return terms.loss.sum() / terms.count(settings.normalization, num_items_in_batch)  # Eq. 9


def cuset_loss(
    logits: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    *,
    tau: float = 0.1,
    lam: float = 1.0,
    window: int = 256,
    num_items_in_batch: torch.Tensor | int | None = None,
    token_weights: torch.Tensor | None = None,
    use_confidence_mask: bool = True,
    use_cuda_mask: bool = True,
    use_region_weight: bool = True,
    region_scope: str = "response",
    normalization: str = "tokens",
) -> torch.Tensor:
    r"""CuSeT's objective, Eq. 9 of arXiv 2606.16231.

    With c the probability of a target token and sg(.) a constant of the optimisation:

        M = 1[sg(c) > tau] + lambda * 1[token in a CUDA span]           Eq. 2 to 4
        C = min over t of the mean of c over the l tokens around t      Eq. 5 to 7
        loss = sum over samples of sg(1 - C) * sum over t of M * (-log c) / count

    Args:
        logits: [batch, length, vocab_size], any floating dtype; the work is done in float32.
        labels: [batch, length], -100 where not supervised. Unshifted: position t is predicted by logits[t - 1].
        cuda_mask: [batch, length], not 0 where the token lies in a CUDA span; None: nowhere.
        sample_ids: [batch, length], the number of the sample within the row; None: a row is a sample.
        tau: confidence threshold in [0, 1).
        lam: weight of CUDA tokens, at least 0.
        window: window length l in tokens.
        num_items_in_batch: what the sum is divided by: the supervised tokens of the whole optimizer step, over
            accumulation and ranks. None: those of this batch.
        token_weights: [batch, length] float32, aligned with the labels, what each token's loss is multiplied with;
            the divisor stays what it is. None: 1.
        use_confidence_mask, use_cuda_mask, use_region_weight: the three parts, one by one (Table 5). Without all of
            them the loss is plain cross-entropy.
        region_scope: "response", every window (Eq. 7), or "cuda", windows centred on a CUDA token.
        normalization: what None means for num_items_in_batch: "tokens", or "samples" (Eq. 9 read literally).

    Returns:
        A scalar in nats per supervised token. Without a supervised token: 0, with a gradient path.

    Raises:
        ValueError: a hyper-parameter out of range, shapes that do not match, labels outside the vocabulary, NaN or
            infinite logits.
    """
    switches = use_confidence_mask, use_cuda_mask, use_region_weight
    settings = ObjectiveSettings("cuset", tau, lam, window, *switches, region_scope, normalization)
    given = {"num_items_in_batch": num_items_in_batch, "token_weights": token_weights}
    return objective_loss(logits, labels, cuda_mask, sample_ids, settings, **given)


# ---- what is refused, here and by the fused head


def check_shapes(
    name: str,
    tensor: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    token_weights: torch.Tensor | None,
) -> None:
    """Raise ValueError unless `tensor`, called `name`, and the tensors of a batch have shapes that belong together."""
    if tensor.dim() != 3 or labels.dim() != 2:
        raise ValueError(
            f"expected {name} [batch, length, {'vocab_size' if name == 'logits' else 'hidden_size'}] and labels "
            f"[batch, length], got {list(tensor.shape)} and {list(labels.shape)}."
        )
    columns = {"labels": labels, "cuda_mask": cuda_mask, "sample_ids": sample_ids, "token_weights": token_weights}
    for key, values in columns.items():
        if values is not None and values.shape != tensor.shape[:2]:
            raise ValueError(
                f"{key} has the shape {list(values.shape)}, but {name} {list(tensor.shape)} want "
                f"{list(tensor.shape[:2])}: one value for each token, unshifted."
            )


def check_targets(target: torch.Tensor, vocab_size: int) -> None:
    """Raise ValueError when a token [num_valid] has no logit. Waits for the device."""
    if not target.numel():
        return
    lowest, highest = (int(bound) for bound in target.aminmax())
    if not 0 <= lowest <= highest < vocab_size:
        raise ValueError(
            f"labels run from {lowest} to {highest}, outside the vocabulary of {vocab_size} logits: "
            "the tokenizer and the model do not belong together (resize_vocab: true where tokens were added)."
        )


def check_finite(is_finite: torch.Tensor) -> None:
    """Raise ValueError unless the terms of all tokens, [num_valid] boolean, are finite. Waits for the device."""
    if not is_finite.all():
        raise ValueError(
            f"{int((~is_finite).sum())} of {is_finite.numel()} supervised tokens have NaN or infinite logits: "
            "training has diverged or the weights are damaged. Lower learning_rate, set max_grad_norm, or use bf16 in "
            "place of fp16."
        )


def no_loss(*tensors: torch.Tensor) -> torch.Tensor:
    """The loss without a supervised token: 0 whatever `tensors` hold, with the gradient path that every rank needs."""
    return torch.stack([t[:0].sum(dtype=torch.promote_types(t.dtype, torch.float32)) for t in tensors]).sum()
