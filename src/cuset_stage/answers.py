"""Find the reasoning, the fenced blocks and the code in a language model's answer.

The labels (`spans`), the judge and curation all read answers through this module, so the code that is trained on is
the code that is judged. It needs only the standard library. Its time grows linearly with the length of an answer, and
no answer makes it raise. A hostile answer may contain millions of fences and reasoning tags, so only the first
`MARKS_LIMIT` of each are read.

**Reasoning** is not part of the answer.

- It opens with a tag (`REASONING_TAGS`) at the start of a line, or within a line if there was reasoning earlier in the
  answer. It ends at the balancing tag.
- If no tag balances it, two sorts of openings are no longer counted: those within a line, which may be mentions, and
  those directly behind another opening, because the chat template and the model may both have opened the reasoning.
- If this does not find an ending, an ending of another kind is taken, provided that it ends nothing else.
- Without any ending, everything that follows is reasoning that was cut off.
- An ending before any opening closes reasoning that the prompt opened, as the chat templates of DeepSeek-R1 and QwQ
  do. Everything before it is dropped, unless there is a closed block of code before it and no code after it.
- Tags in quotes or backticks are mentions. Tags inside a block that has its own closing fence are code.

**Blocks** open at a line with three or more backticks or tildes. Indentation, list or quote markers and tags may stand
before them, and any info string after them. A block ends

- at a fence of at least as many of the same character, which stands alone, at the end of a line of code, or before
  text ("```</answer>", "``` This kernel ...");
- before a fence that names a language, because the block's own closing fence is then missing;
- at the end of the text, when the answer was cut off.

The next fence may follow the previous one on the same line, even without a space ("``````cuda"). A markdown fence is
not a block, and neither is a longer fence around a block that names its language. Their contents, up to their own
closing fence, are searched for blocks. Two more forms are read: a fence that names its language after other text on
its line, when code follows ("Here it is: ```cpp"), and an answer that starts as code, up to its first fence without an
info string (the prompt opened that block).

**Containers** are the parts that may hold a program. In a block, these are the cells of a notebook (`%%writefile
k.cu`, `%%cuda`) and the here-documents (`cat > k.cu <<EOF`), or the whole block where it has neither. Outside of
blocks, the text is cut where a tag such as `<answer>` or `</code>` opens or closes. Containers outside of blocks count
only if none in a block looks like code.

**The code** (`extract_code`), by the rule `first`, is the first of these that exists:

1. where a whole program is asked for, the first container in a block that defines `main`;
2. the first container in a block that looks like code (`main(` or `__global__` for CUDA, `class ModelNew` for Python);
3. the first container outside of blocks that looks like code, for CUDA from the first line that only code has;
4. the first block that is not tagged as another kind of text;
5. the first block.

In 1 and 2, a container that is tagged as another kind of text (bash, json, output; python for a CUDA task; C++ and
CUDA for a Python task) comes after all others. The rule `last` takes the last one in each of these steps. The rule
`first-any` is CUDABench's own, for comparison with its published numbers. It keeps the reasoning, and takes the text
between the first two runs of three backticks anywhere, without a word that stands directly behind the first run.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import NamedTuple


MARKS_LIMIT = 100_000


class ExtractRule(StrEnum):
    """The rules for choosing the code of an answer. The module docstring describes each."""

    FIRST = "first"
    LAST = "last"
    FIRST_ANY = "first-any"


# Pairs of the tag that opens reasoning and the tag that ends it.
_NAMES = "think thinking thought thoughts reasoning reflection scratchpad analysis seed:think"
REASONING_TAGS: tuple[tuple[str, str], ...] = (
    *((f"<{name}>", f"</{name}>") for name in _NAMES.split()),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)

_C_FAMILY = "c h cc cpp c++ cxx hpp hxx cu cuh cuda cuda-c cuda-c++ cuda-cpp cudac cudacpp objc hip"
_PYTHON = "python py python3 py3 pycon ipython triton"
_SHELLS = "bash sh shell zsh fish console terminal shellsession shell-session powershell cmd bat"
_NO_CODE = f"""
    {_SHELLS} text txt plain plaintext output log stdout cmake makefile make dockerfile json jsonc yaml yml toml ini xml html
    css csv diff patch sql latex tex math mermaid dot asm ptx sass llvm java javascript js typescript ts rust go lua fortran
    julia matlab glsl hlsl opencl verilog md markdown rst
