"""Find kernels and launches of Triton in Python source. Standard library only."""

import re

from .kinds import Extents
from .python_source import Source, bracket_pairs, functions, read_python


_TRITON_JIT = r"(?:triton(?:\.\w+)*|gluon)\.jit\b"
_JIT_IMPORT = re.compile(r"^[ \t]*from[ \t]+triton[\w.]*[ \t]+import[^\n]*\bjit\b", re.MULTILINE)
_TRITON_ALIAS = re.compile(r"^[ \t]*import[ \t]+triton[ \t]+as[ \t]+(\w+)", re.MULTILINE)
_WRAPPED = r"(?<![@\w.])(?:{jit})\([ \t]*(\w+)[ \t]*[,)]"
_CALLEE_LIMIT = 200  # characters of a kernel's name
_NO_GRID = re.compile(r"\s*(?:'*|-?\d+|\w+)\s*\Z")  # a key, an index or a name, which is rarely a grid
_GRID = re.compile(r"\s*(?:\w*grid\w*|\d+)\s*\Z", re.IGNORECASE)
_KERNEL_NAME = re.compile(r"kernel(?!s\b)", re.IGNORECASE)


def triton(text: str) -> Extents:
    """Return the extents of Triton's kernels, their heads and the grids of their launches.

    Args:
        text: Python source, which need not parse.

    Returns:
        Extents of `kernel_body`, `kernel_signature` and `launch_config`.
    """
    source = read_python(text)
    aliases = [re.escape(name) + r"\.jit\b" for name in _TRITON_ALIAS.findall(source.code)]
    jit = "|".join([_TRITON_JIT, *aliases, *([r"jit\b"] if _JIT_IMPORT.search(source.code) else [])])
    decorator = re.compile(rf"(?<![\w.])(?:{jit})")
    wrapped = set(re.findall(_WRAPPED.format(jit=jit), source.code))
    names = set(wrapped)

    def is_kernel(name: str, decorators: str) -> bool:
        is_jitted = name in wrapped or decorator.search(decorators) is not None
        if is_jitted:
            names.add(name)
        return is_jitted

    kernels = functions(source, is_kernel)
    return {
        "kernel_body": [block.body for block in kernels if block.body],
        "kernel_signature": [(block.start, block.head_end) for block in kernels],
        "launch_config": _grids(source, names),
    }


def _grids(source: Source, names: set[str]) -> list[tuple[int, int]]:
    """Return the extent of `[grid]` in every `kernel[grid](...)`.

    This is the subscript of a call, where the name or the subscript shows that it is a launch.
    """
    code = source.code
    pairs, still_open = bracket_pairs(source)
    last = len(code.rstrip())
    grids = []
    for at, end in pairs.items():
        called = code.startswith("(", end)
        grid = code[at + 1 : end - 1] if called else ""
        if code[at] == "[" and (called or end >= last) and _is_launch(_callee(code, at), grid, names):
            grids.append((at, end))
    for at in still_open:
        if code[at] == "[" and _is_launch(_callee(code, at), "", names):
            grids.append((at, source.end))
            break
    return grids


def _callee(code: str, end: int) -> str:
    """Return the dotted name that ends at `end`, `)` for the result of a call, or an empty string."""
    start = end
    while start > max(0, end - _CALLEE_LIMIT) and (code[start - 1].isalnum() or code[start - 1] in "._"):
        start -= 1
    return code[start:end] or (")" if code.endswith(")", 0, end) else "")


def _is_launch(callee: str, grid: str, names: set[str]) -> bool:
    """Check that `callee[grid](...)` launches a kernel.

    Args:
        callee: as returned by `_callee`.
        grid: source of the subscript, empty where the text ends before it or before the call.
        names: names of the kernels in the text.
    """
    parts = callee.split(".")
    if not callee:
        return False
    if not names.isdisjoint(parts):
        return True
    named = _KERNEL_NAME.search(callee) is not None
    if _NO_GRID.match(grid):
        return named and (not grid or _GRID.match(grid) is not None)
    return named or not parts[-1][:1].isupper()
