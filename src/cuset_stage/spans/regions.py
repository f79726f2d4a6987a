"""From the answer of a language model to the stretches of it that are CUDA source.

An answer mixes prose, reasoning, fenced blocks, Python with CUDA in string literals and bare code. A region is one
stretch of source with its place in the answer; its text may differ from the answer's (escapes decoded, prose blanked)
but never in length, so offsets carry over by addition. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .literals import heredoc_regions, is_python, python_regions
from .scrub import blank_between, blank_inline_code, line_before


class Region(NamedTuple):
    """CUDA source at `start` of the answer; `text` has the length of what it stands for."""

    start: int
    text: str


class Fence(NamedTuple):
    """A fenced block: `start` and `end` bound its content, `outer_*` include the fence lines."""

    outer_start: int
    start: int
    end: int
    outer_end: int
    info: str


_FENCE_RUN = re.compile(r"[`~](?:(?<=`)``+|(?<=~)~~+)")
_FENCE_INDENT = re.compile(r"[ \t]*(?:(?:>|[-+]|\d{1,3}[.)])[ \t]*){0,3}\Z")
_GLUED_INFO = re.compile(r"(?:cuda|cu|c\+\+|cpp|hip|c|python|py)?\Z", re.IGNORECASE)
_CODE_INFO = re.compile(
    r"\A\W*(?:cuda\w*|cuh?|c\+\+|c(?:pp|c|xx)?|h(?:pp)?|hip|python3?|py|ipython|json)\b", re.IGNORECASE
)
_PROSE_INFO = re.compile(r"\A\W*(?:markdown|md|latex|html)\b", re.IGNORECASE)
_OTHER_INFO = re.compile(
    r"\A\W*(?:bash|sh|shell|zsh|console|terminal|shell-session|powershell|bat|cmake|make(?:file)?|ya?ml|toml|ini|sql|ptx"
    r"|asm|sass|llvm|mermaid|dot|csv|xml|javascript|js|typescript|ts|rust|go|java|julia|fortran|matlab|lua)\b",
    re.IGNORECASE,
)
_SHELL_INFO = re.compile(r"\A\W*(?:bash|sh|shell|zsh|console|terminal|shell-session)\b", re.IGNORECASE)
_CODE_LINE = re.compile(
    r"^[ \t]*(?:#[ \t]*(?:include|define|pragma|if|ifdef|ifndef|undef|else|endif)\b|//|/\*|template\s*<|extern\s|__\w+__\b"
    r"|static\s|inline\s|constexpr\s|const\s|using\s|typedef\s|namespace\b|struct\s|class\s|enum\s|(?:void|int|float|double|dim3)\s"
    r"|import\s+\w|from\s+\w[\w.]*\s+import\b|\w+(?:<[^<\n]*>)?<<<|[{}])",
    re.MULTILINE,
)
_FIRST_LINE = re.compile(r"\s*(?:(?:cuda|cpp|c\+\+|cu|c|hip)[ \t]*\r?\n\s*)?(?=(\S[^\n]*))", re.IGNORECASE)

# The first character of a tag is matched before, which is what makes the search fast.
_OPEN_TAG = (
    r"(?<=<)(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think)>|(?<=\[)THINK\]"
    r"|(?<=◁)think▷|(?<=<)\|(?:begin_of_thought|START_THINKING)\|>|(?<=<)\|channel\|>analysis<\|message\|>"
)
_CLOSE_TAG = (
    r"(?<=<)/(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think)>|(?<=\[)/THINK\]"
    r"|(?<=◁)/think▷|(?<=<)\|(?:end_of_thought|END_THINKING)\|>|(?<=<)\|channel\|>final<\|message\|>"
)
# Not between quotes or single backticks, where the tag is only spoken of.
_TAG = re.compile(
    rf"[<\[◁](?<![\"'].)(?:(?<=```.)|(?<!`.))(?:(?P<open>{_OPEN_TAG})|(?P<close>{_CLOSE_TAG}))(?![\"'])(?:(?=```)|(?!`))",
    re.IGNORECASE,
)
_END_OF_TURN = re.compile(
    r"(?:\s*(?:<[|｜][^\s<>|｜]{1,40}[|｜]>|</?s>|<eos>|<end_of_turn>|<turn\|>|\[/?INST\]|<\|im_end))+\s*\Z"
)
_CODE_TAG = re.compile(r"</(?:answer|code|kernel|solution|response|output|pre|cuda)>\s*\Z", re.IGNORECASE)


def find_regions(text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """The regions of an answer, in order. `has_code` says whether a stretch holds anything worth labelling."""
    end = len(text)
    tail = text[-400:]
    for pattern in (_END_OF_TURN, _CODE_TAG):
        marker = pattern.search(tail)
        if marker:
            end -= len(tail) - marker.start()
            tail = tail[: marker.start()]
    regions: list[Region] = []
    for start, stop in _outside_reasoning(text[:end]):
        part = text[start:stop]
        if has_code(part):
            regions += [Region(start + at, code) for at, code in _answer_regions(part, has_code)]
    return regions


def _outside_reasoning(text: str) -> list[tuple[int, int]]:
    """What is left without reasoning. A lone closing tag ends reasoning that the template opened; an opening tag at the
    start of a line that never closes began reasoning that the token limit cut off."""
    if "<" not in text and "[" not in text and "◁" not in text:
        return [(0, len(text))]
    kept: list[tuple[int, int]] = []
    answer = 0
    opened = -1
    for match in _TAG.finditer(text):
        if match["open"]:
            if opened < 0 and (match.start() == answer or not line_before(text, match.start()).strip()):
                opened = match.start()
        else:
            if opened >= 0 or answer:
                kept.append((answer, opened if opened >= 0 else match.start()))
            answer, opened = match.end(), -1
    kept.append((answer, opened if opened >= 0 else len(text)))
    return [(start, end) for start, end in kept if start < end]


def _answer_regions(text: str, has_code: Callable[[str], bool]) -> list[tuple[int, str]]:
    fences = _fences(text) if "```" in text or "~~~" in text else []
    found: list[tuple[int, str]] = []
    if fences and fences[0].info == "" and _starts_as_code(text[: fences[0].outer_start], has_code):
        # The prompt ended in an opening fence, so what looks like the first one closes the answer's code.
        head = text[: fences[0].outer_start]
        found += _block_regions(0, head, "", has_code)
        fences = _fences(text, fences[0].start)
    for fence in fences:
        block = text[fence.start : fence.end]
        if has_code(block):
            if text[fence.outer_start : fence.start].lstrip().startswith(">"):
                block = re.sub(r"^[ \t]*>", lambda m: " " * len(m[0]), block, flags=re.MULTILINE)
            found += _block_regions(fence.start, block, fence.info, has_code)
    if found:
        return found
    bare = blank_between(text, [(fence.outer_start, fence.outer_end) for fence in fences]) if fences else text
    if not has_code(bare):
        return []
    if is_python(bare):
        return python_regions(0, bare, has_code)
    first = _CODE_LINE.search(bare)
    start = first.start() if first and not has_code(bare[: first.start()]) else 0  # prose only slows the parser
    return [(start, blank_inline_code(bare[start:]))]


def _starts_as_code(text: str, has_code: Callable[[str], bool]) -> bool:
    if not has_code(text):
        return False
    first = _FIRST_LINE.match(text)
    return bool(first and first[1] and _CODE_LINE.match(first[1]) and re.search(r"[;}]", text))


def _block_regions(start: int, block: str, info: str, has_code: Callable[[str], bool]) -> list[tuple[int, str]]:
    if _OTHER_INFO.match(info):
        return heredoc_regions(start, block, has_code) if _SHELL_INFO.match(info) else []
    if is_python(block):
        return python_regions(start, block, has_code)
    if _PROSE_INFO.match(info):
        return []
    return [(start, block)]


def _fences(text: str, position: int = 0) -> list[Fence]:
    """Fenced blocks as models write them: any indentation, unclosed, glued to the code, nested in a markdown block."""
    fences: list[Fence] = []
    stack: list[tuple[str, int, int, str]] = []  # fence, outer_start, start, info

    def close(end: int, outer_end: int) -> None:
        _, outer_start, start, info = stack.pop()
        if not _PROSE_INFO.match(info):
            fences.append(Fence(outer_start, start, max(start, end), outer_end, info))

    line_end = 0
    for match in _FENCE_RUN.finditer(text, position):
        if match.end() > line_end or not line_end:
            line_end = text.find("\n", match.end()) + 1 or len(text)
        fence, info = match[0], text[match.end() : min(line_end, match.end() + 300)].strip()
        before = line_before(text, match.start())
        line_start = match.start() - len(before)
        if "`" in info:
            continue
        if not _FENCE_INDENT.match(before):  # the fence shares its line with something else
            line = before.strip()
            if stack and not info and fence.startswith(stack[-1][0]) and line.endswith(("}", ";", ">", ")")):
                if not line.startswith(("//", "*")):
                    close(match.start(), line_end)
            elif (
                info and fence[0] == "`" and _GLUED_INFO.match(info) and (not stack or _PROSE_INFO.match(stack[-1][3]))
            ):
                stack.append((fence, line_start, line_end, info))
            continue
        if stack:
            opened = stack[-1]
            if _PROSE_INFO.match(opened[3]) and info:
                stack.append((fence, line_start, line_end, info))
                continue
            if not info and fence.startswith(opened[0]):
                close(line_start, line_end)
                continue
            if not (info and _CODE_INFO.match(info) and fence.startswith(opened[0])):
                continue  # also a shorter fence, which a longer one has around it so that it is content
            close(line_start, line_start)  # a block with a language cannot be content: the last was not closed
        stack.append((fence, line_start, line_end, info))
    while stack:
        close(len(text), len(text))
    return fences
