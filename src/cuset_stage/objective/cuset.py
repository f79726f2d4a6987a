"""CuSeT from confidence to loss: Eq. 1 to 9 of arXiv 2606.16231 in order, on materialised logits (torch only).

Everything works on the supervised tokens of a batch laid end to end, `[num_valid]`, in which the tokens of a sample
stand together, and costs O(num_valid) whatever the window. `cuset_loss`, at the end, is the whole; the fused head
(`fused.py`) gives the same loss and gradients without the logits, and is tested against this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F

from .rules import Tokens
from .settings import ObjectiveSettings
from .vocabulary import at_least_zero, base_divergence, measure, measure_both


LABEL_COLUMNS = ("cuda_mask", "sample_ids")  # of a batch, beside its labels
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
    kind: torch.Tensor  # integer, the kind of the CUDA span it lies in, 0: none
    sample_id: torch.Tensor | None  # the number of its sample within the row; None: a row is a sample
    given_weight: torch.Tensor | None = None  # what the data multiply its loss with; None: 1

    @property
    def is_cuda(self) -> torch.Tensor:
        """The CUDA mask, boolean."""
        return self.kind != 0


def supervised_positions(labels: torch.Tensor) -> torch.Tensor:
    """[batch, length - 1] boolean: True at t where the token t + 1 is supervised, so that logits[t] are needed."""
    return labels[:, 1:] != IGNORE_INDEX


def supervised_tokens(
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None = None,
    sample_ids: torch.Tensor | None = None,
    token_weights: torch.Tensor | None = None,
    *,
    positions: torch.Tensor | None = None,
) -> SupervisedTokens:
    """The tokens that follow `positions` [num_valid, 2], row and column; other arguments as in `token_terms`.

    None: the supervised ones; this waits for the device, for their number.
    """
    row, column = (supervised_positions(labels).nonzero() if positions is None else positions).unbind(1)
    position = torch.add(column, row, alpha=labels.size(1))

    def of_tokens(values: torch.Tensor | None) -> torch.Tensor | None:
        return None if values is None else values.reshape(-1).index_select(0, position + 1)

    kind = of_tokens(cuda_mask)
    kind = torch.zeros_like(position) if kind is None else kind
    given = of_tokens(sample_ids), of_tokens(token_weights)
    return SupervisedTokens(row, column, position, of_tokens(labels).long(), kind, *given)


def known_before(tokens: SupervisedTokens, settings: ObjectiveSettings) -> dict[str, torch.Tensor]:
    """What the rule of `settings` may read of the tokens before anything is known of their logits, [num_valid] each."""
    known = {"kind": tokens.kind, "is_cuda": tokens.is_cuda}
    if "given_weight" in settings.reads:
        known["given_weight"] = torch.ones_like(tokens.row) if tokens.given_weight is None else tokens.given_weight
    if not settings.reads.isdisjoint(("sample", "position")):
        key = torch.stack([tokens.row.long(), (tokens.row if tokens.sample_id is None else tokens.sample_id).long()])
        begins = torch.ones_like(tokens.row, dtype=torch.bool)
        begins[1:] = (key[:, 1:] != key[:, :-1]).any(dim=0)
        place = torch.arange(begins.numel(), device=begins.device)
        known["sample"] = begins.cumsum(0) - 1
        known["position"] = place - torch.where(begins, place, 0).cummax(0).values
    return known


def observed_tokens(
    known: dict[str, torch.Tensor], nll: torch.Tensor, measured: dict[str, torch.Tensor], settings: ObjectiveSettings
) -> Tokens:
    """What the rule of `settings` reads. nll: [num_valid], detached; measured: the `settings.measured` of the tokens."""
    probability = (-nll).exp().clamp(max=1.0)  # Eq. 1; exp may round upwards
    values = {"confidence": measured["base_probability"] if settings.confidence == "base" else probability} | known
    floats = {name: values[name].to(nll) for name in ("confidence", "given_weight") if name in values}
    return Tokens(nll=nll, probability=probability, **measured, **(values | floats))


@dataclass
class TokenTerms:
    r"""The supervised tokens of a batch with what the objective makes of each.

    The loss is sum over tokens of `given_weight * (sample_weight[sample] * weight * nll + penalty)`, divided by a
    count. Trainers log the terms, and evaluate row by row. All are [num_valid] and float32 unless said; the fused head does not wait to
    learn how many samples there are, so that some entries of `region_confidence` and `sample_weight` may stand for
    none: see `is_sample`.
    """

    nll: torch.Tensor  # -log c in nats, at least 0; differentiable where it comes from `token_terms`
    confidence: torch.Tensor  # c = softmax(logits)[target], Eq. 1, or what `settings.confidence` says; in [0, 1]
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
        C_t, [num_valid] float32, in [0, 1].
    """
    device = confidence.device
    # A window's sum is the difference of two of these.
    prefix = torch.zeros(confidence.numel() + 1, dtype=torch.int64, device=device)
    torch.cumsum((confidence.float() * FIXED_POINT).to(torch.int64), dim=0, out=prefix[1:])

    ends = lengths.cumsum(0)
    start, end = (ends - lengths)[sample], ends[sample]  # [num_valid]
    position = torch.arange(confidence.numel(), device=device)
    is_short = lengths[sample] < window
    left = torch.where(is_short, start, torch.maximum(start, position - window // 2))
    right = torch.where(is_short, end, torch.minimum(end, position + (window + 1) // 2))  # exclusive
    means = (prefix[right] - prefix[left]).float() / ((right - left).float() * FIXED_POINT)
    return means.clamp(0.0, 1.0)  # a division may round upwards


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


def weigh_regions(
    confidence: torch.Tensor, tokens: SupervisedTokens, settings: ObjectiveSettings
) -> tuple[torch.Tensor, torch.Tensor]:
    """Eq. 5 to 7: (the sample of each token [num_valid], C [num_samples])."""
    sample, lengths = number_samples(tokens.row, tokens.sample_id)
    means = window_confidence(confidence, sample, lengths, int(settings.window))  # Eq. 5 and 6
    candidates = tokens.is_cuda if settings.region_scope == "cuda" else None
    return sample, least_confident_window(means, sample, lengths.numel(), candidates)  # Eq. 7


def token_terms(
    logits: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    settings: ObjectiveSettings,
    reference_logits: torch.Tensor | None = None,
    token_weights: torch.Tensor | None = None,
) -> TokenTerms:
    r"""The terms of an objective at every supervised token of a batch.

    Args:
        logits, labels, cuda_mask, sample_ids, token_weights: as in `cuset_loss`.
        settings: the objective.
        reference_logits: [batch, length, vocab_size] of the base model, where `settings.needs_reference`.

    Raises:
        ValueError: shapes that do not match, labels outside the vocabulary, NaN or infinite logits or weights, no base
            model where the settings want one.
    """
    columns = labels, cuda_mask, sample_ids, token_weights
    check_batch("logits", logits, *columns)
    tokens = supervised_tokens(*columns)
    check_targets(tokens.target, logits.size(-1))
    if settings.needs_reference and reference_logits is None:
        raise ValueError(f"the objective {settings.objective} needs the base model's logits: pass reference_logits.")

    full = torch.promote_types(logits.dtype, torch.float32)
    valid_logits = logits[tokens.row, tokens.column].to(full)  # [num_valid, vocab_size]
    nll = at_least_zero(F.cross_entropy(valid_logits, tokens.target, reduction="none"))  # [num_valid]
    check_finite(torch.isfinite(nll))

    base_logits = reference_logits[tokens.row, tokens.column].to(full) if settings.needs_reference else None
    measured = measure_both(measure, valid_logits.detach(), base_logits, tokens.target, settings.measured)
    observed = observed_tokens(known_before(tokens, settings), nll.detach(), measured, settings)
    weight = settings.weigh(observed) if nll.numel() else nll.detach()
    sample, region = weigh_regions(observed.confidence, tokens, settings)  # Eq. 5 to 7
    sample_weight = settings.sample_weight(region)  # Eq. 8
    check_weights(settings, weight, sample_weight)

    penalty = None
    if settings.kl:
        penalty = settings.kl * base_divergence(valid_logits.log_softmax(dim=-1), base_logits.log_softmax(dim=-1))
    of_tokens = nll, observed.confidence, weight, tokens.is_cuda, tokens.row
    return TokenTerms(*of_tokens, sample, region, sample_weight, penalty, tokens.given_weight)


def objective_loss(
    logits: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    settings: ObjectiveSettings,
    *,
    num_items_in_batch: torch.Tensor | int | None = None,
    reference_logits: torch.Tensor | None = None,
    **columns: torch.Tensor | None,
) -> torch.Tensor:
    r"""The loss of an objective; arguments as in `token_terms` and `cuset_loss`."""
    terms = token_terms(logits, labels, cuda_mask, sample_ids, settings, reference_logits, **columns)
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
        logits: [batch, length, vocab_size], any floating dtype; the work is done in float32 at least.
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


COLUMNS = ("labels", "cuda_mask", "sample_ids", "token_weights")


def check_batch(name: str, tensor: torch.Tensor, *columns: torch.Tensor | None) -> None:
    """Raise ValueError unless `tensor`, called `name`, and the `COLUMNS` of a batch belong together."""
    labels = columns[0]
    if tensor.dim() != 3 or labels.dim() != 2:
        raise ValueError(
            f"expected {name} [batch, length, {'vocab_size' if name == 'logits' else 'hidden_size'}] and labels "
            f"[batch, length], got {list(tensor.shape)} and {list(labels.shape)}."
        )
    for key, values in zip(COLUMNS, columns, strict=True):
        if values is not None and values.shape != tensor.shape[:2]:
            raise ValueError(
                f"{key} has the shape {list(values.shape)}, but {name} {list(tensor.shape)} want "
                f"{list(tensor.shape[:2])}: one value for each token, unshifted."
            )
        # A kernel that reads another GPU's memory would take the whole process down.
        if values is not None and values.device != tensor.device:
            raise ValueError(
                f"{key} is on {values.device}, {name} on {tensor.device}: expected one device; move the batch to the head's."
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


class NonFiniteError(ValueError):
    """Logits or gradients are NaN or infinite. found: what was seen, without a full stop; fix: sentences on causes and remedies."""

    def __init__(
        self,
        found: str,
        fix: str = "The weights or the gradients before them are damaged, or training has diverged: lower learning_rate, set "
        "max_grad_norm, or use bf16 in place of fp16.",
    ) -> None:
        super().__init__(f"{found}. {fix}")
        self.found = found


def check_finite(is_finite: torch.Tensor) -> None:
    """Raise NonFiniteError unless the terms of all tokens, [num_valid] boolean, are finite. Waits for the device."""
    if not is_finite.all():
        raise NonFiniteError(
            f"{int((~is_finite).sum())} of {is_finite.numel()} supervised tokens have NaN or infinite logits"
        )


def check_weights(settings: ObjectiveSettings, *weights: torch.Tensor) -> None:
    """Raise ValueError unless the weights of a rule are finite. Waits for the device."""
    for weight in weights:
        if not (is_finite := torch.isfinite(weight)).all():
            raise ValueError(
                f"cuset_objective={settings.objective!r} gave {int((~is_finite).sum())} NaN or infinite weights of "
                f"{weight.numel()}: keep the rule away from 0 / 0, the logarithm or a negative power of 0 (clamp_min), and overflow."
            )


def no_loss(*tensors: torch.Tensor) -> torch.Tensor:
    """The loss without a supervised token: 0 whatever `tensors` hold, with the gradient path that every rank needs."""
    return torch.stack([t[:0].sum(dtype=torch.promote_types(t.dtype, torch.float32)) for t in tensors]).sum()
