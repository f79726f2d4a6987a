"""What a program did on the GPU, by CUPTI's account: a small library that the driver loads into it (gpu_activity.cpp,
gpu_inputs.cpp) writes it down.

The library is built once, by nvcc, from CUPTI as the toolkit or NVIDIA's wheels bring it. It runs inside the program, so a program that
goes after it can write what it likes into the record: what is concluded from it says so (gpu_work.py, docs/security.md).
"""

import itertools
import os
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ..sandbox import Isolation, SandboxError, Toolkit, compile_library, find_toolkit
from .gpu_counters import Counted


SOURCES = tuple(Path(__file__).with_name(name) for name in ("gpu_activity.cpp", "gpu_inputs.cpp", "gpu_inputs.h"))
FOLDER = ".gpu_activity"  # in the folder of a run
RECORD = f"{FOLDER}/record"
MAX_RECORD_BYTES = 64 << 20  # half a million launches; a longer record is not complete
MOST_COUNT, LONGEST_NS = 2**53 - 1, 2**50  # bytes in all, what a results file holds; a kernel: 13 days
TO_GPU, FROM_GPU, WITHIN_GPU = (1, 3), (2, 4), (5, 6, 7, 8, 10)  # CUpti_ActivityMemcpyKind


class Kernel(NamedTuple):
    """One launch. name: as the compiler mangles it. start, end: nanoseconds of CLOCK_MONOTONIC, which time.perf_counter_ns counts, too."""

    start: int
    end: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    name: str


class Transfer(NamedTuple):
    """A copy, or a fill, whose kind is None."""

    start: int
    end: int
    kind: int | None
    bytes: int


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
        edges = [0, *begins[1:], 2**63]

        def between(first: int, last: int) -> Activity:
            own = {
                name: tuple(one for one in getattr(self, name) if first <= one.start < last)
                for name in ("kernels", "transfers")
            }
            return replace(self, **own)

        return [between(*edge) for edge in itertools.pairwise(edges)]

    @property
    def works(self) -> bool:
        """Whether anything ran on the GPU but copies from and to the host."""
        return self.busy_s > 0

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
        return build(find_toolkit(), isolation)
    except (SandboxError, OSError) as error:
        return str(error)


def build(toolkit: Toolkit, isolation: Isolation) -> Recorder:
    """Raises SandboxError without CUPTI, or when nvcc refuses the source."""
    cupti, includes = _find_cupti(toolkit)
    options = ["-cudart", "none", *(f"-I{include}" for include in includes)]
    options += ["-Xlinker", str(cupti), "-Xlinker", "-rpath=$ORIGIN"]  # it lies beside the library in a run
    library = compile_library(SOURCES, tuple(options), toolkit, isolation, visible=(cupti.parent, *includes))
    return Recorder({f"{FOLDER}/recorder.so": library.binary, f"{FOLDER}/{cupti.name}": cupti})


def _find_cupti(toolkit: Toolkit) -> tuple[Path, list[Path]]:
    """libcupti.so.N, by the name that programs load it by, and the folders of its headers: the toolkit's, else of NVIDIA's wheels."""
    wheels = Path(sysconfig.get_path("purelib"), "nvidia")
    root = toolkit.folder
    places = [
        root,
        root / "extras/CUPTI",
        *root.glob("targets/*"),
        wheels / f"cu{toolkit.version.split('.')[0]}",
        wheels / "cuda_cupti",
    ]
    headers = [path.parent for place in places for path in place.glob("include/cupti.h")]
    libraries = [
        path
        for place in places
        for lib in ("lib64", "lib")
        for path in sorted(place.glob(f"{lib}/libcupti.so.[0-9][0-9]"))
    ]
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
                *numbers, name = rest.split(" ", 8)
                start, end, *shape = map(_count, numbers)
                if len(shape) != 6:
                    raise ValueError
                kernels.append(Kernel(start, _after(start, end), tuple(shape[:3]), tuple(shape[3:]), name))
            elif kind == "C":
                start, end, what, size = map(_count, rest.split(" "))
                transfers.append(Transfer(start, _after(start, end), what, size))
            elif kind == "S":
                start, end, size = map(_count, rest.split(" "))
                transfers.append(Transfer(start, _after(start, end), None, size))
            elif kind == "U":
                one = Uploads(*map(_count, rest.split(" ")))
                uploads = Uploads(*map(sum, zip(uploads, one, strict=True)))
            elif line in ("begin", "end"):
                begun, ended = begun + (line == "begin"), ended + (line == "end")
            else:
                complete = False
        except ValueError:
            complete = False
    if sum(one.bytes for one in transfers) > MOST_COUNT:
        transfers, complete = [], False
    return Activity(tuple(kernels), tuple(transfers), complete and begun == ended > 0, uploads)


def _count(text: str) -> int:
    """A number that a results file holds, and Python writes."""
    if len(text) > 19 or not 0 <= (value := int(text)) < 2**63:
        raise ValueError
    return value


def _after(start: int, end: int) -> int:
    if not 0 <= end - start < LONGEST_NS:
        raise ValueError
    return end
