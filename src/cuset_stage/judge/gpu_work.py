"""Conclusions from what an answer did on the GPU: whether the GPU did the work, and whether a time can be believed.

They rest on two accounts (gpu_activity.py). One is CUPTI's record, which is written inside the answer's process, so an
answer could forge it. The other is the GPU's counters, which no answer can change.

Programs: every run is recorded. A program that passes is run once more in the same way, but its inputs are withheld
from the GPU: wherever bytes of an input file go there, the GPU gets zeros in their place (gpu_inputs.cpp). If the
outputs of the largest case are right all the same, they were computed on the host: without the GPU, beside an empty
or idle kernel, or before a kernel that copies, decodes or is handed the result. No variable, argument or file tells a
program which of its runs this is (all_cases.cpp), but its process holds that information, and a program may look
there.

A program that gives the GPU its inputs in another form (converted, packed) passes this run as well. So more has to be
known before it is flagged as no GPU work: that next to nothing else was uploaded, that the outputs themselves were
uploaded, or that next to nothing came back. Where much else was uploaded, the host did part of the work, and a time of
kernels says nothing.

Modules: the two accounts are compared with the clock. If they show more work than the clock allows for, there is no
speed-up. The counters are read over the timed calls. Kernels are recorded in separate calls, since recording takes
time.
"""

import functools
import operator
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..spans.scrub import scrub
from .gpu_activity import Activity, Counted, Kernel
from .judgement import KernelUse


NO_GPU_WORK = "no_gpu_work"  # the first word of all flags that mean no GPU work
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
UNRECORDED_S = 1e-3  # allowed for each process; creating a context takes 1.3 to 1.8 ms on an H200

TENSOR = "tensor_cores: they worked for the answer, and not for the reference"
TENSOR_SHARE = 0.01  # of the GPU's busy time; above it, an answer counts as using tensor cores
SHARE = 0.8  # of the recorded time that the counters have to confirm
# Bytes of input. Fewer may go to the GPU as kernel arguments, which are not withheld, so passing without them proves
# nothing.
LEAST_INPUT = 4096
MOST_INPUT = 2 << 30  # bytes; with more, searching uploads for inputs takes too long
FEW = 64  # "next to nothing" is less than a 64th of the inputs or outputs
SMALL_RESULT = 1024  # bytes that may be uploaded beside the inputs, such as parameters
BLOCK, MOST_BLOCKS = 32, 256  # bytes of a block of outputs, and blocks of a case, by which uploads are recognized
MOST_KERNELS = 16  # listed for each answer

NO_KERNEL = "no kernel of its own: all that ran on the GPU is PyTorch's and its libraries'"
IDLE_KERNEL = "no speed-up: kernels of PyTorch and its libraries do the work, beside kernels of its own"
MISSING = "no speed-up: the GPU's record of its calls is missing, or they are wrong when they are recorded"
MORE = "no speed-up: the work of a call takes longer by the GPU's record than by the clock"
# A call's time by the clock may be as short as CLOCK_SHARE times the work by the GPU's record, less LATENCY_S.
CLOCK_SHARE, LATENCY_S = 0.8, 5e-6
_MASK, _HASH = "cuset_unmask", "cuset_hash"  # kernels of modules/handover.cu, before and after each call
# Mangled names of library kernels: PyTorch's own, those that torch.compile makes, and those of cuBLAS, cuDNN, cuFFT,
# cuSPARSE and FlashAttention.
_LIBRARIES = re.compile(
    r"_ZN(2at|3c10|5torch|14at_cuda_detail|8cublasLt|5cudnn|8cusparse|13pytorch_flash|8internal\d+gemv)|"
    r"_Z\d+(gemv2[NT]_kernel_val|gemvNSP_kernel|gemmSN_[NT]+_kernel\w*|splitKreduce_kernel|dot_kernel|reduce_1Block_kernel)I|"
    r"cutlass_\d|sm\d+_xmma|(ampere|volta|turing|maxwell|pascal|hopper)_|nvjet_|fmha_|cudnn_|(regular|vector)_fft|"
    r"triton_(poi|red|per|tem)_fused"
)


def case_to_examine(input_bytes: Sequence[int]) -> int | None:
    """Return the index of the case that shows best whether a program needs its inputs, given their bytes in each case.

    This is the one with the largest inputs that can still be searched (MOST_INPUT). None if there is no such case.
    """
    usable = [index for index, size in enumerate(input_bytes) if size <= MOST_INPUT]
    return max(usable, key=input_bytes.__getitem__, default=None)


