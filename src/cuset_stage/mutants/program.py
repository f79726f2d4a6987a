"""The program as mutation operators see it: its syntax tree, its device code, and the roles of its names.

Operators edit only code that was parsed without an error.
"""

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
# The arguments of these functions are messages and checks, not computation.
_CHECKS = frozenset({"printf", "fprintf", "assert", "static_assert", "snprintf"})
_FLOATS = {"float", "double", "half", "__half", "__half2", "half2", "float2", "float3", "float4", "nv_bfloat16"}
_LAUNCHERS = frozenset({"cudaLaunchKernel", "cudaLaunchCooperativeKernel", "hipLaunchCooperativeKernel"})
_PARAMETERS = ("parameter_declaration", "optional_parameter_declaration")
_BLOCKS = ("compound_statement", "for_statement", "for_range_loop", "field_declaration_list")
_DEFINITIONS = ("function_definition", "lambda_expression", "template_declaration", "declaration", "field_declaration")
_QUOTED = ("expression", "declarator", "declaration", "identifier", "argument_list", "kernel_call_syntax")
_SPACE = re.compile(r"[ \t]*")


class Edit(NamedTuple):
    """An edit that replaces source[start:end] by `replacement`.

    Attributes:
        start, end: str indices.
        replacement: the new text.
        variant: which of its operator's errors this is. Different variants are chosen before the same one again.
        tier: 0 if a run is expected to show the error, 1 if it may, 2 if many programs would still be right.
    """

    start: int
    end: int
    replacement: str
    variant: str
    tier: int


def covers(cover: bytearray, node: Node) -> bool:
    """Return True if a cover, such as `Program.loop_heads`, covers the whole node."""
    return 0 not in cover[node.start_byte : node.end_byte]


class Launch(NamedTuple):
    """A kernel launch, as `k<<<...>>>(...)` or through cudaLaunchKernel or its cooperative form.

    Attributes:
        kernel: the kernel, or None if the program does not define it.
        grid, block: the expressions for the numbers of blocks and threads.
        shared: the expression for the bytes of dynamic shared memory, or None.
        arguments: the kernel's arguments. Empty for cudaLaunchKernel and its cooperative form.
    """

    kernel: Function | None
    grid: Node
    block: Node
    shared: Node | None
    arguments: list[Node]


