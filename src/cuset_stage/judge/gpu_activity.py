"""Two accounts of what a program did on the GPU: CUPTI's record, and the GPU's own counters.

CUPTI's record lists each kernel, copy and fill. It is written by a small library (gpu_activity.cpp, gpu_inputs.cpp)
that the driver loads into the program. nvcc builds the library once, from CUPTI as the toolkit or NVIDIA's wheels
bring it. The library runs inside the judged program, so a program that attacks it can write anything into the record.
The code that draws conclusions from the record has to allow for that (gpu_work.py, docs/security.md).

The counters (GPM, since Hopper) are read by the judge through NVML, and no program on the GPU can change them. They
count for the whole GPU, so they describe an answer only where nothing else runs on that GPU meanwhile.
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
FOLDER = ".gpu_activity"  # relative to the folder of a run
RECORD = f"{FOLDER}/record"
MAX_RECORD_BYTES = 64 << 20  # about half a million launches; a longer record counts as incomplete
# Bounds on what a record may claim: the bytes of all transfers together, which a results file has to hold, and the
# duration of one kernel or transfer (13 days).
MOST_COUNT, LONGEST_NS = 2**53 - 1, 2**50
SETTLE_S = 0.25  # the counters lag by about 0.1 s on an H200
_calls = threading.Lock()  # NVML 580 has crashed when many threads read one GPU's counters
TO_GPU, FROM_GPU, WITHIN_GPU = (1, 3), (2, 4), (5, 6, 7, 8, 10)  # CUpti_ActivityMemcpyKind


class Kernel(NamedTuple):
    """One launch of a kernel, as CUPTI recorded it.

    Attributes:
        start: Start in nanoseconds of CLOCK_MONOTONIC, the clock of time.perf_counter_ns.
        end: End on the same clock.
        grid: Blocks in x, y and z.
        block: Threads of a block in x, y and z.
        name: The mangled name, as the compiler writes it.
    """

    start: int
    end: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    name: str

    def length(self) -> int:
        """Return the duration in nanoseconds."""
        return self.end - self.start


class Transfer(NamedTuple):
    """One copy or fill, as CUPTI recorded it.

    Attributes:
        start: Start in nanoseconds of CLOCK_MONOTONIC.
        end: End on the same clock.
        kind: The copy's CUpti_ActivityMemcpyKind, None for a fill.
        bytes: Its size.
    """

    start: int
    end: int
    kind: int | None
    bytes: int


class Counted(NamedTuple):
    """The difference between two readings of the GPU's counters.

    Attributes:
        busy_s: Seconds in which the GPU had work other than copies.
        tensor_s: Seconds in which its tensor cores had work.
    """

    busy_s: float
    tensor_s: float

    @property
    def tensor_share(self) -> float:
        """The share of the busy time in which the tensor cores worked, 0.0 for an idle GPU."""
        return self.tensor_s / self.busy_s if self.busy_s else 0.0


class Uploads(NamedTuple):
    """Bytes that went to the GPU while inputs were withheld, by what they match (gpu_inputs.h).

    The first three count bytes of copies to the GPU, and bytes that lie in memory shared by host and GPU at the first
    launch after it was allocated.

    Attributes:
        inputs: Bytes that match an input file.
        outputs: Bytes that match the judge's blocks of the right outputs. Each block counts once.
        others: Bytes that match neither and are not zero.
        copied: All bytes of the copies that were seen.
        shared: Bytes of memory that host and GPU share.
    """

    inputs: int = 0
    outputs: int = 0
    others: int = 0
    copied: int = 0
    shared: int = 0


@dataclass(frozen=True)
class Activity:
    """The record of one run.

    Attributes:
        kernels: The kernel launches.
        transfers: The copies and fills.
        complete: Whether the process came to its end and no line of the record is missing or malformed.
        uploads: What went to the GPU, if inputs were withheld in this run.
        counted: What the GPU's counters say about the time of the run, None where they were not read.
    """

    kernels: tuple[Kernel, ...] = ()
    transfers: tuple[Transfer, ...] = ()
    complete: bool = False
    uploads: Uploads = field(default_factory=Uploads)
    counted: Counted | None = None

    @property
    def busy_s(self) -> float:
        """Seconds in which the GPU worked: ran a kernel, or a copy or fill within its own memory.

        Time in which several of these ran at once counts once.
        """
        within = [work for work in self.transfers if work.kind is None or work.kind in WITHIN_GPU]
        busy, until = 0, 0
        for start, end in sorted((work.start, work.end) for work in (*self.kernels, *within)):
            busy += max(0, end - max(start, until))
            until = max(until, end)
        return busy / 1e9

    def split(self, begins: Sequence[int]) -> "list[Activity]":
        """Split the record into one part per call of `main`.

        Each part holds the kernels and transfers that started at or after its own begin and before the next one. What
        started before the first begin belongs to the first part. `complete`, `uploads` and `counted` stay those of the
        whole process. The begins ascend, in nanoseconds of CLOCK_MONOTONIC.
        """
        return [
            replace(
                self,
                kernels=tuple(work for work in self.kernels if first <= work.start < last),
                transfers=tuple(work for work in self.transfers if first <= work.start < last),
            )
            for first, last in itertools.pairwise([0, *begins[1:], 2**63])
        ]

    @property
    def bytes_to_gpu(self) -> int:
        """Bytes that were copied from the host to the GPU."""
        return sum(transfer.bytes for transfer in self.transfers if transfer.kind in TO_GPU)

    @property
    def bytes_from_gpu(self) -> int:
        """Bytes that were copied from the GPU to the host."""
        return sum(transfer.bytes for transfer in self.transfers if transfer.kind in FROM_GPU)


@dataclass(frozen=True)
class Recorder:
    """The built recording library.

    Attributes:
        files: The files that a run has to see, by their names in the run's folder.
    """

    files: Mapping[str, Path]

    @staticmethod
    def environment(folder: Path | str) -> dict[str, str]:
        """Return the environment variables that make the driver load the library into a program.

        The recorder's `files` are placed in this folder, that of the run.
        """
        return {"CUDA_INJECTION64_PATH": f"{folder}/{FOLDER}/recorder.so", "CUSET_GPU_ACTIVITY": f"{folder}/{RECORD}"}


def find_recorder(isolation: Isolation = Isolation.AUTO) -> Recorder | str:
    """Return the recording library, built first if the cache does not have it.

    Where it cannot be built, returns a text with the reason instead. Judging then goes on without a record.
    """
    try:
        toolkit = find_toolkit()
        cupti, includes = _find_cupti(toolkit)
        options = ["-cudart", "none", *(f"-I{include}" for include in includes)]
        options += ["-Xlinker", str(cupti), "-Xlinker", "-rpath=$ORIGIN"]  # in a run, CUPTI lies beside the library
        library = compile_library(SOURCES, tuple(options), toolkit, isolation, visible=(cupti.parent, *includes))
    except (SandboxError, OSError) as error:
        return str(error)
    return Recorder({f"{FOLDER}/recorder.so": library.binary, f"{FOLDER}/{cupti.name}": cupti})


def _find_cupti(toolkit: Toolkit) -> tuple[Path, list[Path]]:
    """Find CUPTI in the toolkit, else in NVIDIA's wheels.

    Returns:
        libcupti.so.N, by the name that programs load it by, and the folders with its headers.

    Raises:
        SandboxError: CUPTI is in neither.
    """
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
    """Read the record of a run.

    The file comes from the program's own process, which may have replaced it with anything of any length. A record
    that is too long, malformed or implausible is returned with `complete` False.

    Raises:
        OSError: There is no file.
    """
    kernels: list[Kernel] = []
    transfers: list[Transfer] = []
    uploads = Uploads()
    begun = ended = 0
    complete = os.path.getsize(path) <= MAX_RECORD_BYTES
    with open(path, "rb") as file:
        lines = file.read(MAX_RECORD_BYTES).split(b"\n")
    # One line for each piece of work; gpu_activity.cpp documents the format.
    for raw_line in filter(None, lines):
        line = raw_line.decode(errors="replace")
        tag, _, fields_text = line.partition(" ")
        try:
            if tag == "K":
                numbers, name = fields_text.split(" ")[:8], fields_text.split(" ", 8)[-1]
                start, end, *shape = _numbers(numbers, 8)
                kernels.append(Kernel(start, end, tuple(shape[:3]), tuple(shape[3:]), name))
            elif tag == "C":
                transfers.append(Transfer(*_numbers(fields_text.split(" "), 4)))
            elif tag == "S":
                start, end, size = _numbers(fields_text.split(" "), 3)
                transfers.append(Transfer(start, end, None, size))
            elif tag == "U":
                upload = _numbers(fields_text.split(" "), len(uploads), timed=False)
                uploads = Uploads(*map(sum, zip(uploads, upload, strict=True)))
            elif line in ("begin", "end"):
                begun, ended = begun + (line == "begin"), ended + (line == "end")
            else:
                complete = False
        except ValueError:
            complete = False
    if sum(transfer.bytes for transfer in transfers) > MOST_COUNT:
        transfers, complete = [], False
    return Activity(tuple(kernels), tuple(transfers), complete and begun == ended > 0, uploads)


def _numbers(parts: Sequence[str], count: int, *, timed: bool = True) -> list[int]:
    """Parse exactly `count` non-negative integers of at most 18 digits.

    Larger values would not fit into a results file. With `timed`, the first two numbers are a start and an end, and
    the time between them has to be plausible.

    Raises:
        ValueError: The parts are anything else.
    """
    if len(parts) != count or not all(part.isdigit() and len(part) < 19 for part in parts):
        raise ValueError
    numbers = [*map(int, parts)]
    if timed and not 0 <= numbers[1] - numbers[0] < LONGEST_NS:
        raise ValueError
    return numbers


def why_no_counters(gpu: Gpu) -> str | None:
    """Return why the GPU's counters cannot be read, or None where they can."""
    try:
        with _counters(gpu):
            return None
    except OSError as error:
        return str(error)


