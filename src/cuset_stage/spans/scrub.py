"""Replace by spaces what only looks like code: comments, string literals and character literals.

Every function keeps the length of the text, so that offsets mean the same before and after. Standard library only.
"""

import re


# One pattern for all, because only a single scan knows whether a quote opens a literal or is part of a comment. Each
# alternative is possessive or bounded: a literal that never closes is matched once, to the end of its line or text.
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
# A preprocessor directive with its continuation lines. The caller checks that nothing stands before it on its line.
DIRECTIVE = re.compile(r"#(?!\{)[ \t]*(\w*)[^\\\n]*+(?:\\(?:\r\n|[\s\S])?[^\\\n]*+)*+")


def blank(match: re.Match[str]) -> str:
    """Return as many spaces as the match has characters, for `re.sub`.

    A quote that its line does not close stands around raw code, as in the tool calls of LFM2, and is left as it is.
    """
    if match[0][0] == '"' != match[0][-1] and match.end() < len(match.string):
        return match[0]
    return " " * (match.end() - match.start())


def scrub(text: str) -> str:
    """Return `text` with each character of comments and literals replaced by a space."""
    return _NOISE.sub(blank, text)


def line_before(text: str, position: int) -> str:
    """Return the text before `position` on its line, at most 300 characters.

    The limit keeps this cheap for a text that is one long line.
    """
    start = max(0, position - 300)
    return text[max(start, text.rfind("\n", start, position) + 1) : position]
