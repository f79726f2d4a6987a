"""Python source that need not parse: functions with their bodies, and brackets, by indentation.

Answers are cut off, and drafts do not compile, so no parser reads them here. Comments and string literals are replaced first, lines are
joined inside brackets, and a bracket that never closes ends at the next line that only a new statement can start. Offsets stay those of
the text. Time is linear. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


# No named groups: in a possessive repetition Python 3.11.2, which is Debian's, matches them wrongly.
_NOISE = re.compile(
    r"#[^\n]*"
    r'|"""[^"\\]*+(?:(?:\\[\s\S]?|"(?!""))[^"\\]*+)*+(?:""")?'
    r"|'''[^'\\]*+(?:(?:\\[\s\S]?|'(?!''))[^'\\]*+)*+(?:''')?"
    r'|"[^"\\\n]*+(?:\\(?:\r\n|[\s\S])?[^"\\\n]*+)*+"?'
    r"|'[^'\\\n]*+(?:\\(?:\r\n|[\s\S])?[^'\\\n]*+)*+'?"
)
_BLANKS = re.compile(r"[ \t\f\r]*")
# What no line inside brackets starts with.
_STATEMENT = re.compile(
    r"@[A-Za-z_][\w.]*(?:[(]|[ \t\r]*$)|(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[(:]|import[ \t]+\w"
    r"|from[ \t]+[\w.]+[ \t]+import\b|return\b|with[ \t]+\w",
    re.MULTILINE,
)
_DEF = re.compile(r"(?:async[ \t]+)?def[ \t]+(\w+)")
_BRACKET = re.compile(r"[()\[\]{}]")
_HEAD = re.compile(r"[()\[\]{}:]")
_PARTNER = {")": "(", "]": "[", "}": "{"}


class Line(NamedTuple):
    """A statement's line with those that its brackets and backslashes add: from its first character to its last, comment included.

    indent: columns before it, a tab up to the next multiple of 8. comment: whether it holds nothing else.
    """

    start: int
    end: int
    indent: int
    comment: bool


class Block(NamedTuple):
    """A function: its head starts with the first decorator and ends behind the colon, `body` is None if cut off."""

    start: int
    head_end: int
    body: tuple[int, int] | None


class Source(NamedTuple):
    """A text read: `code` is the text with comments as spaces and each character of a string literal as a quote.

    end: where the text ends, white space left out.
    """

    code: str
    lines: list[Line]
    end: int


def read_python(text: str) -> Source:
    code = _NOISE.sub(lambda match: ("'" if match[0][0] != "#" else " ") * len(match[0]), text)
    return Source(code, list(_lines(text, code)), len(text.rstrip()))


def _lines(text: str, code: str) -> Iterator[Line]:
    """Lines without those that are blank; a literal over several lines is one line, because its line ends are replaced."""
    start = indent = last = -1  # of the line that is open
    depth = position = 0
    joined = False
    while position < len(code):
        newline = code.find("\n", position)
        stop = len(code) if newline < 0 else newline
        first = _BLANKS.match(text, position, stop).end()
        if first < stop:
            ends = first + len(text[first:stop].rstrip())
            here = code[first:stop]
            starts = not (depth or joined) or (depth > 0 and _STATEMENT.match(code, first))
            if starts:
                if start >= 0:
                    yield Line(start, last, indent, False)
                start, indent, depth = first, len(text[position:first].expandtabs(8)), 0
                if not here.strip():
                    yield Line(first, ends, indent, True)
                    start = -1
            last = ends
            depth += sum(map(here.count, "([{")) - sum(map(here.count, ")]}"))
            depth = max(0, depth)
            joined = here.rstrip().endswith("\\") and start >= 0
        else:
            joined = False
        position = stop + 1
    if start >= 0:
        yield Line(start, last, indent, False)


def functions(source: Source, wanted: Callable[[str, str], bool]) -> list[Block]:
    """The functions for which `wanted(name, decorators)` is true, none inside another; decorators come without comments and literals."""
    found: list[Block] = []
    head, done = -1, 0  # of the statement that a decorator has begun, and the end of the last function found
    for number, line in enumerate(source.lines):
        if line.comment or line.start < done:
            continue
        head = line.start if head < 0 else head
        if source.code[line.start] == "@":
            continue
        name = _DEF.match(source.code, line.start, line.end)
        if name and wanted(name[1], source.code[head : line.start]) and (block := _block(source, number, head)):
            found.append(block)
            done = block.body[1] if block.body else line.end
        head = -1
    return found


def _block(source: Source, number: int, start: int) -> Block | None:
    """The statement of a line with the block below it; None where its colon is missing."""
    line = source.lines[number]
    depth = 0
    for match in _HEAD.finditer(source.code, line.start, line.end):
        if match[0] == ":":
            if depth <= 0:
                break
        else:
            depth += 1 if match[0] in "([{" else -1
    else:
        return None
    colon = match.end()
    if source.code[colon : line.end].strip():  # def f(): return 1
        first = colon + len(source.code[colon : line.end]) - len(source.code[colon : line.end].lstrip())
        return Block(start, colon, (first, line.end))
    body_start = end = -1
    for index in range(number + 1, len(source.lines)):
        below = source.lines[index]
        if below.indent > line.indent:
            body_start = below.start if body_start < 0 else body_start
            end = below.end
        elif not below.comment:
            break
    return Block(start, colon, (body_start, end) if end > 0 else None)


def bracket_pairs(source: Source) -> tuple[dict[int, int], list[int]]:
    """One past the closing bracket of each opening one, and those that are still open at the end of the text."""
    pairs: dict[int, int] = {}
    stack: list[int] = []
    starts = iter([line.start for line in source.lines] + [len(source.code)])
    border = next(starts)
    for match in _BRACKET.finditer(source.code):
        at = match.start()
        if at >= border:  # a new statement: nothing is open
            stack.clear()
            while at >= border:
                border = next(starts)
        char = match[0]
        if char in "([{":
            stack.append(at)
        elif stack and source.code[stack[-1]] == _PARTNER[char]:
            pairs[stack.pop()] = match.end()
    return pairs, stack
