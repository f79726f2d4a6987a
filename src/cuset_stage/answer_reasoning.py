"""Reasoning in an answer: where it begins and ends. Standard library only.

A part opens with a tag at the start of a line, or, once there was a part, at a tag within a line that has its ending.
It ends at the ending that balances it: openings of the same kind inside it are counted. Where that never comes, the
counting leaves out openings within a line, which may be mentions, and those right behind another one, as when both the
chat template and the model open; where none comes then either, all that follows is reasoning. An ending before any
opening closes what the prompt had opened (DeepSeek-R1's and QwQ's chat templates do that), so all before it goes.

Tags in a fenced block that is closed are code, unless the block stands in reasoning. A fence with an ending right behind
it ("```</think>") closes its block before that ending. One case is told from tags in a block: an ending alone on its line
with the opening fence of another block behind it closes reasoning with a block left open.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass

from .answer_fences import Fence, open_fence


# How a reasoning part opens, and how it ends.
REASONING_TAGS: tuple[tuple[str, str], ...] = (
    *((f"<{name}>", f"</{name}>") for name in ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
_CHANNEL = "<|channel|>final<|message|>"  # ends all analysis before it, however many parts that has: no brackets
_ENDING_OF = {opening.lower(): ending.lower() for opening, ending in REASONING_TAGS}


def _either(tags: list[str]) -> str:
    # [THINK] is a token of Mistral's in capitals; "[Think] of ..." is prose.
    return "|".join(re.escape(tag) if tag.startswith("[") else f"(?i:{re.escape(tag)})" for tag in tags)


_ENDING = _either([ending for _, ending in REASONING_TAGS])
_TAG = re.compile(
    f"(?P<margin>(?m:^)[ \\t]*+)?+(?:(?P<opening>{_either([opening for opening, _ in REASONING_TAGS])})"
    f"|(?P<ending>{_ENDING}))"
)
_FENCE_BEFORE_ENDING = re.compile(rf"(?:(?<!`)`{{3,}}+|(?<!~)~{{3,}}+)(?=[ \t]*+(?:{_ENDING}))")
_NOTHING_MORE = re.compile(r"[ \t]*+$", re.MULTILINE)


@dataclass(frozen=True)
class _Tag:
    """Where a tag stands, blanks before it included when it `begins` its line. `kind` is the ending of its kind."""

    start: int
    end: int
    kind: str
    opens: bool
    begins: bool


def strip_reasoning(text: str) -> str:
    """The text without its reasoning parts; see the module's description. The time grows linearly with its length."""
    tags = [_tag(match) for match in _TAG.finditer(text)]
    if not tags:
        return text
    partners = _partners(text, tags)
    blocks = _ClosedBlocks(text)
    kept = []
    start = number = 0  # of the text that is kept, of the next tag
    seen = False
    while number < len(tags):
        tag = tags[number]
        if (block := blocks.around(tag.start)) is not None:
            behind = bisect_left(tags, block.end, lo=number, key=lambda one: one.start)
            left_open = None if seen else _ending_of_a_draft(text, tags[number:behind], block)
            if left_open is None:
                number = behind
                continue
            number += left_open
            tag = tags[number]
        if not tag.opens:
            if not seen:  # the prompt had opened it
                start, seen = tag.end, True
                blocks.begin_anew(tag.end, _start_of(tags, number + 1, text))
        elif (partner := partners.get(number)) is None:
            if tag.begins:
                return "".join((*kept, text[start : tag.start]))
        elif tag.begins or (seen and not _is_quoted(text, tag)):
            kept.append(text[start : tag.start] + ("" if tag.begins else "\n"))  # two halves make no line of code
            number, seen = partner, True
            start = tags[partner].end
            blocks.go_on(start, _start_of(tags, partner + 1, text))
        number += 1
    return "".join((*kept, text[start:]))


def open_reasoning(prompt: str) -> str:
    """The reasoning tag that a chat template opens at the end of the prompt, or "".

    What the model writes after such a prompt has no opening tag of its own; without one, reasoning that is cut off
    could not be told from an answer.
    """
    tail = prompt.rstrip()
    for opening, _ in REASONING_TAGS:
        if tail.endswith(opening):
            return opening
    return ""


def _tag(match: re.Match[str]) -> _Tag:
    opens = match["opening"] is not None
    kind = _ENDING_OF[match["opening"].lower()] if opens else match["ending"].lower()
    return _Tag(match.start(), match.end(), kind, opens, match["margin"] is not None)


def _start_of(tags: list[_Tag], number: int, text: str) -> int:
    """Where a tag begins, or the text ends when there is none of that number."""
    return tags[number].start if number < len(tags) else len(text)


def _is_quoted(text: str, tag: _Tag) -> bool:
    """Whether it is inline code: a mention."""
    return text[tag.start - 1 : tag.start] == "`" == text[tag.end : tag.end + 1]


