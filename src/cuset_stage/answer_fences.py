"""Fenced blocks of Markdown, as models write them. Standard library only.

A block opens at a line with three or more backticks or tildes, any indentation or list marker before them and any info
string behind. It ends at a line of at least as many of the same character, or at a line of code with that many
backticks glued to its end, or at the end of the text when the answer was cut off. A fence tagged markdown opens no
block: what it wraps is read for blocks, up to its own closing fence, which stands alone on its line.
"""

import re
from dataclasses import dataclass


_MARKDOWN = frozenset(("markdown", "md"))
_MARKERS = r"[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+"
_OPEN_FENCE = re.compile(rf"(?P<before>{_MARKERS})(?P<run>`{{3,}}+|~{{3,}}+)(?P<info>.*)")
_INFO_TAG = re.compile(r"[ \t]*+\{?+[ \t]*+\.?+(?:lang(?:uage)?-)?+(?P<tag>[\w+#.-]*+)")


@dataclass(frozen=True)
class Fence:
    """A line that opens a block: its run of backticks or tildes, the width before it, and its info string's first word."""

    run: str
    indent: int
    tag: str

    @property
    def wraps(self) -> bool:
        """Whether it is a markdown fence: no block, but around some."""
        return self.tag in _MARKDOWN

    def ends_at(self, line: str) -> bool:
        """Whether the line is its closing fence and nothing else."""
        bare = line.strip()
        return len(bare) >= len(self.run) and not bare.strip(self.run[0])

    def glued_to(self, line: str) -> bool:
        """Whether the line ends with backticks that close it, behind code."""
        return self.run[0] == "`" and not self.wraps and line.rstrip().endswith(self.run)


def open_fence(text: str, position: int = 0) -> Fence | None:
    """The fence that a line opens, from `position` to the line's end; None when it opens none."""
    match = _OPEN_FENCE.match(text, position)
    if match is None or (match["run"][0] == "`" and "`" in match["info"]):  # the latter is inline code
        return None
    return Fence(match["run"], len(match["before"]), _INFO_TAG.match(match["info"])["tag"].lower())


@dataclass(frozen=True)
class Block:
    """A fenced block: `tag` is the first word of the info string in lower case, "" without one."""

    tag: str
    code: str
    closed: bool


def split_blocks(text: str) -> tuple[list[Block], str]:
    """All fenced blocks in their order, and the text without them and without fence lines; lines end with `\\n`."""
    blocks: list[Block] = []
    outside: list[str] = []
    inside: list[str] = []
    wrappers: list[Fence] = []
    fence: Fence | None = None

    def finish(closed: bool) -> None:
        code = "\n".join(_dedented(inside, fence.indent)) + ("\n" if inside and closed else "")
        blocks.append(Block(fence.tag, code, closed))
        inside.clear()

    for line in text.split("\n"):
        if fence is not None:
            if fence.ends_at(line):
                finish(closed=True)
                fence = None
            elif fence.glued_to(line):
                inside.append(line.rstrip().rstrip("`"))
                finish(closed=True)
                fence = None
            else:
                inside.append(line)
        elif wrappers and wrappers[-1].ends_at(line):
            wrappers.pop()
        elif (opened := open_fence(line)) is None:
            outside.append(line)
        elif opened.wraps:
            wrappers.append(opened)
        else:
            fence = opened
    if fence is not None:
        finish(closed=False)
    return blocks, "\n".join(outside)


def _dedented(lines: list[str], indent: int) -> list[str]:
    """Lines without up to `indent` blanks at their start, and no more than the first one that holds something has.

    The first line of a program stands at its margin. Where that is less than what stands before the fence, as behind a
    list marker whose block was not indented, taking off the marker's width would leave Python that is broken.
    """
    first = next((line for line in lines if line.strip()), "")
    indent = min(indent, len(first) - len(first.lstrip(" \t")))
    return [line[:indent].lstrip(" \t") + line[indent:] for line in lines]
