"""CuSeT from confidence to loss: Eq. 1 to 9 of arXiv 2606.16231 in order, on materialised logits (torch only).

All functions work on the supervised tokens of a batch, concatenated to shape `[num_valid]`, in which the tokens of a
sample are contiguous. The cost is O(num_valid) for every window length. `cuset_loss` is the complete loss. The fused
head (`fused.py`) gives the same loss and gradients without the logits, and is tested against this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F

from .rules import Tokens
from .settings import ObjectiveSettings
from .vocabulary import at_least_zero, base_divergence, measure, measure_both


LABEL_COLUMNS = ("cuda_mask", "sample_ids")  # the columns that this package adds to a batch beside its labels
IGNORE_INDEX = -100
# Prefix sums of the confidence are int64 numbers in units of 2**-40. A confidence is at most 1, so 2**22 tokens fit.
# The sum of integers is exact in any order. Unlike a floating-point cumsum, an integer cumsum is also allowed under
# torch.use_deterministic_algorithms on CUDA.
FIXED_POINT = 2**40


# ---- the tokens


class SupervisedTokens(NamedTuple):
    """The supervised tokens of a batch. All fields are [num_valid].

    Attributes:
        row: row of the batch.
        column: column in [batch, length] that predicts the token, which is the one before the token's own.
        position: the same place as an index into [batch * length].
        target: token id.
        kind: integer, kind of the CUDA span that contains the token; 0 if there is none.
        sample_id: number of the token's sample within the row. None means that each row is one sample.
        given_weight: factor from the data for the token's loss. None means 1.
    """

    row: torch.Tensor
    column: torch.Tensor
    position: torch.Tensor
    target: torch.Tensor
    kind: torch.Tensor
    sample_id: torch.Tensor | None
    given_weight: torch.Tensor | None = None

    @property
    def is_cuda(self) -> torch.Tensor:
        """Return the CUDA mask, boolean."""
        return self.kind != 0


def supervised_positions(labels: torch.Tensor) -> torch.Tensor:
    """Return a boolean mask [batch, length - 1] of the positions whose logits are needed.

    It is True at t if the token at t + 1 is supervised, because logits[t] predict that token.
    """
    return labels[:, 1:] != IGNORE_INDEX


def supervised_tokens(
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None = None,
    sample_ids: torch.Tensor | None = None,
    token_weights: torch.Tensor | None = None,
    *,
    positions: torch.Tensor | None = None,
) -> SupervisedTokens:
    """Collect the supervised tokens of a batch.

    Args:
        labels, cuda_mask, sample_ids, token_weights: as in `token_terms`.
        positions: [num_valid, 2], row and column of the positions that predict the tokens. None takes those of all
            supervised tokens, and waits for the device to learn their number.
    """
    row, column = (supervised_positions(labels).nonzero() if positions is None else positions).unbind(1)
    position = torch.add(column, row, alpha=labels.size(1))

    def of_tokens(values: torch.Tensor | None) -> torch.Tensor | None:
        return None if values is None else values.reshape(-1).index_select(0, position + 1)

    kind = torch.zeros_like(position) if cuda_mask is None else of_tokens(cuda_mask)
    optional = of_tokens(sample_ids), of_tokens(token_weights)
    return SupervisedTokens(row, column, position, of_tokens(labels).long(), kind, *optional)


def known_before(tokens: SupervisedTokens, settings: ObjectiveSettings) -> dict[str, torch.Tensor]:
    """Return the statistics that the rule of `settings` may read and that do not depend on the logits.

    Returns:
        Name -> [num_valid], by the names of `rules.STATISTICS`.
    """
    values = {"kind": tokens.kind, "is_cuda": tokens.is_cuda}
    if "given_weight" in settings.reads:
        values["given_weight"] = torch.ones_like(tokens.row) if tokens.given_weight is None else tokens.given_weight
    if not settings.reads.isdisjoint(("sample", "position")):
        key = torch.stack([tokens.row.long(), (tokens.row if tokens.sample_id is None else tokens.sample_id).long()])
        is_first = torch.ones_like(tokens.row, dtype=torch.bool)
        is_first[1:] = (key[:, 1:] != key[:, :-1]).any(dim=0)
        index = torch.arange(is_first.numel(), device=is_first.device)
        values["sample"] = is_first.cumsum(0) - 1
        values["position"] = index - torch.where(is_first, index, 0).cummax(0).values
    return values


def observed_tokens(
    known: dict[str, torch.Tensor], nll: torch.Tensor, measured: dict[str, torch.Tensor], settings: ObjectiveSettings
) -> Tokens:
    """Return the tokens as the rule of `settings` reads them.

    Args:
        known: the result of `known_before`.
        nll: [num_valid], detached.
        measured: the statistics named in `settings.measured`, each [num_valid].
        settings: the objective.
    """
    probability = (-nll).exp().clamp(max=1.0)  # Eq. 1; the clamp is there because exp may round upwards
    values = {"confidence": measured["base_probability"] if settings.confidence == "base" else probability} | known
    floats = {name: values[name].to(nll) for name in ("confidence", "given_weight") if name in values}
    return Tokens(nll=nll, probability=probability, **measured, **(values | floats))


@dataclass
class TokenTerms:
    r"""The supervised tokens of a batch with the terms of the loss.

    The loss is the sum over tokens of `given_weight * (sample_weight[sample] * weight * nll + penalty)`, divided by a
    count. Trainers log the terms and use them to evaluate row by row.

    All attributes are [num_valid] and float32 unless noted otherwise.

    Attributes:
        nll: -log c in nats, at least 0, with c the model's own probability. Differentiable if it comes from
            `token_terms`.
        confidence: c = softmax(logits)[target], Eq. 1, or the base model's probability if `settings.confidence` is
            "base". In [0, 1].
        weight: token weight of the objective. For CuSeT this is the hybrid mask M, Eq. 4.
        is_cuda: boolean, the CUDA mask before the factor lambda, Eq. 3.
        row: integer, row of the batch.
        sample: integer, index of the token's sample in `region_confidence` and `sample_weight`.
        region_confidence: [num_samples or more], C of the sample's least confident window, Eq. 7.
        sample_weight: [num_samples or more], w = 1 - C, Eq. 8.
        penalty: term added to the weighted nll (the KL term of ASFT), or None.
        given_weight: factor from the data for the token's loss. None means 1.

    `region_confidence` and `sample_weight` may be longer than the number of samples, because the fused head does not
    wait for that number. `is_sample` marks the valid entries.
    """

    nll: torch.Tensor
    confidence: torch.Tensor
    weight: torch.Tensor
    is_cuda: torch.Tensor
    row: torch.Tensor
    sample: torch.Tensor
    region_confidence: torch.Tensor
    sample_weight: torch.Tensor
    penalty: torch.Tensor | None = None
    given_weight: torch.Tensor | None = None

    @property
    def is_sample(self) -> torch.Tensor:
        """Return a boolean mask of the entries of `region_confidence` and `sample_weight` that belong to a sample."""
        return torch.zeros_like(self.sample_weight, dtype=torch.bool).index_fill_(0, self.sample, True)

    def count(self, normalization: str, given: torch.Tensor | int | None = None) -> torch.Tensor | int:
        """Return the divisor of the loss.

        Args:
            normalization: "tokens" or "samples", which of the two is counted where `given` is None.
            given: a divisor to use instead of the count.

        Returns:
            `given`, or the number of these tokens, or the number of their samples (a tensor on the device).
        """
        if given is not None:
            return given
        return self.nll.numel() if normalization == "tokens" else self.is_sample.sum()

    @property
    def loss(self) -> torch.Tensor:
        """Return each token's share of the loss before the division, [num_valid] float32."""
        loss = self.sample_weight[self.sample] * self.weight * self.nll
        loss = loss if self.penalty is None else loss + self.penalty
        return loss if self.given_weight is None else loss * self.given_weight


