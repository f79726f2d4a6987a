"""One edit of a program and the mutant it makes. Standard library only."""

from __future__ import annotations

import re
from dataclasses import dataclass


_CHANGED, _CONTEXT = 100, 50  # characters of code in a description: of the change, and on each side of it


@dataclass(frozen=True)
class Edit:
    """Replace source[start:end] (str indices) by `replacement`.

    tier: 0 where a run is expected to show the error, 1 where it may, 2 where many programs would bear it.
    variant: which of an operator's errors this is; a choice takes different ones first.
    shown: the stretch that a description quotes, around the edit.
    """

    start: int
    end: int
    replacement: str
    variant: str
    tier: int
    shown: tuple[int, int]


@dataclass(frozen=True)
class Mutant:
    """A right program with one error.

    operator: a name of `OPERATORS`. line: 1-based, where the edit begins. description: for people, with the code before
    and after. source: the whole text.
    """

    operator: str
    line: int
    description: str
    source: str


def apply(source: str, edit: Edit, operator: str) -> Mutant:
    """The mutant that an edit makes; a line that the edit leaves empty goes with it."""
    start, end = edit.start, edit.end
    if not edit.replacement:
        line_start = source.rfind("\n", 0, start) + 1
        line_end = source.find("\n", end) + 1 or len(source)
        if not source[line_start:start].strip() and not source[end:line_end].strip():
            start, end = line_start, line_end
    line = source.count("\n", 0, edit.start) + 1
    head, tail = _flat(source[edit.shown[0] : edit.start]), _flat(source[edit.end : edit.shown[1]])
    head = head if len(head) <= _CONTEXT else "..." + head[3 - _CONTEXT :]
    tail = tail if len(tail) <= _CONTEXT else tail[: _CONTEXT - 3] + "..."
    before, after = (
        f"{head}{_short(_flat(code))}{tail}".strip() for code in (source[edit.start : edit.end], edit.replacement)
    )
    change = f"`{before}` becomes `{after}`" if after else f"`{before}` removed"
    return Mutant(operator, line, f"line {line}: {change}", source[:start] + edit.replacement + source[end:])


def _flat(code: str) -> str:
    return re.sub(r"\s+", " ", code)


def _short(code: str) -> str:
    return code if len(code) <= _CHANGED else code[: _CHANGED - 3] + "..."
