"""Errors of position: the wrong thread component, a stride left out, row and column exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from .edits import Edit
from .program import Extent, Function, Program


_SWAP = {"x": "y", "y": "x"}
_RANKS = {"/": "%", "%": "/"}
_STOPS = frozenset({"+", "-", "=", "?", ":", "<", ">", "<=", ">=", "==", "&&", "||", "%", "/", "+=", "-="})


def wrong_index(program: Program) -> Iterator[Edit]:
    """`threadIdx.y` for `threadIdx.x`, a block's offset without its size, `tile[x][y]` for `tile[y][x]`, and the like."""
    planes = _shared_planes(program)
    for index, function in program.device.items():
        text = program.at(index)
        if text in ("threadIdx", "blockIdx") and program.at(index + 1) == "." and program.kind(index + 2) == "word":
            yield from _component(program, index, function)
            if text == "blockIdx":
                yield from _block_offset(program, index)
        elif text == "+" and index not in program.loop_heads:
            yield from _row_major(program, index, function)
        elif text in _RANKS and program.kind(index + 1) != "operator":
            yield from _rank(program, index)
        elif text in planes and program.at(index + 1) == "[":
            yield from _transposed(program, index)
        elif text in ("+", "-") and program.at(index + 1) == "1" and program.at(index + 2) == "]":
            yield from _neighbour(program, index)


def _component(program: Program, index: int, function: Function) -> Iterator[Edit]:
    """The other component where the function has two, the other built-in where it has one."""
    name, component = program.at(index), program.at(index + 2)
    body = range(function.body.first, function.body.last)
    planar = any(program.at(at) == "threadIdx" and program.at(at + 2) == "y" for at in body)
    compared = program.at(index + 3) in ("==", "<", ">", "<=", ">=", "%")
    if component in _SWAP and (planar or (name == "blockIdx" and component == "y")):
        whole = _expression(program, index)
        yield program.edit(Extent(index + 2, index + 2), _SWAP[component], "component", 0, whole)
    if name == "blockIdx":
        tier = 1 if component == "z" else 0
        yield program.edit(Extent(index, index), "threadIdx", "built-in", tier, _expression(program, index))
    elif not planar and component == "x":
        yield program.edit(
            Extent(index, index), "blockIdx", "built-in", 2 if compared else 1, _expression(program, index)
        )


def _expression(program: Program, index: int) -> Extent:
    """What a description quotes: the sum that a built-in variable stands in, or the declaration with it."""
    stops = frozenset({"?", ":", "<", ">", "<=", ">=", "==", "&&", "||"})
    first, last = program.operand_before(index, stops).first, program.operand_after(index, stops).last
    return Extent(min(first, index), max(last, index + 2))


def _block_offset(program: Program, index: int) -> Iterator[Edit]:
    """`blockIdx.x * blockDim.x + threadIdx.x` without the factor, or without the thread."""
    first, last = index, index + 2
    while program.at(first - 1) == "(" and program.pairs.get(first - 1) == last + 1:
        first, last = first - 1, last + 1  # static_cast<size_t>(blockIdx.x), (blockIdx.x)
        if program.at(first - 1) == ">" and program.kind(first - 1) == "operator":
            opening = next((start for start, end in program.angles.items() if end == first - 1), first)
            first = opening - 1
        elif program.at(first - 1) in ("size_t", "int", "long", "int64_t"):
            first -= 1
    whole = _expression(program, first)
    if program.at(last + 1) == "*":
        factor = program.operand_after(last + 1, _STOPS | {"*"})
        if factor.first <= factor.last and program.at(factor.last + 1) in ("+", "-", "*"):
            yield program.cut_from(last, factor.last, "no stride", 0, whole)
            last = factor.last
    elif program.at(first - 1) == "*":
        factor = program.operand_before(first - 1, _STOPS | {"*"})
        if factor.first <= factor.last and program.at(last + 1) in ("+", "-"):
            yield program.cut(Extent(factor.first, first - 1), "no stride", 0, whole)
    if program.at(last + 1) == "+":
        added = program.operand_after(last + 1, _STOPS)
        if program.at(added.first) == "threadIdx" and added.last == added.first + 2:
            yield program.cut_from(last, added.last, "no thread", 1, whole)


