"""The vocabulary of the labels: kinds of span, macro names that stand for `__global__`, and the label version.

Every other file of this subpackage imports from here. Standard library only.
"""

from collections.abc import Iterable
from typing import NamedTuple


# `datasets` caches a processed data set by the arguments of the processor, not by the code that made the labels. The
# processor carries this number, so raising it invalidates old caches. Raise it with every change of the rules.
LABEL_VERSION = 8

KINDS: dict[str, str] = {
    "kernel_body": "the body of a __global__ function, from { to } inclusive",
    "launch_config": "the execution configuration of a launch, from <<< to >>> inclusive",
    "kernel_signature": "the head of a __global__ definition, template line included, up to the body",
    "device_function": "a __device__ function or lambda, from its first specifier to the } of its body",
    "shared_memory": "a declaration of __shared__ memory, up to its semicolon",
    "thread_indexing": "threadIdx, blockIdx, blockDim, gridDim with their component, and the like",
    "synchronization": "a barrier, fence or host-side wait, arguments included",
    "atomic": "an atomic operation, arguments included",
    "warp_intrinsic": "a shuffle, vote, match, reduce or matrix operation of a warp, arguments included",
    "memory_api": "a CUDA or HIP runtime call that allocates, frees, copies or sets memory",
    "launch_setup": "dim3 values and launches that are plain calls (cudaLaunchKernel, hipLaunchKernelGGL, ...)",
}

# The kinds that the paper's CUDA mask (Eq. 3) covers.
DEFAULT_KINDS: tuple[str, ...] = ("kernel_body", "launch_config")

# Macros of public libraries that expand to `__global__`, sometimes with further attributes, and whose definition is in
# another header. A macro that the text itself defines needs no entry here.
_ALIASES = """
    ARCH_GLOBAL CCCL_DETAIL_KERNEL_ATTRIBUTES CUB_DETAIL_KERNEL_ATTRIBUTES CUDA_GLOBAL CUDA_GLOBAL_FUNC CUDA_KERNEL
    CUDF_KERNEL CUGRAPH_KERNEL CUML_KERNEL CUTLASS_GLOBAL CUVS_KERNEL DEF_KERNEL GPU_GLOBAL GPU_KERNEL HIP_KERNEL
    OF_GLOBAL_FUNC RAFT_KERNEL ROCBLAS_KERNEL ROCBLAS_KERNEL_NO_BOUNDS ROCPRIM_KERNEL ROCSOLVER_KERNEL
    ROCSPARSE_KERNEL SGL_KERNEL THRUST_DETAIL_KERNEL_ATTRIBUTES _CCCL_KERNEL_ATTRIBUTES
"""
KERNEL_ALIASES: tuple[str, ...] = tuple(_ALIASES.split())


class Span(NamedTuple):
    """A labelled range of text.

    Attributes:
        start: index of the first character, as a str index.
        end: index one past the last character. Spans are never empty.
        kind: one of `KINDS`.
    """

    start: int
    end: int
    kind: str


Extents = dict[str, list[tuple[int, int]]]
"""(begin, end) of the spans of each kind, as character offsets."""


def check_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds in the order of `KINDS`, without duplicates.

    Raises:
        ValueError: a kind is unknown, or a single string was given instead of a sequence.
    """
    if isinstance(kinds, str):
        raise ValueError(f"kinds={kinds!r}: a sequence of kinds, for example {tuple(kinds.split(','))!r}")
    wanted = tuple(kinds)
    for kind in wanted:
        if kind not in KINDS:
            raise ValueError(
                f"kinds: {kind!r} is not a kind of span; choose from {', '.join(KINDS)} "
                f"(the paper's mask is {','.join(DEFAULT_KINDS)})"
            )
    return tuple(kind for kind in KINDS if kind in wanted)


def check_aliases(aliases: Iterable[str]) -> tuple[str, ...]:
    """Check and return the user's macro names for `__global__`.

    Raises:
        ValueError: a name is not a C identifier, or a single string was given instead of a sequence.
    """
    if isinstance(aliases, str):
        raise ValueError(f"aliases={aliases!r}: a sequence of macro names, for example ({aliases!r},)")
    wanted = tuple(aliases)
    for alias in wanted:
        if not (isinstance(alias, str) and alias.isascii() and alias.isidentifier()):
            raise ValueError(f"aliases: {alias!r} is not a macro name; give C identifiers such as 'MY_KERNEL'")
    return wanted


def merged(extents: Iterable[tuple[int, int]], touching: bool) -> list[tuple[int, int]]:
    """Return the extents sorted, with overlapping ones joined and empty ones dropped.

    Args:
        extents: half-open (start, end) ranges in any order.
        touching: also join ranges where one begins at the end of another, as the pieces of a body in different
            preprocessor branches do.
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted(extents):
        if joined and start < joined[-1][1] + touching:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        elif start < end:
            joined.append((start, end))
    return joined


def spans_at(extents: Extents, kinds: Iterable[str], offset: int = 0) -> set[Span]:
    """Return the spans of the given kinds, shifted by `offset`.

    Overlapping extents of one kind become one span. Extents of `kernel_body` are also joined when they only touch.
    """
    return {
        Span(offset + start, offset + end, kind)
        for kind in kinds
        for start, end in merged(extents.get(kind, ()), kind == "kernel_body")
    }
