"""Replace by spaces what only looks like code: comments, string and character literals, inline code of Markdown.

Every function keeps the length of the text, so that an offset means the same before and after. Standard library only.
"""

from __future__ import annotations

import re


# One scan, because only the scan knows whether a quote opens a literal or sits in a comment. Each alternative is
# possessive or bounded: a literal that never closes is matched once, to the end of its line or of the text.
_NOISE = re.compile(
    r"/(?:"
    r"/[^\\\n]*+(?:\\(?:\r\n|[\s\S])?[^\\\n]*+)*+"  # // line comment, continued by a backslash
    r"|\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?"  # /* block comment */
    r")"
    r'|"(?:'
    r'(?<=R")(?<![A-KM-TV-Za-tv-z_]R")([^()\\\s"]{0,16})\((?:[^)]++|\)(?!\1"))*+(?:\)\1")?'  # R"tag( ... )tag"
    r'|[^"\\\n]*+(?:\\(?:\r\n|[\s\S])?[^"\\\n]*+)*+"?'  # "string"
    r")"
    # 'c', but not the separator of 1'000 or 0xFF'FF; bounded, so that an apostrophe in prose opens nothing
    r"|'(?<!\d')(?<![\dA-Fa-fxX'][A-Fa-f]')(?:[^'\\\n]|\\.){1,10}'"
)
# A directive, if nothing stands before it on its line, with everything the backslashes add to it.
DIRECTIVE = re.compile(r"#(?!\{)[ \t]*(\w*)[^\\\n]*+(?:\\(?:\r\n|[\s\S])?[^\\\n]*+)*+")


def blank(match: re.Match[str]) -> str:
    """As many spaces, for `sub`."""
    return " " * (match.end() - match.start())


def scrub(text: str) -> str:
    """`text` with comments and literals replaced by spaces, character for character."""
    return _NOISE.sub(blank, text)


def line_before(text: str, position: int) -> str:
    """What stands before `position` on its line, at most 300 characters of it: a text may be one long line."""
    start = max(0, position - 300)
    return text[max(start, text.rfind("\n", start, position) + 1) : position]
