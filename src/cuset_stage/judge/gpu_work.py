"""Whether the GPU did a program's work, by what its runs recorded (gpu_activity.py).

Each run of a program is recorded. One that passes is run once more, on one case, with its inputs withheld from the GPU: wherever bytes of
an input file go there, the GPU gets zeros (gpu_inputs.cpp). What is right all the same was computed on the host: without the GPU, beside an
empty or idle kernel, or before a kernel that copies, decodes or is handed the result. A program that gives the GPU its inputs in another
form (converted, packed) passes as well, so more has to be known before it is called no GPU work: that next to nothing else went up, or
that the outputs themselves did, or that next to nothing came back. Where much else went up, the host did part of the work and a time of kernels says nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..spans.scrub import scrub
from .gpu_activity import FOLDER, Activity
from .judgement import GpuUse, KernelUse


NO_GPU_WORK = "no_gpu_work"  # what the flags of such programs begin with
NOTHING_RAN = f"{NO_GPU_WORK}: nothing ran on the GPU, or it kept it from being recorded"
RESULT_UPLOADED = f"{NO_GPU_WORK}: the outputs were copied to the GPU before it could compute them"
NOT_FROM_GPU = f"{NO_GPU_WORK}: next to nothing came back from the GPU"
NOT_NEEDED = f"{NO_GPU_WORK}: it is right although the GPU was given none of its inputs"
HOST_WORK = "much that stands in no input was copied to the GPU, so its kernels are not all of the work: no speed-up"
SMALL_INPUT = (
    "no speed-up: its inputs are small enough to be handed to kernels as arguments, so the host may have done the work"
)
INVENTED = f"{NO_GPU_WORK}: the record of its kernels says more than the GPU did"
UNRECORDED = "no speed-up: the GPU was busy for longer than the record of its kernels says"
UNRECORDED_S = 1e-3  # a process: what making a context takes is 1.3 to 1.8 ms on an H200

SHARE = 0.8  # of the record that the counters have to confirm
LEAST_INPUT = 4096  # bytes of input: less may go up as arguments of kernels, so that a program is right without it proves nothing
WORTHWHILE_INPUT = 1 << 16  # the smallest case with so much is run with its inputs withheld
MOST_INPUT = 2 << 30  # with more the search for inputs takes too long
FEW = 64  # less than a 64th of the inputs, or of the outputs, is next to nothing
SMALL_RESULT = 1024  # bytes that may go up beside the inputs, such as parameters
MOST_KERNELS = 16  # named for each answer


def case_to_examine(input_bytes: Sequence[int]) -> int | None:
    """Which case is run with its inputs withheld: the smallest that is large enough, else the largest; None where all are too large."""
    usable = [(size, index) for index, size in enumerate(input_bytes) if size <= MOST_INPUT]
    if not usable:
        return None
    return min([one for one in usable if one[0] >= WORTHWHILE_INPUT], default=max(usable))[1]


def withholding(inputs: Iterable[str], outputs: Mapping[str, Path]) -> tuple[dict[str, Path], dict[str, str]]:
    """For a run with withheld inputs: the further files that it needs to see (right outputs), and its environment."""
    files = {f"{FOLDER}/outputs/{index}": path for index, path in enumerate(outputs.values())}
    names = {"CUSET_GPU_INPUTS": inputs, "CUSET_GPU_OUTPUTS": files}
    return files, {key: ":".join(f"{{folder}}/{name}" for name in found) for key, found in names.items()}


def examine(withheld: Activity, passed: bool, input_bytes: int, output_bytes: int, *, source: str = "") -> str | None:
    """The flag that a run with withheld inputs earns its program, or None. passed: whether its outputs were right. source: CUPTI does not
    tell of __managed__ variables, by which inputs may go up and results come back: what has them is not called no GPU work for that."""
    unseen = "__managed__" in scrub(source)  # in a comment or a text it hides nothing
    up = withheld.uploads
    others = up.others + max(0, withheld.bytes_to_gpu - up.copied)  # what was not looked into: arrays, nodes of graphs
    if 2 * up.outputs >= output_bytes > 0:
        return RESULT_UPLOADED
    if not unseen and withheld.bytes_from_gpu + up.shared < output_bytes / FEW:
        return NOT_FROM_GPU
    if input_bytes < LEAST_INPUT:
        return SMALL_INPUT if passed else None
    if passed and not unseen and others < input_bytes / FEW:
        return NOT_NEEDED
    return HOST_WORK if passed or others >= max(output_bytes, SMALL_RESULT) else None


def gpu_use(activity: Activity) -> GpuUse:
    return GpuUse(activity.busy_s, len(activity.kernels), activity.bytes_to_gpu, activity.bytes_from_gpu)


def kernel_uses(activities: Iterable[Activity]) -> tuple[KernelUse, ...]:
    """The kernels of all runs by name, those first that took longest; grid and block are those of the longest launch."""
    launches: dict[str, list] = {}
    for activity in activities:
        for kernel in activity.kernels:
            launches.setdefault(kernel.name[:500], []).append(kernel)
    uses = []
    for name, found in launches.items():
        longest = max(found, key=lambda one: one.end - one.start)
        seconds = sum(one.end - one.start for one in found) / 1e9
        uses.append(KernelUse(name, len(found), seconds, longest.grid, longest.block))
    return tuple(sorted(uses, key=lambda use: -use.seconds)[:MOST_KERNELS])


class Timed(NamedTuple):
    """Runs of a program on all cases: seconds by CUPTI's record, which it could change, and for each process what it recorded and what
    NVML's counters say, which it could not change."""

    kernel_s: float
    processes: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, cases: Iterable[Activity], processes: Iterable[Activity | None]) -> "Timed":
        both = [(one.busy_s, one.counted_s) for one in processes if one and one.counted_s is not None]
        return cls(sum(case.busy_s for case in cases), tuple(both))

    @property
    def invented(self) -> bool:
        """Whether a process recorded more than the GPU did."""
        return any(counted < SHARE * recorded for recorded, counted in self.processes)

    def hides_more_than(self, reference: "Timed") -> bool:
        """Whether the GPU did more in a process, beside what was recorded, than in one of the task's own program."""
        own, its = (
            max((counted - recorded for recorded, counted in one.processes), default=None) for one in (self, reference)
        )
        return own is not None and its is not None and own > its + UNRECORDED_S
