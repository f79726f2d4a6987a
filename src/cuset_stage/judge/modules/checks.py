"""What the source of an answer to a module task looks like: a suspicion for people to look at, never a verdict."""

import re


_KERNEL = re.compile(
    r"__global__|load_inline|cpp_extension|\btriton\b|\bcupy\b|RawKernel|RawModule|\bnumba\b|\bcutlass\b|\bcute\b|"
    r"\btilelang\b|_compile_kernel|\bnvrtc\b|\bpycuda\b"
)
NO_KERNEL = "source: no kernel of its own, only calls of torch"


def source_flags(source: str) -> list[str]:
    """That it names nothing with which kernels are written."""
    return [] if _KERNEL.search(source) else [NO_KERNEL]
