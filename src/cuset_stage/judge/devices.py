"""The GPUs of a run: one program at a time on each, and telling a lost GPU from a program that failed on it; turns of builds and
timed runs."""

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


# What programs print (cudaGetErrorString) when the device rather than the program may be at fault. Any program can print
# such a text, so it is only the reason to look at the device, never a verdict.
_SUSPICIOUS = re.compile(
    r"no CUDA-capable device|CUDA driver version is insufficient|uncorrectable ECC|unknown error|GPU is lost|"
    r"fallen off the bus|device\(?s?\)? is/are busy or unavailable|devices? .{0,10}unavailable|not yet initialized|"
    r"initialization error|driver shutting down|out of memory|hardware stack error|contained error|"
    r"invalid device ordinal|operation not supported on this OS|forward compatibility",
    re.IGNORECASE,
)

# The driver's own interface, because that needs no toolkit and no torch: a context, memory, a round trip through it.
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
    """Use the GPU as a judged program would, in the same sandbox; None when that works, else what is wrong."""
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
    """A process that has these GPUs open until this one ends. Where none has, each program opens them anew: 0.13 s of 0.34 on an H200."""
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ",".join(uuids)},
        start_new_session=True,
    )


ENOUGH = 0.75  # of a GPU's memory: while less is used, none of the programs on it is short of any


class NoGpuLeft(RuntimeError):
    """Every GPU of the run was lost: another try is of no use."""


class GpuPool:
    """Leases the GPUs of a run, and takes no longer those that were found lost.

    Args:
        gpus: At least one.
        per_gpu: Programs at a time on one GPU. More than one makes times meaningless, and a failure is held against none before
            it has failed alone where others may have taken the time, or the memory (`was_short_of_memory`).
    """

    def __init__(self, gpus: Sequence[Gpu], *, per_gpu: int = 1, isolation: Isolation = Isolation.AUTO) -> None:
        self.gpus = tuple(gpus)
        self.per_gpu = per_gpu
        self.isolation = isolation
        self.lost: dict[str, str] = {}  # uuid -> what is wrong with it
        self._short_at = 0.0  # when a GPU was short of memory last

    def __len__(self) -> int:
        return len(self.gpus) * self.per_gpu

    @property
    def names(self) -> list[str]:
        """The names of all GPUs of the run, each once, for a judge's settings. GPUs lost meanwhile count: they have judged as well."""
        return sorted({gpu.name for gpu in self.gpus})

    @contextmanager
    def lease(self, *, alone: bool = False) -> Iterator[Gpu]:
        """A GPU for one run, as soon as one is free. alone: with no other run on it. Raises NoGpuLeft when none works any more.

        Where programs share a GPU, they come to it one after another through its gate, a lease like any other, of this process or another.
        Who needs the GPU alone keeps the gate, so that those who are there leave and nobody follows.
        """
        gpus = [gpu for gpu in self.gpus if gpu.uuid not in self.lost]
        if not gpus:
            raise NoGpuLeft(f"no GPU left: {'; '.join(self.lost.values())}")
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
        """Where programs share a GPU, each looks as it begins and ends, so while a program runs those beside it do."""
        if not 0 < used_memory(gpu)[0] < ENOUGH * gpu.memory_bytes:
            self._short_at = time.monotonic()

    def was_short_of_memory(self, since: float) -> bool:
        """True if a GPU has been short of memory since then, by time.monotonic(), or if its driver does not say. cudaMalloc may have failed, and a
        program that does not check it may have written anything."""
        return self._short_at >= since

    def blame(self, gpu: Gpu, failed: Finished, said: str = "") -> str | None:
        """Returns what is wrong with the GPU of a run that failed, or None. A lost GPU is not leased again.

        It is probed when the run took too long or speaks of a device. said: what it wrote elsewhere than to stdout and stderr.
        """
        if not failed.out_of_time and not _SUSPICIOUS.search(f"{failed.stdout}{failed.stderr}{said}"):
            return None
        if (problem := probe_gpu(gpu, isolation=self.isolation)) is None:
            return None
        return self.lost.setdefault(gpu.uuid, f"GPU {gpu.index} ({gpu.name}): {problem}")


class Turns:
    """Keeps builds and timed runs apart: a timed run waits for builds in progress, and builds that come meanwhile wait for it.

    A thread that has to share its processor sees its GPU done a slice of time too late, and is late with its own launches.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._building = self._timing = 0  # the latter with those that wait for their turn

    @contextmanager
    def building(self) -> Iterator[None]:
        """With any other builds."""
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
        """With any others that are timed, each on a GPU of its own."""
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
