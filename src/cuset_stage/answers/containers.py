"""An answer that has been read, and its parts that may hold code: blocks, cells, here-documents and text between tags."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from .languages import CODE_LINE, SHELLS, file_tag
from .reasoning import MARKS_LIMIT


_QUOTE_MARKS = re.compile(r"^[ \t]*+(?:>[ \t]?)++", re.MULTILINE)
_INLINE_CODE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
# Tags that stand around code. Group 2 is the tag's name, which has to contain a `_CODE_WORD`. Groups 3 and 4 are the
# brackets of `<![CDATA[` and `]]>`.
_CODE_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*+)(?:[ \t][^<>\n]*+)?>|<!(\[)CDATA\[|\](\])>")
_CODE_WORD = re.compile(
    "answer|code|kernel|solution|response|output|program|source|implementation|submission|artifact|result|final|file"
    "|content|pre|cuda|cpp|cu",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"\"|(?<!:)//|^[ \t]*+/?\*")
_CELL = re.compile(r"^[ \t]*+(?:%%(\w+)([^\n]*+)|!(?=nvcc|hipcc|\./|pip|apt|python)[^\n]*+)\n?", re.MULTILINE)
_CUDA_CELL = re.compile(r"cu|nvcc|hip|cpp")
_HEREDOC = re.compile(r"(?<!<)<<(-?)[ \t]*+(?:'([^'\n]++)'|\"([^\"\n]++)\"|\\?+([A-Za-z_][\w.-]*+))[^\n]*+(?:\n|\Z)")
_LINE = re.compile(r"[^\n]*+\n?+")
_WRITES = re.compile(r"[ \t]*+(?:[!$>%][ \t]*+)?+(?:sudo[ \t]++)?+(?:cat|tee)\b")
_WRITTEN = re.compile(r"(?:>|\btee\b(?:[ \t]++-\w++)*+)[ \t]*+[\"']?(?!/dev/|&)([^\s\"'<>|&;]++)")


class Container(NamedTuple):
    """A part of an answer that may hold code.

    Attributes:
        start: index of its first character in the answer, a str index. Fences and marks are not included.
        end: index after its last character.
        tag: its language, or the suffix of its file's name, in lower case. "" where neither is known.
        margin: the text before the opening fence on the fence's line.
        closed: whether its own end is there (a closing fence, or the end of a cell or here-document).
        fenced: whether it stands in a block.
        tabs: whether tabs at the start of its lines are left out of the file, as `<<-` does.
    """

    start: int
    end: int
    tag: str = ""
    margin: str = ""
    closed: bool = False
    fenced: bool = True
    tabs: bool = False


@dataclass
class Answer:
    """An answer that has been read: its blocks, and the ranges of its reasoning and fences.

    All indices are str indices into `text`.

    Attributes:
        text: the whole text that the model wrote.
        blocks: the blocks that are not empty, in order.
        reasoning: the ranges of reasoning.
        fenced: the ranges of the blocks together with their fences.
        end: where the answer ends. Markers that end a turn stand behind it.
    """

    text: str
    blocks: list[Container]
    reasoning: list[tuple[int, int]]
    fenced: list[tuple[int, int]]
    end: int

    def in_blocks(self) -> Iterator[Container]:
        """Yield the containers in blocks, in order."""
        for block in self.blocks:
            yield from self._files(block)

    def outside_blocks(self) -> Iterator[Container]:
        """Yield the containers outside of blocks, in order: the text between tags, or the files that it writes."""
        start = 0
        whole = self.source(Container(0, self.end, fenced=False))
        for tag in (*find_code_tags(whole), (self.end, self.end)):
            if whole[start : tag[0]].strip():
                yield from self._files(Container(start, tag[0], fenced=False))
            start = tag[1]

    def from_code(self, part: Container, has_code: Callable[[str], bool]) -> Container | None:
        """Return a container without the prose before its code, or None where no line is one that only code has.

        The result starts at the first line that only code has. It is the whole container if `has_code` finds code in
        the text before that line.
        """
        source = self.source(part)
        first = CODE_LINE.search(source)
        if first is None:
            return None
        return part if has_code(source[: first.start()]) else part._replace(start=part.start + first.start())

    def _pieces(self, part: Container) -> Iterator[tuple[int, int]]:
        """Yield the ranges of a container without its reasoning, and, outside of blocks, without the blocks."""
        ranges = self.reasoning if part.fenced else self._skipped
        first = bisect_right(ranges, part.start, key=lambda skipped: skipped[1])
        return gaps_between((ranges[number] for number in range(first, len(ranges))), part.start, part.end)

    @cached_property
    def _skipped(self) -> list[tuple[int, int]]:
        """The ranges of reasoning and blocks. Ranges that touch are merged."""
        gaps = gaps_between(sorted(self.reasoning + self.fenced), 0, self.end)
        borders = [0, *(border for gap in gaps for border in gap), self.end]
        return list(zip(borders[::2], borders[1::2], strict=True))

    def source(self, part: Container) -> str:
        """Return a container's text in which everything that is not code is replaced by spaces.

        The length stays the same, so an offset into this text plus `part.start` is an index into the answer.
        """
        pieces, behind = [], part.start
        for start, end in self._pieces(part):
            pieces += (" " * (start - behind), self.text[start:end])
            behind = end
        text = "".join((*pieces, " " * (part.end - behind)))
        mark = _QUOTE_MARKS if ">" in part.margin else None if part.fenced or "`" not in text else _INLINE_CODE
        return mark.sub(lambda match: " " * len(match[0]), text) if mark else text

    def code(self, part: Container) -> str:
        """Return the code of a container, without reasoning, quote marks and the indentation of its fence.

        Lines end with `\\n`.
        """
        pieces = [self.text[start:end] for start, end in self._pieces(part)]  # each starts on a new line
        code = "".join([piece if piece.endswith("\n") else piece + "\n" for piece in pieces[:-1]] + pieces[-1:])
        code = code.replace("\r\n", "\n")
        width = len(part.margin)
        lines = code.split("\n")
        if ">" in part.margin:
            lines = [_QUOTE_MARKS.sub("", line) for line in lines]
            marks = _QUOTE_MARKS.match(part.margin)  # None where a list marker comes before the quote mark
            width -= marks.end() if marks else 0
        if width > 0:
            # Take off no more indentation than the first line has. The code of a list item need not be indented by the
            # marker's width, and taking the full width off its deeper lines would then break Python.
            first = next((line for line in lines if line.strip()), "")
            width = min(width, len(first) - len(first.lstrip(" \t")))
            lines = [line[:width].lstrip(" \t") + line[width:] for line in lines]
        if part.tabs:
            lines = [line.lstrip("\t") for line in lines]
        code = "\n".join(lines)
        return code + "\n" if part.closed and not code.endswith("\n") else code

    def _files(self, part: Container) -> Iterator[Container]:
        """Yield the notebook cells and here-documents in a container, or the container itself where it has none."""
        source = self.source(part)
        cells = list(_CELL.finditer(source)) if "%%" in source else []
        if not any(cell[1] for cell in cells):
            cells = []
        starts = [0, *(cell.end() for cell in cells)]
        ends = [*(cell.start() for cell in cells), len(source)]
        for cell, start, end in zip((None, *cells), starts, ends, strict=True):
            if (cell is None or cell[1]) and (not cells or source[start:end].strip()):
                tag = _cell_tag(*cell.groups()) if cell else part.tag
                closed = part.closed or end < len(source)
                piece = part._replace(start=part.start + start, end=part.start + end, tag=tag, closed=closed)
                yield from _heredocs(piece, source[start:end]) or [piece]


def _cell_tag(magic: str, arguments: str) -> str:
    """Return the language tag of a notebook cell, from its magic (such as `writefile`) and the magic's arguments."""
    if magic in ("writefile", "file"):
        return file_tag((arguments.split() or [""])[-1])
    return "cu" if _CUDA_CELL.match(magic) else "bash" if magic in SHELLS or magic == "script" else ""


