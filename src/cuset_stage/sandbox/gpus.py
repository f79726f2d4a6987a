"""The GPUs of this machine, as NVIDIA's management library (NVML) reports them, and leases on them.

A lease is a file lock, so it also works between processes, and ends when its holder dies.
"""

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
"""A lock per set of places on GPUs. Only one of the threads that wait for the same places asks for them, because asking takes dozens of
system calls, and after each of them it takes the interpreter from threads that work."""


@dataclass(frozen=True)
class Gpu:
    """One GPU.

    Attributes:
        index: The number that nvidia-smi gives it.
        uuid: NVML's UUID of the GPU.
        compute_capability: Such as "9.0".
        memory_bytes: Its whole memory in bytes.
    """

    index: int
    uuid: str
    name: str
    driver: str
    compute_capability: str
    memory_bytes: int

    @property
    def arch(self) -> str:
        """The value for nvcc's -arch: 9.0 is sm_90."""
        return "sm_" + self.compute_capability.replace(".", "")


@functools.cache
def nvml() -> Any:
    """Return the module pynvml with the library initialised, or None without a driver."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:
        return None
    return pynvml


def list_gpus() -> list[Gpu]:
    """Return the GPUs that this process may use, in the order of CUDA_VISIBLE_DEVICES if that is set.

    The list is empty without a driver.
    """
    library, gpus = nvml(), []
    for index in range(library.nvmlDeviceGetCount() if library else 0):
        with suppress(library.NVMLError):  # a GPU may have fallen off the bus
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
    return list(takewhile(bool, named))  # like CUDA, ignore what follows an unknown name


@functools.cache  # the driver takes milliseconds, and longer while GPUs are busy
def minor_number(gpu: Gpu) -> int | None:
    """Return the N of /dev/nvidiaN, which may differ from nvidia-smi's index, or None if the driver does not say."""
    with suppress(Exception):
        return nvml().nvmlDeviceGetMinorNumber(nvml().nvmlDeviceGetHandleByUUID(gpu.uuid))
    return None


def gpu_devices(gpu: Gpu) -> list[str]:
    """Return the device nodes that one GPU needs.

    The nodes of the other GPUs are left out if the driver says which node belongs to which GPU.
    """
    minor = minor_number(gpu)
    nodes = [name for name in sorted(os.listdir("/dev")) if name.startswith("nvidia") or name == "dxg"]
    if minor is not None:
        nodes = [name for name in nodes if name == f"nvidia{minor}" or not name.removeprefix("nvidia").isdigit()]
    return [f"/dev/{name}" for name in nodes]


def used_memory(gpu: Gpu) -> tuple[int, dict[int, int]]:
    """Return the bytes of device memory in use: the total, and pid -> bytes for the processes that the driver lists.

    Managed memory appears only in the total. In a container, the pids may be those of another namespace.
    If the driver does not say, the result is (0, {}).
    """
    with suppress(Exception):  # the driver does not say
        device = nvml().nvmlDeviceGetHandleByUUID(gpu.uuid)
        listed = nvml().nvmlDeviceGetComputeRunningProcesses(device)
        apps = {process.pid: process.usedGpuMemory for process in listed if process.usedGpuMemory is not None}
        return nvml().nvmlDeviceGetMemoryInfo(device).used, apps
    return 0, {}


@contextmanager
def lease_gpu(gpus: Sequence[Gpu], *, slots: int = 1, alone: bool = False) -> Iterator[Gpu]:
    """Wait for a GPU with fewer than `slots` leases, and yield it while this block holds a lease on it.

    Leases count over all threads and processes of this user. They are file locks in cache_root()/locks, and end with
    the block or with the process that holds them. With `alone`, wait for all slots of the first of the GPUs.
    """
    locks = cache_root() / "locks"
    if alone or len(gpus) * slots == 1:
        with ExitStack() as stack:
            # No deadlock: everybody locks the slots in the same order, and nobody asks for a second lease while
            # holding one. These locks block, so the kernel wakes the waiting thread.
            for slot in range(slots):
                stack.enter_context(file_lock(locks / f"gpu-{gpus[0].uuid}-{slot}.lock"))
            yield gpus[0]
        return
    # First slots first, so that work spreads over all GPUs before a GPU gets a second lease.
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
