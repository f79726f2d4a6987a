"""Navigation in a syntax tree. A node's offsets are str indices of the text. Use `text_of` rather than `Node.text`, which
crashes when the source was read through a callback (tree-sitter 0.26).
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node


Range = tuple[int, int]  # str indices, half-open


def span(where: Node | Range) -> Range:
    """The range of a node."""
    return (where.start_byte, where.end_byte) if isinstance(where, Node) else where


def text_of(text: str, node: Node) -> str:
    """The text of a node."""
    return text[node.start_byte : node.end_byte]


def walk(node: Node | None) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    waiting = [] if node is None else [node]
    while waiting:
        at = waiting.pop()
        yield at
        waiting.extend(reversed(at.children))


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


def callee(call: Node) -> Node:
    """The name of what is called, without namespaces, template arguments and the object before it."""
    at = child(call, "function")
    while inner := child(at, "name") or child(at, "field"):
        at = inner
    return at


def declarators(declaration: Node) -> list[Node]:
    """What a declaration introduces, with the values."""
    return declaration.children_by_field_name("declarator")


def declared(node: Node) -> Node | None:
    """The name that a declarator, or a declaration's first one, introduces; None where there is none."""
    at: Node | None = node
    while at is not None and not at.type.endswith("identifier"):
        following = child(at, "declarator") or child(at, "name")
        if following is None and at.type.endswith("declarator"):  # a reference's has no field
            following = next(
                (each for each in at.named_children if each.type.endswith(("declarator", "identifier"))), None
            )
        at = following
    return at