class Program:
    """An answer or a source file.

    Attributes:
        source: the text.
        code: a text of the same length that has only the code that may be edited. The rest is spaces.
        functions: the kernels and device functions, in the order of their bodies.
    """

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
        """Return a byte per character, 1 if the character is in one of the ranges. `covers` reads it."""
        cover = bytearray(len(self.code))
        for start, end in ranges:
            cover[start:end] = b"\1" * (end - start)
        return cover

    def nodes(self, *types: str) -> Iterator[Node]:
        """Yield all nodes of some types that were parsed without an error."""
        for name in types:
            yield from self._nodes.get(name, ())

    def in_device(self, *types: str, heads: bool = True) -> Iterator[tuple[Node, Function]]:
        """Yield the nodes of some types in the computations of device code, each with its innermost function.

        Nodes in messages, assertions and sizes (`checks`) are left out.

        Args:
            heads: whether to include nodes between the parentheses of a `for` or a `while`.
        """
        for node in self.nodes(*types):
            function = self.device_function(node)
            if function and not covers(self.checks, node) and (heads or not covers(self.loop_heads, node)):
                yield node, function

    def text(self, node: Node | None) -> str:
        """Return the text of a node, or "" for a missing node, such as the type of a constructor."""
        return text_of(self.source, node) if node else ""

    def edit(self, where: Node | Range, replacement: str, variant: str, tier: int = 0) -> Edit:
        """Return the edit that replaces a node or a range."""
        return Edit(*span(where), replacement, variant, tier)

    def cut(self, where: Node | Range, variant: str) -> Edit:
        """Return the edit that removes a node or a range, and the space before code that follows on the same line."""
        start, end = span(where)
        until = _SPACE.match(self.source, end).end()
        return Edit(start, until if self.code[until : until + 1].strip() else end, "", variant, 0)

    def before(self, position: int) -> str:
        """Return the last token before a position, or ""."""
        index = bisect_left(self._starts, position)
        return self._tokens[index - 1].text if index else ""

    def after(self, position: int) -> str:
        """Return the first token at or after a position, or ""."""
        index = bisect_left(self._starts, position)
        return self._tokens[index].text if index < len(self._tokens) else ""

    def words(self, where: Node | Range) -> set[str]:
        """Return the identifiers in a node or a range."""
        first, last = (bisect_left(self._starts, position) for position in span(where))
        return {token.text for token in self._tokens[first:last] if token.kind == "word"}

    def sign(self, node: Node) -> str:
        """Return the operator of a binary expression or an assignment, or "" for other nodes."""
        is_whole = node.type in ("binary_expression", "assignment_expression") and not node.has_error
        return self.text(child(node, "operator")) if is_whole else ""

    def adds(self, node: Node, right: str) -> bool:
        """Return True if an expression is a sum whose right operand is `right`."""
        return self.sign(node) == "+" and self.text(child(node, "right")) == right

    def operand(self, node: Node, bare: str = "*/%") -> str:
        """Return the text of an expression as the left operand of another one.

        It is put in parentheses if it is a conditional expression, or a binary one whose operator is not in `bare`.
        """
        is_binary = node.type == "binary_expression" and self.sign(node) not in bare
        return f"({self.text(node)})" if is_binary or node.type == "conditional_expression" else self.text(node)

    def halved(self, node: Node) -> str:
        """Return half of an expression: `32` -> 16, `n + 1` -> (n + 1) / 2."""
        text = self.text(node)
        return str(int(text) // 2) if text.isdigit() else f"{self.operand(node)} / 2"

    def calls(self, call: Node, names: Container[str]) -> bool:
        """Return True if a call is to one of these functions, with any namespace or object before the name."""
        return self.text(callee(call)) in names

    def clause(self, edit: Edit) -> Range:
        """Return the range of the expression or declaration around an edit."""
        end = edit.start + len(self.source[edit.start : edit.end].rstrip())
        node = self._root.descendant_for_byte_range(edit.start, end)
        while node.parent and node.parent.type.endswith(_QUOTED):
            node = node.parent
        return min(node.start_byte, edit.start), max(node.end_byte, edit.end)

    def device_function(self, node: Node) -> Function | None:
        """Return the innermost kernel or device function around a node, or None in host code."""
        if not covers(self._bodies, node):
            return None
        before = self.functions[: bisect_left(self.functions, node.start_byte, key=lambda each: each.body[0])]
        return next((each for each in reversed(before) if node.end_byte <= each.body[1]), None)

    @cached_property
    def checks(self) -> bytearray:
        """Return the cover of messages, assertions, and declarations whose numbers are sizes."""
        ranges = [span(call) for call in self.nodes("call_expression") if self.calls(call, _CHECKS)]
        ranges += [span(node) for node in self.nodes("static_assert_declaration")]
        for node in self.nodes("declaration", "if_statement"):  # `if constexpr (...)`
            if any(self.text(part) in ("__shared__", "constexpr") for part in node.children):
                ranges.append(span(child(node, "condition") or node))
        return self._cover(ranges)

    @cached_property
    def loop_heads(self) -> bytearray:
        """Return the cover of what stands between the parentheses of a `for` or a `while`."""
        loops = self.nodes("for_statement", "for_range_loop", "while_statement")
        return self._cover((loop.start_byte, child(loop, "body").start_byte) for loop in loops)

    @cached_property
    def launches(self) -> list[Launch]:
        """Return the launches that have a grid and a block."""
        result = []
        for call in self.nodes("call_expression"):
            name, args = self.text(callee(call)), arguments(call)
            config = next((items(each) for each in call.children if each.type == "kernel_call_syntax"), [])
            if len(args) >= 4 and name in _LAUNCHERS:  # its arguments: kernel, grid, block, kernel arguments, shared
                name, config, args = self.before(args[0].end_byte), [*args[1:3], *args[4:5]], []
            if len(config) >= 2:
                kernel = next((each for each in self.functions if each.is_kernel and each.name == name), None)
                result.append(Launch(kernel, *config[:2], config[2] if len(config) > 2 else None, args))
        return result

    @cached_property
    def indices(self) -> dict[Function, set[str]]:
        """Return, for each function, its identifiers that hold a position.

        A position is the index of a thread or of a loop, or a value computed from one.
        """
        positions = {each: {"threadIdx", "blockIdx", "thread_rank", "meta_group_rank"} for each in self.functions}
        for function, names in positions.items():
            if not function.is_kernel:
                names.update(name for type_, name in function.parameters if type_ in ("int", "size_t", "unsigned"))
        setters = self.nodes("init_declarator", "assignment_expression")
        for node in sorted(setters, key=lambda node: node.start_byte):
            function, name = self.device_function(node), child(node, "declarator") or child(node, "left")
            if function is None or not name.type.endswith("identifier") or self.sign(node) not in ("", "="):
                continue
            type_node = child(node.parent, "type") if node.type == "init_declarator" else None
            value = child(node, "value") or child(node, "right")
            is_position = covers(self.loop_heads, node) or self._makes(value) & positions[function]
            if is_position and (type_node is None or self.text(type_node) not in _FLOATS):
                for outer in self.functions:  # a lambda sees the names of the function around it
                    if outer.body[0] < node.start_byte < outer.body[1]:
                        positions[outer].add(self.text(name))
        return positions

    def _makes(self, value: Node) -> set[str]:
        """Return the identifiers that make a value a position if they are positions.

        Identifiers in subscripts and after the first argument of a call do not count. In a conditional expression only
        those in its condition count.
        """

        def below(node: Node) -> list[Node]:
            children = items(node)[:1] if node.type == "argument_list" else node.children
            return [] if node.type == "subscript_argument_list" else children

        nodes = walk(child(value, "condition") or value, below)
        return {self.text(inner) for inner in nodes if inner.type.endswith("identifier")}

    @cached_property
    def _scopes(self) -> dict[str, list[Range]]:
        """Return, for each name, the ranges from its declarations to the end of their scopes.

        Members, and parameters of functions that are only declared, end at 0: they are visible nowhere.
        """
        scopes: dict[str, list[Range]] = defaultdict(list)
        for node in self.nodes("declaration", "field_declaration", *_PARAMETERS):
            is_parameter, scope = node.type in _PARAMETERS, node.parent
            while scope.parent is not None and scope.type not in (_DEFINITIONS if is_parameter else _BLOCKS):
                scope = scope.parent
            is_hidden = scope.type.startswith("field_") or (is_parameter and scope.type == "declaration")
            for name in filter(None, map(declared, declarators(node))):
                scopes[self.text(name)].append((name.start_byte, 0 if is_hidden else scope.end_byte))
        return scopes

    def declares(self, name: Node) -> bool:
        """Return True if this occurrence of a name declares or sets it."""
        places = self._scopes.get(self.text(name), ())
        return self.after(name.end_byte) == "=" or any(start == name.start_byte for start, _ in places)

    def known(self, name: str, at: Node) -> bool:
        """Return True if `name` may replace the name at the node `at`."""
        if at.type == "field_identifier":
            return name in self._scopes or any(self.text(node) == name for node in self.nodes("field_identifier"))
        return any(start < at.start_byte < end for start, end in self._scopes.get(name, ()))


def remove_statement(program: Program, statement: Node, variant: str, tier: int) -> Edit:
    """Return the edit that removes a statement. If it is the whole body of an `if` or a loop, an empty one stays."""
    start = max(program.code.rfind(char, 0, statement.start_byte) for char in ";{}") + 1
    between = program.source[start : statement.start_byte]
    follows = program.before(statement.start_byte) in (";", "{", "}") and ("\n" in between or not between.strip())
    return program.edit(statement, "" if follows else ";", variant, tier)


def initial_value(loop: Node) -> Node | None:
    """Return the initial value of the last variable that a `for` sets, or None."""
    initializer = child(loop, "initializer")
    if initializer is not None and initializer.type == "declaration":
        initializer = declarators(initializer)[-1]
    return initializer and (child(initializer, "value") or child(initializer, "right"))
