"""Read an answer: find its reasoning and its blocks."""

import re
from bisect import bisect_left

from .containers import Answer, Container, find_code_tags, gaps_between
from .fences import BLANKS, Fence, Line, find_fences
from .languages import FIRST_LINE, NO_CODE, is_any_code, starts_as_code
from .reasoning import Tag, find_partners, find_tags


_MARKDOWN = frozenset(("markdown", "md"))
_MARKS = re.compile(r"[ \t>]*+")
_QUOTED_BLANKS = re.compile(r"(?:[ \t]*+(?:>[ \t]?)++)?+\s*+")
_ENDS_CODE = re.compile(r"[;}]|\bclass\s++ModelNew\b")
_END_OF_TURN = re.compile(
    r"(?:\s*(?:<[|｜][^\s<>|｜]{1,40}[|｜]>|</?s>|<eo[sd]>|<end_of_(?:turn|sentence)>|<t(?:urn|ool)\|>|\[/?INST\]|\[e~\[|<\|im_end))+\s*\Z"
)


def read_answer(text: str) -> Answer:
    """Find the reasoning and the blocks of an answer, as the docstring of the package describes.

    Markers that end a turn are left out.
    """
    tail = text[-400:]
    marker = _END_OF_TURN.search(tail) if tail.rstrip().endswith((">", "]", "[e~[", "<|im_end")) else None
    end = len(text) - (len(tail) - marker.start() if marker else 0)
    reader = _Reader(text, end)
    reader.read()
    return Answer(text, reader.blocks, reader.reasoning, reader.fenced, end)


