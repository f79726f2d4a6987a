"""The languages whose kernels `find_spans` finds, and a function of the user's own in their place. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from ..named_functions import is_function_name, load_function
from ..text import InputError, nearest, one_line
from .c_kernels import metal, opencl
from .kinds import KINDS, Extents, Span, merged, spans_at
from .python_kernels import cute, tilelang, triton
from .regions import other_regions


KEY = "cuset_language"


class Language(NamedTuple):
    """A language beside CUDA.

    find: source -> extents by kind. kernel, launch: what they are, for people. hint: what a text must hold for `find` to be worth its time.
    sign: what only this language has; `auto` looks for it. python: whether it is Python; if not, `find` takes aliases of the kernel's keyword.
    """

    find: Callable[..., Extents]
    kernel: str
    launch: str
    hint: re.Pattern[str]
    sign: re.Pattern[str]
    python: bool = True


CUDA = ("cuda", "hip")  # one lexer
LANGUAGES: dict[str, Language] = {
    "triton": Language(
        triton,
        "a function under `@triton.jit`, among whatever other decorators, or in `triton.jit(function)`; helpers, too, because nothing tells "
        "them apart",
        "`[grid]` of `kernel[grid](x, ...)`",
        re.compile(r"jit\b|\]\s*\(|\["),
        re.compile(r"\btriton\b|\bgluon\b"),
    ),
    "cute": Language(
        cute,
        "a function under `@cute.kernel`; those under `@cute.jit` are of the kind `device_function`",
        "the arguments of `kernel(...).launch(grid=..., block=...)`",
        re.compile(r"\.(?:kernel|jit|launch)\b"),
        re.compile(r"\bcute\b|\bcutlass\.(?:kernel|jit)\b"),
    ),
    "tilelang": Language(
        tilelang,
        "a function under `@T.prim_func`, else the block under `with T.Kernel(...)`; those under `@T.macro` are of the kind "
        "`device_function`",
        "the arguments of `T.Kernel(blocks, threads=...)`",
        re.compile(r"prim_func|Kernel\(|\.macro\b"),
        re.compile(r"\btilelang\b|\bprim_func\b|\bT\.(?:Kernel|macro)\b"),
    ),
    "opencl": Language(
        opencl,
        "a function with `__kernel` or `kernel`, also in the string literals of a host program",
        "the arguments of `clEnqueueNDRangeKernel` and of the C++ wrapper's `enqueueNDRangeKernel`",
        re.compile(r"kernel|KERNEL|nqueueNDRange|clEnqueueTask"),
        re.compile(
            r"\b__kernel\b|(?:```|~~~)[ \t]*(?:opencl|cl)\b|\bKERNEL_FQ\b|nqueueNDRangeKernel|\bkernel\s+(?:void|__attribute__)\b"
        ),
        python=False,
    ),
    "metal": Language(
        metal,
        "a function with `kernel` or `[[kernel]]`, also in the string literals of a host program",
        "the arguments of `dispatchThreads` and `dispatchThreadgroups` in C++, Swift, Rust or Objective-C",
        re.compile(r"kernel|dispatch"),
        re.compile(
            r"\bmetal_stdlib\b|(?:```|~~~)[ \t]*(?:metal|msl)\b|\[\[\s*(?:kernel|buffer|thread_position)|\bMTL\w|\bdispatch_?[tT]hread"
        ),
        python=False,
    ),
}
NAMES = (*CUDA, *LANGUAGES, "auto")


def check_language(language: object, key: str = KEY) -> tuple[str, ...]:
    """The languages that a value names: one, several separated by commas, `auto`, or a function of the user's own (which is not loaded).

    Raises:
        InputError: an unknown language, or `auto` beside others; names the key and the fix.
    """
    if not isinstance(language, str) or not language.strip():
        raise InputError(
            f"{key}={language!r}: expected one of {', '.join(NAMES)}, several separated by commas, or my_module:find_spans."
        )
    if is_function_name(language):
        return (language.strip(),)
    names = tuple(dict.fromkeys(name.strip() for name in language.split(",") if name.strip()))
    for name in names:
        if name not in NAMES:
            raise InputError(
                f"{key}={language!r}: {name!r} is no language, nor a function (my_module:find_spans); {nearest(name, NAMES)}"
            )
    if "auto" in names and len(names) > 1:
        raise InputError(f"{key}={language!r}: auto reads every language by itself; name it alone.")
    return names


def load_language(language: object, key: str = KEY) -> None:
    """Check a recipe's `cuset_language`, or what a command calls it, before anything else is loaded.

    Raises:
        InputError: as `check_language`, or a function that cannot be imported.
    """
    if is_function_name(check_language(language, key)[0]):
        load_function(language, key)


def language_spans(text: str, name: str, kinds: tuple[str, ...], aliases: tuple[str, ...], *, sure: bool) -> set[Span]:
    """The spans of one of `LANGUAGES` in an answer. sure: read a stretch also if nothing in it is this language's alone."""
    language = LANGUAGES[name]
    find = language.find if language.python else partial(language.find, aliases=aliases)

    def has_code(stretch: str) -> bool:
        return language.hint.search(stretch) is not None

    if not has_code(text) or not (sure or language.sign.search(text)):
        return set()
    spans: set[Span] = set()
    for regions in other_regions(text, has_code, python=language.python):
        for region in regions:
            spans |= spans_at(find(region.text), kinds, region.start)
        if spans:  # what stands outside of blocks counts if no block has anything
            break
    return spans


def own_spans(text: str, name: str, kinds: tuple[str, ...]) -> list[Span]:
    """What the user's own function finds: `find_spans(text)` returns (start, end) or (start, end, kind), sorted; no kind is kernel_body.

    Raises:
        InputError: the function is not found, fails, or returns something else; says what, and how it should be.
    """
    function = load_function(name, KEY)
    try:
        found = list(function(text))
    except Exception as error:  # whatever the user's code raises
        what = one_line(f"{type(error).__name__}: {error}")
        raise InputError(f"{KEY}={name!r} failed with {what} on the text that begins {text[:60]!r}.") from error
    spans = [_own_span(text, name, item) for item in found]
    for one, two in pairwise(spans):
        if two < one:
            raise InputError(
                f"{KEY}={name!r} returned {tuple(two)} after {tuple(one)}. Return the spans sorted by start and end."
            )
    return sorted(
        Span(start, end, kind)
        for kind in kinds
        for start, end in merged(((span.start, span.end) for span in spans if span.kind == kind), False)
    )


def _own_span(text: str, name: str, item: Any) -> Span:
    try:
        start, end, kind = (*item, "kernel_body") if len(item) == 2 else item
        start, end = int(start.__index__()), int(end.__index__())
    except (TypeError, ValueError, AttributeError):
        raise InputError(
            f"{KEY}={name!r} returned {one_line(repr(item))}; expected (start, end) or (start, end, kind)."
        ) from None
    if not 0 <= start < end <= len(text):
        raise InputError(
            f"{KEY}={name!r} returned {(start, end)} for a text of {len(text)} characters. Return 0 <= start < end <= len(text): str indices, "
            "half-open."
        )
    if kind not in KINDS:
        raise InputError(f"{KEY}={name!r} returned the kind {kind!r}; {nearest(str(kind), KINDS)}")
    return Span(start, end, kind)


def table() -> Iterable[tuple[str, str, str]]:
    """(name, kernel, launch) of every language, for the documentation."""
    yield "`cuda`, `hip`", "a `__global__` function", "`<<<...>>>`"
    for name, language in LANGUAGES.items():
        yield f"`{name}`", language.kernel, language.launch
