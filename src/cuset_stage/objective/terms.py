"""From logits to the terms of the loss, token by token (torch only).

Trainers want more than a scalar: they log the terms, and they evaluate row by row. `TokenTerms` is what the readable loss and the
trainer share.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F

from .regions import least_confident_window, number_samples, window_confidence
from .settings import ObjectiveSettings
from .weights import base_divergence, token_weight


IGNORE_INDEX = -100


@dataclass
class TokenTerms:
    r"""The supervised tokens of a batch, laid end to end, with what the objective makes of each.

    The loss is sum over tokens of `weight * sample_weight[sample] * nll + penalty`, divided by a count.

    Attributes:
        nll: [num_valid] float32, -log c in nats, differentiable.
        confidence: [num_valid] float32, c = softmax(logits)[target], Eq. 1.
        weight: [num_valid] float32, the objective's token weight (for CuSeT the hybrid mask M, Eq. 4).
        is_cuda: [num_valid] boolean, the CUDA mask before lambda, Eq. 3.
        row: [num_valid], the row of the batch.
        sample: [num_valid], the token's sample: its entry in the next two.
        region_confidence: float32, confidence of the sample's least confident window, Eq. 7. The fused head does not wait to learn how
            many samples there are, so that some entries may stand for none: see `is_sample`.
        sample_weight: float32, w = 1 - C, Eq. 8, likewise.
        penalty: [num_valid] float32, added to the weighted nll (ASFT's KL term), or None.
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

    @property
    def is_sample(self) -> torch.Tensor:
        """Which entries of `region_confidence` and `sample_weight` stand for a sample; boolean, of their length."""
        return torch.zeros_like(self.sample_weight, dtype=torch.bool).index_fill_(0, self.sample, True)

    def count(self, normalization: str) -> torch.Tensor | int:
        """What a batch's loss is divided by when nobody says: its tokens, or its samples, whose number may be on the device yet."""
        return self.nll.numel() if normalization == "tokens" else self.is_sample.sum()

    @property
    def loss(self) -> torch.Tensor:
        """[num_valid] float32: each token's share of the loss before the division."""
        loss = self.sample_weight[self.sample] * self.weight * self.nll
        return loss if self.penalty is None else loss + self.penalty


def check_shapes(
    name: str,
    tensor: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
) -> None:
    """Raise ValueError unless `tensor`, the logits or hidden states called `name`, and the tensors of a batch belong together."""
    if tensor.dim() != 3 or labels.dim() != 2:
        raise ValueError(
            f"expected {name} [batch, length, {'vocab_size' if name == 'logits' else 'hidden_size'}] and labels "
            f"[batch, length], got {list(tensor.shape)} and {list(labels.shape)}."
        )
    for key, values in (("labels", labels), ("cuda_mask", cuda_mask), ("sample_ids", sample_ids)):
        if values is not None and values.shape != tensor.shape[:2]:
            raise ValueError(
                f"{key} has the shape {list(values.shape)}, but {name} {list(tensor.shape)} want "
                f"{list(tensor.shape[:2])}: one value for each token, unshifted."
            )


def labels_outside(lowest: int, highest: int, vocab_size: int) -> ValueError:
    """The error of labels that the head has no logit for."""
    return ValueError(
        f"labels run from {lowest} to {highest}, outside the vocabulary of {vocab_size} logits: "
        "the tokenizer and the model do not belong together (resize_vocab: true where tokens were added)."
    )


def diverged(finite: torch.Tensor) -> ValueError:
    """The error of logits that are NaN or infinite; `finite`: [num_valid] boolean."""
    return ValueError(
        f"{int((~finite).sum())} of {finite.numel()} supervised tokens have NaN or infinite logits: training has diverged or the "
        "weights are damaged. Lower learning_rate, set max_grad_norm, or use bf16 in place of fp16."
    )


def no_loss(logits: torch.Tensor) -> torch.Tensor:
    """The loss of a batch without a supervised token: 0 whatever the logits hold, with the gradient path a distributed run needs."""
    return logits[:, :0].float().sum()


def supervised_positions(labels: torch.Tensor) -> torch.Tensor:
    """[batch, length - 1] boolean: True at t where the token t + 1 is supervised, so that logits[t] are needed."""
    return labels[:, 1:] != IGNORE_INDEX


def token_terms(
    logits: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    settings: ObjectiveSettings,
    reference_logits: torch.Tensor | None = None,
) -> TokenTerms:
    r"""Evaluate the objective's terms at every supervised token of a batch.

    Args:
        logits: [batch, length, vocab_size], any floating dtype; the work is done in float32.
        labels: [batch, length], unshifted, -100 where not supervised.
        cuda_mask: [batch, length], not 0 where the token lies in a CUDA span; None: nowhere.
        sample_ids: [batch, length], the number of the sample within the row; None: a row is a sample.
        settings: the objective.
        reference_logits: [batch, length, vocab_size] of the base model, for ASFT.

    Raises:
        ValueError: shapes that do not match, labels outside the vocabulary, NaN or infinite logits, ASFT without a reference.
    """
    check_shapes("logits", logits, labels, cuda_mask, sample_ids)
    keep = supervised_positions(labels)
    row = keep.nonzero()[:, 0]  # [num_valid]
    target = labels[:, 1:][keep].long()
    vocab_size = logits.size(-1)
    if target.numel():
        lowest, highest = (int(bound) for bound in target.aminmax())
        if not 0 <= lowest <= highest < vocab_size:
            raise labels_outside(lowest, highest, vocab_size)

    valid_logits = logits[:, :-1][keep].float()  # [num_valid, vocab_size]
    nll = F.cross_entropy(valid_logits, target, reduction="none")
    finite = torch.isfinite(nll)
    if not finite.all():
        raise diverged(finite)

    confidence = (-nll.detach()).exp()  # Eq. 1
    is_cuda = torch.zeros_like(target, dtype=torch.bool) if cuda_mask is None else cuda_mask[:, 1:][keep] != 0
    weight = token_weight(valid_logits.detach(), confidence, is_cuda, settings)

    ids = torch.zeros_like(target) if sample_ids is None else sample_ids[:, 1:][keep]
    sample, lengths = number_samples(row, ids)
    means = window_confidence(confidence, sample, lengths, int(settings.window))  # Eq. 5 and 6
    candidates = is_cuda if settings.region_scope == "cuda" else None
    region = least_confident_window(means, sample, lengths.numel(), candidates)  # Eq. 7
    reweight = settings.objective == "cuset" and settings.use_region_weight
    sample_weight = 1.0 - region if reweight else torch.ones_like(region)  # Eq. 8

    penalty = None
    if settings.objective == "asft" and settings.asft_alpha > 0:
        if reference_logits is None:
            raise ValueError("the objective asft needs the base model's logits: pass reference_logits.")
        penalty = settings.asft_alpha * base_divergence(valid_logits, reference_logits[:, :-1][keep])

    return TokenTerms(nll, confidence, weight, is_cuda, row, sample, region, sample_weight, penalty)
