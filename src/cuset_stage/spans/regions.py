"""From the answer of a language model to the stretches of it that are source.

`answers.py` finds reasoning and blocks. This file takes the blocks that may hold CUDA, or else the text outside of blocks;
of Python, JSON and shell scripts it takes the string literals and here-documents. A region is one range of source with
its place in the answer. Its text may differ from the answer's (escapes decoded, prose and reasoning blanked) but has the
same length, so that an offset in the answer is `start` plus the offset in the region. An escape such as backslash-n
becomes a space and the character it means, doubled braces of a format string a space and a brace, a replacement field an
identifier. For languages beside CUDA: `other_regions`. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..answers import NO_CODE, SHELLS, looks_like_code, read_answer, starts_as_code
from .scrub import line_before


# The first line that only one of the two languages can have decides.
_EVIDENCE = re.compile(
    r"^(?P<python>[ \t]*+(?:from[ \t]+[\w.]+[ \t]+import\b|import[ \t]+[\w., \t]+$|def[ \t]+\w+\(|class[ \t]+\w+(?:\([^)\n]*\))?:[ \t\r]*$"
    r"|@\w[\w.]*(?:\(|[ \t\r]*$)|if[ \t]+__name__\b|[rRbBuUfF]{0,2}(?:\"\"\"|''')"
    r"|[\w.]+[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*(?:\([ \t]*\r?\n[ \t]*)?[rRuUfF]{0,2}(?:\"|')"
    r"|[\w. \t=]*\b(?:load_inline|RawKernel|RawModule|SourceModule)\(|[{\[][ \t\r]*\n?[ \t]*[\"{]))"
    r"|^(?P<c>[ \t]*+(?:#[ \t]*(?:include|define|pragma|ifn?def|if)\b|//|/\*|template[ \t]*<|extern[ \t]+\"|__\w+__[ \t]"
    r"|(?:using|typedef|namespace|struct|static|inline|constexpr|const|enum|void|int|float|dim3)[ \t]+\w|\w+(?:<[^<\n]*>)?<<<))",
    re.MULTILINE,
)
_CELL_MAGIC = re.compile(
    r"[ \t\r\n]*%%(?:cu\w*|nvcc\w*|writefile[ \t]+(?:-a[ \t]+)?\S+\.(?:cuh?|cpp|cc|h|hpp|hip))\b[^\n]*\n?"
)
_PREFIX = r"(?<![\w])(?P<prefix>[rRbBuUfF]{0,2})"
_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)|"
    + _PREFIX
    + r"(?:"
    + r'(?P<open3d>""")(?P<body3d>[^"\\]*+(?:(?:\\[\s\S]?|"(?!""))[^"\\]*+)*+)(?P<close3d>""")?'
    + r"|(?P<open3s>''')(?P<body3s>[^'\\]*+(?:(?:\\[\s\S]?|'(?!''))[^'\\]*+)*+)(?P<close3s>''')?"
    + r'|(?P<open1d>")(?P<body1d>[^"\\\n]*+(?:\\(?:\r\n|[\s\S])?[^"\\\n]*+)*+)(?P<close1d>")?'
    + r"|(?P<open1s>')(?P<body1s>[^'\\\n]*+(?:\\(?:\r\n|[\s\S])?[^'\\\n]*+)*+)(?P<close1s>')?"
    + r")|(?P<bracket>[()\[\]{}])"
)
_FORMS = ("3d", "3s", "1d", "1s")
_ESCAPE = re.compile(r"\\(?:\r\n|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-7]{1,3}|[\s\S])")
_FIELD = re.compile(r"\{\{|\}\}|\{[^{}\n]*\}")
_JOINT = re.compile(r"(?:[\s\\+,]|#[^\n]*\n)*\Z")
_TARGET = re.compile(r"(\w+)[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*\(?\s*\Z")
_FORMAT_CALL = re.compile(r"(\w*)\.format\(")
_HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n")
_MEANS = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


