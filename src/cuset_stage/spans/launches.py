"""Launch configurations by matching brackets on scrubbed text, see lexer.py. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .lexer import Lexed


_CONFIG = re.compile(r">{3,}|[()\[\]{};]")
_AFTER_CONFIG = re.compile(r"[\s\\]*(?:[(#\w]|\Z)")
_CONFIG_LIMIT = 8192  # characters; a real configuration is far below, and the bound keeps a stray <<< cheap
_STATEMENT_END = re.compile(r"[\n;{}]")
_BREAK = re.compile(r"[\n;{}(),=?:&|!]")
_NO_PROSE = frozenset({"else", "do", "return", "co_await", "template"})


def launches(lexed: Lexed) -> list[tuple[int, int]]:
    """Every `<<<...>>>`; one that the end of the region cuts off runs to that end."""
    found = list(_launches(lexed.code, 0, len(lexed.code)))
    for start, end in lexed.macros:
        if lexed.full.find("<<<", start, end) >= 0:
            found += _launches(lexed.full, start, end)
    return found


def _launches(text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    position = text.find("<<<", start, end)
    while position >= 0:
        following = text.find("<<<", position + 3, end)
        alone = text[position + 3 : position + 4] != "<" and text[max(0, position - 1) : position] != "<"
        if alone and is_callee(text, position, start):
            close = _close_config(text, position + 3, end, following if following >= 0 else end)
            if close:
                yield position, close
        position = following


def _close_config(text: str, position: int, end: int, stop: int) -> int:
    """The end of the configuration; the region's end when it is cut; 0 when this is no launch."""
    depth = 0
    limit = min(stop, position + _CONFIG_LIMIT)
    for match in _CONFIG.finditer(text, position, limit):
        char = text[match.start()]
        if char == ">":
            if depth == 0:
                return match.end() if _AFTER_CONFIG.match(text, match.end(), end) else 0
        elif char in "([{":
            depth += 1
        elif char == ";":
            return 0
        else:
            depth -= 1
            if depth < 0:
                return 0
    return end if limit == end == len(text) else 0


def is_callee(text: str, position: int, start: int = 0) -> bool:
    """Whether what stands before `<<<` can be launched: `the kernel<<<` is a sentence, `else kernel<<<` is code."""
    before = text[max(start, position - 400) : position].rstrip(" \t\r\n\\")
    last = before[-1:]
    if last in (")", "]", "}"):
        return True
    if last == ">":  # template arguments
        before = _STATEMENT_END.split(before)[-1].split("<", 1)[0]
    elif not last.isalnum() and last != "_":
        return False
    words = _BREAK.split(before[-200:])[-1].split()
    return all(word in _NO_PROSE for word in words[:-1])
