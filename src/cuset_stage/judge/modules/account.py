"""The GPU's own account of a module's calls, held against the clock: where it says more there is no speed-up.

- Its counters, read with NVML by the judge (../gpu_counters.py), over all that happens on the GPU while timed calls are made. No answer
  can change them.
- Which kernels ran, and for how long, as CUPTI records it (../gpu_activity.py). That is written inside the module's process, which could
  write something else, in calls made for it alone, since recording takes time.
"""

import functools
import operator
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..gpu_activity import Activity, Kernel
from ..gpu_counters import TENSOR, Counted, tensor_cores
from ..gpu_work import kernel_uses


NO_KERNEL = "no kernel of its own: all that ran on the GPU is PyTorch's and its libraries'"
IDLE_KERNEL = "no speed-up: kernels of PyTorch and its libraries do the work, beside kernels of its own"
MISSING = "no speed-up: the GPU's record of its calls is missing, or they are wrong when they are recorded"
MORE = "no speed-up: the work of a call takes longer by the GPU's record than by the clock"
SHARE, LATENCY_S = 0.8, 5e-6  # of the recorded work that the clock may say less
_MASK, _HASH = "cuset_unmask", "cuset_hash"  # of handover.cu
# As the compiler mangles them: PyTorch's own, what torch.compile makes, and those of cuBLAS, cuDNN, cuFFT, cuSPARSE and FlashAttention.
_LIBRARIES = re.compile(
    r"_ZN(2at|3c10|5torch|14at_cuda_detail|8cublasLt|5cudnn|8cusparse|13pytorch_flash|8internal\d+gemv)|"
    r"_Z\d+(gemv2[NT]_kernel_val|gemvNSP_kernel|gemmSN_[NT]+_kernel\w*|splitKreduce_kernel|dot_kernel|reduce_1Block_kernel)I|"
    r"cutlass_\d|sm\d+_xmma|(ampere|volta|turing|maxwell|pascal|hopper)_|nvjet_|fmha_|cudnn_|(regular|vector)_fft|"
    r"triton_(poi|red|per|tem)_fused"
)


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
    """What the record adds to what is known: flags, the kernels, and that there is no speed-up where it says so.

    reference: calls of the task's own module. kernel_s: seconds of a call by the clock, None where that is not known.
    """
    if calls is None:
        return {"flags": [MISSING], "speedup": None}
    flags, more = [], {}
    own_ns, further_ns = shares(calls, reference)
    if own_ns is None:
        flags.append(NO_KERNEL)
    elif not replaces(calls, reference) or own_ns < further_ns:
        flags.append(IDLE_KERNEL)
        more = {"speedup": None}
    busy = min(call.busy_s for call in calls)
    if longer := _longer(busy, kernel_s):
        flags.append(MORE)
        more = longer
    return {"flags": flags, "kernels": kernel_uses(calls), **more}


def names_of(calls: Sequence[Activity]) -> list[Counter[str]]:
    return [Counter(kernel.name for kernel in call.kernels) for call in calls]


def replaces(calls: Sequence[Activity], reference: Sequence[Activity]) -> bool:
    """Whether some kernel that each call of the reference runs is missing."""
    needed = functools.reduce(operator.and_, names_of(reference))
    return not all(needed <= names for names in names_of(calls))


def shares(calls: Sequence[Activity], reference: Sequence[Activity]) -> tuple[int | None, int]:
    """Nanoseconds of its own kernels (None: it has none), and of those of PyTorch and its libraries that the reference does not run, or
    not as often (of several, the longest count). What the reference runs is PyTorch's, whatever its name."""
    known = functools.reduce(operator.or_, names_of(reference))
    own, further = list[int](), 0
    for call in calls:
        left = Counter(known)
        for kernel in sorted(call.kernels, key=lambda one: one.end - one.start):
            if kernel.name in known and left[kernel.name] > 0:
                left[kernel.name] -= 1
            elif kernel.name in known or _LIBRARIES.match(kernel.name):
                further += kernel.end - kernel.start
            else:
                own.append(kernel.end - kernel.start)
    return sum(own) if own else None, further


@dataclass(frozen=True)
class Counts:
    """What the GPU's counters say of as many calls of nothing, of the reference and of the answer."""

    nothing: Counted
    reference: Counted
    answer: Counted
    calls: int

    @property
    def busy_s(self) -> float:
        """Seconds of a call of the answer in which the GPU works, beside a call of nothing."""
        return (self.answer.busy_s - self.nothing.busy_s) / self.calls

    @property
    def tensor_cores(self) -> bool:
        """Whether the answer has tensor cores work, and the reference does not."""
        return tensor_cores(self.answer.tensor_share, self.reference.tensor_share)

    def opinion(self, kernel_s: float | None) -> dict[str, Any]:
        """As `second_opinion`."""
        longer = _longer(self.busy_s, kernel_s)
        return {"flags": [TENSOR] * self.tensor_cores + [MORE] * bool(longer), **longer}


def _longer(busy_s: float, kernel_s: float | None) -> dict[str, Any]:
    """What to say where a call takes longer by the GPU's record than by the clock; nothing where it does not."""
    if kernel_s is None or kernel_s >= SHARE * busy_s - LATENCY_S:
        return {}
    said = f"a call takes {kernel_s:.3g} s by the clock, {busy_s:.3g} s by the GPU's record"
    return {"speedup": None, "message": said}
