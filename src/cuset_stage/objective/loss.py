"""The objective as a scalar: the readable implementation, plain PyTorch (torch only)."""

import torch

from .settings import ObjectiveSettings
from .terms import no_loss, token_terms


def objective_loss(
    logits: torch.Tensor,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
    settings: ObjectiveSettings,
    *,
    num_items_in_batch: torch.Tensor | int | None = None,
    reference_logits: torch.Tensor | None = None,
) -> torch.Tensor:
    r"""The loss of any of the six objectives; arguments as in `cuset_loss`, hyper-parameters in `settings`."""
    terms = token_terms(logits, labels, cuda_mask, sample_ids, settings, reference_logits)
    if terms.nll.numel() == 0:
        return no_loss(logits)

    count = terms.count(settings.normalization) if num_items_in_batch is None else num_items_in_batch
    return terms.loss.sum() / count


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
        num_items_in_batch: what the sum is divided by: the supervised tokens of the whole optimizer step, over accumulation and
            ranks. None: those of this batch.
        use_confidence_mask, use_cuda_mask, use_region_weight: the three parts, one by one (Table 5). Without all of them the loss
            is plain cross-entropy.
        region_scope: "response", every window (Eq. 7), or "cuda", windows centred on a CUDA token.
        normalization: what None means for num_items_in_batch: "tokens", or "samples" (Eq. 9 read literally).

    Returns:
        A scalar in nats per supervised token. Without a supervised token: 0, with a gradient path.

    Raises:
        ValueError: a hyper-parameter out of range, shapes that do not match, labels outside the vocabulary, NaN or infinite logits.
    """
    settings = ObjectiveSettings(
        objective="cuset",
        tau=tau,
        lam=lam,
        window=window,
        use_confidence_mask=use_confidence_mask,
        use_cuda_mask=use_cuda_mask,
        use_region_weight=use_region_weight,
        region_scope=region_scope,
        normalization=normalization,
    )
    return objective_loss(logits, labels, cuda_mask, sample_ids, settings, num_items_in_batch=num_items_in_batch)
