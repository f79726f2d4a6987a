"""What the GPU's own account says of an answer: whether the GPU did the work, and whether a time can be believed.

The account (gpu_activity.py) is what runs recorded, written inside the answer's process, which could write something else; and the GPU's
counters, which no answer can change.

Programs: each run is recorded. One that passes is run once more, as before, with its inputs withheld from the GPU: wherever bytes of an
input file go there, the GPU gets zeros (gpu_inputs.cpp). What is right all the same on the largest case was computed on the host: without
the GPU, beside an empty or idle kernel, or before a kernel that copies, decodes or is handed the result. No variable, argument or file tells
a program which run it is in (all_cases.cpp), but its process holds that: it may look there. A program that gives the GPU its inputs in another
form (converted, packed) passes as well, so more has to be known before it is called no GPU work: that next to nothing else went up, or
that the outputs themselves did, or that next to nothing came back. Where much else went up, the host did part of the work and a time of
kernels says nothing.

Modules: the account is held against the clock. Where it says more there is no speed-up. The counters are read over timed calls; kernels are
recorded in calls made for that alone, since recording takes time.
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

TENSOR = "tensor_cores: they worked for the answer, and not for the reference"
TENSOR_SHARE = 0.01  # of the time in which the GPU works, in which its tensor cores do
SHARE = 0.8  # of the record that the counters have to confirm
LEAST_INPUT = 4096  # bytes of input: less may go up as arguments of kernels, so that a program is right without it proves nothing
MOST_INPUT = 2 << 30  # with more the search for inputs takes too long
FEW = 64  # less than a 64th of the inputs, or of the outputs, is next to nothing
SMALL_RESULT = 1024  # bytes that may go up beside the inputs, such as parameters
BLOCK, MOST_BLOCKS = 32, 256  # bytes; of the outputs, by which they are known where they go up
MOST_KERNELS = 16  # named for each answer

NO_KERNEL = "no kernel of its own: all that ran on the GPU is PyTorch's and its libraries'"
IDLE_KERNEL = "no speed-up: kernels of PyTorch and its libraries do the work, beside kernels of its own"
MISSING = "no speed-up: the GPU's record of its calls is missing, or they are wrong when they are recorded"
MORE = "no speed-up: the work of a call takes longer by the GPU's record than by the clock"
CLOCK_SHARE, LATENCY_S = 0.8, 5e-6  # of the recorded work that the clock may say less
_MASK, _HASH = "cuset_unmask", "cuset_hash"  # of handover.cu
# As the compiler mangles them: PyTorch's own, what torch.compile makes, and those of cuBLAS, cuDNN, cuFFT, cuSPARSE and FlashAttention.
_LIBRARIES = re.compile(
    r"_ZN(2at|3c10|5torch|14at_cuda_detail|8cublasLt|5cudnn|8cusparse|13pytorch_flash|8internal\d+gemv)|"
    r"_Z\d+(gemv2[NT]_kernel_val|gemvNSP_kernel|gemmSN_[NT]+_kernel\w*|splitKreduce_kernel|dot_kernel|reduce_1Block_kernel)I|"
    r"cutlass_\d|sm\d+_xmma|(ampere|volta|turing|maxwell|pascal|hopper)_|nvjet_|fmha_|cudnn_|(regular|vector)_fft|"
    r"triton_(poi|red|per|tem)_fused"
)


def case_to_examine(input_bytes: Sequence[int]) -> int | None:
    """Returns the index of the case that shows whether a program needs its inputs: the largest that can be searched; None if there is none."""
    usable = [index for index, size in enumerate(input_bytes) if size <= MOST_INPUT]
    return max(usable, key=input_bytes.__getitem__, default=None)


def blocks_of(outputs: Iterable[Path]) -> bytes:
    """Blocks of right outputs, all different, without those that repeat every 8 bytes, which say nothing about where they come from."""
    files = [np.memmap(path, np.uint8, "r") for path in outputs if path.stat().st_size >= BLOCK]
    found: set[bytes] = set()
    for values in files:
        count = min(MOST_BLOCKS // len(files), values.size // BLOCK)
        places = np.linspace(0, values.size - BLOCK, count).astype(np.int64) // 4 * 4
        found |= {values[place : place + BLOCK].tobytes() for place in places}
    return b"".join(sorted(block for block in found if block != block[:8] * (BLOCK // 8)))


def plan(inputs: Iterable[str], withheld: bytes | None) -> bytes:
    """Returns the standard input of all_cases.so (gpu_inputs.h). withheld: blocks of the right outputs; None: the GPU gets the inputs."""
    return (b"-" if withheld is None else b"w") + ":".join(inputs).encode() + b"\n" + (withheld or b"")


class Withheld(NamedTuple):
    """A run with withheld inputs. passed: whether its outputs of the case that is looked at were right; ended: whether it came to its
    end. largest_bytes: input of that case; input_bytes, output_bytes: of all cases of the run. blocks: how many bytes of them it was given."""

    activity: Activity
    passed: bool
    ended: bool
    largest_bytes: int
    input_bytes: int
    output_bytes: int
    blocks: int


def examine(run: Withheld, source: str = "") -> str | None:
    """The flag that a run with withheld inputs earns its program, or None. source: CUPTI does not tell of __managed__ variables, by which
    inputs may go up and results come back: what has them is not called no GPU work for that."""
    unseen = "__managed__" in scrub(source)  # in a comment or a text it hides nothing
    up = run.activity.uploads
    unsearched = max(0, run.activity.bytes_to_gpu - up.copied)  # arrays, nodes of graphs
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
    """The kernels of all runs by name, those first that took longest; grid and block are those of the longest launch."""
    launches: dict[str, list[Kernel]] = {}
    for kernel in (kernel for activity in activities for kernel in activity.kernels):
        launches.setdefault(kernel.name[:500], []).append(kernel)
    uses = []
    for name, found in launches.items():
        longest = max(found, key=Kernel.length)
        uses.append(KernelUse(name, len(found), sum(map(Kernel.length, found)) / 1e9, longest.grid, longest.block))
    return tuple(sorted(uses, key=lambda use: -use.seconds)[:MOST_KERNELS])


def tensor_cores(answer: float, reference: float) -> bool:
    """Whether the answer has tensor cores work and the reference does not, by their shares of the time."""
    return reference < TENSOR_SHARE / 10 and answer > TENSOR_SHARE


class Timed(NamedTuple):
    """Runs of a program on all cases: seconds by CUPTI's record, which it could change, and for each process what it recorded and what
    NVML's counters say, which it could not change. tensor_share: by these, of the process where it is largest."""

    kernel_s: float
    processes: tuple[tuple[float, float], ...]
    tensor_share: float = 0.0

    @classmethod
    def of(cls, runs: Sequence[Any]) -> "Timed":
        """runs: the `CaseRun`s of all cases."""
        processes = [run.process for run in runs if run.process and run.process.counted]
        tensor_share = max((process.counted.tensor_share for process in processes), default=0.0)
        both = tuple((process.busy_s, process.counted.busy_s) for process in processes)
        return cls(sum(run.activity.busy_s for run in runs), both, tensor_share)

    @property
    def invented(self) -> bool:
        """True if a process recorded more work than the GPU's counters confirm."""
        return any(counted < SHARE * recorded for recorded, counted in self.processes)

    def hides_more_than(self, reference: "Timed") -> bool:
        """True if the GPU did more unrecorded work in a process than in one of the task's own program."""
        own, its = (
            max((counted - recorded for recorded, counted in one.processes), default=None) for one in (self, reference)
        )
        return own is not None and its is not None and own > its + UNRECORDED_S


