"""Find the fences of an answer: the runs of backticks or tildes at which blocks may open and close."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from .languages import CODE_LINE, FIRST_LINE, KNOWN_TAGS, file_tag
from .reasoning import ENDING_BEHIND, MARKS_LIMIT


_RUN = re.compile(r"[`~](?:(?<=`)``++|(?<=~)~~++)")  # starts with a character set, which makes the search fast
_XML_TAG = r"</?[A-Za-z][\w:.-]*+(?:[ \t][^<>\n]*+)?>"
_MARGIN = re.compile(rf"[ \t]*+(?:(?:>|(?:[-*+]|\d{{1,9}}[.)])(?=[ \t])|{_XML_TAG})[ \t]*+)*+")
_INFO_TAG = re.compile(r"[ \t]*+\{?+[ \t]*+[.=]?+(?:lang(?:uage)?[-=:])?+[\"']?+([\w+#./-]*+)")
_TEXT_BEHIND = re.compile(r"</|[ \t]++[^\s`{]++[ \t]++[^\s`]")
BLANKS, _LINE_ENDS = re.compile(r"\s*+"), re.compile(r"[\r\n]*+")
_COMMENT_LINE = re.compile(r"[ \t]*(?://|/?\*)")


@dataclass
class Fence:
    """A run of backticks or tildes, with the rest of its line.

    Properties are computed once, and no text is copied. Reasoning may cut the text before a fence into a million
    pieces, and each of these pieces meets the same fence.

    Attributes:
        text: the whole answer.
        at: index of the run.
        run: the run itself.
        line: index of the start of its line.
        next_line: index of the start of the next line.
        end: index of the end of the text that belongs to the fence.
        after: index where the reader continues: the next line, or the tag or fence that `is_followed` names.
        limit: index of the end of the answer.
    """

    text: str
    at: int
    run: str
    line: int
    next_line: int
    end: int
    after: int
    limit: int

    @property
    def is_followed(self) -> bool:
        """Whether an ending of reasoning or the fence of another block stands directly behind it."""
        return self.after < self.next_line

    @cached_property
    def info(self) -> int:
        """Index where the info string starts."""
        return _LINE_ENDS.match(self.text, self.at + len(self.run), self.end).end()

    @cached_property
    def is_bare(self) -> bool:
        return BLANKS.fullmatch(self.text, self.info, self.end) is not None

    @cached_property
    def tag(self) -> str:
        """The first word of the info string, or its suffix where that word is the name of a file."""
        word = _INFO_TAG.match(self.text, self.info, self.end)[1].lower()
        return word if word in KNOWN_TAGS or "." not in word else file_tag(word)

    @cached_property
    def is_tag_alone(self) -> bool:
        return self.text[self.info : self.end].strip().lower() == self.tag

    @cached_property
    def has_text_behind(self) -> bool:
        """Whether text follows the fence, and not an info string."""
        return _TEXT_BEHIND.match(self.text, self.info, self.end) is not None and self.tag not in KNOWN_TAGS

    @cached_property
    def is_inline(self) -> bool:
        return self.run[0] == "`" and self.text.find("`", self.info, self.end) >= 0

    @cached_property
    def has_code_below(self) -> bool:
        first = FIRST_LINE.match(self.text, self.after, self.limit)
        if first is None:
            return False
        newline = self.text.find("\n", first.end(), self.limit)
        code = self.text[first.end() : newline if newline >= 0 else self.limit].rstrip()
        return code.endswith((";", "{", "}")) or CODE_LINE.match(code) is not None

    @property
    def opens_code(self) -> bool:
        return not self.is_inline and (self.tag in KNOWN_TAGS or (self.is_bare and self.has_code_below))


class Line(NamedTuple):
    """A line, or what is left of it after reasoning, from `start` on, with its first fence."""

    start: int
    fence: Fence

    def is_before(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the whole text before the fence matches the pattern."""
        return pattern.fullmatch(self.fence.text, self.start, self.fence.at) is not None

    @property
    def has_margin(self) -> bool:
        return self.is_before(_MARGIN)

    @property
    def margin(self) -> str:
        """The indentation, list and quote markers before the fence.

        "" where anything else stands there, even only a tag.
        """
        margin = self.fence.text[self.start : self.fence.at] if self.has_margin else ""
        return "" if "<" in margin else margin

    @property
    def is_comment(self) -> bool:
        return _COMMENT_LINE.match(self.fence.text, self.start, self.fence.at) is not None

    @property
    def names_language(self) -> bool:
        """Whether the fence opens a block with a known tag.

        After other text on its line, this needs code that follows.
        """
        fence = self.fence
        if fence.tag not in KNOWN_TAGS or fence.is_inline:
            return False
        return self.has_margin or (fence.run[0] != "~" and fence.is_tag_alone and fence.has_code_below)


def find_fences(text: str, end: int) -> list[Fence]:
    """Return the fences before `end`, in order."""
    fences: list[Fence] = []
    line = newline = last = 0  # the start of a run's line, its newline, and the start of the line ending (\r\n or \n)
    for match in islice(_RUN.finditer(text, 0, end), MARKS_LIMIT):
        at, stop = match.span()
        if newline <= at:
            line = text.rfind("\n", newline, at) + 1
            newline = text.find("\n", stop, end)
            newline = last = newline if newline >= 0 else end
            while text[last - 1] == "\r":
                last -= 1
        ending = ENDING_BEHIND.match(text, stop, end)
        next_line = min(newline + 1, end)
        stop, after = (stop, ending.end()) if ending else (last, next_line)
        fences.append(Fence(text, at, match[0], line, next_line, stop, after, end))
    return _divided(fences)


def _divided(found: list[Fence]) -> list[Fence]:
    """Return the fences after separating those that close a block from those that open the next one.

    The two can stand in one line, or form one run of six or more characters.
    """
    fences: list[Fence] = []  # in reverse order
    longest = dict.fromkeys("`~", 0)  # the length of the longest later run that can close a block
    for fence in reversed(found):
        width, closing = len(fence.run), longest[fence.run[0]]
        parts = [fence]
        if closing < width >= 6 and (fence.tag in KNOWN_TAGS or (closing and fence.opens_code)):
            second = min(max(closing, 3), width - 3)
            first, at = fence.run[second:], fence.at + width - second
            parts = [replace(fence, at=at, run=fence.run[:second]), replace(fence, run=first)]
        for part in parts:
            behind = fences[-1] if fences else part
            if (
                behind.line == part.line
                and behind is not part
                and not part.is_followed
                and _MARGIN.fullmatch(part.text, part.at + len(part.run), behind.at)
                and behind.opens_code
                and not _COMMENT_LINE.match(part.text, part.line, part.at)
            ):
                part.end = part.after = behind.at
            fences.append(part)
            if part.is_bare:
                longest[part.run[0]] = max(longest[part.run[0]], len(part.run))
    return fences[::-1]
