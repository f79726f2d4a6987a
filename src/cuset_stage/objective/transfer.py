"""Numbers that the host wants from the device, without making the device wait for the host (torch only)."""

import torch


class Arrival:
    """A number on its way to the host: the copy is queued at once, and `get` waits for it and not for what is queued later.

    The copy goes to pinned memory of its own, which PyTorch does not give to anybody else before the copy is done. On devices
    other than GPUs `get` is `item`.
    """

    def __init__(self, value: torch.Tensor):
        self._value, self._event = value.detach(), None
        if value.is_cuda:
            with torch.cuda.device(value.device):
                self._value = self._value.to("cpu", non_blocking=True)
                self._event = torch.cuda.Event()
                self._event.record()

    def get(self) -> int | float:
        """The number; any number of times."""
        if self._event is not None:
            self._event.synchronize()
        return self._value.item()
