"""From the answer of a language model to the stretches of it that are source.

`answers.py` finds the containers that the judge reads too. This file takes those that may hold CUDA; of Python and JSON it
takes the string literals. A region is one range of source with its place in the answer. Its text may differ from the
answer's (escapes decoded, prose and reasoning blanked) but has the same length, so that an offset in the answer is `start`
plus the offset in the region. An escape such as backslash-n becomes a space and the character it means, doubled braces of a
format string a space and a brace, a replacement field an identifier. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..answers import NO_CODE, SHELLS, looks_like_code, read_answer, starts_as_code
from .kinds import Extents
from .scrub import line_before


# The first line that only one of the two languages can have decides.
_EVIDENCE = re.compile(
    r"^(?P<python>[ \t]*+(?:from[ \t]+[\w.]+[ \t]+import\b|import[ \t]+[\w., \t]+$|def[ \t]+\w+\(|class[ \t]+\w+(?:\([^)\n]*\))?:[ \t\r]*$"
    r"|@\w[\w.]*(?:\(|[ \t\r]*$)|if[ \t]+__name__\b|[rRbBuUfF]{0,2}(?:\"\"\"|''')"
    r"|[\w.]+[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*(?:\([ \t]*\r?\n[ \t]*)?(?!R\"\w*\()[rRuUfF]{0,2}(?:\"|')"
    r"|[\w. \t=]*\b(?:load_inline|RawKernel|RawModule|SourceModule)\(|[{\[][ \t\r]*\n?[ \t]*[\"{]))"
    r"|^(?P<c>[ \t]*+(?:#[ \t]*(?:include|define|pragma|ifn?def|if)\b|//|/\*|template[ \t]*<|extern[ \t]+\"|__\w+__[ \t]"
    r"|(?:using|typedef|namespace|struct|static|inline|constexpr|const|enum|void|int|float|dim3)[ \t]+\w|\w+(?:<[^<\n]*>)?<<<))",
    re.MULTILINE,
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
# What may stand between the literals of one source: in Python also `+ name +` and `s +=`, in C++ also names, macros and branches.
_PYTHON_JOINT = re.compile(
    r"(?:[\s\\,]|#[^\n]*\n|\+(?:[\s\\]*+[\w.]++(?:\([\w., ]*+\))?+[\s\\]*+(?=\+))?|[\w.]++[ \t]*+\+=)*+"
)
_C_JOINT = re.compile(
    r"(?:[\s\\+,()]|<<|//[^\n]*\n|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|[\w:.]+|#[ \t]*(?:if|el|endif)[^\n]*\n"
    r"|;\s*+[\w.]++\s*+(?:\+=|<<))*+"
)
_TARGET = re.compile(r"(\w+)[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*\(?\s*\Z")
_FORMAT_CALL = re.compile(r"(\w*)\.format\(")
_MEANS = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


# What C++ takes for a string or a comment; `raw` and `plain` are what stands in a literal.
_C_TOKEN = re.compile(
    r"//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?"
    r'|(?<!\w)(?:u8|[uUL])?R"(?P<tag>[^()\\\s"]{0,16})\((?P<raw>(?:[^)]++|\)(?!(?P=tag)"))*+)(?:\)(?P=tag)")?'
    r'|"(?P<plain>[^"\\\n]*+(?:\\(?:\r\n|[\s\S])?[^"\\\n]*+)*+)"?'
    r"|'(?:[^'\\\n]|\\.){1,10}'"
)
_JSON = re.compile(r"\s*+[\[{]\s*+(?:\[\s*+)*+[\"{]")


class Region(NamedTuple):
    """Source at `start` of the answer; `text` has the length of what it stands for."""

    start: int
    text: str


def find_regions(text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """The regions of CUDA in an answer, in order. `has_code` says whether a stretch holds anything worth labelling."""
    answer = read_answer(text)
    inside: list[Region] = []
    for part in answer.in_blocks():
        source = answer.source(part)
        # A block of CUDA may be tagged as anything.
        if not has_code(source):
            continue
        if is_python(source):
            inside += python_regions(part.start, source, has_code)
        elif part.tag not in NO_CODE or starts_as_code(source) or looks_like_code(source):
            inside.append(Region(part.start, source))
    if any(looks_like_code(region.text) for region in inside):
        return inside
    outside: list[Region] = []
    for part in answer.outside_blocks():
        source = answer.source(part)
        code = answer.from_code(part, has_code)
        if not has_code(source) or (inside and not (code and looks_like_code(answer.source(code)))):
            continue
        if is_python(source):
            outside += python_regions(part.start, source, has_code)
        else:
            outside.append(Region((code or part).start, answer.source(code or part)))
    return outside or inside


def triton_regions(text: str, has_code: Callable[[str], bool]) -> Iterator[list[Region]]:
    """The regions of Python in an answer: those in its blocks, and then what stands outside of blocks."""
    answer = read_answer(text)
    for parts in (answer.in_blocks(), answer.outside_blocks()):
        regions: list[Region] = []
        for part in parts:
            code = part if part.fenced else answer.from_code(part, has_code) or part
            source = answer.source(code)
            if has_code(source) and code.tag not in SHELLS:
                in_json = _JSON.match(source)
                regions += python_regions(code.start, source, has_code) if in_json else [Region(code.start, source)]
        yield regions


def add_quoted(extents: Extents, sources: Iterable[Region], find: Callable[[str], Extents]) -> Extents:
    """Add to the extents of a text what `find` finds in those of its string literals that hold a whole kernel."""
    for source in sources:
        quoted, at = find(source.text), source.start
        if quoted["kernel_body"]:
            for kind, ranges in quoted.items():
                extents.setdefault(kind, []).extend((at + start, at + end) for start, end in ranges)
    return extents


def c_literals(text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """Source in the string literals of C++, as NVRTC compiles it, adjacent literals as one; `start` counts from the text's."""
    literals = []
    for match in _C_TOKEN.finditer(text):
        form = "raw" if match["raw"] is not None else "plain"
        if match[form] is not None:
            source = _decode(match[form], raw=form == "raw", formatted=False)
            literals.append((*match.span(), Region(match.start(form), source)))
    return _joined(text, literals, _C_JOINT, has_code)


