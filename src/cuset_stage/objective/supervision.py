"""What the fused head takes in: checks, the dtype of its products, and the supervised tokens laid end to end (torch only)."""

from dataclasses import dataclass

import torch

from .terms import supervised_positions


@dataclass(frozen=True)
class Supervision:
    r"""The supervised tokens of a batch.

    Attributes:
        position: [num_valid], where in hidden.view(batch * length, hidden_size) the token is predicted.
        target: [num_valid], the token.
        row: [num_valid], its row of the batch.
        is_cuda: [num_valid] boolean, the CUDA mask.
        sample: [num_valid], its sample, numbered from 0 over the batch.
        lengths: [num_valid], tokens of each sample; 0 after the last sample, whose number only the device knows.
    """

    position: torch.Tensor
    target: torch.Tensor
    row: torch.Tensor
    is_cuda: torch.Tensor
    sample: torch.Tensor
    lengths: torch.Tensor


def check_inputs(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
) -> None:
    """Raise ValueError when the tensors do not belong together."""
    if hidden.dim() != 3 or weight.dim() != 2 or labels.dim() != 2:
        raise ValueError(
            "expected hidden [batch, length, hidden_size], weight [vocab_size, hidden_size] and labels [batch, length], got "
            f"{list(hidden.shape)}, {list(weight.shape)} and {list(labels.shape)}."
        )
    if hidden.size(-1) != weight.size(-1):
        raise ValueError(
            f"hidden {list(hidden.shape)} and weight {list(weight.shape)} have different hidden sizes: expected the head's own "
            "weight, [vocab_size, hidden_size]; a sharded head (ZeRO-3, FSDP) has to be gathered first."
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(
            f"bias has the shape {list(bias.shape)}, but weight {list(weight.shape)} wants {[weight.size(0)]}."
        )
    for name, tensor in (("labels", labels), ("cuda_mask", cuda_mask), ("sample_ids", sample_ids)):
        if tensor is not None and tensor.shape != hidden.shape[:2]:
            raise ValueError(
                f"{name} has the shape {list(tensor.shape)}, but hidden {list(hidden.shape)} want "
                f"{list(hidden.shape[:2])}: one value for each token, unshifted."
            )


def compute_dtype(hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.dtype:
    """The dtype a linear layer would compute in: autocast's, else that of its inputs."""
    device = hidden.device.type
    if torch.is_autocast_enabled(device) and hidden.dtype != torch.float64:
        return torch.get_autocast_dtype(device)
    dtypes = {tensor.dtype for tensor in (hidden, weight, bias) if tensor is not None}
    if len(dtypes) > 1 or not hidden.is_floating_point():
        raise ValueError(
            f"hidden is {hidden.dtype} and the head {weight.dtype}{'' if bias is None else f' with a bias in {bias.dtype}'}: "
            "expected one floating dtype, or torch.autocast around the call."
        )
    return hidden.dtype


def read_supervision(
    labels: torch.Tensor, cuda_mask: torch.Tensor | None, sample_ids: torch.Tensor | None
) -> Supervision:
    """Find the supervised tokens and their samples. Waits for the device once, for their number."""
    length = labels.size(1)
    row, column = supervised_positions(labels).nonzero(as_tuple=True)
    position = row * length + column
    target = labels.flatten().index_select(0, position + 1).long()
    is_cuda = torch.zeros_like(target, dtype=torch.bool)
    if cuda_mask is not None:
        is_cuda = cuda_mask.flatten().index_select(0, position + 1) != 0
    ids = torch.zeros_like(target) if sample_ids is None else sample_ids.flatten().index_select(0, position + 1)

    # `regions.number_samples` without its wait for the number of samples.
    key = row * 2**32 + ids.long()
    is_first = torch.ones_like(target)
    is_first[1:] = key[1:] != key[:-1]
    sample = is_first.cumsum(0) - 1
    number = torch.arange(target.numel(), device=target.device)
    ends = torch.searchsorted(sample, number, right=True)
    starts = torch.searchsorted(sample, number, right=False)
    return Supervision(position, target, row, is_cuda, sample, ends - starts)
