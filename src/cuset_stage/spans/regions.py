"""Find the parts of a language model's answer that are source code.

`answers` finds the containers that the judge reads too: blocks of code, files, and the text outside of blocks. This
file keeps those that may hold CUDA. From Python and JSON it takes the string literals.

A region is one range of source with its place in the answer. Its text may differ from the answer's, because escapes
are decoded and prose and reasoning are blanked. It always has the same length, so an offset in the answer is `start`
plus the offset in the region. An escape such as backslash-n becomes a space and the character it means. Doubled braces
of a format string become a space and a brace, and a replacement field becomes an identifier. Standard library only.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..answers import NO_CODE, SHELLS, looks_like_code, read_answer, starts_as_code
from .kinds import Extents
from .scrub import line_before


# Lines that only Python or JSON can have, and lines that only C++ can have. The first such line decides.
_EVIDENCE = re.compile(
    r"^(?P<python>[ \t]*+(?:from[ \t]+[\w.]+[ \t]+import\b|import[ \t]+[\w., \t]+$|def[ \t]+\w+\(|class[ \t]+\w+(?:\([^)\n]*\))?:[ \t\r]*$"
    r"|@\w[\w.]*(?:\(|[ \t\r]*$)|if[ \t]+__name__\b|[rRbBuUfF]{0,2}(?:\"\"\"|''')"
    r"|[\w.]+[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*(?:\([ \t]*\r?\n[ \t]*)?(?!R\"\w*\()[rRuUfF]{0,2}(?:\"|')"
    r"|[\w. \t=]*\b(?:load_inline|RawKernel|RawModule|SourceModule)\(|[{\[][ \t\r]*\n?[ \t]*[\"{]))"
    r"|^(?P<c>[ \t]*+(?:#[ \t]*(?:include|define|pragma|ifn?def|if)\b|//|/\*|template[ \t]*<|extern[ \t]+\"|__\w+__[ \t]"
    r"|(?:using|typedef|namespace|struct|static|inline|constexpr|const|enum|void|int|float|dim3)[ \t]+\w|\w+(?:<[^<\n]*>)?<<<))",
    re.MULTILINE,
)
# The literals of Python, with their contents as the last group, beside comments and brackets.
_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)|(?<![\w])(?P<prefix>[rRbBuUfF]{0,2})(?:"
    r'"""(?P<body3d>[^"\\]*+(?:(?:\\[\s\S]?|"(?!""))[^"\\]*+)*+)(?:""")?'
    r"|'''(?P<body3s>[^'\\]*+(?:(?:\\[\s\S]?|'(?!''))[^'\\]*+)*+)(?:''')?"
    r'|"(?P<body1d>[^"\\\n]*+(?:\\(?:\r\n|[\s\S])?[^"\\\n]*+)*+)"?'
    r"|'(?P<body1s>[^'\\\n]*+(?:\\(?:\r\n|[\s\S])?[^'\\\n]*+)*+)'?"
    r")|(?P<bracket>[()\[\]{}])"
)
_ESCAPE = re.compile(r"\\(?:\r\n|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-7]{1,3}|[\s\S])")
_FIELD = re.compile(r"\{\{|\}\}|\{[^{}\n]*\}")
# Text that may stand between the literals of one source. In Python this includes `+ name +` and `s +=`, in C++ also
# names, macros and preprocessor branches.
_PYTHON_JOINT = re.compile(
    r"(?:[\s\\,]|#[^\n]*\n|\+(?:[\s\\]*+[\w.]++(?:\([\w., ]*+\))?+[\s\\]*+(?=\+))?|[\w.]++[ \t]*+\+=)*+"
)
_C_JOINT = re.compile(
    r"(?:[\s\\+,()]|<<|//[^\n]*\n|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|[\w:.]+|#[ \t]*(?:if|el|endif)[^\n]*\n"
    r"|;\s*+[\w.]++\s*+(?:\+=|<<))*+"
)
_TARGET = re.compile(r"(\w+)[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*\(?\s*\Z")
_FORMAT_CALL = re.compile(r"(\w*)\.format\(")
_DOUBLED = {"{{": "{ ", "}}": " }"}
_MEANS = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


# Strings and comments of C++. The groups `raw` and `plain` are the contents of a literal.
_C_TOKEN = re.compile(
    r"//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?"
    r'|(?<!\w)(?:u8|[uUL])?R"(?P<tag>[^()\\\s"]{0,16})\((?P<raw>(?:[^)]++|\)(?!(?P=tag)"))*+)(?:\)(?P=tag)")?'
    r'|"(?P<plain>[^"\\\n]*+(?:\\(?:\r\n|[\s\S])?[^"\\\n]*+)*+)"?'
    r"|'(?:[^'\\\n]|\\.){1,10}'"
)
_JSON = re.compile(r"\s*+[\[{]\s*+(?:\[\s*+)*+[\"{]")


class Region(NamedTuple):
    """A range of source in an answer.

    Attributes:
        start: index in the answer at which it starts.
        text: its source, of the same length as the range of the answer it stands for.
    """

    start: int
    text: str


