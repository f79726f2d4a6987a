"""Kernels and launches of the languages that are Python: Triton, the CuTe DSL, TileLang. What counts as one: `languages.LANGUAGES`.

Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .kinds import Extents
from .python_source import Block, Source, bracket_pairs, functions, read_python, with_blocks


_TRITON_JIT = r"(?:triton(?:\.\w+)*|gluon)\.jit\b"
_JIT_IMPORT = re.compile(r"^[ \t]*from[ \t]+triton[\w.]*[ \t]+import[^\n]*\bjit\b", re.MULTILINE)
_TRITON_ALIAS = re.compile(r"^[ \t]*import[ \t]+triton[ \t]+as[ \t]+(\w+)", re.MULTILINE)
_WRAPPED = r"(?<![@\w.])(?:{jit})\([ \t]*(\w+)[ \t]*[,)]"
_CALLEE_LIMIT = 200  # characters of a kernel's name
_NO_GRID = re.compile(r"\s*(?:'*|-?\d+|\w+)\s*\Z")  # a key, an index, a name
_GRID = re.compile(r"\s*(?:\w*grid\w*|\d+)\s*\Z", re.IGNORECASE)
_KERNEL_NAME = re.compile(r"kernel(?!s\b)", re.IGNORECASE)

_CUTE_KERNEL = re.compile(r"@\w*cu(?:te|tlass)\w*(?:\.\w+)*\.kernel\b")
_CUTE_JIT = re.compile(r"@\w*cu(?:te|tlass)\w*(?:\.\w+)*\.jit\b")
_LAUNCH = re.compile(r"\.\s*launch\s*(?=\()")
_LAUNCH_KEYS = re.compile(r"\b(?:grid|block|cluster|smem)\s*=(?!=)|\*\*")
_PRIM_FUNC = re.compile(r"@(?:\w+\.)*prim_func\b")
_TILE_KERNEL = re.compile(r"\b\w+\.\w*Kernel(?=\()")
_MACRO = re.compile(r"@(?:\w+\.)+macro\b")


def triton(text: str) -> Extents:
    source = read_python(text)
    aliases = [re.escape(name) + r"\.jit\b" for name in _TRITON_ALIAS.findall(source.code)]
    jit = "|".join([_TRITON_JIT, *aliases, *([r"jit\b"] if _JIT_IMPORT.search(source.code) else [])])
    decorator = re.compile(rf"(?<![\w.])(?:{jit})")
    wrapped = set(re.findall(_WRAPPED.format(jit=jit), source.code))
    names = set(wrapped)

    def is_kernel(name: str, decorators: list[str]) -> bool:
        found = name in wrapped or any(decorator.search(line) for line in decorators)
        if found:
            names.add(name)
        return found

    return _extents(source, functions(source, is_kernel)) | {"launch_config": _grids(source, names)}


def _grids(source: Source, names: set[str]) -> list[tuple[int, int]]:
    """`[grid]` of every `kernel[grid](...)`: the subscript of a call, where the name or the subscript shows a launch."""
    code = source.code
    pairs, still_open = bracket_pairs(source)
    last = len(code.rstrip())
    found = []
    for at, end in pairs.items():
        called = code.startswith("(", end)
        grid = code[at + 1 : end - 1] if called else ""
        if code[at] == "[" and (called or end >= last) and _is_launch(_callee(code, at), grid, names):
            found.append((at, end))
    for at in still_open:
        if code[at] == "[" and _is_launch(_callee(code, at), "", names):
            found.append((at, source.end))
            break
    return found


def _callee(code: str, end: int) -> str:
    """The dotted name that ends here, `)` for what a call returns, "" for anything else."""
    start = end
    while start > max(0, end - _CALLEE_LIMIT) and (code[start - 1].isalnum() or code[start - 1] in "._"):
        start -= 1
    return code[start:end] or (")" if code.endswith(")", 0, end) else "")


def _is_launch(callee: str, grid: str, names: set[str]) -> bool:
    """Whether `callee[grid]` is called as a kernel is. grid: "" where the text ends before it or before the call."""
    parts = callee.split(".")
    if not callee:
        return False
    if not names.isdisjoint(parts):
        return True
    named = _KERNEL_NAME.search(callee) is not None
    if _NO_GRID.match(grid):
        return named and (not grid or _GRID.match(grid) is not None)
    return named or not parts[-1][:1].isupper()


def cute(text: str) -> Extents:
    source = read_python(text)
    kernels = functions(source, _decorated(_CUTE_KERNEL))
    helpers = functions(source, _decorated(_CUTE_JIT))
    launches = _calls(source, [match.end() for match in _LAUNCH.finditer(source.code)], _LAUNCH_KEYS)
    return _extents(source, kernels) | {
        "launch_config": launches,
        "device_function": [(block.start, block.body[1]) for block in helpers if block.body],
    }


def tilelang(text: str) -> Extents:
    source = read_python(text)
    kernels = functions(source, _decorated(_PRIM_FUNC))
    grids = with_blocks(source, _TILE_KERNEL)
    inside = [(block.start, block.body[1]) for block in kernels if block.body]
    extents = _extents(source, kernels)
    extents["kernel_body"] += [
        block.body for block, _ in grids if block.body and not any(start < block.start < end for start, end in inside)
    ]
    macros = functions(source, _decorated(_MACRO))
    return extents | {
        "launch_config": _calls(source, [opening for _, opening in grids]),
        "device_function": [(block.start, block.body[1]) for block in macros if block.body],
    }


def _decorated(decorator: re.Pattern[str]) -> Callable[[str, list[str]], bool]:
    return lambda _, decorators: any(decorator.match(line) for line in decorators)


def _extents(source: Source, kernels: list[Block]) -> Extents:
    return {
        "kernel_body": [block.body for block in kernels if block.body],
        "kernel_signature": [(block.start, block.head_end) for block in kernels],
    }


def _calls(source: Source, openings: list[int], keys: re.Pattern[str] | None = None) -> list[tuple[int, int]]:
    """The arguments of calls with their parentheses, if a pattern finds one of its keys there; what was cut off runs to the end."""
    if not openings:
        return []
    pairs, still_open = bracket_pairs(source)
    found = []
    for opening in openings:
        if opening in still_open:
            found.append((opening, source.end))
        elif opening in pairs and (keys is None or keys.search(source.code, opening, pairs[opening])):
            found.append((opening, pairs[opening]))
    return found
