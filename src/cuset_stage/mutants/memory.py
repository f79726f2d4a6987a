"""Errors of the host's copies: left out, of the wrong size, in the wrong direction."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .edits import Edit
from .program import Extent, Program
from .synchronisation import remove_statement


_COPY = re.compile(r"(?:cuda|hip)Memcpy(?:Async|ToSymbol|FromSymbol|ToSymbolAsync|FromSymbolAsync)?\Z")
_SET = re.compile(r"(?:cuda|hip)Memset(?:Async)?\Z")
_DIRECTION = re.compile(r"(cuda|hip)Memcpy(HostToDevice|DeviceToHost)\Z")
_OTHER_WAY = {"HostToDevice": "DeviceToHost", "DeviceToHost": "HostToDevice"}
_LOOSE = frozenset({"+", "-", "?", "<<", ">>", "&", "|"})


def _calls(program: Program) -> Iterator[tuple[int, int]]:
    """The copies and fills of host code: the name's token and the closing parenthesis."""
    for name, places in program.places.items():
        if _COPY.match(name) or _SET.match(name):
            for index in places:
                close = program.pairs.get(index + 1, -1)
                if program.at(index + 1) == "(" and close > 0 and index not in program.device:
                    yield index, close


def dropped_memcpy_or_memset(program: Program) -> Iterator[Edit]:
    """A copy or a fill that never happens; its error check goes with it, or sees success."""
    for index, close in _calls(program):
        filling = bool(_SET.match(program.at(index)))
        # Fresh memory is often zero by luck.
        variant, tier = ("memset", 1) if filling else ("memcpy", 0)
        first, last = index, close
        while (
            program.at(first - 1) == "("
            and program.kind(first - 2) == "word"
            and program.at(first - 2) not in ("if", "while")
        ):
            outer = program.pairs.get(first - 1, -1)
            if outer < 0:
                break
            first, last = first - 2, outer
        if program.at(last + 1) == ";" and program.at(first - 1) in (";", "{", "}", ")", "else"):
            yield remove_statement(program, Extent(first, last + 1), variant, tier)
        else:
            success = "hipSuccess" if program.at(index).startswith("hip") else "cudaSuccess"
            yield program.edit(Extent(index, close), success, variant, tier)


def wrong_memcpy_size_or_direction(program: Program) -> Iterator[Edit]:
    """Half of the bytes, elements counted as bytes, device and host exchanged."""
    for index, close in _calls(program):
        arguments = program.arguments(index + 1)
        shown = Extent(index, close)
        if len(arguments) < 3:
            continue
        size = arguments[2]
        text = program.text(size)
        product = re.fullmatch(r"(.+?)\s*\*\s*sizeof\s*\([^()]*\)", text, re.DOTALL)
        leading = re.fullmatch(r"sizeof\s*\([^()]*\)\s*\*\s*(.+)", text, re.DOTALL)
        if product or leading:
            yield program.edit(size, (product or leading)[1], "elements for bytes", 0, shown)
        loose = any(program.at(at) in _LOOSE for at in range(size.first, size.last + 1))
        tier = 1 if _SET.match(program.at(index)) else 0
        yield program.edit(size, f"({text}) / 2" if loose else f"{text} / 2", "half the bytes", tier, shown)
        for argument in arguments[3:]:
            direction = _DIRECTION.match(program.text(argument))
            if direction:
                other = f"{direction[1]}Memcpy{_OTHER_WAY[direction[2]]}"
                yield program.edit(argument, other, "direction", 0, shown)