# ---- the equations


def number_samples(row: torch.Tensor, sample_id: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Number the samples of a batch from 0. A sample is a run of tokens with the same row and the same id.

    Args:
        row: [num_valid], row of the batch of each token.
        sample_id: [num_valid], number of the token's sample within its row. None means that each row is one sample.

    Returns:
        The sample of each token, [num_valid], and the length of each sample in tokens, [num_samples].
    """
    # Row and id in one integer, so that unique_consecutive compares both.
    key = row.long() if sample_id is None else row.long() * 2**32 + sample_id.long()
    _, sample, lengths = torch.unique_consecutive(key, return_inverse=True, return_counts=True)
    return sample, lengths


def window_confidence(
    confidence: torch.Tensor, sample: torch.Tensor, lengths: torch.Tensor, window: int
) -> torch.Tensor:
    r"""Compute the mean confidence of the window around each token, Eq. 5 and 6.

    The window is R_t = [t - floor(l/2), t + ceil(l/2) - 1], clipped to the sample. In a sample shorter than l, every
    window is the whole sample.

    Args:
        confidence: [num_valid] float32, the probability of each target token.
        sample: [num_valid], the sample of each token, from `number_samples`.
        lengths: [num_samples], number of tokens of each sample.
        window: window length l in tokens.

    Returns:
        C_t, [num_valid] float32, in [0, 1].
    """
    device = confidence.device
    # The sum over a window is the difference of two prefix sums.
    prefix = torch.zeros(confidence.numel() + 1, dtype=torch.int64, device=device)
    torch.cumsum((confidence.float() * FIXED_POINT).to(torch.int64), dim=0, out=prefix[1:])

    ends = lengths.cumsum(0)
    start, end = (ends - lengths)[sample], ends[sample]  # [num_valid]
    position = torch.arange(confidence.numel(), device=device)
    is_short = lengths[sample] < window
    left = torch.where(is_short, start, torch.maximum(start, position - window // 2))
    right = torch.where(is_short, end, torch.minimum(end, position + (window + 1) // 2))  # exclusive
    means = (prefix[right] - prefix[left]).float() / ((right - left).float() * FIXED_POINT)
    return means.clamp(0.0, 1.0)  # the division may round upwards


def least_confident_window(
    window_means: torch.Tensor, sample: torch.Tensor, num_samples: int, is_candidate: torch.Tensor | None = None
) -> torch.Tensor:
    r"""Compute the confidence of each sample's least confident window, Eq. 7: C_n = min_t C_t.

    Args:
        window_means: C_t, [num_valid].
        sample: [num_valid], the sample of each token.
        num_samples: number of samples.
        is_candidate: [num_valid] boolean. If given, only windows centred on these tokens count. In a sample without
            such a token every window counts. None means that every window counts in all samples.

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
    """Compute Eq. 5 to 7 for a batch.

    Args:
        confidence: [num_valid], c of each token.
        tokens: the supervised tokens.
        settings: the window length and the region scope are read.

    Returns:
        The sample of each token, [num_valid], and C of each sample, [num_samples].
    """
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
    r"""Compute the terms of an objective at every supervised token of a batch.

    Args:
        logits, labels, cuda_mask, sample_ids, token_weights: as in `cuset_loss`.
        settings: the objective.
        reference_logits: [batch, length, vocab_size], logits of the base model. Needed if `settings.needs_reference`.

    Raises:
        ValueError: shapes that do not match, labels outside the vocabulary, NaN or infinite logits or weights, or no
            `reference_logits` where they are needed.
    """
    columns = labels, cuda_mask, sample_ids, token_weights
    check_batch("logits", logits, *columns)
    tokens = supervised_tokens(*columns)
    check_targets(tokens.target, logits.size(-1))
    if settings.needs_reference and reference_logits is None:
        raise ValueError(f"the objective {settings.objective} needs the base model's logits: pass reference_logits.")

    full_dtype = torch.promote_types(logits.dtype, torch.float32)
    valid_logits = logits[tokens.row, tokens.column].to(full_dtype)  # [num_valid, vocab_size]
    nll = at_least_zero(F.cross_entropy(valid_logits, tokens.target, reduction="none"))  # [num_valid]
    check_finite(torch.isfinite(nll))

    base_logits = reference_logits[tokens.row, tokens.column].to(full_dtype) if settings.needs_reference else None
    measured = measure_both(measure, valid_logits.detach(), base_logits, tokens.target, settings.measured)
    observed = observed_tokens(known_before(tokens, settings), nll.detach(), measured, settings)
    weight = settings.weigh(observed) if nll.numel() else nll.detach()
    sample, region = weigh_regions(observed.confidence, tokens, settings)  # Eq. 5 to 7
    sample_weight = settings.sample_weight(region)  # Eq. 8
    check_weights(settings, weight, sample_weight)

    penalty = None
    if settings.kl:
        penalty = settings.kl * base_divergence(valid_logits.log_softmax(dim=-1), base_logits.log_softmax(dim=-1))
    token_columns = nll, observed.confidence, weight, tokens.is_cuda, tokens.row
    return TokenTerms(*token_columns, sample, region, sample_weight, penalty, tokens.given_weight)


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
    r"""Compute the loss of an objective.

    Args:
        logits, labels, cuda_mask, sample_ids, num_items_in_batch: as in `cuset_loss`.
        settings, reference_logits: as in `token_terms`.
        columns: `token_weights`, as in `cuset_loss`.

    Returns:
        A scalar. Without a supervised token it is 0, with a gradient path.
    """
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
    r"""Compute CuSeT's objective, Eq. 9 of arXiv 2606.16231.

    With c the probability of a target token, and sg(.) the stop-gradient:

        M = 1[sg(c) > tau] + lambda * 1[token in a CUDA span]           Eq. 2 to 4
        C = min over t of the mean of c over the l tokens around t      Eq. 5 to 7
        loss = sum over samples of sg(1 - C) * sum over t of M * (-log c) / count

    Args:
        logits: [batch, length, vocab_size], any floating dtype. The computation is in float32 or wider.
        labels: [batch, length], -100 where not supervised. Unshifted: position t is predicted by logits[t - 1].
        cuda_mask: [batch, length], nonzero where the token lies in a CUDA span. None means nowhere.
        sample_ids: [batch, length], number of the sample within the row. None means that each row is one sample.
        tau: confidence threshold in [0, 1).
        lam: weight lambda of CUDA tokens, at least 0.
        window: window length l in tokens.
        num_items_in_batch: divisor of the sum: the number of supervised tokens in the whole optimizer step, over
            gradient accumulation and ranks. None counts this batch, see `normalization`.
        token_weights: [batch, length] float32, aligned with the labels. Each token's loss is multiplied by its weight;
            the divisor does not change. None means 1.
        use_confidence_mask, use_cuda_mask, use_region_weight: switches for the three parts (Table 5). With all three
            off the loss is plain cross-entropy.
        region_scope: "response" for every window (Eq. 7), or "cuda" for windows centred on a CUDA token.
        normalization: what is counted where `num_items_in_batch` is None: "tokens", or "samples" (Eq. 9 read
            literally).

    Returns:
        A scalar in nats per supervised token. Without a supervised token it is 0, with a gradient path.

    Raises:
        ValueError: a hyper-parameter out of range, shapes that do not match, labels outside the vocabulary, NaN or
            infinite logits.
    """
    switches = use_confidence_mask, use_cuda_mask, use_region_weight
    settings = ObjectiveSettings("cuset", tau, lam, window, *switches, region_scope, normalization)
    options = {"num_items_in_batch": num_items_in_batch, "token_weights": token_weights}
    return objective_loss(logits, labels, cuda_mask, sample_ids, settings, **options)


# ---- input checks, also used by the fused head


COLUMNS = ("labels", "cuda_mask", "sample_ids", "token_weights")


def check_batch(name: str, tensor: torch.Tensor, *columns: torch.Tensor | None) -> None:
    """Check that the shapes and devices of a batch match.

    Args:
        name: "logits" or "hidden", the name of `tensor` in error messages.
        tensor: [batch, length, vocab_size or hidden_size].
        columns: the values for `COLUMNS`, each [batch, length]; all but the labels may be None.

    Raises:
        ValueError: the shapes do not match, or the tensors are on different devices.
    """
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
    """Raise ValueError if a target [num_valid] is outside the vocabulary. Waits for the device."""
    if not target.numel():
        return
    lowest, highest = (int(bound) for bound in target.aminmax())
    if not 0 <= lowest <= highest < vocab_size:
        raise ValueError(
            f"labels run from {lowest} to {highest}, outside the vocabulary of {vocab_size} logits: "
            "the tokenizer and the model do not belong together (resize_vocab: true where tokens were added)."
        )


class NonFiniteError(ValueError):
    """Error for logits or gradients that are NaN or infinite.

    Args:
        found: what was observed, without a full stop at the end.
        fix: one or more full sentences on causes and remedies.
    """

    def __init__(
        self,
        found: str,
        fix: str = "The weights or the gradients before them are damaged, or training has diverged: lower learning_rate, set "
        "max_grad_norm, or use bf16 in place of fp16.",
    ) -> None:
        super().__init__(f"{found}. {fix}")
        self.found = found


def check_finite(is_finite: torch.Tensor) -> None:
    """Raise NonFiniteError unless `is_finite`, [num_valid] boolean, is True for all tokens. Waits for the device."""
    if not is_finite.all():
        raise NonFiniteError(
            f"{int((~is_finite).sum())} of {is_finite.numel()} supervised tokens have NaN or infinite logits"
        )


def check_weights(settings: ObjectiveSettings, *weights: torch.Tensor) -> None:
    """Raise ValueError unless all weights that the rule of `settings` gave are finite. Waits for the device."""
    for weight in weights:
        if not (is_finite := torch.isfinite(weight)).all():
            raise ValueError(
                f"cuset_objective={settings.objective!r} gave {int((~is_finite).sum())} NaN or infinite weights of "
                f"{weight.numel()}: keep the rule away from 0 / 0, the logarithm or a negative power of 0 (clamp_min), and overflow."
            )


def no_loss(*tensors: torch.Tensor) -> torch.Tensor:
    """Return the loss of a batch without a supervised token: 0, with a gradient path to `tensors`.

    Every rank needs the gradient path, including ranks whose batch has no supervised token. The sums are over empty
    slices, so the loss is 0 whatever `tensors` hold, NaN included.
    """
    return torch.stack([t[:0].sum(dtype=torch.promote_types(t.dtype, torch.float32)) for t in tensors]).sum()
