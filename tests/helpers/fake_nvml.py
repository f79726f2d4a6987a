"""A stand-in for NVML that lists GPUs which do not exist, for tests on machines without any."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from types import SimpleNamespace

import pytest

from cuset_stage.sandbox import Gpu


def fake_nvml(monkeypatch: pytest.MonkeyPatch, gpus: Sequence[Gpu], used: Callable[[], int] = lambda: 0) -> None:
    """Replace NVML so that it lists these GPUs, each with `used()` bytes in use, and unset CUDA_VISIBLE_DEVICES.

    A GPU with an empty uuid raises an NVML error when it is asked for, as a broken card does.
    """

    def by_index(index: int) -> Gpu:
        if not gpus[index].uuid:
            raise KeyError(index)
        return gpus[index]

    library = SimpleNamespace(
        NVMLError=KeyError,
        nvmlDeviceGetCount=lambda: len(gpus),
        nvmlDeviceGetHandleByIndex=by_index,
        nvmlDeviceGetHandleByUUID={gpu.uuid: gpu for gpu in gpus}.__getitem__,
        nvmlDeviceGetUUID=attrgetter("uuid"),
        nvmlDeviceGetName=attrgetter("name"),
        nvmlSystemGetDriverVersion=lambda: "580.0",
        nvmlDeviceGetCudaComputeCapability=lambda gpu: gpu.compute_capability.split("."),
        nvmlDeviceGetMemoryInfo=lambda gpu: SimpleNamespace(total=gpu.memory_bytes, used=used()),
        nvmlDeviceGetComputeRunningProcesses=lambda gpu: [],
    )
    monkeypatch.setattr("cuset_stage.sandbox.gpus.nvml", lambda: library)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def fake_gpus(count: int, capability: str = "9.0") -> list[Gpu]:
    """Return `count` made-up GPUs of 80 GiB with this compute capability."""
    return [Gpu(number, f"GPU-fake-{number}", "NVIDIA Fake", "580.0", capability, 80 << 30) for number in range(count)]
