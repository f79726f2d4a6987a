"""The kinds of span that are not among the default ones (`cuset_sensitive_kinds`), found by name in scrubbed text.

Unlike kernels and launches, these need no bracket matching beyond one call or statement. Standard library only.
"""

import re
from collections.abc import Iterable

from .lexer import Lexed
from .templates import without_fields


_NAMES: dict[str, str] = {
    "synchronization": (
        r"__syncthreads\w*|__syncwarp|__threadfence\w*|__barrier_sync\w*|__cluster_barrier_\w+|__builtin_amdgcn_s_barrier"
        r"|(?:cuda|hip)(?:Device|Stream|Event|Thread)Synchronize|(?:cuda|hip)StreamWaitEvent|cuCtxSynchronize"
        r"|\w+(?:\.|->)(?:sync|barrier_arrive|barrier_wait|arrive_and_wait)|(?:cg|cooperative_groups)::(?:sync|wait)\w*"
    ),
    "atomic": r"atomic[A-Z]\w*|__(?:nv|hip)_atomic_\w+|__iAtomic\w+|\w+(?:\.|->)(?:fetch_\w+|compare_exchange_\w+)",
    "warp_intrinsic": (
        r"__shfl\w*|__(?:ballot|any|all|activemask|uni)(?:_sync)?|__match_\w+_sync|__reduce_\w+_sync|__lane_id|__nanosleep"
        r"|\w+(?:\.|->)(?:shfl\w*|ballot|any|all|match_any|match_all)|(?:nvcuda::)?wmma::\w+_sync"
    ),
    "memory_api": (
        r"(?:cuda|hip)(?:Malloc|Free|HostAlloc|HostMalloc|HostFree|HostRegister|HostUnregister|HostGetDevicePointer|Memcpy"
        r"|Memset|MemPrefetch|MemAdvise|MemGetInfo|GetSymbolAddress)\w*|cuMem[A-Z]\w*"
    ),
    "launch_setup": (
        r"(?:cuda|hip)Launch(?:Cooperative)?Kernel\w*|hipLaunchKernelGGL|hipExtLaunchKernel\w*|cuLaunchKernel\w*"
        r"|(?:cuda|hip)FuncSet\w+|(?:cuda|hip)Occupancy\w+|dim3"
    ),
    "thread_indexing": (
        r"(?:threadIdx|blockIdx|blockDim|gridDim)(?:\s*\.\s*[xyz])?|warpSize|hip(?:Thread|Block)(?:Idx|Dim)_[xyz]"
        r"|hipGridDim_[xyz]|\w+(?:\.|->)(?:thread_rank|thread_index|group_index|meta_group_rank|block_rank|group_dim|dim_threads)"
        r"\s*\(\s*\)"
    ),
}
_SHARED = re.compile(r"__shared__\b[^;{}]{0,2000}(?:\{[^{};]{0,2000}\}[^;{}]{0,2000})?;?")
_QUALIFIERS = re.compile(r"(?:\b(?:extern|static|volatile|const|alignas\([^()]{0,20}\))\s+)*\Z")
_DIRECTIVE_LINE = re.compile(r"^[ \t]*#[^\n]*\n", re.MULTILINE)
_DIM3 = re.compile(r"(?<!\w)(?:const(?:expr)?\s+)?dim3\s+(?=\w)")
_STATEMENT = re.compile(r"[(){};]")
_STATEMENT_LIMIT = 400  # characters
# Substrings of which a text must contain one to hold a span of the kind. This cheap test saves most of the work.
_HINTS: dict[str, tuple[str, ...]] = {
    "device_function": ("__device__",),
    "shared_memory": ("__shared__",),
    "thread_indexing": ("Idx", "Dim", "warpSize", "thread_", "group_", "rank", "dim_threads"),
    "synchronization": (
        *("__sync", "ynchronize", "__threadfence", "barrier", "sync", "StreamWait", "arrive_and_wait", "cg::wait"),
        "cooperative_groups::wait",
    ),
    "atomic": ("atomic", "Atomic", "fetch_", "compare_exchange"),
    "warp_intrinsic": (
        *("shfl", "_sync", "ballot", "__any", "__all", "__activemask", "__uni", "__lane_id", "__nanosleep"),
        *(f"{access}{name}" for access in (".", "->") for name in ("any", "all", "match_any", "match_all")),
    ),
    "memory_api": ("cuda", "hip", "cuMem"),
    "launch_setup": ("dim3", "Launch", "Occupancy", "FuncSet"),
}
_COMPILED = {kind: re.compile(rf"(?<!\w)(?:{source})(?!\w)") for kind, source in _NAMES.items()}
_CALL_OPEN = re.compile(r"\s*(?:<[\w\s,:*]{0,200}>\s*)?\(")


