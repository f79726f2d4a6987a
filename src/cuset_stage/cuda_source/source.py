"""A program as tree-sitter-cuda reads it, and its functions as ranges of the text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node

from ..spans.lexer import Body, device_functions, kernels, lex
from ..spans.patterns import signature
from ..spans.regions import find_regions
from ..spans.scrub import scrub
from .tokens import tokens
from .tree import Range, child, declared, is_flat, items, last_name, of_types, parse_tree, text_of, walk


_DIRECTIVE = re.compile(r"^[ \t]*#[^\\\n]*+(?:\\(?:\r\n|[\s\S])?[^\\\n]*+)*+", re.MULTILINE)
_PARENTHESIS = re.compile(r"[()]")
_CALLED = re.compile(r"(\w+)\s*(?:<[^<>]*>\s*)?\Z")
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
    body: Range
    is_kernel: bool
    is_device: bool
    parameters: tuple[Parameter, ...] = field(default=(), compare=False)


class Source:
    """A program.

    text: what was given. code: the same with comments, literals and preprocessor lines blank, character for character.
    root: the tree, whose byte offsets are str indices of `text`; None where the text takes too long to parse, or its
    brackets nest deeper than in code that people write.
    functions: in the order of their bodies; kernels in macro bodies included.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = _DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), scrub(text))
        self.root = parse_tree(text) if is_flat(self.code) else None

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        lexed = lex(self.text)
        definitions = {}
        for node in of_types(self.root, "function_definition", "lambda_expression"):
            if (body := child(node, "body")) is not None:
                definitions[body.start_byte] = node
        found: dict[int, Function] = {}
        for bodies, is_kernel in ((kernels(lexed), True), (device_functions(lexed), False)):
            for body in bodies:
                head = signature(lexed, body.head, body.pieces[0][0])[0] if body.pieces else 0
                for start, end in _whole_bodies(self.text, body):
                    node = definitions.pop(start, None)
                    name = self._name(node) if node else _name_in(lexed.full[body.head : start])
                    function = Function(name, head, (start, end), is_kernel, not is_kernel, self._parameters(node))
                    found.setdefault(start, function)
        heads = [function.head for function in found.values() if function.is_kernel]
        for start, node in definitions.items():
            if node.type == "function_definition":
                # Where a brace is missing, the tree includes the following functions in this one.
                end = min((head for head in heads if start < head < node.end_byte), default=node.end_byte)
                outer = node.parent if node.parent.type == "template_declaration" else node
                parameters = self._parameters(node)
                found[start] = Function(self._name(node), outer.start_byte, (start, end), False, False, parameters)
        return tuple(found[start] for start in sorted(found))

    def _name(self, definition: Node) -> str:
        """The last word of the name, as `bar` of `Foo<3>::bar`; `operator()` and its kind in full."""
        at = declared(definition) if definition.type == "function_definition" else None
        return text_of(self.text, last_name(at)) if at else ""

    def _parameters(self, definition: Node | None) -> tuple[Parameter, ...]:
        found = []
        below = walk(definition and child(definition, "declarator"))
        for each in items(next((node for node in below if node.type == "parameter_list"), None)):
            if (name := child(each, "declarator") and declared(child(each, "declarator"))) is not None:
                words = [token.text for token in tokens(self.code[each.start_byte : name.start_byte])]
                kind = " ".join(word for word in words if word not in _NO_TYPE)
                array = self.code[name.end_byte : each.end_byte].lstrip().startswith("[")
                found.append(Parameter(f"{kind} *" if array else kind, text_of(self.text, name)))
        return tuple(found)


def _whole_bodies(text: str, body: Body) -> list[Range]:
    """The bodies of a function: each preprocessor branch can have one, in pieces around other branches."""
    found: list[Range] = []
    for start, end in body.pieces:
        if text[start] == "{" or not found:
            found.append((start, end))
        else:
            found[-1] = (found[-1][0], end)
    return found


def _name_in(head: str) -> str:
    """The name in the head of a function: what stands before its last parentheses, or before the first where branches mix them."""
    depth, opening = 0, head.find("(")
    for match in reversed([*_PARENTHESIS.finditer(head)]):
        depth += 1 if match[0] == ")" else -1
        if depth == 0:
            opening = match.start()
            break
    named = _CALLED.search(head[max(0, opening - 300) : max(0, opening)])
    return named[1] if named and named[1] != "__device__" else ""  # a lambda has none


def answer_code(answer: str) -> str:
    """An answer with everything but its CUDA source replaced by spaces, character for character; see `spans.regions`."""

    def has_code(text: str) -> bool:
        return "__global__" in text or "<<<" in text or "__device__" in text

    pieces, done = [], 0
    for region in find_regions(answer, has_code) if has_code(answer) else []:
        if region.start >= done:
            pieces += [" " * (region.start - done), region.text]
            done = region.start + len(region.text)
    return "".join(pieces).ljust(len(answer))