# What C, C++ and Swift take for a string or a comment; `raw`, `triple` and `plain` are what stands in a literal.
_C_TOKEN = re.compile(
    r"//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?"
    r'|"""(?P<triple>[^"\\]*+(?:(?:\\[\s\S]?|"(?!""))[^"\\]*+)*+)(?:""")?'
    r'|R"(?P<tag>[^()\\\s"]{0,16})\((?P<raw>(?:[^)]++|\)(?!(?P=tag)"))*+)(?:\)(?P=tag)")?'
    r'|"(?P<plain>[^"\\\n]*+(?:\\(?:\r\n|[\s\S])?[^"\\\n]*+)*+)"?'
    r"|'(?:[^'\\\n]|\\.){1,10}'"
)
_JSON = re.compile(r"\s*+[\[{]\s*+(?:\[\s*+)*+[\"{]")
_LITERALS = ("raw", "triple", "plain")


class Region(NamedTuple):
    """Source at `start` of the answer; `text` has the length of what it stands for."""

    start: int
    text: str


def find_regions(text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """The regions of an answer, in order. `has_code` says whether a stretch holds anything worth labelling."""
    answer = read_answer(text)
    regions: list[Region] = []
    for block in answer.blocks:
        source = answer.source(block)
        if has_code(source):
            regions += _block_regions(block.start, source, block.tag, has_code)
    if any(looks_like_code(region.text) for region in regions):
        return regions
    start, outside = answer.outside(has_code)
    if has_code(outside) and not (regions and (start < 0 or not looks_like_code(outside[start:]))):
        start = max(start, 0)
        return python_regions(0, outside, has_code) if is_python(outside) else [Region(start, outside[start:])]
    return regions


def _block_regions(start: int, block: str, tag: str, has_code: Callable[[str], bool]) -> list[Region]:
    if tag in SHELLS and (found := heredoc_regions(start, block, has_code)):
        return found
    if is_python(block):
        return python_regions(start, block, has_code)
    # A block of CUDA may be tagged as anything.
    is_code = tag not in NO_CODE or starts_as_code(block) or looks_like_code(block)
    return [Region(start, block)] if is_code else []


def other_regions(text: str, has_code: Callable[[str], bool], *, python: bool) -> Iterator[list[Region]]:
    """The regions of an answer in another language than CUDA: those in its blocks, and then what stands outside of blocks.

    python: whether the language is Python. If not, source in the string literals of a host program counts, too.
    """
    answer = read_answer(text)
    inside: list[Region] = []
    for block in answer.blocks:
        source = answer.source(block)
        if has_code(source):
            inside += _source_regions(block.start, source, block.tag, has_code, python)
    yield inside
    start, outside = answer.outside(has_code)
    start = max(start, 0)
    if has_code(outside):
        yield _source_regions(start, outside[start:], "", has_code, python)


def _source_regions(start: int, source: str, tag: str, has_code: Callable[[str], bool], python: bool) -> list[Region]:
    if tag in SHELLS:
        return heredoc_regions(start, source, has_code, python=python)
    if _JSON.match(source) or (not python and is_python(source)):  # JSON, or Python that holds the source
        return python_regions(start, source, has_code)
    return [Region(start, source), *([] if python else c_literal_regions(start, source, has_code))]


def c_literal_regions(start: int, text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """Source in the string literals of C, C++ or Swift, adjacent literals as one."""
    regions: list[Region] = []
    pieces: list[Region] = []
    behind = 0  # the last literal
    for match in _C_TOKEN.finditer(text):
        form = next((form for form in _LITERALS if match[form] is not None), None)
        if pieces and text[behind : match.start()].strip(" \t\r\n\\"):
            regions += _joined(pieces, has_code)
            pieces = []
        behind = match.end()
        if form:
            source = _decode(match[form], raw=form == "raw", formatted=False)
            pieces.append(Region(start + match.start(form), source))
    return regions + _joined(pieces, has_code)


def _joined(pieces: list[Region], has_code: Callable[[str], bool]) -> list[Region]:
    """Adjacent literals as one region, with spaces between; none where they are no source."""
    code: list[str] = []
    last = pieces[0].start if pieces else 0
    for begin, piece in pieces:
        code += " " * (begin - last), piece
        last = begin + len(piece)
    source = "".join(code)
    return [Region(pieces[0].start, source)] if has_code(source) and _is_source(source) else []


def is_python(text: str) -> bool:
    """Whether the text is Python or JSON rather than CUDA: the first line that only one of them can have decides."""
    evidence = _EVIDENCE.search(text)
    return bool(evidence and evidence["python"]) or text.lstrip()[:2] == "%%"


def python_regions(start: int, text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """Source in the string literals of Python text, adjacent literals as one; docstrings and messages left out."""
    magic = _CELL_MAGIC.match(text)
    if magic:
        return [Region(start + magic.end(), text[magic.end() :])]
    regions: list[Region] = []
    pieces: list[Region] = []
    names = frozenset(_FORMAT_CALL.findall(text)) if ".format(" in text else frozenset()
    depth = 0
    last_end = 0
    for match in _TOKEN.finditer(text):
        if match["bracket"]:
            depth = max(0, depth + (1 if match["bracket"] in "([{" else -1))
            continue
        if match["comment"] is not None:
            continue
        form = next(form for form in _FORMS if match[f"open{form}"])
        if pieces and not _JOINT.match(text, last_end, match.start()):
            regions += _joined(pieces, has_code)
            pieces = []
        if not pieces and depth == 0 and not line_before(text, match.start()).strip():
            continue  # a docstring: the statement is the literal alone
        last_end = match.end()
        prefix = match["prefix"].lower()
        body_start, body_end = match.span(f"body{form}")
        if body_start == body_end:
            continue
        body = text[body_start:body_end]
        formatted = "f" in prefix or _is_format(text, match, names)
        pieces.append(Region(start + body_start, _decode(body, raw="r" in prefix, formatted=formatted)))
    return regions + _joined(pieces, has_code)


def heredoc_regions(start: int, text: str, has_code: Callable[[str], bool], *, python: bool = False) -> list[Region]:
    """Source that a shell script writes to a file with a here-document. python: whether the source is Python, or may stand in some."""
    regions: list[Region] = []
    position = 0
    while match := _HEREDOC.search(text, position):
        closing = re.compile(rf"^[ \t]*{re.escape(match[2])}[ \t\r]*$", re.MULTILINE).search(text, match.end())
        position = closing.end() if closing else len(text)
        body = text[match.end() : closing.start() if closing else len(text)]
        if has_code(body):
            at = start + match.end()
            regions += python_regions(at, body, has_code) if not python and is_python(body) else [Region(at, body)]
    return regions


def _is_source(code: str) -> bool:
    return "\n" in code.strip() or ("{" in code and ";" in code)


def _is_format(text: str, match: re.Match[str], names: frozenset[str]) -> bool:
    """Whether `str.format` is called on the literal, directly or through the name it is assigned to."""
    if not names or text.startswith(".format(", match.end()):
        return bool(names)
    target = _TARGET.search(text[max(0, match.start() - 200) : match.start()])
    return bool(target and target[1] in names)


def _decode(body: str, *, raw: bool, formatted: bool) -> str:
    if formatted and "{" in body:
        body = _FIELD.sub(_decode_field, body)
    if not raw and "\\" in body:
        body = _ESCAPE.sub(_decode_escape, body)
    return body


def _decode_field(match: re.Match[str]) -> str:
    field = match[0]
    return {"{{": "{ ", "}}": " }"}.get(field, "_" * len(field))


def _decode_escape(match: re.Match[str]) -> str:
    # The character comes last, so that a span that ends in it covers the whole escape.
    return _MEANS.get(match[0][1], " ").rjust(len(match[0])) if len(match[0]) == 2 else " " * len(match[0])
