"""The GPU's own counters, read with NVML by the judge: no program on the GPU can change them.

They count for the whole GPU (GPM, since Hopper), so they say what an answer did where nothing else runs meanwhile.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from ..sandbox import Gpu
from ..sandbox.gpus import nvml


TENSOR = "tensor_cores: they worked for the answer, and not for the reference"
TENSOR_SHARE = 0.01  # of the time in which the GPU works, in which its tensor cores do
SETTLE_S = 0.25  # counters are about 0.1 s late on an H200
_calls = threading.Lock()  # NVML 580 has crashed where many threads read one GPU's counters


@dataclass(frozen=True)
class Counted:
    """Between two readings: seconds that passed, those in which the GPU had work other than copies, those in which its tensor cores had."""

    passed_s: float
    busy_s: float
    tensor_s: float

    @property
    def tensor_share(self) -> float:
        return self.tensor_s / self.busy_s if self.busy_s else 0.0


def tensor_cores(answer: float, reference: float) -> bool:
    """Whether the answer has tensor cores work and the reference does not, by their shares of the time."""
    return reference < TENSOR_SHARE / 10 and answer > TENSOR_SHARE


def why_no_counters(gpu: Gpu) -> str | None:
    """Why a GPU's counters cannot be read; None where they can."""
    try:
        GpuCounters(gpu.uuid).free()
    except OSError as error:
        return str(error)


@contextmanager
def counting(gpu: Gpu | None) -> Iterator[Callable[[], Counted | None]]:
    """Counts from the start of the block; the function that it gives tells what until now, and None where there are no counters."""
    counters = None
    with suppress(OSError):
        counters = GpuCounters(gpu.uuid) if gpu else None

    def read() -> Counted | None:
        with suppress(OSError):
            return counters.read() if counters else None

    try:
        yield read
    finally:
        if counters:
            counters.free()


class GpuCounters:
    """Counts on one GPU. OSError where the machine, its driver or the GPU cannot."""

    def __init__(self, uuid: str) -> None:
        self._nvml = nvml()
        if self._nvml is None:
            raise OSError("there is no NVML here")
        self._device = self._call("nvmlDeviceGetHandleByUUID", uuid)
        if not self._call("nvmlGpmQueryDeviceSupport", self._device).isSupportedDevice:
            raise OSError("this GPU's counters cannot be read with NVML")
        self._samples = [self._call("nvmlGpmSampleAlloc") for _ in range(2)]
        self.start()

    def free(self) -> None:
        for sample in self._samples:
            self._call("nvmlGpmSampleFree", sample)

    def start(self) -> None:
        """Count from here; what was before has settled then."""
        time.sleep(SETTLE_S)
        self._begin = time.monotonic()
        self._call("nvmlGpmSampleGet", self._device, self._samples[0])

    def read(self) -> Counted:
        """What was counted since the start."""
        time.sleep(SETTLE_S)
        passed = time.monotonic() - self._begin
        self._call("nvmlGpmSampleGet", self._device, self._samples[1])
        asked = self._nvml.c_nvmlGpmMetricsGet_t(self._nvml.NVML_GPM_METRICS_GET_VERSION, 2, *self._samples)
        asked.metrics[0].metricId = self._nvml.NVML_GPM_METRIC_GRAPHICS_UTIL
        asked.metrics[1].metricId = self._nvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL
        self._call("nvmlGpmMetricsGet", asked)
        for metric in asked.metrics[:2]:
            if metric.nvmlReturn:
                raise OSError(f"NVML does not tell counter {metric.metricId}: error {metric.nvmlReturn}")
        return Counted(passed, *(passed * metric.value / 100 for metric in asked.metrics[:2]))

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            with _calls:
                return getattr(self._nvml, name)(*arguments)
        except self._nvml.NVMLError as error:
            raise OSError(f"{name}: {error}") from None
