"""`supervision.read_supervision` as one Triton kernel, whose result the host need not wait for (torch and triton)."""

import torch
import triton
import triton.language as tl

from . import supervision
from .supervision import Supervision
from .terms import IGNORE_INDEX
from .transfer import Arrival


_IGNORED = tl.constexpr(IGNORE_INDEX)
BLOCK = 1024


@triton.jit
def _is_supervised(labels, row_stride, column_stride, index, num_positions, width):
    """(which positions of a block count, their rows, their labels' columns, their labels)."""
    inside = index < num_positions
    row = index // width
    column = index - row * width + 1  # position t predicts the token t + 1
    label = tl.load(labels + row * row_stride + column * column_stride, mask=inside, other=_IGNORED)
    return inside & (label != _IGNORED), row, column, label


# Lengths change from batch to batch, and with them where 16 bytes begin: one kernel for all of them.
@triton.jit(
    do_not_specialize=[
        *("labels", "label_row", "cuda_mask", "mask_row", "sample_ids", "id_row"),
        *("target", "rows", "num_positions", "width"),
    ]
)
def _supervision_kernel(
    labels,
    label_row,
    label_column,
    cuda_mask,
    mask_row,
    mask_column,
    sample_ids,
    id_row,
    id_column,
    position,
    target,
    rows,
    is_cuda,
    sample_id,
    count,
    num_positions,
    width,
    HAS_MASK: tl.constexpr,
    HAS_IDS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """A program a block of positions: it counts the supervised ones before its own, which fill the places from there on."""
    block = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    before = tl.zeros((BLOCK,), tl.int32)
    start = 0
    while start < block * BLOCK:
        keep, _, _, _ = _is_supervised(labels, label_row, label_column, start + lanes, num_positions, width)
        before += keep.to(tl.int32)
        start += BLOCK
    found = tl.sum(before, axis=0)

    keep, row, column, label = _is_supervised(
        labels, label_row, label_column, block * BLOCK + lanes, num_positions, width
    )
    number = keep.to(tl.int32)
    place = found + tl.cumsum(number, axis=0) - number
    tl.store(position + place, row * (width + 1) + column - 1, mask=keep)
    tl.store(target + place, label, mask=keep)
    tl.store(rows + place, row, mask=keep)
    cuda = tl.zeros((BLOCK,), tl.int1)
    if HAS_MASK:
        cuda = tl.load(cuda_mask + row * mask_row + column * mask_column, mask=keep, other=0) != 0
    tl.store(is_cuda + place, cuda.to(tl.uint8), mask=keep)
    if HAS_IDS:
        tl.store(sample_id + place, tl.load(sample_ids + row * id_row + column * id_column, mask=keep), mask=keep)

    if block == tl.num_programs(0) - 1:
        total = found + tl.sum(number, axis=0)
        tl.store(count, total)
        while total < num_positions:  # what lies beyond still points at hidden states
            tl.store(position + total + lanes, tl.zeros((BLOCK,), tl.int64), mask=total + lanes < num_positions)
            total += BLOCK


def read_supervision(
    labels: torch.Tensor, cuda_mask: torch.Tensor | None, sample_ids: torch.Tensor | None
) -> Supervision:
    """See `supervision.read_supervision`; on a GPU, without waiting for it."""
    batch, width = labels.size(0), labels.size(1) - 1
    if batch * width <= 0:
        return supervision.read_supervision(labels, cuda_mask, sample_ids)
    device = labels.device
    position, target, row = torch.empty(3, batch * width, dtype=torch.int64, device=device)
    is_cuda = torch.empty(batch * width, dtype=torch.uint8, device=device)
    sample_id = None if sample_ids is None else torch.empty_like(target, dtype=sample_ids.dtype)
    count = torch.empty((), dtype=torch.int64, device=device)
    _supervision_kernel[(triton.cdiv(batch * width, BLOCK),)](
        labels,
        *labels.stride(),
        *((labels, 0, 0) if cuda_mask is None else (cuda_mask, *cuda_mask.stride())),
        *((labels, 0, 0) if sample_ids is None else (sample_ids, *sample_ids.stride())),
        position,
        target,
        row,
        is_cuda,
        row if sample_id is None else sample_id,
        count,
        batch * width,
        width,
        HAS_MASK=cuda_mask is not None,
        HAS_IDS=sample_ids is not None,
        BLOCK=BLOCK,
        num_warps=4,
    )
    return Supervision(position, target, row, is_cuda.view(torch.bool), sample_id, Arrival(count))