def _partners(text: str, tags: list[_Tag]) -> dict[int, int]:
    """Number of an opening -> number of its ending; openings that nothing ends are not in it."""
    every: dict[int, int] = {}
    fewer: dict[int, int] = {}
    open_now: dict[str, list[int]] = {}
    waiting: dict[str, list[tuple[int, bool]]] = {}  # number, and whether the second reading counts it
    for number, tag in enumerate(tags):
        stack, queue = open_now.setdefault(tag.kind, []), waiting.setdefault(tag.kind, [])
        if tag.opens:
            before = tags[number - 1] if number else None
            doubled = before and before.opens and before.kind == tag.kind and not text[before.end : tag.start].strip()
            queue.append((number, tag.begins and not doubled and tag.kind != _CHANNEL))
            stack.append(number)
            continue
        if stack and tag.kind != _CHANNEL:
            every[stack.pop()] = number
        while queue:  # it ends the last one that counts, and those behind that which do not
            opening, counts = queue.pop()
            fewer[opening] = number
            if counts:
                break
    return fewer | every


@dataclass(frozen=True)
class _Closed:
    """A closed block from `start` to `end`; `inner` are the lines between with fences of their own, and their places."""

    start: int
    end: int
    fence: Fence
    inner: list[tuple[int, str]]


def _ending_of_a_draft(text: str, tags: list[_Tag], block: _Closed) -> int | None:
    """Which of the tags in a block shows that the block was left open in reasoning, and closed by a later one's fence."""
    opened = set()
    for number, tag in enumerate(tags):
        if tag.opens:
            opened.add(tag.kind)
        elif tag.begins and tag.kind not in opened and _NOTHING_MORE.match(text, tag.end):
            behind = (open_fence(line) for place, line in block.inner if place > tag.start)
            return number if any(one and one.run[0] == block.fence.run[0] and one.tag for one in behind) else None
    return None


class _ClosedBlocks:
    """The closed blocks of a text, asked for from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: list[tuple[int, str]] = []  # those that may be fences, with their places
        self._ends: list[int] = []
        place = 0
        for line in text.split("\n"):
            if "```" in line or "~~~" in line:
                fence = _FENCE_BEFORE_ENDING.search(line)
                self._lines.append((place, line if fence is None else line[: fence.end()]))
                self._ends.append(place + len(line))
            place += len(line) + 1
        self._longest = {char: self._longest_from(char) for char in "`~"}
        self._wrappers: list[Fence] = []
        self._next = 0
        self._last: _Closed | None = None

    def around(self, position: int) -> _Closed | None:
        """The block that a position lies in; later calls ask for later positions."""
        while self._next < len(self._lines) and self._lines[self._next][0] <= position:
            place, line = self._lines[self._next]
            self._next += 1
            if self._wrappers and self._wrappers[-1].ends_at(line):
                self._wrappers.pop()
            elif (fence := open_fence(line)) is not None and fence.wraps:
                self._wrappers.append(fence)
            elif fence is not None:
                self._last = self._close(place, fence)
        return self._last if self._last is not None and self._last.start <= position < self._last.end else None

    def go_on(self, position: int, until: int) -> None:
        """Behind a part that is taken out: what stands there begins a line, and is looked at up to the next tag at `until`.

        A block that is cut off stays so.
        """
        self._next = max(self._next, bisect_left(self._lines, position, key=lambda line: line[0]))
        before = self._next - 1
        if before >= 0 and self._lines[before][0] < position <= self._ends[before]:
            self._lines[before] = (position, self._text[position : min(until, self._ends[before])])
            self._next = before

    def begin_anew(self, position: int, until: int) -> None:
        """Behind reasoning that the prompt had opened: nothing before it counts."""
        self._wrappers, self._last, self._next = [], None, 0
        self.go_on(position, until)

    def _close(self, place: int, fence: Fence) -> _Closed | None:
        first = self._next
        if first == len(self._lines) or self._longest[fence.run[0]][first] < len(fence.run):
            self._next = len(self._lines)  # it was cut off: all that follows is in it, and no other block
            return None
        while not (fence.ends_at(line := self._lines[self._next][1]) or fence.glued_to(line)):
            self._next += 1
        end = self._lines[self._next][0] + len(line)
        inner = self._lines[first : self._next]
        self._next += 1
        return _Closed(place, end, fence, inner)

    def _longest_from(self, char: str) -> list[int]:
        """The longest run that could close a block, of those on each line and behind it."""
        longest, found = 0, []
        for _, line in reversed(self._lines):
            bare = line.strip()
            run = len(bare) - len(bare.rstrip(char))
            longest = max(longest, run if char == "`" or run == len(bare) else 0)
            found.append(longest)
        return found[::-1]