"""
SHELLS, NO_CODE = (frozenset(tags.split()) for tags in (_SHELLS, _NO_CODE))
OTHER_LANGUAGES = {"cuda": NO_CODE.union(_PYTHON.split()), "python": NO_CODE.union(_C_FAMILY.split())}
_MARKDOWN = frozenset(("markdown", "md"))
_KNOWN_TAGS = frozenset().union(*OTHER_LANGUAGES.values())
# Each pattern starts with a literal word, because a search for a literal is fast. The lookbehind after the word checks
# the boundary before it.
_LOOKS_LIKE = {"cuda": re.compile(r"main(?<!\wmain)\s*+\("), "python": re.compile(r"class(?<!\wclass)\s++ModelNew\b")}
_C_NOISE = re.compile(
    r'//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?|R"([^()\\\s"]{0,16})\((?:[^)]++|\)(?!\1"))*+(?:\)\1")?'
    r'|"(?:[^"\\\n]|\\.)*+"?'
)
_DEFINES_MAIN = re.compile(r"(?<![\w.>])(?<!fn )(?<!func )(?<!function )main\s*+\([^(){};]*+\)[^(){};]*+\{")

_RUN = re.compile(r"[`~](?:(?<=`)``++|(?<=~)~~++)")  # starts with a character set, which makes the search fast
_XML_TAG = r"</?[A-Za-z][\w:.-]*+(?:[ \t][^<>\n]*+)?>"
_MARGIN = re.compile(rf"[ \t]*+(?:(?:>|(?:[-*+]|\d{{1,9}}[.)])(?=[ \t])|{_XML_TAG})[ \t]*+)*+")
QUOTE_MARKS = re.compile(r"^[ \t]*+(?:>[ \t]?)++", re.MULTILINE)
_INFO_TAG = re.compile(r"[ \t]*+\{?+[ \t]*+[.=]?+(?:lang(?:uage)?[-=:])?+[\"']?+([\w+#./-]*+)")
_TEXT_BEHIND = re.compile(r"</|[ \t]++[^\s`{]++[ \t]++[^\s`]")
_BLANKS, _LINE_ENDS, _MARKS = re.compile(r"\s*+"), re.compile(r"[\r\n]*+"), re.compile(r"[ \t>]*+")
_QUOTED_BLANKS = re.compile(r"(?:[ \t]*+(?:>[ \t]?)++)?+\s*+")
_COMMENT_LINE = re.compile(r"[ \t]*(?://|/?\*)")
_CODE_LINE = re.compile(
    r"^[ \t]*(?:#[ \t]*(?:include|define|pragma|if|ifdef|ifndef|undef|else|endif)\b|//|/\*|template\s*<|extern\s|__\w+__\b"
    r"|static\s|inline\s|constexpr\s|const\s|using\s|typedef\s|namespace\b|struct\s|class\s|enum\s|(?:void|int|float|double|dim3)\s"
    r"|import\s+\w|from\s+\w[\w.]*\s+import\b|\w+(?:<[^<\n]*>)?<<<|[{}])",
    re.MULTILINE,
)
_FIRST_LINE = re.compile(r"\s*+(?:(?:cuda|cpp|c\+\+|cu|c|hip)[ \t]*\r?\n\s*+)?+(?=\S)", re.IGNORECASE)
_ENDS_CODE = re.compile(r"[;}]|\bclass\s++ModelNew\b")
_FIRST_BLOCK = re.compile(r"```\w*(.*?)```", re.DOTALL)
_INLINE_CODE = re.compile(r"(?<!`)`[^`\n]+`(?!`)")
_END_OF_TURN = re.compile(
    r"(?:\s*(?:<[|｜][^\s<>|｜]{1,40}[|｜]>|</?s>|<eos>|<end_of_turn>|<turn\|>|\[/?INST\]|<\|im_end))+\s*\Z"
)
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

# The channel tags do not nest like brackets: one ending closes all analysis before it, however many parts that has.
_CHANNEL = len(REASONING_TAGS) - 1
# Tag -> the index of its pair in REASONING_TAGS, as the bitwise complement (a negative number) for an ending.
_KIND = {
    tag.lower(): kind if opens else ~kind
    for kind, pair in enumerate(REASONING_TAGS)
    for tag, opens in zip(pair, (True, False), strict=True)
}


def _any_of(tags: Iterable[str]) -> str:
    # The pattern starts with the first character alone, which makes the search fast. [THINK] must be in capitals: it
    # is a special token of Mistral's models, while "[Think] of ..." is prose.
    tags = [re.escape(tag) for tag in tags]
    by_first = {
        first: "|".join(tag.removeprefix(first) for tag in tags if tag.startswith(first)) for first in ("<", "◁")
    }
    capitals = "|".join(tag.removeprefix(r"\[") for tag in tags if tag.startswith(r"\["))
    others = "|".join(rf"(?<={first})(?=[/|\w])(?i:{rest})" for first, rest in by_first.items())
    return rf"[<\[◁](?:{others}|(?<=\[)(?:{capitals}))"


_TAG = re.compile(_any_of(tag for pair in REASONING_TAGS for tag in pair))
_ENDING_BEHIND = re.compile(rf"[ \t]*+(?={_any_of(ending for _, ending in REASONING_TAGS)})")


def extract_code(
    answer: str, *, rule: ExtractRule | str = ExtractRule.FIRST, language: str = "cuda", whole_program: bool = True
) -> str | None:
    """Return the code of an answer, or None when there is none. The module docstring describes the rules.

    Args:
        answer: the whole text that the model wrote, reasoning included.
        rule: first, last or first-any.
        language: the language that the task asks for, cuda or python.
        whole_program: whether the task asks for a program with a `main`. It makes no difference for Python.

    Raises:
        ValueError: if the rule or the language does not exist.
    """
    if rule not in list(ExtractRule):
        raise ValueError(f"extraction rule {str(rule)!r}: one of {', '.join(ExtractRule)}.")
    if language not in OTHER_LANGUAGES:
        raise ValueError(f"language {language!r}: one of {', '.join(OTHER_LANGUAGES)}.")
    if rule == ExtractRule.FIRST_ANY:
        block = _FIRST_BLOCK.search(answer)
        return block[1].strip() or None if block else None
    code = _best_code(read_answer(answer), rule, language, whole_program and language == "cuda")
    return code if code and code.strip() else None


def _best_code(answer: "Answer", rule: str, language: str, whole_program: bool) -> str | None:
    """Choose the code of an answer by the rule `first` or `last`, in the order that the module docstring lists."""
    at = -1 if rule == ExtractRule.LAST else 0

    def is_code(text: str) -> bool:
        return looks_like_code(text, language)

    codes = [(part.tag not in OTHER_LANGUAGES[language], answer.code(part)) for part in answer.in_blocks()]
    likely = [(fits, code) for fits, code in codes if is_code(code)]
    if whole_program and len(likely) > 1:
        programs = [(fits, code) for fits, code in likely if (fits or "#include" in code) and defines_main(code)]
        likely = programs or likely
    if likely:
        return ([code for fits, code in likely if fits] or [code for _, code in likely])[at]
    outside = []
    for part in answer.outside_blocks():
        # In Python, text before the first line that looks like code may belong to the module.
        if (code := answer.from_code(part, is_code)) and is_code(answer.source(code)):
            outside.append(answer.code(part if language == "python" else code))
    if outside:
        return ([code for code in outside if whole_program and defines_main(code)] or outside)[at]
    return ([code for fits, code in codes if fits] or [code for _, code in codes] or [None])[at]


def defines_main(text: str) -> bool:
    """Return whether a C++ text has a `main` with a body, outside of comments and string literals."""
    return _DEFINES_MAIN.search(_C_NOISE.sub(" ", text)) is not None


def looks_like_code(text: str, language: str = "cuda") -> bool:
    """Return whether a text may be a whole program or module, and not only a line of one."""
    return (language == "cuda" and "__global__" in text) or _LOOKS_LIKE[language].search(text) is not None


def open_reasoning(prompt: str) -> str:
    """Return the reasoning tag that the chat template opens at the end of a prompt, or "" where there is none.

    The model's text after such a prompt has no opening tag of its own. Callers put this tag in front of it, because
    without one, reasoning that is cut off could not be told from an answer.
    """
    tail = prompt.rstrip()
    return next((opening for opening, _ in REASONING_TAGS if tail.endswith(opening)), "")


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
        for tag in (*_find_code_tags(whole), (self.end, self.end)):
            if whole[start : tag[0]].strip():
                yield from self._files(Container(start, tag[0], fenced=False))
            start = tag[1]

    def from_code(self, part: Container, has_code: Callable[[str], bool]) -> Container | None:
        """Return a container without the prose before its code, or None where no line is one that only code has.

        The result starts at the first line that only code has. It is the whole container if `has_code` finds code in
        the text before that line.
        """
        source = self.source(part)
        first = _CODE_LINE.search(source)
        if first is None:
            return None
        return part if has_code(source[: first.start()]) else part._replace(start=part.start + first.start())

    def _pieces(self, part: Container) -> Iterator[tuple[int, int]]:
        """Yield the ranges of a container without its reasoning, and, outside of blocks, without the blocks."""
        ranges = self.reasoning if part.fenced else self._skipped
        first = bisect_right(ranges, part.start, key=lambda skipped: skipped[1])
        return _gaps((ranges[number] for number in range(first, len(ranges))), part.start, part.end)

    @cached_property
    def _may_hold_files(self) -> bool:
        return "%%" in self.text or "<<" in self.text

    @cached_property
    def _skipped(self) -> list[tuple[int, int]]:
        """The ranges of reasoning and blocks. Ranges that touch are merged."""
        gaps = _gaps(sorted(self.reasoning + self.fenced), 0, self.end)
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
        mark = QUOTE_MARKS if ">" in part.margin else None if part.fenced or "`" not in text else _INLINE_CODE
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
            lines = [QUOTE_MARKS.sub("", line) for line in lines]
            marks = QUOTE_MARKS.match(part.margin)  # None where a list marker comes before the quote mark
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
        if not self._may_hold_files:
            yield part
            return
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
        return _file_tag((arguments.split() or [""])[-1])
    return "cu" if _CUDA_CELL.match(magic) else "bash" if magic in SHELLS or magic == "script" else ""


def _file_tag(name: str) -> str:
    """Return a file's suffix, or its name where it has none: "cu" for `src/k.cu`, "makefile" for `Makefile`."""
    return name.strip("\"'").rsplit("/", 1)[-1].rsplit(".", 1)[-1].lower()


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
            tag = _file_tag(written[1]) if written else ""
            start, end = part.start + position, part.start + end
            files.append(part._replace(start=start, end=end, tag=tag, closed=bool(closing), tabs=opening[1] == "-"))
        position = closing.end() if closing else len(source)
    return files


