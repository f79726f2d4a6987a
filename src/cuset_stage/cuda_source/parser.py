"""tree-sitter-cuda's syntax tree of a text. Imports tree_sitter and tree_sitter_cuda."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser


# tree-sitter calls back once every 100 operations: 6 to 13 times for 1 kB of code, also where it recovers from errors
# (measured on real files). On text that is not code it takes hundreds of times as many. The limit counts calls rather
# than seconds, because labels must not depend on how busy the machine is. A call is slow where brackets nest deeply.
_CALLS_BASE = 100
_CALLS_PER_KB = 16
_DEPTH_LIMIT = 200
_BRACKET = re.compile(r"[(){}\[\]]")
_ONE_BYTE = "cuset_one_byte"

codecs.register_error(_ONE_BYTE, lambda error: ("_" * (error.end - error.start), error.end))


@lru_cache(maxsize=1)
def _language() -> Language:
    return Language(tree_sitter_cuda.language())


def is_flat(code: str) -> bool:
    """Whether brackets nest no deeper than in code that people write."""
    if code.count("(") + code.count("{") + code.count("[") <= _DEPTH_LIMIT:
        return True
    depth = deepest = 0
    for match in _BRACKET.finditer(code):
        depth += 1 if match[0] in "([{" else -1
        if depth > deepest:
            deepest = depth
    return deepest <= _DEPTH_LIMIT


def parse_tree(text: str) -> Node | None:
    """The root of the syntax tree; None when the text takes too long to parse.

    Characters outside ASCII are parsed as `_`, one byte each: they occur in comments and literals, and this makes
    byte offsets equal to str indices.
    """
    source = text.encode("ascii", _ONE_BYTE).replace(b"\0", b" ")
    left = _CALLS_BASE + _CALLS_PER_KB * (len(source) >> 10)

    def stop(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    views: list[memoryview] = []

    def read(offset: int, _point: object) -> memoryview:
        views.append(memoryview(source)[offset:])
        return views[-1]

    try:
        tree = Parser(_language()).parse(read, progress_callback=stop)
    except ValueError:  # what the binding raises when the callback ends the parse
        return None
    finally:
        for view in views:  # the binding never lets go of what it was given: the source goes with its views
            view.release()
    return tree.root_node
