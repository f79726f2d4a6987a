"""GPUs that are not there, as the driver would list them."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from types import SimpleNamespace

import pytest

from cuset_stage.sandbox import Gpu


def fake_nvml(monkeypatch: pytest.MonkeyPatch, gpus: Sequence[Gpu], used: Callable[[], int] = lambda: 0) -> None:
    """NVML lists these GPUs, of which `used()` bytes of memory are in use. One whose uuid is empty does not answer."""

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
    return [Gpu(number, f"GPU-fake-{number}", "NVIDIA Fake", "580.0", capability, 80 << 30) for number in range(count)]