def blocks_of(outputs: Iterable[Path]) -> bytes:
    """Return distinct blocks of one case's right outputs, by which an upload of the outputs is recognized.

    Blocks that repeat themselves every 8 bytes are left out, because they may come from anywhere.

    Returns:
        The blocks of BLOCK bytes each, sorted and joined; at most MOST_BLOCKS of them, spread evenly over the files.
    """
    files = [np.memmap(path, np.uint8, "r") for path in outputs if path.stat().st_size >= BLOCK]
    blocks: set[bytes] = set()
    for values in files:
        count = min(MOST_BLOCKS // len(files), values.size // BLOCK)
        offsets = np.linspace(0, values.size - BLOCK, count).astype(np.int64) // 4 * 4
        blocks |= {values[offset : offset + BLOCK].tobytes() for offset in offsets}
    return b"".join(sorted(block for block in blocks if block != block[:8] * (BLOCK // 8)))


def plan(inputs: Iterable[str], withheld: bytes | None) -> bytes:
    """Return the judge's plan for a run, which all_cases.so reads from standard input (gpu_inputs.h).

    Args:
        inputs: Paths of the input files, relative to the folder of the run.
        withheld: Blocks of the right outputs (`blocks_of`) for a run with withheld inputs. None: the GPU gets the
            inputs.
    """
    return (b"-" if withheld is None else b"w") + ":".join(inputs).encode() + b"\n" + (withheld or b"")


class Withheld(NamedTuple):
    """A run with withheld inputs.

    Attributes:
        activity: The record of the process.
        passed: Whether the outputs of the examined case were right.
        ended: Whether the run came to its end.
        largest_bytes: Bytes of input of the examined case.
        input_bytes: Bytes of input of all cases of the run.
        output_bytes: Bytes of output of all cases of the run.
        blocks: Total bytes of the blocks of right outputs that the recorder looked for.
    """

    activity: Activity
    passed: bool
    ended: bool
    largest_bytes: int
    input_bytes: int
    output_bytes: int
    blocks: int


def examine(run: Withheld, source: str = "") -> str | None:
    """Return the flag that a run with withheld inputs earns its program, or None.

    CUPTI does not report transfers through `__managed__` variables, by which inputs may be uploaded and results come
    back. A program with such variables in its source is therefore not flagged for work that may be hidden in them.
    """
    unseen = "__managed__" in scrub(source)  # comments and strings do not count
    up = run.activity.uploads
    unsearched = max(0, run.activity.bytes_to_gpu - up.copied)  # copies into CUDA arrays or by nodes of graphs
    others = up.others + unsearched
    if 2 * up.outputs >= run.blocks > 0:
        return RESULT_UPLOADED
    if run.ended and not unseen and run.activity.bytes_from_gpu + up.shared < run.output_bytes / FEW:
        return NOT_FROM_GPU
    if run.largest_bytes < LEAST_INPUT:
        return SMALL_INPUT if run.passed else None
    if run.passed and not unseen and others < run.input_bytes / FEW:
        return NOT_NEEDED
    return HOST_WORK if run.passed or others >= max(run.output_bytes, SMALL_RESULT) else None


def kernel_uses(activities: Iterable[Activity]) -> tuple[KernelUse, ...]:
    """Return the kernels of all runs, grouped by name and sorted by total time, longest first.

    At most MOST_KERNELS are returned. Grid and block are those of a kernel's longest launch.
    """
    launches: dict[str, list[Kernel]] = {}
    for kernel in (kernel for activity in activities for kernel in activity.kernels):
        launches.setdefault(kernel.name[:500], []).append(kernel)
    uses = []
    for name, same_kernel in launches.items():
        longest = max(same_kernel, key=Kernel.length)
        seconds = sum(map(Kernel.length, same_kernel)) / 1e9
        uses.append(KernelUse(name, len(same_kernel), seconds, longest.grid, longest.block))
    return tuple(sorted(uses, key=lambda use: -use.seconds)[:MOST_KERNELS])


def tensor_cores(answer: float, reference: float) -> bool:
    """Return whether the answer uses tensor cores and the reference does not, by each one's `Counted.tensor_share`."""
    return reference < TENSOR_SHARE / 10 and answer > TENSOR_SHARE


class Timed(NamedTuple):
    """The time on the GPU of a program's runs on all cases.

    Attributes:
        kernel_s: Seconds by CUPTI's record, which the program could have changed.
        processes: For each process, busy seconds by CUPTI's record and by NVML's counters. The program cannot change
            the counters.
        tensor_share: The largest share of tensor cores in any process, by the counters.
    """

    kernel_s: float
    processes: tuple[tuple[float, float], ...]
    tensor_share: float = 0.0

    @classmethod
    def of(cls, runs: Sequence[Any]) -> "Timed":
        """Summarize the runs of a program, the `CaseRun`s of all cases."""
        processes = [run.process for run in runs if run.process and run.process.counted]
        tensor_share = max((process.counted.tensor_share for process in processes), default=0.0)
        seconds = tuple((process.busy_s, process.counted.busy_s) for process in processes)
        return cls(sum(run.activity.busy_s for run in runs), seconds, tensor_share)

    @property
    def invented(self) -> bool:
        """Whether a process recorded more work than the GPU's counters confirm."""
        return any(counted < SHARE * recorded for recorded, counted in self.processes)

    def hides_more_than(self, reference: "Timed") -> bool:
        """Return whether the GPU did more unrecorded work than in the runs of the task's own program.

        Compares the process with the most unrecorded work of each, and allows for a difference of UNRECORDED_S. False
        if either was not counted.
        """
        answer_s, reference_s = (
            max((counted - recorded for recorded, counted in timed.processes), default=None)
            for timed in (self, reference)
        )
        return answer_s is not None and reference_s is not None and answer_s > reference_s + UNRECORDED_S


def calls_of(activity: Activity, count: int) -> list[Activity] | None:
    """Split the record of a module's process into the `count` calls that the judge made.

    A call lies between the kernels that unmask its inputs and the last kernel that hashes its outputs
    (modules/handover.cu).

    Returns:
        The kernels and transfers of each call. None if the record is incomplete or does not show exactly `count`
        calls: an answer may unmask and hash by itself, or give its own kernels these names.
    """
    calls: list[Activity] = []
    call_kernels: list[Kernel] | None = None
    begin = end = 0
    for kernel in (*sorted(activity.kernels), None):  # None ends the last call
        if kernel is None or (_MASK in kernel.name and (end or not call_kernels)):
            if end:
                kernels = tuple(work for work in call_kernels or () if work.start < end)
                copies = tuple(work for work in activity.transfers if begin <= work.start <= end)
                calls.append(Activity(kernels, copies, True))
            call_kernels, begin, end = [], kernel.end if kernel else 0, 0
        elif call_kernels is not None and _HASH in kernel.name:
            end = kernel.start
        elif call_kernels is not None:
            call_kernels.append(kernel)
    return calls if activity.complete and len(calls) == count else None


def second_opinion(
    calls: Sequence[Activity] | None, reference: Sequence[Activity], kernel_s: float | None
) -> dict[str, Any]:
    """Return the changes to a judgement that follow from the recorded calls of a module.

    The changes are flags, the list of kernels, and no speed-up where the record contradicts the clock or the answer's
    own kernels do not do the work.

    Args:
        calls: The recorded calls of the answer; None if they are missing, or wrong when they are recorded.
        reference: The recorded calls of the task's own module.
        kernel_s: Seconds of a call of the answer by the clock, None where that is not known.
    """
    if calls is None:
        return {"flags": [MISSING], "speedup": None}
    flags, changes = [], {}
    names, needed = ([Counter(kernel.name for kernel in call.kernels) for call in some] for some in (calls, reference))
    own_ns, further_ns = _shares(calls, functools.reduce(operator.or_, needed))
    # True if some call of the answer lacks a kernel that every call of the reference runs.
    replaces = not all(functools.reduce(operator.and_, needed) <= some for some in names)
    if own_ns is None:
        flags.append(NO_KERNEL)
    elif not replaces or own_ns < further_ns:
        flags.append(IDLE_KERNEL)
        changes = {"speedup": None}
    if longer := _longer(min(call.busy_s for call in calls), kernel_s):
        flags.append(MORE)
        changes = longer
    return {"flags": flags, "kernels": kernel_uses(calls), **changes}


def _shares(calls: Sequence[Activity], known: Counter[str]) -> tuple[int | None, int]:
    """Return how long the answer's own kernels ran, and how long further library kernels ran.

    Args:
        calls: The recorded calls of the answer.
        known: The kernels that the reference runs, with their counts (of several calls, the largest). They count as
            PyTorch's, whatever their names.

    Returns:
        Nanoseconds of the answer's own kernels, None if it has none. Nanoseconds of kernels of PyTorch and its
        libraries that the reference does not run, or not as often.
    """
    own, further = list[int](), 0
    for call in calls:
        left = Counter(known)
        for kernel in sorted(call.kernels, key=Kernel.length):
            if left[kernel.name] > 0:
                left[kernel.name] -= 1
            elif kernel.name in known or _LIBRARIES.match(kernel.name):
                further += kernel.length()
            else:
                own.append(kernel.length())
    return sum(own) if own else None, further


def counted_opinion(
    nothing: Counted, reference: Counted, answer: Counted, calls: int, kernel_s: float | None
) -> dict[str, Any]:
    """Return the changes to a judgement that follow from the GPU's counters, as `second_opinion` does from the record.

    Args:
        nothing: Counter readings over the no-op calls.
        reference: Readings over as many calls of the reference.
        answer: Readings over as many calls of the answer.
        calls: The number of calls of each.
        kernel_s: Seconds of a call of the answer by the clock, None where that is not known.
    """
    flags = [TENSOR] if tensor_cores(answer.tensor_share, reference.tensor_share) else []
    # The GPU's busy time in a call of the answer, less the time that a no-op call takes.
    longer = _longer((answer.busy_s - nothing.busy_s) / calls, kernel_s)
    return {"flags": flags + [MORE] * bool(longer), **longer}


def _longer(busy_s: float, kernel_s: float | None) -> dict[str, Any]:
    """Return the changes to a judgement if a call takes longer by the GPU's record than by the clock, else {}."""
    if kernel_s is None or kernel_s >= CLOCK_SHARE * busy_s - LATENCY_S:
        return {}
    message = f"a call takes {kernel_s:.3g} s by the clock, {busy_s:.3g} s by the GPU's record"
    return {"speedup": None, "message": message}
