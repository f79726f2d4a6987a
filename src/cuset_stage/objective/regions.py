"""Samples, windows and their confidence: Eq. 5 to 8 of arXiv 2606.16231 (torch only).

Everything here works on the supervised tokens of a batch laid end to end, `[num_valid]`, in which the tokens of a sample
stand together, and costs O(num_valid) whatever the window: window sums are differences of prefix sums.
"""

import torch


# Prefix sums are kept in integers of 2**-40. A confidence is at most 1, so 2**22 tokens fit; adding integers is exact in any
# order, and unlike a floating-point cumsum it is allowed under torch.use_deterministic_algorithms on CUDA.
FIXED_POINT = 2**40


def number_samples(rows: torch.Tensor, sample_ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Number the samples of a batch from 0: a sample is the run of tokens with the same row and the same id.

    Args:
        rows: [num_valid], the row of the batch each token stands in.
        sample_ids: [num_valid], the number of the token's sample within its row.

    Returns:
        The sample of each token, [num_valid], and the length of each sample in tokens, [num_samples].
    """
    key = rows.long() * 2**32 + sample_ids.long()
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
    prefix = torch.zeros(confidence.numel() + 1, dtype=torch.int64, device=device)
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
        is_candidate: [num_valid] boolean; when given, only windows centred on these tokens count, except in a sample that has
            none of them, where every window does.

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