def might_match(text: str, kinds: Iterable[str]) -> bool:
    """Check cheaply that the text can hold a span of one of these kinds.

    Kernels and launches are not looked for here.
    """
    return any(hint in text for kind in kinds for hint in _HINTS.get(kind, ()))


def pattern_spans(full: str, kind: str) -> list[tuple[int, int]]:
    """Return the (start, end) extents of one kind in scrubbed text."""
    if kind == "thread_indexing":  # the only kind whose names need no call
        return [match.span() for match in _COMPILED[kind].finditer(full)]
    if kind == "shared_memory":
        return [(_with_qualifiers(full, match.start()), match.end()) for match in _SHARED.finditer(full)]
    extents = []
    if kind == "launch_setup":
        extents = [(match.start(), _statement_end(full, match.end())) for match in _DIM3.finditer(full)]
    done = 0
    closing: dict[int, int] | None = None
    for match in _COMPILED[kind].finditer(full):
        opening = _CALL_OPEN.match(full, match.end())
        if match.start() < done or not opening:
            continue
        if closing is None:
            closing = _pairs(full)
        end = closing.get(opening.end() - 1) or full.find(";", opening.end()) + 1 or len(full)
        extents.append((match.start(), end))
        done = end
    return extents


def _statement_end(full: str, position: int) -> int:
    """Return one past the statement's semicolon.

    Return 0 if the bracket around the statement closes before any semicolon, as after a parameter.
    """
    depth = 0
    for match in _STATEMENT.finditer(full, position, position + _STATEMENT_LIMIT):
        char = match[0]
        if char == ";":
            if depth == 0:
                return match.end()
        else:
            depth += 1 if char in "({" else -1
            if depth < 0:
                return 0
    return len(full) if position + _STATEMENT_LIMIT >= len(full) else 0


def _with_qualifiers(full: str, position: int) -> int:
    """Return the start of the qualifiers (`extern`, `static`, ...) in front of a declaration."""
    return position - len(_QUALIFIERS.search(full[max(0, position - 60) : position])[0])


def signature(lexed: Lexed, head: int, body: int) -> tuple[int, int]:
    """Return the extent of a kernel's head, from its first specifier or template line up to its body.

    Args:
        lexed: the region.
        head: index of the specifier.
        body: index at which the body starts.
    """
    code = lexed.full
    bound = max(0, head - 2000)
    before = without_fields(code[bound:head])
    start = bound + max(before.rfind(char) + 1 for char in ";{}")
    directives = [line.end() for line in _DIRECTIVE_LINE.finditer(code, start, head)]
    start = directives[-1] if directives else start  # a directive before the head is not part of it
    start += len(code[start:head]) - len(code[start:head].lstrip())
    return start, start + len(code[start:body].rstrip())


def _pairs(code: str) -> dict[int, int]:
    """Map each opening parenthesis to one past its closing one.

    Parentheses that never close are left out.
    """
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for match in re.finditer(r"[()]", code):
        if code[match.start()] == "(":
            stack.append(match.start())
        elif stack:
            pairs[stack.pop()] = match.end()
    return pairs
