"""What the fused head takes in: checks, the dtype of its products, and the supervised tokens laid end to end (torch only)."""

from dataclasses import dataclass

import torch

from .terms import check_shapes, supervised_positions
from .transfer import Arrival


@dataclass(frozen=True)
class Supervision:
    r"""The supervised tokens of a batch.

    Attributes:
        position: [num_valid], where in hidden.view(batch * length, hidden_size) the token is predicted.
        target: [num_valid], the token.
        row: [num_valid], its row of the batch.
        is_cuda: [num_valid] boolean, the CUDA mask.
        sample_id: [num_valid], the number of its sample within the row; None: a row is a sample.
        count: num_valid, where the device alone knows it so far: then the tensors are longer, and beyond num_valid `position` is 0 and
            the others hold anything. None: the tensors have their length.
    """

    position: torch.Tensor
    target: torch.Tensor
    row: torch.Tensor
    is_cuda: torch.Tensor
    sample_id: torch.Tensor | None
    count: Arrival | None = None

    def counted(self) -> "Supervision":
        """The same with tensors of num_valid entries. Waits for the number, and for nothing that was queued after it."""
        if self.count is None:
            return self
        count = self.count.get()
        sample_id = None if self.sample_id is None else self.sample_id[:count]
        return Supervision(
            self.position[:count], self.target[:count], self.row[:count], self.is_cuda[:count], sample_id
        )


def check_inputs(
    hidden: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    labels: torch.Tensor,
    cuda_mask: torch.Tensor | None,
    sample_ids: torch.Tensor | None,
) -> None:
    """Raise ValueError when the tensors do not belong together."""
    check_shapes("hidden", hidden, labels, cuda_mask, sample_ids)
    for key, values in (("labels", labels), ("cuda_mask", cuda_mask), ("sample_ids", sample_ids)):
        # A kernel that reads another GPU's memory would take the whole process down.
        if values is not None and values.device != hidden.device:
            raise ValueError(
                f"{key} is on {values.device}, hidden on {hidden.device}: expected one device; move the batch to the head's."
            )
    if weight.dim() != 2 or hidden.size(-1) != weight.size(-1):
        raise ValueError(
            f"hidden {list(hidden.shape)} and weight {list(weight.shape)} have different hidden sizes: expected the head's own "
            "weight, [vocab_size, hidden_size]; a sharded head (ZeRO-3, FSDP) has to be gathered first."
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(
            f"bias has the shape {list(bias.shape)}, but weight {list(weight.shape)} wants {[weight.size(0)]}."
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
    """Find the supervised tokens. Waits for the device once, for their number."""
    row, column = supervised_positions(labels).nonzero(as_tuple=True)
    position = torch.add(column, row, alpha=labels.size(1))
    token = position + 1
    target = labels.reshape(-1).index_select(0, token).long()
    if cuda_mask is None:
        is_cuda = torch.zeros_like(target, dtype=torch.bool)
    else:
        is_cuda = cuda_mask.reshape(-1).index_select(0, token) != 0
    sample_id = None if sample_ids is None else sample_ids.reshape(-1).index_select(0, token)
    return Supervision(position, target, row, is_cuda, sample_id)
