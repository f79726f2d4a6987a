"""What a batch's samples make of its tokens, once the head has read them all: plain PyTorch (torch only).

`triton_samples.weigh_samples` does the same in one kernel.
"""

from dataclasses import dataclass

import torch

from .regions import least_confident_window, window_confidence


@dataclass(frozen=True)
class WeighedSamples:
    """The samples of a batch and each token's share of the loss.

    Attributes:
        sample: [num_valid], the entry of the next two that stands for the token's sample.
        region_confidence: C, Eq. 7, at the entries that stand for a sample; anything elsewhere.
        sample_weight: w, Eq. 8, likewise.
        token_scale: [num_valid], w of the token's sample.
        share: [num_valid], w * M * nll + penalty; NaN or infinite where the token's nll or penalty is.
    """

    sample: torch.Tensor
    region_confidence: torch.Tensor
    sample_weight: torch.Tensor
    token_scale: torch.Tensor
    share: torch.Tensor


def number_without_waiting(row: torch.Tensor, sample_id: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """`regions.number_samples` with [num_valid] lengths, 0 after the last sample: the device alone knows their number."""
    is_first = torch.ones_like(row)
    is_first[1:] = row[1:] != row[:-1]
    if sample_id is not None:
        is_first[1:] |= sample_id[1:] != sample_id[:-1]
    sample = is_first.cumsum(0) - 1
    number = torch.arange(sample.numel(), device=sample.device)
    ends = torch.searchsorted(sample, number, right=True)
    starts = torch.searchsorted(sample, number, right=False)
    return sample, ends - starts


def weigh_samples(
    nll: torch.Tensor,
    weight: torch.Tensor,
    penalty: torch.Tensor | None,
    row: torch.Tensor,
    sample_id: torch.Tensor | None,
    is_cuda: torch.Tensor,
    *,
    window: int,
    only_cuda: bool,
    reweight: bool,
) -> WeighedSamples:
    """Eq. 5 to 8 over the supervised tokens of a batch, laid end to end, and the loss of each token.

    Args:
        nll, weight: [num_valid], -log c and M.
        penalty: [num_valid], ASFT's, or None.
        row: [num_valid], the row of the batch.
        sample_id: [num_valid], the number of the sample within the row; None: a row is a sample.
        is_cuda: [num_valid] boolean.
        window: l, in tokens.
        only_cuda: only windows centred on CUDA tokens count (`region_scope: cuda`).
        reweight: False makes every w 1.
    """
    sample, lengths = number_without_waiting(row, sample_id)
    means = window_confidence((-nll).exp(), sample, lengths, window)
    region = least_confident_window(means, sample, lengths.numel(), is_cuda if only_cuda else None)
    sample_weight = 1.0 - region if reweight else torch.ones_like(region)
    token_scale = sample_weight[sample].to(nll.dtype)
    share = token_scale * weight * nll
    return WeighedSamples(sample, region, sample_weight, token_scale, share if penalty is None else share + penalty)