def _joined(
    text: str, literals: list[tuple[int, int, Region]], joint: re.Pattern[str], has_code: Callable[[str], bool]
) -> list[Region]:
    """The literals that hold source, those that only a joint parts as one. Of each literal: its start, its end, what it holds."""
    joined: list[list[str]] = []
    starts: list[int] = []
    behind = last = 0  # the ends of the last literal and of what it holds
    for begin, end, (start, source) in literals:
        if joined and (gap := joint.fullmatch(text, behind, begin)):
            # Literals that a comma parts are lines of their own, or arguments.
            joined[-1] += (" " * (start - last - 1), "\n" if "," in gap[0] else " ", source)
        else:
            joined.append([source])
            starts.append(start)
        behind, last = end, start + len(source)
    regions = [Region(start, "".join(pieces)) for start, pieces in zip(starts, joined, strict=True)]
    return [region for region in regions if has_code(region.text) and _is_source(region.text)]


def is_python(text: str) -> bool:
    """Whether the text is Python or JSON rather than CUDA: the first line that only one of them can have decides."""
    evidence = _EVIDENCE.search(text)
    return bool(evidence and evidence["python"])


def python_regions(start: int, text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """Source in the string literals of Python text, adjacent literals as one; docstrings and messages left out."""
    names = frozenset(_FORMAT_CALL.findall(text)) if ".format(" in text else frozenset()
    literals: list[tuple[int, int, Region]] = []
    depth = margin = 0  # margin: the indentation of the line in which the source begins
    for match in _TOKEN.finditer(text):
        if match["bracket"]:
            depth = max(0, depth + (1 if match["bracket"] in "([{" else -1))
            continue
        if match["comment"] is not None:
            continue
        form = next(form for form in _FORMS if match[f"open{form}"])
        before = line_before(text, match.start())
        indent = len(before) - len(before.lstrip())
        if not (literals and _PYTHON_JOINT.fullmatch(text, literals[-1][1], match.start())):
            if depth == 0 and not before.strip():
                continue  # a docstring: the statement is the literal alone
            margin = indent
        elif depth == 0 and not before.strip() and indent <= margin:
            continue  # a statement of its own
        prefix = match["prefix"].lower()
        formatted = "f" in prefix or _is_format(text, match, names)
        source = _decode(match[f"body{form}"], raw="r" in prefix, formatted=formatted)
        literals.append((*match.span(), Region(match.start(f"body{form}"), source)))
    return [Region(start + at, source) for at, source in _joined(text, literals, _PYTHON_JOINT, has_code)]


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
