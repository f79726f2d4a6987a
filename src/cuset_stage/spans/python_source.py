"""Read Python source that may not parse: functions with their bodies and brackets, found by indentation.

Answers are cut off and drafts do not compile, so Python's own parser cannot be used. Comments and string literals are
replaced first. Lines are joined inside brackets, and a bracket that never closes ends at the next line that can only
begin a new statement. Offsets stay those of the text. Time is linear. Standard library only.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


# No named groups: Python 3.11.2, which Debian ships, matches them wrongly inside a possessive repetition.
_NOISE = re.compile(
    r"#[^\n]*"
    r'|"""[^"\\]*+(?:(?:\\[\s\S]?|"(?!""))[^"\\]*+)*+(?:""")?'
    r"|'''[^'\\]*+(?:(?:\\[\s\S]?|'(?!''))[^'\\]*+)*+(?:''')?"
    r'|"[^"\\\n]*+(?:\\(?:\r\n|[\s\S])?[^"\\\n]*+)*+"?'
    r"|'[^'\\\n]*+(?:\\(?:\r\n|[\s\S])?[^'\\\n]*+)*+'?"
)
_BLANKS = re.compile(r"[ \t\f\r]*")
# A line inside brackets never starts with one of these.
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
    """One logical line: a statement's line with the lines that its brackets and backslashes add.

    Attributes:
        start: index of its first character that is not white space.
        end: one past its last character, comment included.
        indent: columns before it, with tabs expanded to the next multiple of 8.
        comment: whether it holds nothing but a comment.
    """

    start: int
    end: int
    indent: int
    comment: bool


class Block(NamedTuple):
    """A function.

    Attributes:
        start: index at which the head starts, with the first decorator.
        head_end: one past the colon of the head.
        body: (start, end) of the body, or None if the text is cut off before it.
    """

    start: int
    head_end: int
    body: tuple[int, int] | None


class Source(NamedTuple):
    """A text that was read by `read_python`.

    Attributes:
        code: the text with comments replaced by spaces and each character of a string literal by a quote.
        lines: its logical lines.
        end: where the text ends, without trailing white space.
    """

    code: str
    lines: list[Line]
    end: int


def read_python(text: str) -> Source:
    """Replace comments and literals in a text and split it into logical lines."""
    code = _NOISE.sub(lambda match: ("'" if match[0][0] != "#" else " ") * len(match[0]), text)
    return Source(code, list(_lines(text, code)), len(text.rstrip()))


def _lines(text: str, code: str) -> Iterator[Line]:
    """Yield the logical lines that are not blank.

    A literal over several lines belongs to one logical line, because its line ends were replaced.
    """
    start = indent = last = -1  # of the logical line that is not complete yet
    depth = position = 0
    joined = False
    while position < len(code):
        newline = code.find("\n", position)
        stop = len(code) if newline < 0 else newline
        first = _BLANKS.match(text, position, stop).end()
        if first < stop:
            line_end = first + len(text[first:stop].rstrip())
            line_code = code[first:stop]
            begins_statement = not (depth or joined) or (depth > 0 and _STATEMENT.match(code, first))
            if begins_statement:
                if start >= 0:
                    yield Line(start, last, indent, False)
                start, indent, depth = first, len(text[position:first].expandtabs(8)), 0
                if not line_code.strip():
                    yield Line(first, line_end, indent, True)
                    start = -1
            last = line_end
            depth = max(0, depth + sum(map(line_code.count, "([{")) - sum(map(line_code.count, ")]}")))
            joined = line_code.rstrip().endswith("\\") and start >= 0
        else:
            joined = False
        position = stop + 1
    if start >= 0:
        yield Line(start, last, indent, False)


def functions(source: Source, wanted: Callable[[str, str], bool]) -> list[Block]:
    """Return the functions for which `wanted(name, decorators)` is true.

    Functions inside a returned function are left out. `decorators` is the source text of the decorators without
    comments and literals.
    """
    blocks: list[Block] = []
    head, done = -1, 0  # start of the statement with its decorators (-1: not begun), end of the last function returned
    for number, line in enumerate(source.lines):
        if line.comment or line.start < done:
            continue
        head = line.start if head < 0 else head
        if source.code[line.start] == "@":
            continue
        name = _DEF.match(source.code, line.start, line.end)
        if name and wanted(name[1], source.code[head : line.start]) and (block := _block(source, number, head)):
            blocks.append(block)
            done = block.body[1] if block.body else line.end
        head = -1
    return blocks


def _block(source: Source, number: int, start: int) -> Block | None:
    """Return the function whose `def` is on the given line, with the block below it.

    Return None if its colon is missing.
    """
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
    """Match the brackets of each statement.

    Returns:
        A mapping from each opening bracket to one past its closing one, and the brackets that are still open at the
        end of the text.
    """
    pairs: dict[int, int] = {}
    stack: list[int] = []
    starts = iter([line.start for line in source.lines] + [len(source.code)])
    border = next(starts)
    for match in _BRACKET.finditer(source.code):
        at = match.start()
        if at >= border:  # a new statement begins, so no bracket is open
            stack.clear()
            while at >= border:
                border = next(starts)
        char = match[0]
        if char in "([{":
            stack.append(at)
        elif stack and source.code[stack[-1]] == _PARTNER[char]:
            pairs[stack.pop()] = match.end()
    return pairs, stack
