"""The GPUs of this machine, through nvidia-smi, and leases on them. Imports the standard library."""

from __future__ import annotations

import functools
import os
import random
import re
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..files import file_lock
from .folders import cache_root
from .limits import SandboxError


_QUERY_S = 30.0
LEASE_PAUSE_S = 0.005
_asking: defaultdict[frozenset[tuple[str, int]], threading.Lock] = defaultdict(threading.Lock)
"""Of the threads that wait for the same places on GPUs, one asks: each time it makes dozens of system calls, and after each it takes the
interpreter from threads that work."""
_FIELDS = "index,uuid,name,driver_version,compute_cap,memory.total"


@dataclass(frozen=True)
class Gpu:
    """One GPU as nvidia-smi has it; memory_bytes is all of its memory."""

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


def _query(what: str, *more: str) -> list[list[str]]:
    """Rows of one nvidia-smi query; none when there is no nvidia-smi, or it fails."""
    command = ["nvidia-smi", what, "--format=csv,noheader,nounits", *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_QUERY_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [[field.strip() for field in line.split(",")] for line in done.stdout.splitlines() if line.strip()]


def list_gpus() -> list[Gpu]:
    """The GPUs this process may use, in the order of CUDA_VISIBLE_DEVICES where that is set; [] without a driver."""
    gpus = [
        Gpu(int(row[0]), *row[1:5], int(row[5]) * 2**20)
        for row in _query(f"--query-gpu={_FIELDS}")
        if len(row) == 6 and row[0].isdigit() and re.fullmatch(r"\d+\.\d+", row[4]) and row[5].isdigit()
    ]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return gpus
    chosen = []
    for name in (part.strip() for part in visible.split(",")):
        match = [gpu for gpu in gpus if name and (str(gpu.index) == name or gpu.uuid.startswith(name))]
        if not match:
            break  # CUDA, too, ignores what follows a name it does not know
        chosen.append(match[0])
    return chosen


@functools.lru_cache(maxsize=64)  # the driver takes milliseconds, and longer while GPUs are busy
def minor_number(gpu: Gpu) -> int | None:
    """N of /dev/nvidiaN, which need not be nvidia-smi's index; None when the driver does not say."""
    for file in Path("/proc/driver/nvidia/gpus").glob("*/information"):
        text = file.read_text(errors="replace")
        if gpu.uuid in text and (match := re.search(r"Device Minor:\s*(\d+)", text)):
            return int(match[1])
    return None


def gpu_devices(gpu: Gpu) -> list[str]:
    """The device nodes one GPU needs; those of the other GPUs are left out when the driver says which is which."""
    minor = minor_number(gpu)
    nodes = []
    for name in sorted(os.listdir("/dev")):
        number = name.removeprefix("nvidia")
        other = number.isdigit() and minor is not None and int(number) != minor
        if (name.startswith("nvidia") and not other) or name == "dxg":
            nodes.append(f"/dev/{name}")
    return nodes


def used_memory(gpu: Gpu) -> tuple[int, dict[int, int]]:
    """Bytes of device memory in use: (all, by each process that nvidia-smi lists).

    A process's managed memory is in the first alone, and in a container the processes may have other ids.
    """
    rows = _query("--query-gpu=memory.used", "-i", gpu.uuid) + _query(
        "--query-compute-apps=used_memory,pid", "-i", gpu.uuid
    )
    numbers = [list(map(int, row)) for row in rows if all(map(str.isdigit, row))]
    total = sum(row[0] for row in numbers if len(row) == 1) * 2**20
    return total, {row[1]: row[0] * 2**20 for row in numbers if len(row) == 2}


@contextmanager
def lease_gpu(gpus: Sequence[Gpu], *, slots: int = 1, alone: bool = False) -> Iterator[Gpu]:
    """Wait for a GPU of which fewer than `slots` leases are held, over all threads and processes of this user; yield it.

    alone: wait for all of its slots, of the first of the GPUs.
    Leases are file locks in cache_root()/locks: they end with the block, or with the process that holds them.
    """
    if not gpus or slots < 1:
        raise SandboxError(f"a lease needs a GPU and at least one slot; got {len(gpus)} GPUs and slots={slots}")
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
            while (leased := _try_places(locks, places, stack)) is None:
                time.sleep(LEASE_PAUSE_S)
        yield leased


def _try_places(locks: Path, places: Iterable[tuple[int, Gpu]], stack: ExitStack) -> Gpu | None:
    """The GPU of the first of these places that is free, whose lock `stack` then holds; None where none is."""
    for slot, gpu in places:
        with ExitStack() as trying:
            if trying.enter_context(file_lock(locks / f"gpu-{gpu.uuid}-{slot}.lock", wait=False)):
                stack.push(trying.pop_all())
                return gpu
    return None
