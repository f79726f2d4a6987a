"""The GPUs of this machine, through NVIDIA's management library (NVML), and leases on them."""

import functools
import os
import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle, takewhile
from typing import Any

from ..files import file_lock
from .folders import cache_root


LEASE_PAUSE_S = 0.005
_asking: defaultdict[frozenset[tuple[str, int]], threading.Lock] = defaultdict(threading.Lock)
"""Of the threads that wait for the same places on GPUs, one asks: each time it makes dozens of system calls, and after each it takes the
interpreter from threads that work."""


@dataclass(frozen=True)
class Gpu:
    """One GPU; index: as nvidia-smi numbers it. memory_bytes: all of its memory."""

    index: int
    uuid: str
    name: str
    driver: str
    compute_capability: str
    memory_bytes: int

    @property
    def arch(self) -> str:
        """What nvcc's -arch takes: 9.0 is sm_90."""
        return "sm_" + self.compute_capability.replace(".", "")


@functools.cache
def nvml() -> Any:
    """The module pynvml, with the library open; None without a driver."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:
        return None
    return pynvml


def list_gpus() -> list[Gpu]:
    """The GPUs this process may use, in the order of CUDA_VISIBLE_DEVICES where that is set; [] without a driver."""
    library, gpus = nvml(), []
    for index in range(library.nvmlDeviceGetCount() if library else 0):
        with suppress(library.NVMLError):  # one that fell off the bus
            gpu = library.nvmlDeviceGetHandleByIndex(index)
            uuid, name = library.nvmlDeviceGetUUID(gpu), library.nvmlDeviceGetName(gpu)
            capability = "{}.{}".format(*library.nvmlDeviceGetCudaComputeCapability(gpu))
            memory_bytes, driver = library.nvmlDeviceGetMemoryInfo(gpu).total, library.nvmlSystemGetDriverVersion()
            gpus.append(Gpu(index, uuid, name, driver, capability, memory_bytes))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return gpus
    named = (
        next((gpu for gpu in gpus if name and (str(gpu.index) == name or gpu.uuid.startswith(name))), None)
        for name in map(str.strip, visible.split(","))
    )
    return list(takewhile(bool, named))  # CUDA, too, ignores what follows a name it does not know


@functools.cache  # the driver takes milliseconds, and longer while GPUs are busy
def minor_number(gpu: Gpu) -> int | None:
    """N of /dev/nvidiaN, which need not be nvidia-smi's index; None when the driver does not say."""
    with suppress(Exception):
        return nvml().nvmlDeviceGetMinorNumber(nvml().nvmlDeviceGetHandleByUUID(gpu.uuid))
    return None


def gpu_devices(gpu: Gpu) -> list[str]:
    """The device nodes one GPU needs; those of the other GPUs are left out when the driver says which is which."""
    minor = minor_number(gpu)
    nodes = [name for name in sorted(os.listdir("/dev")) if name.startswith("nvidia") or name == "dxg"]
    if minor is not None:
        nodes = [name for name in nodes if name == f"nvidia{minor}" or not name.removeprefix("nvidia").isdigit()]
    return [f"/dev/{name}" for name in nodes]


def used_memory(gpu: Gpu) -> tuple[int, dict[int, int]]:
    """Bytes of device memory in use: (all, by each process that the driver lists).

    A process's managed memory is in the first alone, and in a container the processes may have other ids.
    """
    with suppress(Exception):  # the driver does not say
        device = nvml().nvmlDeviceGetHandleByUUID(gpu.uuid)
        listed = nvml().nvmlDeviceGetComputeRunningProcesses(device)
        apps = {process.pid: process.usedGpuMemory for process in listed if process.usedGpuMemory is not None}
        return nvml().nvmlDeviceGetMemoryInfo(device).used, apps
    return 0, {}


@contextmanager
def lease_gpu(gpus: Sequence[Gpu], *, slots: int = 1, alone: bool = False) -> Iterator[Gpu]:
    """Wait for a GPU of which fewer than `slots` leases are held, over all threads and processes of this user; yield it.

    alone: wait for all of its slots, of the first of the GPUs.
    Leases are file locks in cache_root()/locks: they end with the block, or with the process that holds them.
    """
    locks = cache_root() / "locks"
    if alone or len(gpus) * slots == 1:
        with ExitStack() as stack:
            # In the same order everywhere, and who holds one lease asks for no other: none waits forever. The kernel wakes who waits.
            for slot in range(slots):
                stack.enter_context(file_lock(locks / f"gpu-{gpus[0].uuid}-{slot}.lock"))
            yield gpus[0]
        return
    # the slots of one GPU come last: work spreads over the GPUs first
    places = [(slot, gpu) for slot in range(slots) for gpu in random.sample(list(gpus), len(gpus))]
    with ExitStack() as stack:
        with _asking[frozenset((gpu.uuid, slots) for gpu in gpus)]:
            for slot, gpu in cycle(places):
                with ExitStack() as trying:
                    if trying.enter_context(file_lock(locks / f"gpu-{gpu.uuid}-{slot}.lock", wait=False)):
                        stack.push(trying.pop_all())
                        break
                if (slot, gpu) == places[-1]:
                    time.sleep(LEASE_PAUSE_S)
        yield gpu
