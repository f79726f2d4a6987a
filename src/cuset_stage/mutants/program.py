"""The program as mutation operators see it: its syntax tree, its device code, and what its names stand for.

Operators edit only code that was parsed without an error.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node

from ..cuda_source import Function, Source, answer_code, tokens
from ..cuda_source.source import Range, arguments, callee, child, declarators, declared, items, span, text_of, walk


COMPARISONS = frozenset({"<", ">", "<=", ">="})
# Their arguments are messages and checks, not computation.
_CHECKS = frozenset({"printf", "fprintf", "assert", "static_assert", "snprintf"})
_FLOATS = {"float", "double", "half", "__half", "__half2", "half2", "float2", "float3", "float4", "nv_bfloat16"}
_LAUNCHERS = frozenset({"cudaLaunchKernel", "cudaLaunchCooperativeKernel", "hipLaunchCooperativeKernel"})
_PARAMETERS = ("parameter_declaration", "optional_parameter_declaration")
_BLOCKS = ("compound_statement", "for_statement", "for_range_loop", "field_declaration_list")
_DEFINITIONS = ("function_definition", "lambda_expression", "template_declaration", "declaration", "field_declaration")
_QUOTED = ("expression", "declarator", "declaration", "identifier", "argument_list", "kernel_call_syntax")
_SPACE = re.compile(r"[ \t]*")


class Edit(NamedTuple):
    """Replace source[start:end] (str indices) by `replacement`.

    variant: which of an operator's errors this is; a choice takes different ones first.
    tier: 0 where a run is expected to show the error, 1 where it may, 2 where many programs would still be right.
    """

    start: int
    end: int
    replacement: str
    variant: str
    tier: int


def covers(cover: bytearray, node: Node) -> bool:
    """Whether all of a node is covered, as by `Program.loop_heads`."""
    return 0 not in cover[node.start_byte : node.end_byte]


class Launch(NamedTuple):
    """A kernel launch, as `k<<<...>>>(...)` or through cudaLaunchKernel and its cooperative form."""

    kernel: Function | None
    grid: Node
    block: Node
    shared: Node | None
    arguments: list[Node]


class Program:
    """One answer or source file. `code` has the length of `source` and holds only what may be edited."""

    def __init__(self, source: str) -> None:
        self.source = source
        read = Source(answer_code(source))
        self.code, self._root = read.code, read.root
        self.functions = [function for function in read.functions if function.is_kernel or function.is_device]
        self._bodies = self._cover(function.body for function in self.functions)
        self._tokens = tokens(self.code)
        self._starts = [token.start for token in self._tokens]
        self._nodes: dict[str, list[Node]] = defaultdict(list)
        for node in walk(read.root):
            if node.is_named and not node.has_error:
                self._nodes[node.type].append(node)

    def _cover(self, ranges: Iterable[Range]) -> bytearray:
        """A byte for each character: whether it stands in one of the ranges; see `covers`."""
        cover = bytearray(len(self.code))
        for start, end in ranges:
            cover[start:end] = b"\1" * (end - start)
        return cover

    def nodes(self, *types: str) -> Iterator[Node]:
        """Every node of some types."""
        for name in types:
            yield from self._nodes.get(name, ())

    def in_device(self, *types: str, heads: bool = True) -> Iterator[tuple[Node, Function]]:
        """The nodes of some types that device code computes with, and the innermost function each stands in.

        heads: whether to take in what stands between the parentheses of a `for` or a `while`.
        """
        for node in self.nodes(*types):
            function = self.device_function(node)
            if function and not covers(self.checks, node) and (heads or not covers(self.loop_heads, node)):
                yield node, function

    def text(self, node: Node | None) -> str:
        """A node's stretch of the source; "" for one that is not there, as the type of a constructor."""
        return text_of(self.source, node) if node else ""

    def edit(self, where: Node | Range, replacement: str, variant: str, tier: int = 0) -> Edit:
        return Edit(*span(where), replacement, variant, tier)

    def cut(self, where: Node | Range, variant: str) -> Edit:
        """The edit that takes a stretch out, together with the space before code that follows on the line."""
        start, end = span(where)
        until = _SPACE.match(self.source, end).end()
        return Edit(start, until if self.code[until : until + 1].strip() else end, "", variant, 0)

    def before(self, position: int) -> str:
        """The last token before a place, or ""."""
        index = bisect_left(self._starts, position)
        return self._tokens[index - 1].text if index else ""

    def after(self, position: int) -> str:
        """The first token at or after a place, or ""."""
        index = bisect_left(self._starts, position)
        return self._tokens[index].text if index < len(self._tokens) else ""

    def words(self, where: Node | Range) -> set[str]:
        """The identifiers in a stretch."""
        first, last = (bisect_left(self._starts, position) for position in span(where))
        return {token.text for token in self._tokens[first:last] if token.kind == "word"}

    def sign(self, node: Node) -> str:
        """The operator of a binary expression or an assignment, or ""."""
        is_whole = node.type in ("binary_expression", "assignment_expression") and not node.has_error
        return self.text(child(node, "operator")) if is_whole else ""

    def adds(self, node: Node, right: str) -> bool:
        """Whether an expression is the sum of something and `right`."""
        return node.type == "binary_expression" and self.sign(node) == "+" and self.text(child(node, "right")) == right

    def operand(self, node: Node, bare: str = "*/%") -> str:
        """An expression as the left operand of another, in parentheses unless `bare` has the operator that it is made with."""
        is_binary = node.type == "binary_expression" and self.sign(node) not in bare
        return f"({self.text(node)})" if is_binary or node.type == "conditional_expression" else self.text(node)

    def calls(self, call: Node, names: Container[str]) -> bool:
        """Whether a call is of one of these functions, whatever namespace or object stands before the name."""
        return self.text(callee(call)) in names

    def clause(self, edit: Edit) -> Range:
        """The expression or the declaration around an edit."""
        end = edit.start + len(self.source[edit.start : edit.end].rstrip())
        node = self._root.descendant_for_byte_range(edit.start, end)
        while node.parent and node.parent.type.endswith(_QUOTED):
            node = node.parent
        return min(node.start_byte, edit.start), max(node.end_byte, edit.end)

    def device_function(self, node: Node) -> Function | None:
        """The innermost kernel or device function around a node."""
        if not covers(self._bodies, node):
            return None
        before = self.functions[: bisect_left(self.functions, node.start_byte, key=lambda each: each.body[0])]
        return next((each for each in reversed(before) if node.end_byte <= each.body[1]), None)

    @cached_property
    def checks(self) -> bytearray:
        """Messages, assertions, and declarations whose numbers are sizes."""
        found = [span(call) for call in self.nodes("call_expression") if self.calls(call, _CHECKS)]
        found += [span(node) for node in self.nodes("static_assert_declaration")]
        for node in self.nodes("declaration", "if_statement"):  # `if constexpr (...)`
            if any(self.text(each) in ("__shared__", "constexpr") for each in node.children):
                found.append(span(child(node, "condition") or node))
        return self._cover(found)

    @cached_property
    def loop_heads(self) -> bytearray:
        """What stands between the parentheses of a `for` or a `while`."""
        loops = self.nodes("for_statement", "for_range_loop", "while_statement")
        return self._cover((loop.start_byte, child(loop, "body").start_byte) for loop in loops)

    @cached_property
    def launches(self) -> list[Launch]:
        """Every launch whose grid and block are given."""
        found = []
        for call in self.nodes("call_expression"):
            name, given = self.text(callee(call)), arguments(call)
            config = next((items(each) for each in call.children if each.type == "kernel_call_syntax"), [])
            if len(given) >= 4 and name in _LAUNCHERS:
                name, config, given = self.before(given[0].end_byte), [*given[1:3], *given[4:5]], []
            if len(config) >= 2:
                kernel = next((each for each in self.functions if each.is_kernel and each.name == name), None)
                found.append(Launch(kernel, *config[:2], config[2] if len(config) > 2 else None, given))
        return found

    @cached_property
    def indices(self) -> dict[Function, set[str]]:
        """Identifiers of each function that hold a position: of a thread, of a loop, or computed from one."""
        found = {function: {"threadIdx", "blockIdx", "thread_rank", "meta_group_rank"} for function in self.functions}
        for function, names in found.items():
            if not function.is_kernel:
                names.update(name for type_, name in function.parameters if type_ in ("int", "size_t", "unsigned"))
        setters = self.nodes("init_declarator", "assignment_expression")
        for node in sorted(setters, key=lambda node: node.start_byte):
            function, name = self.device_function(node), child(node, "declarator") or child(node, "left")
            if function is None or not name.type.endswith("identifier") or self.sign(node) not in ("", "="):
                continue
            kind = child(node.parent, "type") if node.type == "init_declarator" else None
            value = child(node, "value") or child(node, "right")
            is_position = covers(self.loop_heads, node) or self._makes(value) & found[function]
            if is_position and (kind is None or self.text(kind) not in _FLOATS):
                for each in self.functions:  # a lambda knows what the function around it does
                    if each.body[0] < node.start_byte < each.body[1]:
                        found[each].add(self.text(name))
        return found

    def _makes(self, value: Node) -> set[str]:
        """The identifiers that make a position of a value: what stands in subscripts and behind a call's first argument does
        not, and of a choice only what it depends on."""

        def below(node: Node) -> list[Node]:
            given = items(node)[:1] if node.type == "argument_list" else node.children
            return [] if node.type == "subscript_argument_list" else given

        found = walk(child(value, "condition") or value, below)
        return {self.text(each) for each in found if each.type.endswith("identifier")}

    @cached_property
    def _scopes(self) -> dict[str, list[Range]]:
        """Name -> where it is declared, to the end of what it is known in; members are known nowhere."""
        found: dict[str, list[Range]] = defaultdict(list)
        for node in self.nodes("declaration", "field_declaration", *_PARAMETERS):
            is_parameter, scope = node.type in _PARAMETERS, node.parent
            while scope.parent is not None and scope.type not in (_DEFINITIONS if is_parameter else _BLOCKS):
                scope = scope.parent
            is_hidden = scope.type.startswith("field_") or (is_parameter and scope.type == "declaration")
            for name in filter(None, map(declared, declarators(node))):
                found[self.text(name)].append((name.start_byte, 0 if is_hidden else scope.end_byte))
        return found

    def declares(self, name: Node) -> bool:
        """Whether a name is introduced or set here."""
        places = self._scopes.get(self.text(name), ())
        return self.after(name.end_byte) == "=" or any(start == name.start_byte for start, _ in places)

    def known(self, name: str, at: Node) -> bool:
        """Whether a name may be used in the place of another."""
        if at.type == "field_identifier":
            return name in self._scopes or any(self.text(node) == name for node in self.nodes("field_identifier"))
        return any(start < at.start_byte < end for start, end in self._scopes.get(name, ()))


def remove_statement(program: Program, statement: Node, variant: str, tier: int) -> Edit:
    """A statement taken out; where it is the whole body of an `if` or a loop, an empty one stays."""
    start = max(program.code.rfind(char, 0, statement.start_byte) for char in ";{}") + 1
    between = program.source[start : statement.start_byte]
    follows = program.before(statement.start_byte) in (";", "{", "}") and ("\n" in between or not between.strip())
    return program.edit(statement, "" if follows else ";", variant, tier)


def initial_value(loop: Node) -> Node | None:
    """What the last variable that a `for` sets begins with."""
    at = child(loop, "initializer")
    if at is not None and at.type == "declaration":
        at = declarators(at)[-1]
    return at and (child(at, "value") or child(at, "right"))