def _find_code_tags(text: str) -> list[tuple[int, int]]:
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


def read_answer(text: str) -> Answer:
    """Find the reasoning and the blocks of an answer, as the module docstring describes.

    Markers that end a turn are left out.
    """
    tail = text[-400:]
    marker = _END_OF_TURN.search(tail) if tail.rstrip().endswith((">", "]", "<|im_end")) else None
    end = len(text) - (len(tail) - marker.start() if marker else 0)
    reader = _Reader(text, end)
    reader.read()
    return Answer(text, reader.blocks, reader.reasoning, reader.fenced, end)


def starts_as_code(text: str) -> bool:
    """Return whether the first line is one that code has and prose has not.

    The name of a language, left over from a fence, may stand before it.
    """
    first = _FIRST_LINE.match(text)
    return bool(first and _CODE_LINE.match(text, first.end()))


def _gaps(ranges: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of the range from `start` to `end` that the sorted `ranges` leave uncovered."""
    for left, right in ranges:
        if left >= end:
            break
        if start < left:
            yield start, left
        start = max(start, right)
    if start < end:
        yield start, end


def _is_any_code(text: str) -> bool:
    return any(looks_like_code(text, language) for language in _LOOKS_LIKE)


class _Tag(NamedTuple):
    """A reasoning tag.

    Attributes:
        start: index of its first character, or of the blanks before it where it begins its line.
        end: index after its last character.
        kind: its value in `_KIND`, negative for an ending.
        begins: whether it begins its line.
    """

    start: int
    end: int
    kind: int
    begins: bool


def _find_tags(text: str, end: int) -> list[_Tag]:
    """Return the reasoning tags before `end`, without those that are only mentioned."""
    tags, behind = [], 0  # the end of the last tag
    for match in islice(_TAG.finditer(text, 0, end), MARKS_LIMIT):
        start, stop = match.span()
        if not _is_mention(text, start, stop):
            line = text.rfind("\n", behind, start) + 1 or behind
            begins = (line == 0 or text[line - 1] == "\n") and not text[line:start].strip(" \t")
            tags.append(_Tag(line if begins else start, stop, _KIND[match[0].lower()], begins))
            behind = stop
    return tags


def _find_partners(text: str, tags: list[_Tag]) -> list[int]:
    """Return, for each tag, the index of the tag that ends it: -1 for endings, and for openings that nothing ends."""
    # Stacks of open tags by kind. `balanced` counts every opening, `likely` also marks those that may not count.
    balanced, likely = ([[] for _ in REASONING_TAGS] for _ in range(2))
    exact, partners = ([-1] * len(tags) for _ in range(2))
    for number, tag in enumerate(tags):
        if (kind := tag.kind) >= 0:
            before = tags[number - 1] if number else None
            doubled = before and before.kind == kind and not text[before.end : tag.start].strip()
            balanced[kind].append(number)
            likely[kind].append((number, tag.begins and not doubled and kind != _CHANNEL))
            continue
        kind = ~kind
        if balanced[kind] and kind != _CHANNEL:
            exact[balanced[kind].pop()] = number
        while likely[kind]:  # this tag ends the last opening that counts, and the later ones that do not count
            opening, counts = likely[kind].pop()
            partners[opening] = number
            if counts:
                break
    partners = [certain if certain >= 0 else likely for certain, likely in zip(exact, partners, strict=True)]
    # An opening that is left may be ended by a tag of another kind, if that tag ends nothing else.
    taken, wrong = set(partners), -1
    for number in reversed(range(len(tags))):
        if tags[number].kind < 0 and number not in taken:
            wrong = number
        elif tags[number].kind >= 0 and partners[number] < 0 and tags[number].begins:
            partners[number] = wrong
    return partners


def _is_mention(text: str, start: int, end: int) -> bool:
    """Return whether a tag is only mentioned: in a literal, between quotes, or directly after an opening quote."""
    before = text[max(0, start - 300) : start].rpartition("\n")[2]
    if (before.count('"') - before.count('\\"')) % 2 and '"' in text[end : end + 300].partition("\n")[0]:
        return True
    quote = text[start - 1 : start]
    if not quote or quote not in "\"'`" or text[start - 3 : start] == "```":
        return False
    return text[end : end + 1] == quote or text[start - 2 : start - 1] in (*" \t\n([{=,<+:", "")


@dataclass
class _Fence:
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
        return _BLANKS.fullmatch(self.text, self.info, self.end) is not None

    @cached_property
    def tag(self) -> str:
        """The first word of the info string, or its suffix where that word is the name of a file."""
        word = _INFO_TAG.match(self.text, self.info, self.end)[1].lower()
        return word if word in _KNOWN_TAGS or "." not in word else _file_tag(word)

    @cached_property
    def is_tag_alone(self) -> bool:
        return self.text[self.info : self.end].strip().lower() == self.tag

    @cached_property
    def has_text_behind(self) -> bool:
        """Whether text follows the fence, and not an info string."""
        return _TEXT_BEHIND.match(self.text, self.info, self.end) is not None and self.tag not in _KNOWN_TAGS

    @cached_property
    def is_inline(self) -> bool:
        return self.run[0] == "`" and self.text.find("`", self.info, self.end) >= 0

    @cached_property
    def has_code_below(self) -> bool:
        first = _FIRST_LINE.match(self.text, self.after, self.limit)
        if first is None:
            return False
        newline = self.text.find("\n", first.end(), self.limit)
        code = self.text[first.end() : newline if newline >= 0 else self.limit].rstrip()
        return code.endswith((";", "{", "}")) or _CODE_LINE.match(code) is not None

    @property
    def opens_code(self) -> bool:
        return not self.is_inline and (self.tag in _KNOWN_TAGS or (self.is_bare and self.has_code_below))


class _Line(NamedTuple):
    """A line, or what is left of it after reasoning, from `start` on, with its first fence."""

    start: int
    fence: _Fence

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
        if fence.tag not in _KNOWN_TAGS or fence.is_inline:
            return False
        return self.has_margin or (fence.run[0] != "~" and fence.is_tag_alone and fence.has_code_below)


def _find_fences(text: str, end: int) -> list[_Fence]:
    """Return the fences before `end`, in order."""
    fences: list[_Fence] = []
    line = newline = last = 0  # the start of a run's line, its newline, and the start of the line ending (\r\n or \n)
    for match in islice(_RUN.finditer(text, 0, end), MARKS_LIMIT):
        at, stop = match.span()
        if newline <= at:
            line = text.rfind("\n", newline, at) + 1
            newline = text.find("\n", stop, end)
            newline = last = newline if newline >= 0 else end
            while text[last - 1] == "\r":
                last -= 1
        ending = _ENDING_BEHIND.match(text, stop, end)
        next_line = min(newline + 1, end)
        stop, after = (stop, ending.end()) if ending else (last, next_line)
        fences.append(_Fence(text, at, match[0], line, next_line, stop, after, end))
    return _divided(fences)


def _divided(found: list[_Fence]) -> list[_Fence]:
    """Return the fences after separating those that close a block from those that open the next one.

    The two can stand in one line, or form one run of six or more characters.
    """
    fences: list[_Fence] = []  # in reverse order
    longest = dict.fromkeys("`~", 0)  # the length of the longest later run that can close a block
    for fence in reversed(found):
        width, closing = len(fence.run), longest[fence.run[0]]
        parts = [fence]
        if closing < width >= 6 and (fence.tag in _KNOWN_TAGS or (closing and fence.opens_code)):
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


class _Reader:
    """Walk over an answer once, from each tag or fence to the next one, and collect its blocks and reasoning."""

    def __init__(self, text: str, end: int) -> None:
        self.text, self.end = text, end
        self.blocks: list[Container] = []
        self.reasoning: list[tuple[int, int]] = []
        self.fenced: list[tuple[int, int]] = []
        self._wrappers: list[str] = []
        # An ending that nothing opened, with the blocks and the fenced ranges before it.
        self._stray: tuple[_Tag, list[Container], list[tuple[int, int]]] | None = None
        # A block for which no closing fence was found yet, and the index where it ends at the latest.
        self._open: tuple[_Line, int] | None = None
        # The index where reading continues, and the end of the last reasoning. A line is taken to begin at either.
        self._position = self._floor = 0
        self._fences = _find_fences(text, end)
        self._places = [fence.at for fence in self._fences]

    def read(self) -> None:
        """Read the whole answer. This fills `blocks`, `reasoning` and `fenced`."""
        tags = _find_tags(self.text, self.end)
        partners = _find_partners(self.text, tags)
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
            if any(block.closed and _is_any_code(self.text[block.start : block.end]) for block in blocks):
                self.blocks, self.fenced = blocks + self.blocks, fenced + self.fenced
                self.reasoning[0] = (tag.start, tag.end)

    def _has_code_behind_stray(self) -> bool:
        blocks = (self.text[block.start : block.end] for block in self.blocks)
        outside = _gaps(sorted(self.reasoning + self.fenced), 0, self.end)
        return any(_is_any_code(block) or starts_as_code(block) for block in blocks) or any(
            _is_any_code(self.text[start:end]) for start, end in outside
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

    def _next_fence(self, position: int, end: int) -> _Line | None:
        """Return the next fence before `end`, with its line, or None. A line is taken to begin at `position`."""
        index = bisect_left(self._places, position)
        if index == len(self._places) or self._places[index] >= end:
            return None
        fence = self._fences[index]
        return _Line(max(position, fence.line), fence)

    def _read_fence(self, line: _Line) -> None:
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

    def _wraps_block(self, fence: _Fence) -> bool:
        """Return whether this longer fence wraps a block that names its language, directly below it or below prose."""
        line = self._next_fence(fence.after, self.end)
        if line is None or line.fence.run.startswith(fence.run) or not (line.has_margin and line.names_language):
            return False
        between = self.text[fence.after : line.start]
        return not between.strip() or (
            (not fence.tag or fence.tag in NO_CODE) and not (starts_as_code(between) or _is_any_code(between))
        )

    def _given_start(self, end: int) -> int:
        """Return the index of code whose opening fence was in the prompt, or -1 if the text does not start as code."""
        head = self.text[self._floor : end]
        return self._floor + _FIRST_LINE.match(head).end() if starts_as_code(head) and _ENDS_CODE.search(head) else -1

    def _read_block(self, opening: _Line, position: int, stop: int, until: int) -> None:
        """Look for the end of a block from `position` to `stop`.

        If none is found, the block ends at `until` at the latest.
        """
        blanks = _QUOTED_BLANKS if ">" in opening.margin else _BLANKS
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
        tags = (start + tag for tag, _ in _find_code_tags(self.text[start:end]) if self.text[start + tag + 1] == "/")
        end = next(tags, end)
        self._end_block(self._open[0], end, end, False)

    def _end_block(self, line: _Line, end: int, after: int, closed: bool) -> None:
        self._add(line.fence.after, end, line.fence.tag, line.margin, closed)
        self.fenced.append((line.start, after))
        self._open, self._position = None, after

    def _add(self, start: int, end: int, tag: str, margin: str, closed: bool) -> None:
        if start < end and not self.text[start:end].isspace():
            self.blocks.append(Container(start, end, tag, margin, closed))
