"""The accounts of what a program did on the GPU: CUPTI's, of what ran there, and that of the GPU's own counters.

A small library that the driver loads into the program (gpu_activity.cpp, gpu_inputs.cpp) writes CUPTI's down. It is built once, by nvcc,
from CUPTI as the toolkit or NVIDIA's wheels bring it. It runs inside the program, so one that goes after it can write what it likes into
the record: what is concluded from it says so (gpu_work.py, docs/security.md).

The counters (GPM, since Hopper) are read with NVML by the judge: no program on the GPU can change them. They count for the whole GPU, so
they say what an answer did where nothing else runs meanwhile.
"""

import itertools
import os
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..sandbox import Gpu, Isolation, SandboxError, Toolkit, compile_library, find_toolkit
from ..sandbox.gpus import nvml


SOURCES = tuple(Path(__file__).with_name(name) for name in ("gpu_activity.cpp", "gpu_inputs.cpp", "gpu_inputs.h"))
FOLDER = ".gpu_activity"  # in the folder of a run
RECORD = f"{FOLDER}/record"
MAX_RECORD_BYTES = 64 << 20  # half a million launches; a longer record is not complete
MOST_COUNT, LONGEST_NS = 2**53 - 1, 2**50  # bytes in all, what a results file holds; a kernel: 13 days
SETTLE_S = 0.25  # counters are about 0.1 s late on an H200
_calls = threading.Lock()  # NVML 580 has crashed where many threads read one GPU's counters
TO_GPU, FROM_GPU, WITHIN_GPU = (1, 3), (2, 4), (5, 6, 7, 8, 10)  # CUpti_ActivityMemcpyKind


class Kernel(NamedTuple):
    """One launch. name: as the compiler mangles it. start, end: nanoseconds of CLOCK_MONOTONIC, which time.perf_counter_ns counts, too."""

    start: int
    end: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    name: str

    def length(self) -> int:
        return self.end - self.start


class Transfer(NamedTuple):
    """A copy, or a fill, whose kind is None."""

    start: int
    end: int
    kind: int | None
    bytes: int


class Counted(NamedTuple):
    """Between two readings of the counters: seconds in which the GPU had work other than copies, and in which its tensor cores had."""

    busy_s: float
    tensor_s: float

    @property
    def tensor_share(self) -> float:
        return self.tensor_s / self.busy_s if self.busy_s else 0.0


class Uploads(NamedTuple):
    """Bytes that went up while inputs were withheld (gpu_inputs.h)."""

    inputs: int = 0
    outputs: int = 0
    others: int = 0
    copied: int = 0
    shared: int = 0


