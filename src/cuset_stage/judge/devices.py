"""The GPUs of a run.

A pool leases them to programs and tells a lost GPU from a program that failed on it. `Turns` keeps builds and timed
runs apart.
"""

import functools
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from ..sandbox import Finished, Gpu, Isolation, Limits, SandboxError, lease_gpu, run_sandboxed, scratch_folder
from ..sandbox.gpus import used_memory
from ..sandbox.isolation import python_paths


# What programs print (cudaGetErrorString) when the device rather than the program may be at fault. Any program can
# print such a text, so it is only a reason to probe the device, never a verdict.
_SUSPICIOUS = re.compile(
    r"no CUDA-capable device|CUDA driver version is insufficient|uncorrectable ECC|unknown error|GPU is lost|"
    r"fallen off the bus|device\(?s?\)? is/are busy or unavailable|devices? .{0,10}unavailable|not yet initialized|"
    r"initialization error|driver shutting down|out of memory|hardware stack error|contained error|"
    r"invalid device ordinal|operation not supported on this OS|forward compatibility",
    re.IGNORECASE,
)

# Creates a context, writes to GPU memory and reads it back. It uses the driver API, which needs neither a toolkit nor
# torch.
_PROBE = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
def check(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        raise SystemExit(f"{name}: error {code}: {(text.value or b'unknown').decode()}")
device, context, memory, back = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint32()
check("cuInit", 0)
check("cuDeviceGet", ctypes.byref(device), 0)
check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
check("cuCtxSetCurrent", context)
check("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(1 << 20))
check("cuMemsetD32_v2", memory, 0x5EED5EED, ctypes.c_size_t(1 << 18))
check("cuMemcpyDtoH_v2", ctypes.byref(back), ctypes.c_uint64(memory.value + (1 << 20) - 4), ctypes.c_size_t(4))
if back.value != 0x5EED5EED:
    raise SystemExit("memory does not hold what was written")
"""


PROBE_S = 60.0


def probe_gpu(gpu: Gpu, *, isolation: Isolation = Isolation.AUTO) -> str | None:
    """Use the GPU as a judged program would, in the same sandbox.

    Returns:
        None if that works, else what is wrong.
    """
    try:
        with scratch_folder() as folder:
            finished = run_sandboxed(
                [sys.executable, "-I", "-c", _PROBE],
                folder=folder,
                visible=python_paths(),
                limits=Limits(wall_s=PROBE_S),
                gpu=gpu,
                isolation=isolation,
            )
    except SandboxError as error:
        return str(error)
    if finished.infra:
        return finished.infra
    if finished.stopped:
        return f"the GPU did not answer for {PROBE_S:g} s"
    if finished.returncode != 0:
        return (finished.stderr or finished.stdout).strip()[-500:] or f"the probe ended with {finished.returncode}"
    return None


_HOLD = "import ctypes, sys; ctypes.CDLL('libcuda.so.1').cuInit(0); sys.stdin.read()"


@functools.cache
def hold_driver(uuids: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """Start a process that keeps these GPUs open until this process ends.

    If no process has a GPU open, each program opens it anew. That takes 0.13 s of 0.34 s on an H200.
    """
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ",".join(uuids)},
        start_new_session=True,
    )


ENOUGH = 0.75  # of a GPU's memory; while less is used, no program on the GPU is short of memory


class NoGpuLeft(RuntimeError):
    """Every GPU of the run was lost, so another try is useless."""


class GpuPool:
    """Leases the GPUs of a run, except those that were found lost.

    Args:
        gpus: The GPUs, at least one.
        per_gpu: Programs at a time on one GPU. With more than one, times mean nothing. Where other programs may have
            taken the time or the memory (`was_short_of_memory`), a failure counts only after the program has failed
            alone.
        isolation: The sandbox in which GPUs are probed.
    """

    def __init__(self, gpus: Sequence[Gpu], *, per_gpu: int = 1, isolation: Isolation = Isolation.AUTO) -> None:
        self.gpus = tuple(gpus)
        self.per_gpu = per_gpu
        self.isolation = isolation
        self.lost: dict[str, str] = {}  # uuid -> what is wrong with it
        self._short_at = 0.0  # time.monotonic() when a GPU was last short of memory

    def __len__(self) -> int:
        return len(self.gpus) * self.per_gpu

    @property
    def names(self) -> list[str]:
        """The distinct names of all GPUs of the run, for a judge's settings.

        GPUs that were lost meanwhile count, because they have judged as well.
        """
        return sorted({gpu.name for gpu in self.gpus})

    @contextmanager
    def lease(self, *, alone: bool = False) -> Iterator[Gpu]:
        """Lease a GPU for one run, as soon as one is free.

        Programs that share a GPU pass one after another through its gate. The gate is a lease like any other, so it
        holds for all processes. A run that needs the GPU alone keeps the gate, so that the programs on the GPU leave
        and none follows.

        Raises:
            NoGpuLeft: No GPU works any more.
        """
        while gpus := [gpu for gpu in self.gpus if gpu.uuid not in self.lost]:
            with self._lease(gpus, alone) as gpu:
                if gpu.uuid not in self.lost:  # it may have been lost while this run waited for it
                    yield gpu
                    return
        raise NoGpuLeft(f"no GPU left: {'; '.join(self.lost.values())}")

    @contextmanager
    def _lease(self, gpus: Sequence[Gpu], alone: bool) -> Iterator[Gpu]:
        """Lease one of these GPUs, as `lease` says."""
        if self.per_gpu == 1:
            with lease_gpu(gpus) as gpu:
                yield gpu
            return
        gates = {replace(gpu, uuid=f"{gpu.uuid}-gate"): gpu for gpu in gpus}
        with ExitStack() as gate:
            gpu = gates[gate.enter_context(lease_gpu(list(gates)))]
            with lease_gpu([gpu], slots=self.per_gpu, alone=alone):
                if alone:
                    yield gpu
                    return
                gate.close()
                self._look_at_memory(gpu)
                try:
                    yield gpu
                finally:
                    self._look_at_memory(gpu)

    def _look_at_memory(self, gpu: Gpu) -> None:
        """Note whether the GPU is short of memory.

        Each program's start and end calls this, so while a program runs, those beside it also look.
        """
        # 0: the driver does not say, so the GPU may be short of memory.
        if not 0 < used_memory(gpu)[0] < ENOUGH * gpu.memory_bytes:
            self._short_at = time.monotonic()

    def was_short_of_memory(self, since: float) -> bool:
        """Return whether a GPU has been short of memory since a time of time.monotonic(), or its driver does not say.

        cudaMalloc may then have failed, and a program that does not check it may have written anything.
        """
        return self._short_at >= since

    def blame(self, gpu: Gpu, failed: Finished, said: str = "") -> str | None:
        """Return what is wrong with the GPU of a failed run, or None if the GPU works.

        The GPU is probed if the run took too long or if a device problem is mentioned on stdout, on stderr or in what
        it `said` elsewhere. A GPU that fails the probe is not leased again.
        """
        if not failed.out_of_time and not _SUSPICIOUS.search(f"{failed.stdout}{failed.stderr}{said}"):
            return None
        if (problem := probe_gpu(gpu, isolation=self.isolation)) is None:
            return None
        return self.lost.setdefault(gpu.uuid, f"GPU {gpu.index} ({gpu.name}): {problem}")


class Turns:
    """Keeps builds and timed runs apart.

    A timed run waits for the builds in progress, and builds that come meanwhile wait for it. The reason: a thread that
    has to share its processor sees that the GPU is done a time slice too late, and is late with its own launches.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._building = self._timing = 0  # _timing includes runs that wait for their turn

    @contextmanager
    def building(self) -> Iterator[None]:
        """Hold a turn for a build, together with any other builds."""
        with self._changed:
            self._changed.wait_for(lambda: not self._timing)
            self._building += 1
        try:
            yield
        finally:
            with self._changed:
                self._building -= 1
                self._changed.notify_all()

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Hold a turn for a timed run, together with any other timed runs, each on a GPU of its own."""
        with self._changed:
            self._timing += 1
        try:
            with self._changed:
                self._changed.wait_for(lambda: not self._building)
            yield
        finally:
            with self._changed:
                self._timing -= 1
                self._changed.notify_all()
