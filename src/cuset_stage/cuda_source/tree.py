"""tree-sitter-cuda's syntax tree of a text, and navigation in it.

A node's offsets are str indices of the text. Use `text_of` rather than `Node.text`, which crashes when the source was read
through a callback (tree-sitter 0.26).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Query, QueryCursor


Range = tuple[int, int]  # str indices, half-open

# tree-sitter calls back once every 100 operations: 6 to 13 times for 1 kB of code, also where it recovers from errors
# (measured on real files). On text that is not code it takes hundreds of times as many. The limit counts calls rather
# than seconds, because what is read must not depend on how busy the machine is. A call is slow where brackets nest deeply.
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


def span(where: Node | Range) -> Range:
    """The range of a node."""
    return (where.start_byte, where.end_byte) if isinstance(where, Node) else where


def text_of(text: str, node: Node) -> str:
    """The text of a node."""
    return text[node.start_byte : node.end_byte]


def walk(node: Node | None, below: Callable[[Node], list[Node]] = lambda node: node.children) -> Iterator[Node]:
    """A node and all below it, in the order of the text; `below` gives what of a node is walked into."""
    waiting = [] if node is None else [node]
    while waiting:
        at = waiting.pop()
        yield at
        waiting.extend(reversed(below(at)))


@lru_cache
def _query(types: tuple[str, ...]) -> Query:
    return Query(_language(), f"[{' '.join(f'({each})' for each in types)}] @found")


def of_types(node: Node | None, *types: str) -> list[Node]:
    """The nodes of some types among a node and all below it, in the order of the text; far quicker than `walk`."""
    return QueryCursor(_query(types)).captures(node).get("found", []) if node else []


def child(node: Node, field: str) -> Node | None:
    """What stands in a field of a node, as `left` of a binary expression."""
    return node.child_by_field_name(field)


def sides(node: Node) -> tuple[Node, Node]:
    """The operands of a binary expression or an assignment."""
    return child(node, "left"), child(node, "right")


def items(node: Node | None) -> list[Node]:
    """The arguments, subscripts or components in a list."""
    return [each for each in node.named_children if each.type != "comment"] if node else []


def arguments(call: Node) -> list[Node]:
    return items(child(call, "arguments"))


def last_name(name: Node) -> Node:
    """A name without namespaces, template arguments and the object before it."""
    while inner := child(name, "name") or child(name, "field"):
        name = inner
    return name


def callee(call: Node) -> Node:
    """The name of what is called."""
    return last_name(child(call, "function"))


def declarators(declaration: Node) -> list[Node]:
    """What a declaration introduces, with the values."""
    return declaration.children_by_field_name("declarator")


def declared(node: Node) -> Node | None:
    """The name that a declarator, or a declaration's first one, introduces; None where there is none."""
    at: Node | None = node
    while at is not None and not at.type.endswith(
        ("identifier", "operator_name", "destructor_name", "template_function")
    ):
        following = child(at, "declarator") or child(at, "name")
        if following is None and at.type.endswith("declarator"):  # a reference's has no field
            following = next(
                (each for each in at.named_children if each.type.endswith(("declarator", "identifier"))), None
            )
        at = following
    return at