@dataclass(frozen=True)
class Activity:
    """The record of one run. complete: the process came to its end, and no line is missing or wrong. counted: what the GPU's
    counters say of the meantime, None where they were not read."""

    kernels: tuple[Kernel, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    complete: bool = False
    uploads: Uploads = field(default_factory=Uploads)
    counted: Counted | None = None

    @property
    def busy_s(self) -> float:
        """Seconds in which a kernel ran, or a copy or a fill within the GPU's memory; once where several ran at a time."""
        within = [one for one in self.transfers if one.kind is None or one.kind in WITHIN_GPU]
        busy, until = 0, 0
        for start, end in sorted((one.start, one.end) for one in (*self.kernels, *within)):
            busy += max(0, end - max(start, until))
            until = max(until, end)
        return busy / 1e9

    def split(self, begins: Sequence[int]) -> "list[Activity]":
        """What began from each of these times on and before the next one, in nanoseconds; what came before the first belongs to it."""
        return [
            replace(
                self,
                kernels=tuple(one for one in self.kernels if first <= one.start < last),
                transfers=tuple(one for one in self.transfers if first <= one.start < last),
            )
            for first, last in itertools.pairwise([0, *begins[1:], 2**63])
        ]

    @property
    def bytes_to_gpu(self) -> int:
        return sum(one.bytes for one in self.transfers if one.kind in TO_GPU)

    @property
    def bytes_from_gpu(self) -> int:
        return sum(one.bytes for one in self.transfers if one.kind in FROM_GPU)


@dataclass(frozen=True)
class Recorder:
    """The built library. files: what a run needs to see, by names in its folder."""

    files: Mapping[str, Path]

    @staticmethod
    def environment(folder: Path | str) -> dict[str, str]:
        """What a run in this folder, which has `FOLDER` in it, needs in its environment."""
        return {"CUDA_INJECTION64_PATH": f"{folder}/{FOLDER}/recorder.so", "CUSET_GPU_ACTIVITY": f"{folder}/{RECORD}"}


def find_recorder(isolation: Isolation = Isolation.AUTO) -> Recorder | str:
    """The library, built where the cache does not have it; a text says why there is none: then nothing is recorded, and nothing fails."""
    try:
        toolkit = find_toolkit()
        cupti, includes = _find_cupti(toolkit)
        options = ["-cudart", "none", *(f"-I{include}" for include in includes)]
        options += ["-Xlinker", str(cupti), "-Xlinker", "-rpath=$ORIGIN"]  # it lies beside the library in a run
        library = compile_library(SOURCES, tuple(options), toolkit, isolation, visible=(cupti.parent, *includes))
    except (SandboxError, OSError) as error:
        return str(error)
    return Recorder({f"{FOLDER}/recorder.so": library.binary, f"{FOLDER}/{cupti.name}": cupti})


def _find_cupti(toolkit: Toolkit) -> tuple[Path, list[Path]]:
    """libcupti.so.N, by the name that programs load it by, and the folders of its headers: the toolkit's, else of NVIDIA's wheels."""
    wheels, root = Path(sysconfig.get_path("purelib"), "nvidia"), toolkit.folder
    places = [root, root / "extras/CUPTI", *root.glob("targets/*")]
    places += [wheels / f"cu{toolkit.version.split('.')[0]}", wheels / "cuda_cupti"]
    headers = [path.parent for place in places for path in place.glob("include/cupti.h")]
    libraries = [path for place in places for path in sorted(place.glob("lib*/libcupti.so.[0-9][0-9]"))]
    if not headers or not libraries:
        raise SandboxError(
            f"CUPTI is neither in {root} (extras/CUPTI) nor in NVIDIA's wheels: `pip install nvidia-cuda-cupti`, or install it with the toolkit"
        )
    return libraries[0], [headers[0], *(path for place in places if (path := place / "include").is_dir())]


def read_activity(path: Path) -> Activity:
    """What the library wrote, or what a program put in its place: anything, of any length. Raises OSError when there is no file."""
    kernels: list[Kernel] = []
    transfers: list[Transfer] = []
    uploads = Uploads()
    begun = ended = 0
    complete = os.path.getsize(path) <= MAX_RECORD_BYTES
    with open(path, "rb") as file:
        lines = file.read(MAX_RECORD_BYTES).split(b"\n")
    for raw in filter(None, lines):
        line = raw.decode(errors="replace")
        kind, _, rest = line.partition(" ")
        try:
            if kind == "K":
                numbers, name = rest.split(" ")[:8], rest.split(" ", 8)[-1]
                start, end, *shape = _numbers(numbers, 8)
                kernels.append(Kernel(start, end, tuple(shape[:3]), tuple(shape[3:]), name))
            elif kind == "C":
                transfers.append(Transfer(*_numbers(rest.split(" "), 4)))
            elif kind == "S":
                start, end, size = _numbers(rest.split(" "), 3)
                transfers.append(Transfer(start, end, None, size))
            elif kind == "U":
                more = _numbers(rest.split(" "), len(uploads), timed=False)
                uploads = Uploads(*map(sum, zip(uploads, more, strict=True)))
            elif line in ("begin", "end"):
                begun, ended = begun + (line == "begin"), ended + (line == "end")
            else:
                complete = False
        except ValueError:
            complete = False
    if sum(one.bytes for one in transfers) > MOST_COUNT:
        transfers, complete = [], False
    return Activity(tuple(kernels), tuple(transfers), complete and begun == ended > 0, uploads)


def _numbers(parts: Sequence[str], count: int, *, timed: bool = True) -> list[int]:
    """So many numbers that a results file holds, and Python writes; timed: which begin with a start and an end. Raises ValueError."""
    if len(parts) != count or not all(part.isdigit() and len(part) < 19 for part in parts):
        raise ValueError
    numbers = [*map(int, parts)]
    if timed and not 0 <= numbers[1] - numbers[0] < LONGEST_NS:
        raise ValueError
    return numbers


def why_no_counters(gpu: Gpu) -> str | None:
    """Why a GPU's counters cannot be read; None where they can."""
    try:
        with _counters(gpu):
            return None
    except OSError as error:
        return str(error)


@contextmanager
def counting(gpu: Gpu | None) -> Iterator[Callable[[], Counted | None]]:
    """Counts from the start of the block; the function that it gives tells what until now, and None where there are no counters."""
    with ExitStack() as stack:
        counters = None
        with suppress(OSError):
            counters = stack.enter_context(_counters(gpu)) if gpu else None

        def read() -> Counted | None:
            with suppress(OSError):
                return counters() if counters else None

        yield read


@contextmanager
def _counters(gpu: Gpu) -> Iterator[Callable[[], Counted]]:
    """As `counting`. OSError where the machine, its driver or the GPU has no counters, also of the function."""
    device = _call_nvml("nvmlDeviceGetHandleByUUID", gpu.uuid)
    if not _call_nvml("nvmlGpmQueryDeviceSupport", device).isSupportedDevice:
        raise OSError("this GPU's counters cannot be read with NVML")
    samples = [_call_nvml("nvmlGpmSampleAlloc") for _ in range(2)]

    def read() -> Counted:
        time.sleep(SETTLE_S)
        passed = time.monotonic() - begin
        _call_nvml("nvmlGpmSampleGet", device, samples[1])
        library = nvml()
        asked = library.c_nvmlGpmMetricsGet_t(library.NVML_GPM_METRICS_GET_VERSION, 2, *samples)
        asked.metrics[0].metricId = library.NVML_GPM_METRIC_GRAPHICS_UTIL
        asked.metrics[1].metricId = library.NVML_GPM_METRIC_ANY_TENSOR_UTIL
        _call_nvml("nvmlGpmMetricsGet", asked)
        for metric in asked.metrics[:2]:
            if metric.nvmlReturn:
                raise OSError(f"NVML does not tell counter {metric.metricId}: error {metric.nvmlReturn}")
        return Counted(*(passed * metric.value / 100 for metric in asked.metrics[:2]))

    try:
        time.sleep(SETTLE_S)  # what was before has settled then
        begin = time.monotonic()
        _call_nvml("nvmlGpmSampleGet", device, samples[0])
        yield read
    finally:
        for sample in samples:
            _call_nvml("nvmlGpmSampleFree", sample)


def _call_nvml(name: str, *arguments: Any) -> Any:
    """Raises OSError."""
    if (library := nvml()) is None:
        raise OSError("there is no NVML here")
    try:
        with _calls:
            return getattr(library, name)(*arguments)
    except library.NVMLError as error:
        raise OSError(f"{name}: {error}") from None