def _row_major(program: Program, index: int, function: Function) -> Iterator[Edit]:
    """`row * n + col` as `col * n + row`."""
    left, right = program.operand_before(index, _STOPS), program.operand_after(index, _STOPS)
    star = next((at for at in range(left.first, left.last) if program.at(at) == "*"), -1)
    if star <= left.first or right.last < right.first or program.at(left.first - 1) not in ("[", "=", "(", ","):
        return
    row, stride = Extent(left.first, star - 1), Extent(star + 1, left.last)
    if any(program.at(at) == "*" for at in (*range(*stride), stride.last, *range(*right))):
        return
    positions = program.indices(function)
    if program.words(row) & positions and program.words(right) & positions:
        low = program.text(right)
        replacement = f"{low} * {program.text(stride)} + {program.text(row)}"
        tier = 1 if program.at(right.first) == "threadIdx" else 0
        yield program.edit(Extent(left.first, right.last), replacement, "row-major", tier)


def _rank(program: Program, index: int) -> Iterator[Edit]:
    """`threadIdx.x % 32` and `threadIdx.x / 32`, one for the other."""
    first = index - 3
    if program.at(first) == "threadIdx" and program.at(index - 1) in ("x", "y") and program.at(index + 1):
        yield program.edit(
            Extent(index, index), _RANKS[program.at(index)], "lane and warp", 0, Extent(first, index + 1)
        )


def _shared_planes(program: Program) -> set[str]:
    """Shared arrays with two subscripts."""
    found = set()
    for start in program.places.get("__shared__", []):
        for at in range(start, program.statement_end(start)):
            close = program.pairs.get(at + 1, -1)
            if program.kind(at) == "word" and program.at(at + 1) == "[" and program.at(close + 1) == "[":
                found.add(program.at(at))
    return found


def _transposed(program: Program, index: int) -> Iterator[Edit]:
    close = program.pairs.get(index + 1, -1)
    end = program.pairs.get(close + 1, -1)
    if close < 0 or program.at(close + 1) != "[" or end < 0:
        return
    row, column = Extent(index + 2, close - 1), Extent(close + 2, end - 1)
    if row.first <= row.last and column.first <= column.last and program.text(row) != program.text(column):
        replacement = f"[{program.text(column)}][{program.text(row)}]"
        yield program.edit(Extent(index + 1, end), replacement, "transposed", 0, Extent(index, end))


def _neighbour(program: Program, index: int) -> Iterator[Edit]:
    opening = program.pairs.get(index + 2, -1)
    if opening > 0 and program.kind(opening - 1) == "word" and index > opening + 1:
        other = "-" if program.at(index) == "+" else "+"
        yield program.edit(Extent(index, index), other, "neighbour", 1, Extent(opening - 1, index + 2))


@lru_cache(maxsize=1024)
def _words(name: str) -> tuple[str, ...]:
    """The parts of an identifier: outWidth -> out, Width; NUM_ROWS -> NUM, _, ROWS; dX -> d, X."""
    parts, start = [], 0
    for at in range(1, len(name) + 1):
        ends = at == len(name)
        if ends or "_" in name[at - 1 : at + 1] or (name[at - 1].islower() and name[at].isupper()):
            parts.append(name[start:at])
            start = at
    return tuple(parts)


_PARTNERS = (
    ("row", "col"),
    ("rows", "cols"),
    ("row", "column"),
    ("rows", "columns"),
    ("rows", "classes"),
    ("height", "width"),
    ("h", "w"),
    ("m", "n"),
    ("m", "k"),
    ("ny", "nx"),
    ("nz", "ny"),
    ("by", "bx"),
    ("ty", "tx"),
    ("y", "x"),
    ("y0", "x0"),
    ("i", "j"),
)


def partners(name: str) -> tuple[str, ...]:
    """The identifiers that name the other dimension: outWidth -> outHeight; M -> N, K."""
    found = []
    parts = _words(name)
    for at, part in enumerate(parts):
        for pair in _PARTNERS:
            if part.lower() in pair:
                other = pair[1 - pair.index(part.lower())]
                cased = other.upper() if part.isupper() else other.capitalize() if part[0].isupper() else other
                found.append("".join((*parts[:at], cased, *parts[at + 1 :])))
    return tuple(dict.fromkeys(found))