class _Reader:
    """Walk over an answer once, from each tag or fence to the next one, and collect its blocks and reasoning."""

    def __init__(self, text: str, end: int) -> None:
        self.text, self.end = text, end
        self.blocks: list[Container] = []
        self.reasoning: list[tuple[int, int]] = []
        self.fenced: list[tuple[int, int]] = []
        self._wrappers: list[str] = []
        # An ending that nothing opened, with the blocks and the fenced ranges before it.
        self._stray: tuple[Tag, list[Container], list[tuple[int, int]]] | None = None
        # A block for which no closing fence was found yet, and the index where it ends at the latest.
        self._open: tuple[Line, int] | None = None
        # The index where reading continues, and the end of the last reasoning. A line is taken to begin at either.
        self._position = self._floor = 0
        self._fences = find_fences(text, end)
        self._places = [fence.at for fence in self._fences]

    def read(self) -> None:
        """Read the whole answer. This fills `blocks`, `reasoning` and `fenced`."""
        tags = find_tags(self.text, self.end)
        partners = find_partners(self.text, tags)
        number, behind = 0, -1  # the index of the next tag, and of the tag that may stand directly behind reasoning
        while True:
            while number < len(tags) and tags[number].start < self._position:
                number += 1
            place = tags[number].start if number < len(tags) else self.end
            line = self._next_fence(self._position, self.end)
            if self._open is not None and self._open[1] <= place:
                self._cut_block(self._open[1])
            elif self._open is None and line is not None and line.fence.at < place:
                self._read_fence(line)
            elif number == len(tags):
                break
            else:
                tag, partner = tags[number], partners[number]
                begins = tag.begins or (number == behind and not self.text[self._floor : place].strip())
                if tag.kind < 0 and not self.reasoning:  # the prompt had opened this reasoning
                    self._open = None
                    self._stray = tag, self.blocks, self.fenced
                    self.blocks, self.fenced, self._wrappers = [], [], []
                    self._leave(0, tag.end)
                    behind = number + 1
                elif tag.kind >= 0 and partner < 0 and begins:
                    self.reasoning.append((place, self.end))
                    if self._open is not None:
                        self._cut_block(place)
                    break
                elif partner >= 0 and (begins or self.reasoning):
                    self._leave(place, tags[partner].end)
                    behind = partner + 1
                number += 1
        if self._stray and not self._has_code_behind_stray():
            tag, blocks, fenced = self._stray
            if any(block.closed and is_any_code(self.text[block.start : block.end]) for block in blocks):
                self.blocks, self.fenced = blocks + self.blocks, fenced + self.fenced
                self.reasoning[0] = (tag.start, tag.end)

    def _has_code_behind_stray(self) -> bool:
        blocks = (self.text[block.start : block.end] for block in self.blocks)
        outside = gaps_between(sorted(self.reasoning + self.fenced), 0, self.end)
        return any(is_any_code(block) or starts_as_code(block) for block in blocks) or any(
            is_any_code(self.text[start:end]) for start, end in outside
        )

    def _leave(self, start: int, end: int) -> None:
        """Skip a range of reasoning. A line begins after it."""
        self.reasoning.append((start, end))
        self._position = self._floor = end
        if self._open is not None:
            line, until = self._open
            if end > until:
                self._read_block(line, end, self.end, self.end)
            else:  # the lines up to `until` were read before, except the one that begins here
                here = self._next_fence(end, until)
                stop = min(here.fence.next_line, until) if here and here.start == end else end
                self._read_block(line, end, stop, until)

    def _next_fence(self, position: int, end: int) -> Line | None:
        """Return the next fence before `end`, with its line, or None. A line is taken to begin at `position`."""
        index = bisect_left(self._places, position)
        if index == len(self._places) or self._places[index] >= end:
            return None
        fence = self._fences[index]
        return Line(max(position, fence.line), fence)

    def _read_fence(self, line: Line) -> None:
        """Read a line with a fence outside of blocks."""
        fence = line.fence
        self._position = fence.after
        if not line.has_margin:
            if line.names_language:
                self._read_block(line, fence.after, self.end, self.end)
            return
        may_open = not (self.fenced or fence.is_followed)
        if fence.is_bare and self._wrappers and fence.run.startswith(self._wrappers[-1]):
            self._wrappers.pop()
        elif not fence.is_inline and (fence.tag in _MARKDOWN or self._wraps_block(fence)):
            self._wrappers.append(fence.run)
        elif fence.is_bare and may_open and (start := self._given_start(line.start)) >= 0:
            self._add(start, line.start, "", "", True)
            self.fenced.append((self._floor, fence.after))
            return
        elif not (fence.is_followed or fence.has_text_behind):
            if not fence.is_inline:
                self._read_block(line, fence.after, self.end, self.end)
            return
        self.fenced.append((line.start, fence.after))  # a fence that opens no block

    def _wraps_block(self, fence: Fence) -> bool:
        """Return whether this longer fence wraps a block that names its language, directly below it or below prose."""
        line = self._next_fence(fence.after, self.end)
        if line is None or line.fence.run.startswith(fence.run) or not (line.has_margin and line.names_language):
            return False
        between = self.text[fence.after : line.start]
        return not between.strip() or (
            (not fence.tag or fence.tag in NO_CODE) and not (starts_as_code(between) or is_any_code(between))
        )

    def _given_start(self, end: int) -> int:
        """Return the index of code whose opening fence was in the prompt, or -1 if the text does not start as code."""
        head = self.text[self._floor : end]
        return self._floor + FIRST_LINE.match(head).end() if starts_as_code(head) and _ENDS_CODE.search(head) else -1

    def _read_block(self, opening: Line, position: int, stop: int, until: int) -> None:
        """Look for the end of a block from `position` to `stop`.

        If none is found, the block ends at `until` at the latest.
        """
        blanks = _QUOTED_BLANKS if ">" in opening.margin else BLANKS
        while (line := self._next_fence(position, stop)) is not None:
            fence = line.fence
            if fence.run.startswith(opening.fence.run):
                alone = line.is_before(blanks)
                if (alone and (fence.is_bare or fence.has_text_behind)) or (
                    not alone and fence.is_bare and not line.is_comment and fence.run[0] == "`"
                ):
                    end = line.start if line.is_before(_MARKS) else fence.at
                    self._end_block(opening, end, fence.after, True)
                    return
                if not fence.is_bare and not line.is_comment and line.names_language:
                    until = line.start  # the block's own closing fence is missing
                    break
            position = fence.after
        self._open = opening, until

    def _cut_block(self, end: int) -> None:
        """End the open block at `end`, where it has no fence, or at an earlier tag such as `</answer>`."""
        start = self._open[0].fence.after
        tags = (start + tag for tag, _ in find_code_tags(self.text[start:end]) if self.text[start + tag + 1] == "/")
        end = next(tags, end)
        self._end_block(self._open[0], end, end, False)

    def _end_block(self, line: Line, end: int, after: int, closed: bool) -> None:
        self._add(line.fence.after, end, line.fence.tag, line.margin, closed)
        self.fenced.append((line.start, after))
        self._open, self._position = None, after

    def _add(self, start: int, end: int, tag: str, margin: str, closed: bool) -> None:
        if start < end and not self.text[start:end].isspace():
            self.blocks.append(Container(start, end, tag, margin, closed))