def find_regions(text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """Return the regions of an answer that may hold CUDA, in order.

    Text outside of blocks is used only if no region in a block looks like code.

    Args:
        text: the whole answer.
        has_code: tells whether a stretch of text holds anything worth labelling.
    """
    answer = read_answer(text)
    inside: list[Region] = []
    for part in answer.in_blocks():
        source = answer.source(part)
        # The content decides, because blocks of CUDA are tagged with all sorts of languages.
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
    """Yield the regions of Python in an answer: first those in its blocks, then those outside of blocks."""
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
    """Add to `extents`, in place, the spans in string literals that hold a whole kernel, and return it.

    Args:
        extents: the spans of a text.
        sources: string literals of the same text.
        find: finds the spans in the source of a literal.
    """
    for source in sources:
        quoted, at = find(source.text), source.start
        if quoted["kernel_body"]:
            for kind, ranges in quoted.items():
                extents.setdefault(kind, []).extend((at + start, at + end) for start, end in ranges)
    return extents


def c_literals(text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """Return the source code in the string literals of C++ text, as NVRTC compiles it.

    Adjacent literals form one region. `Region.start` is an offset in `text`.
    """
    literals = []
    for match in _C_TOKEN.finditer(text):
        if form := match.lastgroup:  # raw or plain; a comment or a character has none
            source = _decode(match[form], raw=form == "raw", formatted=False)
            literals.append((*match.span(), Region(match.start(form), source)))
    return _joined(text, literals, _C_JOINT, has_code)


def _joined(
    text: str, literals: list[tuple[int, int, Region]], joint: re.Pattern[str], has_code: Callable[[str], bool]
) -> list[Region]:
    """Join literals that only a joint separates, and return those that hold source.

    Args:
        text: the text that the literals are in.
        literals: of each literal its start, its end and its content.
        joint: pattern of what may stand between two literals of one source.
        has_code: as in `find_regions`.
    """
    joined: list[list[str]] = []
    starts: list[int] = []
    behind = last = 0  # end of the last literal, and end of its content
    for begin, end, (start, source) in literals:
        if joined and (gap := joint.fullmatch(text, behind, begin)):
            # Literals separated by a comma are lines or arguments of their own, so a line end joins them.
            joined[-1] += (" " * (start - last - 1), "\n" if "," in gap[0] else " ", source)
        else:
            joined.append([source])
            starts.append(start)
        behind, last = end, start + len(source)
    regions = [Region(start, "".join(pieces)) for start, pieces in zip(starts, joined, strict=True)]
    return [region for region in regions if has_code(region.text) and _is_source(region.text)]


def is_python(text: str) -> bool:
    """Check that the text is Python or JSON rather than CUDA.

    The first line that only one of them can have decides.
    """
    evidence = _EVIDENCE.search(text)
    return bool(evidence and evidence["python"])


def python_regions(start: int, text: str, has_code: Callable[[str], bool]) -> list[Region]:
    """Return the source code in the string literals of Python text.

    Adjacent literals form one region. Docstrings and messages are left out.

    Args:
        start: offset of `text` in the answer.
        text: Python or JSON source.
        has_code: as in `find_regions`.
    """
    names = frozenset(_FORMAT_CALL.findall(text)) if ".format(" in text else frozenset()
    literals: list[tuple[int, int, Region]] = []
    depth = margin = 0  # margin: indentation of the line in which the source begins
    for match in _TOKEN.finditer(text):
        if match["bracket"]:
            depth = max(0, depth + (1 if match["bracket"] in "([{" else -1))
            continue
        if match["comment"]:
            continue
        before = line_before(text, match.start())
        indent = len(before) - len(before.lstrip())
        if not (literals and _PYTHON_JOINT.fullmatch(text, literals[-1][1], match.start())):
            if depth == 0 and not before.strip():
                continue  # a docstring: the literal is the whole statement
            margin = indent
        elif depth == 0 and not before.strip() and indent <= margin:
            continue  # a statement of its own
        prefix = match["prefix"].lower()
        formatted = "f" in prefix or _is_format(text, match, names)
        body = match.lastgroup  # the last group that matched is the content of the literal
        source = _decode(match[body], raw="r" in prefix, formatted=formatted)
        literals.append((*match.span(), Region(match.start(body), source)))
    return [Region(start + at, source) for at, source in _joined(text, literals, _PYTHON_JOINT, has_code)]


def _is_source(code: str) -> bool:
    return "\n" in code.strip() or ("{" in code and ";" in code)


def _is_format(text: str, match: re.Match[str], names: frozenset[str]) -> bool:
    """Check that `str.format` is called on the literal, directly or through the name it is assigned to."""
    if not names or text.startswith(".format(", match.end()):
        return bool(names)
    target = _TARGET.search(text[max(0, match.start() - 200) : match.start()])
    return bool(target and target[1] in names)


def _decode(body: str, *, raw: bool, formatted: bool) -> str:
    """Replace escapes and replacement fields in a literal's content by text of the same length."""
    if formatted and "{" in body:
        body = _FIELD.sub(lambda field: _DOUBLED.get(field[0], "_" * len(field[0])), body)
    if not raw and "\\" in body:
        body = _ESCAPE.sub(_decode_escape, body)
    return body


def _decode_escape(match: re.Match[str]) -> str:
    # The character comes last, so that a span that ends in it covers the whole escape.
    return _MEANS.get(match[0][1], " ").rjust(len(match[0])) if len(match[0]) == 2 else " " * len(match[0])