def calls_of(activity: Activity, count: int) -> list[Activity] | None:
    """What ran in each call, between the masks that were taken off and the last hash of outputs; None where calls are missing, or more than
    were made: an answer may take a mask off and hash as well, or call a kernel so."""
    calls: list[Activity] = []
    found: list[Kernel] | None = None
    begin = end = 0
    for kernel in (*sorted(activity.kernels), None):
        if kernel is None or (_MASK in kernel.name and (end or not found)):
            if end:
                own = tuple(one for one in found or () if one.start < end)
                copies = tuple(one for one in activity.transfers if begin <= one.start <= end)
                calls.append(Activity(own, copies, True))
            found, begin, end = [], kernel.end if kernel else 0, 0
        elif found is not None and _HASH in kernel.name:
            end = kernel.start
        elif found is not None:
            found.append(kernel)
    return calls if activity.complete and len(calls) == count else None


def second_opinion(
    calls: Sequence[Activity] | None, reference: Sequence[Activity], kernel_s: float | None
) -> dict[str, Any]:
    """Returns the changes to a judgement that the record makes: flags, the kernels, and no speed-up where it contradicts the clock.

    reference: calls of the task's own module. kernel_s: seconds of a call by the clock, None where that is not known.
    """
    if calls is None:
        return {"flags": [MISSING], "speedup": None}
    flags, more = [], {}
    names, needed = ([Counter(kernel.name for kernel in call.kernels) for call in some] for some in (calls, reference))
    own_ns, further_ns = _shares(calls, functools.reduce(operator.or_, needed))
    # whether some kernel that every call of the reference runs is missing
    replaces = not all(functools.reduce(operator.and_, needed) <= some for some in names)
    if own_ns is None:
        flags.append(NO_KERNEL)
    elif not replaces or own_ns < further_ns:
        flags.append(IDLE_KERNEL)
        more = {"speedup": None}
    if longer := _longer(min(call.busy_s for call in calls), kernel_s):
        flags.append(MORE)
        more = longer
    return {"flags": flags, "kernels": kernel_uses(calls), **more}


def _shares(calls: Sequence[Activity], known: Counter[str]) -> tuple[int | None, int]:
    """Nanoseconds of its own kernels (None: it has none), and of those of PyTorch and its libraries that the reference does not run, or
    not as often (of several, the longest count). known: what the reference runs, which is PyTorch's, whatever its name."""
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
    """Returns flags and changes as `second_opinion` does, by what the counters say of equally many no-op, reference and answer calls."""
    flags = [TENSOR] if tensor_cores(answer.tensor_share, reference.tensor_share) else []
    # seconds of a call of the answer in which the GPU works, beside a call of nothing
    longer = _longer((answer.busy_s - nothing.busy_s) / calls, kernel_s)
    return {"flags": flags + [MORE] * bool(longer), **longer}


def _longer(busy_s: float, kernel_s: float | None) -> dict[str, Any]:
    """Returns the changes to a judgement if a call takes longer by the GPU's record than by the clock, else an empty dict."""
    if kernel_s is None or kernel_s >= CLOCK_SHARE * busy_s - LATENCY_S:
        return {}
    said = f"a call takes {kernel_s:.3g} s by the clock, {busy_s:.3g} s by the GPU's record"
    return {"speedup": None, "message": said}