@contextmanager
def counting(gpu: Gpu | None) -> Iterator[Callable[[], Counted | None]]:
    """Count the GPU's work from the start of the block.

    Yields:
        A function that returns the work from the start of the block until now. It returns None where there is no GPU,
        or where its counters cannot be read.
    """
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
    """Do what `counting` does, but raise OSError where the machine, its driver or the GPU has no counters.

    The function that is yielded raises OSError as well.
    """
    device = _call_nvml("nvmlDeviceGetHandleByUUID", gpu.uuid)
    if not _call_nvml("nvmlGpmQueryDeviceSupport", device).isSupportedDevice:
        raise OSError("this GPU's counters cannot be read with NVML")
    samples = [_call_nvml("nvmlGpmSampleAlloc") for _ in range(2)]

    def read() -> Counted:
        """Return the work since the start of the block, after a pause in which the counters catch up."""
        time.sleep(SETTLE_S)
        elapsed_s = time.monotonic() - begin
        _call_nvml("nvmlGpmSampleGet", device, samples[1])
        library = nvml()
        request = library.c_nvmlGpmMetricsGet_t(library.NVML_GPM_METRICS_GET_VERSION, 2, *samples)
        request.metrics[0].metricId = library.NVML_GPM_METRIC_GRAPHICS_UTIL
        request.metrics[1].metricId = library.NVML_GPM_METRIC_ANY_TENSOR_UTIL
        _call_nvml("nvmlGpmMetricsGet", request)
        for metric in request.metrics[:2]:
            if metric.nvmlReturn:
                raise OSError(f"NVML does not tell counter {metric.metricId}: error {metric.nvmlReturn}")
        return Counted(*(elapsed_s * metric.value / 100 for metric in request.metrics[:2]))

    try:
        time.sleep(SETTLE_S)  # by then the counters include all earlier work
        begin = time.monotonic()
        _call_nvml("nvmlGpmSampleGet", device, samples[0])
        yield read
    finally:
        for sample in samples:
            _call_nvml("nvmlGpmSampleFree", sample)


def _call_nvml(name: str, *arguments: Any) -> Any:
    """Call a function of NVML. Raises OSError if there is no NVML or the call fails."""
    if (library := nvml()) is None:
        raise OSError("there is no NVML here")
    try:
        with _calls:
            return getattr(library, name)(*arguments)
    except library.NVMLError as error:
        raise OSError(f"{name}: {error}") from None