def _heredocs(part: Container, source: str) -> list[Container]:
    """Return the files that a shell script writes. Outside of shell blocks, only `cat` and `tee` count as writing."""
    files = []
    position = 0
    while opening := _HEREDOC.search(source, position):
        line = max(position, source.rfind("\n", position, opening.start()) + 1)
        position = opening.end()
        command = source[line : opening.start()]
        if "((" in command or not (part.tag in SHELLS or _WRITES.match(command)):
            continue
        word = opening[2] or opening[3] or opening[4]
        lines = _LINE.finditer(source, position)
        closing = next((candidate for candidate in lines if candidate[0].strip(" \t\r\n") == word), None)
        end = closing.start() if closing else len(source)
        if source[position:end].strip():
            written = _WRITTEN.search(source, line, opening.end())
            tag = file_tag(written[1]) if written else ""
            start, end = part.start + position, part.start + end
            files.append(part._replace(start=start, end=end, tag=tag, closed=bool(closing), tabs=opening[1] == "-"))
        position = closing.end() if closing else len(source)
    return files


def find_code_tags(text: str) -> list[tuple[int, int]]:
    """Return the ranges of the tags around code, in order.

    These are all endings, and the openings that begin a line or have an ending. Tags in comments and string literals
    are left out.
    """
    tags: list[tuple[int, int]] = []
    counts: list[bool] = []  # for each tag in the list above, whether it is kept
    open_tags: dict[str, list[int]] = {}  # name -> the indices of its openings that have no ending yet
    behind = 0  # the end of the last tag
    for match in islice(_CODE_TAG.finditer(text), MARKS_LIMIT):
        name = (match[2] or match[3] or match[4]).lower()
        if match[2] and not _CODE_WORD.search(name):
            continue
        start, end = match.span()
        line = max(behind, start - 300, text.rfind("\n", max(0, start - 300), start) + 1)
        before = text[line:start]
        if _QUOTES.search(before):
            continue
        is_ending = bool(match[1] or match[4])
        partners = open_tags.setdefault(name.replace("]", "["), [])
        if is_ending and partners:
            counts[partners.pop()] = True
        elif match[4]:
            continue  # `]]>` without its opening is code such as a[b[0]]>c
        elif not is_ending:
            partners.append(len(counts))
        tags.append((start, end))
        counts.append(is_ending or not before.strip())
        behind = end
    return [tag for tag, counted in zip(tags, counts, strict=True) if counted]


def gaps_between(ranges: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of the range from `start` to `end` that the sorted `ranges` leave uncovered."""
    for left, right in ranges:
        if left >= end:
            break
        if start < left:
            yield start, left
        start = max(start, right)
    if start < end:
        yield start, end
