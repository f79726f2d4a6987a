"""`samples.weigh_samples` as one Triton kernel (torch and triton), where PyTorch launches fifty small ones after the head."""

import torch
import triton
import triton.language as tl

from .regions import FIXED_POINT
from .samples import WeighedSamples


_FIXED_POINT = tl.constexpr(float(FIXED_POINT))
BLOCK = 1024


# The number of tokens changes from batch to batch, and with it where 16 bytes begin: one kernel for all of them. Samples begin anywhere,
# so that nothing is lost.
@triton.jit(do_not_specialize=["rows", "sample_weights", "token_scales", "shares", "prefixes", "num_tokens"])
def _sample_kernel(
    nlls,
    weights,
    penalties,
    rows,
    sample_ids,
    is_cuda,
    samples,
    regions,
    sample_weights,
    token_scales,
    shares,
    prefixes,
    num_tokens,
    window,
    HAS_PENALTY: tl.constexpr,
    HAS_IDS: tl.constexpr,
    ONLY_CUDA: tl.constexpr,
    REWEIGHT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """A program a token: that of a sample's first token does the sample, the others end at once."""
    first = tl.program_id(0)
    row = tl.load(rows + first)
    before = tl.maximum(first - 1, 0)
    goes_on = (first > 0) & (tl.load(rows + before) == row)
    sample_id = row
    if HAS_IDS:
        sample_id = tl.load(sample_ids + first)
        goes_on = goes_on & (tl.load(sample_ids + before) == sample_id)
    if goes_on:
        return

    # Prefix sums of the confidence in fixed point, up to where the row or the id changes.
    lanes = tl.arange(0, BLOCK)
    end = first
    total = tl.full((), 0, tl.int64)
    found = BLOCK
    while found == BLOCK:
        offset = end + lanes
        inside = offset < num_tokens
        mine = inside & (tl.load(rows + offset, mask=inside, other=-1) == row)
        if HAS_IDS:
            mine = mine & (tl.load(sample_ids + offset, mask=inside, other=0) == sample_id)
        found = tl.min(tl.where(mine, BLOCK, lanes), axis=0)
        mine = lanes < found
        confidence = tl.exp(-tl.load(nlls + offset, mask=mine, other=0.0))
        fixed = tl.where(mine, (confidence * _FIXED_POINT).to(tl.int64), 0)
        tl.store(prefixes + offset, total + tl.cumsum(fixed, axis=0), mask=mine)
        total += tl.sum(fixed, axis=0)
        end += found
    tl.debug_barrier()  # threads read below what others wrote

    lowest = float("inf")
    lowest_cuda = float("inf")
    is_short = end - first < window
    start = first
    while start < end:
        offset = start + lanes
        start += BLOCK
        mine = offset < end
        left = tl.maximum(first, offset - window // 2)
        right = tl.minimum(end, offset + (window + 1) // 2)
        left = tl.where(is_short, first, left)
        right = tl.where(is_short, end, right)
        upper = tl.load(prefixes + right - 1, mask=mine, other=0)
        lower = tl.load(prefixes + left - 1, mask=mine & (left > first), other=0)
        mean = (upper - lower).to(tl.float32) / ((right - left).to(tl.float32) * _FIXED_POINT)
        lowest = tl.minimum(lowest, tl.min(tl.where(mine, mean, float("inf")), axis=0))
        if ONLY_CUDA:
            centred = mine & (tl.load(is_cuda + offset, mask=mine, other=0) != 0)
            lowest_cuda = tl.minimum(lowest_cuda, tl.min(tl.where(centred, mean, float("inf")), axis=0))
    if ONLY_CUDA:
        lowest = tl.where(lowest_cuda < float("inf"), lowest_cuda, lowest)
    scale = 1.0 - lowest if REWEIGHT else 1.0
    tl.store(regions + first, lowest)
    tl.store(sample_weights + first, scale)

    start = first
    while start < end:
        offset = start + lanes
        start += BLOCK
        mine = offset < end
        share = scale * tl.load(weights + offset, mask=mine) * tl.load(nlls + offset, mask=mine)
        if HAS_PENALTY:
            share += tl.load(penalties + offset, mask=mine)
        tl.store(shares + offset, share, mask=mine)
        tl.store(token_scales + offset, tl.zeros((BLOCK,), tl.float32) + scale, mask=mine)
        tl.store(samples + offset, tl.zeros((BLOCK,), tl.int64) + first, mask=mine)


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
    """See `samples.weigh_samples`; a sample's entry is that of its first token."""
    region, sample_weight, token_scale, share = torch.empty(4, nll.numel(), dtype=torch.float32, device=nll.device)
    sample, prefix = torch.empty(2, nll.numel(), dtype=torch.int64, device=nll.device)
    _sample_kernel[(nll.numel(),)](
        nll,
        weight,
        weight if penalty is None else penalty,
        row,
        row if sample_id is None else sample_id,
        is_cuda,
        sample,
        region,
        sample_weight,
        token_scale,
        share,
        prefix,
        nll.numel(),
        window,
        HAS_PENALTY=penalty is not None,
        HAS_IDS=sample_id is not None,
        ONLY_CUDA=only_cuda,
        REWEIGHT=reweight,
        BLOCK=BLOCK,
        num_warps=8,
    )
    return WeighedSamples(sample, region, sample_weight, token_scale, share)
