"""A program as tree-sitter-cuda reads it, and its functions as ranges of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from tree_sitter import Node

from ..spans.lexer import Body, Lexed, device_functions, kernels, lex
from ..spans.parser import parse_tree
from ..spans.patterns import signature
from ..spans.regions import find_regions
from ..spans.scrub import scrub
from .tokens import tokens


_DIRECTIVE = re.compile(r"^[ \t]*#[^\\\n]*+(?:\\(?:\r\n|[\s\S])?[^\\\n]*+)*+", re.MULTILINE)
_PARENTHESES = re.compile(r"\([^()]*\)")
_CALLED = re.compile(r"(\w+)\s*(?:<[^<>]*>\s*)?\Z")
_COMMENT_ABOVE = re.compile(r"(/\*(?:[^*]|\*(?!/))*\*/|(?:[ \t]*//[^\n]*\n)+)\s*\Z")
_COMMENT_SIGNS = re.compile(r"^\s*(?:/\*+|\*+/?|//+)\s?|\*/\s*$")
_NO_TYPE = frozenset({"const", "volatile", "__restrict__", "__restrict", "restrict", "std", "::", "("})


class Parameter(NamedTuple):
    """A parameter of a function. type: without const, restrict and `std::`; a pointer's ends in `*`, a reference's in `&`."""

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """A function definition or a device lambda.

    head, body: str indices; from `template` or the first specifier, and of the body with its braces. A body that is cut off
    ends with the text. name: without its namespace; empty for a lambda. parameters: empty, too, where the tree has no definition.
    """

    name: str
    head: int
    body: tuple[int, int]
    is_kernel: bool
    is_device: bool
    parameters: tuple[Parameter, ...] = field(default=(), compare=False)

    def source(self, code: str) -> str:
        return code[self.head : self.body[1]]

    def body_text(self, code: str) -> str:
        return code[self.body[0] : self.body[1]]


class Source:
    """A program.

    text: what was given. code: the same with comments, literals and preprocessor lines blank, character for character.
    root: the tree, whose byte offsets are str indices of `text`; None where the text takes too long to parse.
    functions: in the order of their bodies; kernels in macro bodies included.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), scrub(text))
        self.root = parse_tree(text)

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        lexed = lex(self.text)
        definitions = {}
        for node in walk(self.root):
            body = node.child_by_field_name("body")
            if body is not None and node.type in ("function_definition", "lambda_expression"):
                definitions[body.start_byte] = node
        found: dict[int, Function] = {}
        for bodies, is_kernel in ((kernels(lexed), True), (device_functions(lexed), False)):
            for body in bodies:
                start = body.pieces[0][0] if body.pieces else 0
                if body.pieces and start not in found:
                    found[start] = self._device_function(lexed, body, definitions.pop(start, None), is_kernel)
        heads = [function.head for function in found.values() if function.is_kernel]
        for start, node in definitions.items():
            if node.type == "function_definition":
                # Where a brace is missing, the tree makes the functions behind it a part of this one.
                end = min((head for head in heads if start < head < node.end_byte), default=node.end_byte)
                outer = node.parent if node.parent and node.parent.type == "template_declaration" else node
                parameters = self._parameters(node)
                found[start] = Function(
                    _name(self.text, node), outer.start_byte, (start, end), False, False, parameters
                )
        return tuple(found[start] for start in sorted(found))

    def _device_function(self, lexed: Lexed, body: Body, node: Node | None, is_kernel: bool) -> Function:
        start, end = body.pieces[0][0], body.pieces[-1][1]
        head = signature(lexed, body.head, start)[0]
        if node is None:
            return Function(_name_in(lexed.full[body.head : start]), head, (start, end), is_kernel, not is_kernel)
        return Function(_name(self.text, node), head, (start, end), is_kernel, not is_kernel, self._parameters(node))

    def _parameters(self, definition: Node) -> tuple[Parameter, ...]:
        found = []
        for node in walk(definition.child_by_field_name("declarator")):
            if node.type == "parameter_list":
                for each in node.named_children:
                    name = declared(each)
                    if name is not None:
                        words = [token.text for token in tokens(self.code[each.start_byte : name.start_byte])]
                        kind = " ".join(word for word in words if word not in _NO_TYPE)
                        array = self.code[name.end_byte : each.end_byte].lstrip().startswith("[")
                        found.append(Parameter(f"{kind} *" if array else kind, str_of(self.text, name)))
                break
        return tuple(found)


def walk(node: Node | None) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    waiting = [] if node is None else [node]
    while waiting:
        at = waiting.pop()
        yield at
        waiting.extend(reversed(at.children))


def str_of(text: str, node: Node) -> str:
    """A node's stretch of the text; `Node.text` itself crashes where the source came from a callback (tree-sitter 0.26)."""
    return text[node.start_byte : node.end_byte]


def declared(node: Node) -> Node | None:
    """The name that a declaration, a parameter or a declarator introduces."""
    at = node.child_by_field_name("declarator")
    while at is not None and at.type not in ("identifier", "field_identifier", "type_identifier"):
        inner = at.child_by_field_name("declarator") or at.child_by_field_name("name")
        at = inner or next(
            (child for child in at.named_children if child.type.endswith(("declarator", "identifier"))), None
        )
    return at


def _name(text: str, definition: Node) -> str:
    """The last word of the name, as `bar` of `Foo<3>::bar`; `operator()` and its kind in full."""
    at = definition.child_by_field_name("declarator") if definition.type == "function_definition" else None
    while at is not None:
        inner = at.child_by_field_name("declarator") or at.child_by_field_name("name")
        if inner is None and at.type == "reference_declarator":
            inner = at.named_children[-1]
        if inner is None:
            return str_of(text, at)
        at = inner
    return ""


def _name_in(head: str) -> str:
    """The name in the head of a function, which is the last thing that parentheses follow."""
    while (shorter := _PARENTHESES.sub(lambda match: "\1" * len(match[0]), head)) != head:
        head = shorter
    named = _CALLED.search(head.rpartition("\1")[0].rstrip("\1"))
    return named[1] if named and named[1] != "__device__" else ""  # a lambda has none


@lru_cache(maxsize=16)
def functions(text: str) -> tuple[Function, ...]:
    """The functions of a program, methods included; see `Source`. Never raises."""
    return Source(text).functions


def comment_above(text: str, position: int) -> str | None:
    """The comment right above a function that begins here, without its stars and slashes; None where there is none."""
    match = _COMMENT_ABOVE.search(text[:position])
    if match is None:
        return None
    return "\n".join(_COMMENT_SIGNS.sub("", line).rstrip() for line in match[1].splitlines()).strip()


def answer_code(answer: str) -> str:
    """An answer with all that is not CUDA source blank, character for character; see `spans.regions`."""

    def has_code(text: str) -> bool:
        return "__global__" in text or "<<<" in text or "__device__" in text

    pieces, done = [], 0
    for region in find_regions(answer, has_code) if has_code(answer) else []:
        if region.start >= done:
            pieces += [" " * (region.start - done), region.text]
            done = region.start + len(region.text)
    return "".join(pieces).ljust(len(answer))
