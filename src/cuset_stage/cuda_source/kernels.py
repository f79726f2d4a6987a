"""A kernel by itself: with what it needs of its file, and as the set of its normalised subtrees, by which copies are known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from tree_sitter import Node

from .source import Function, Range, Source, child, declarators, declared, is_kept, items, last_name, text_of, walk


# ------------------------------------------------------------------------------------------------- with what it needs

_WORD = re.compile(r"[A-Za-z_]\w*")
_OTHERWISE = {"preproc_else", "preproc_elif"}
_INTO = {"preproc_ifdef", "preproc_if", *_OTHERWISE, "linkage_specification", "declaration_list", "ERROR"}
_ALWAYS = {"preproc_include", "using_declaration", "namespace_alias_definition"}
_DEFINED_TYPES = {"struct_specifier", "class_specifier", "union_specifier", "enum_specifier"}
_ON_DEVICE = re.compile(r"\b(?:__device__|__global__|constexpr|[A-Z_]*DEVICE[A-Z_]*)\b")


class _Unit(NamedTuple):
    """Something that stands at a file's top level. names: what it introduces, nothing of what every excerpt has (an include); namespaces:
    those around it, from outside."""

    span: Range
    names: tuple[str, ...]
    namespaces: tuple[str, ...] = ()


def excerpts(source: Source) -> Iterator[tuple[Function, str]]:
    """Each kernel of a file with its excerpt, in the order of the file.

    Includes and `using` lines stay. Of a file without a tree the excerpt is the whole text. Host functions are not taken, so that an
    excerpt has no program around its kernel, and macros whose bodies are kernels have none of their own.
    """
    units = [] if source.root is None else list(_units(source, source.root, ()))
    for kernel in (each for each in source.functions if each.is_kernel):
        if not units:
            yield kernel, source.text
            continue
        start, end = kernel.head, kernel.body[1]
        own = next((unit for unit in units if unit.span[0] <= start and end <= unit.span[1]), None)
        if own and source.text.startswith("#", own.span[0]):
            continue  # a macro that makes kernels is none
        # Where the tree has no unit of it, as behind a macro's use without a semicolon, its own text is searched for names all the same.
        own = own or _Unit((start, end), ())
        others = [unit for unit in units if unit.span[1] <= own.span[0] or own.span[1] <= unit.span[0]]
        needed, waiting = {own, *(unit for unit in others if not unit.names)}, [own]
        while waiting:
            start, end = waiting.pop().span
            is_macro = source.text.startswith("#", start)  # which is blank in `code`
            words = set(_WORD.findall(source.text if is_macro else source.code, start, end))
            more = [unit for unit in others if unit not in needed and not words.isdisjoint(unit.names)]
            needed.update(more)
            waiting += more
        yield kernel, _written(source, sorted(needed))


def _units(source: Source, node: Node, namespaces: tuple[str, ...], seen: set[str] | None = None) -> Iterator[_Unit]:
    """What stands at the top level, in namespaces and behind conditions; of two branches that define one name the first."""
    seen = set() if seen is None else seen
    for each in node.children:
        kind, span = each.type, (each.start_byte, each.end_byte)
        if kind == "namespace_definition":
            name = child(each, "name")
            if (inner := child(each, "body")) is not None:
                yield from _units(source, inner, (*namespaces, text_of(source.text, name) if name else ""), seen)
        elif kind in _INTO:
            first = {*seen}
            for unit in _units(source, each, namespaces, seen):
                if kind not in _OTHERWISE or not first.intersection(unit.names):
                    yield unit
        elif kind in _ALWAYS:
            yield _Unit(span, (), namespaces)
        elif names := tuple(_introduced(source, each)):
            seen.update(names)
            yield _Unit(span, names, namespaces)


def _introduced(source: Source, node: Node) -> Iterator[str]:
    """The names that a declaration, a type or a macro introduces; none of a host function."""
    kind = node.type
    if kind == "template_declaration":
        for each in node.named_children:
            if each.type != "template_parameter_list":
                yield from _introduced(source, each)
    elif kind in ("preproc_def", "preproc_function_def", "alias_declaration", "concept_definition"):
        if (name := child(node, "name")) is not None:
            yield text_of(source.text, name)
    elif kind == "function_definition":
        body = child(node, "body")
        head = source.code[node.start_byte : body.start_byte if body else node.end_byte]
        if _ON_DEVICE.search(head) and (name := declared(node)) is not None:
            yield text_of(source.text, last_name(name))
    elif kind in {*_DEFINED_TYPES, "declaration", "type_definition"}:
        for each in declarators(node):
            if (name := declared(each)) is not None:
                yield text_of(source.text, last_name(name))
        type_ = node if kind.endswith("_specifier") else child(node, "type")
        if type_ is not None and type_.type.endswith("_specifier") and child(type_, "body") is not None:
            if (name := child(type_, "name")) is not None:
                yield text_of(source.text, last_name(name))
            if type_.type == "enum_specifier":
                values = (each for each in walk(child(type_, "body")) if each.type == "enumerator")
                yield from (text_of(source.text, child(each, "name")) for each in values)


def _written(source: Source, units: list[_Unit]) -> str:
    """The units as one text, each in its namespaces; what stands on one line together stays so."""
    parts = []
    for namespaces, group in groupby(units, key=lambda unit: unit.namespaces):
        parts += [f"namespace {name} {{".replace("  ", " ") for name in namespaces]
        for unit in group:
            start, end = unit.span
            behind = re.match(r"\s*;", source.text[end : end + 20])  # a type's semicolon
            parts.append(source.text[start : end + (behind.end() if behind else 0)].rstrip())
        parts += ["}"] * len(namespaces)
    return "\n".join(parts).strip() + "\n"


# -------------------------------------------------------------------------------------------------------- as subtrees

# What does not change what a kernel computes, or changes it only a little, is gone: comments, layout, qualifiers, types and casts; names
# (a parameter is `p`, shared memory `s`, a local variable `v`; words of CUDA and of the mathematics library stay) and numbers, with the
# constants and macros of the file (`#`). The place of a thread, however it is computed, is `t`. The operands of commutative operators are
# sorted, `a > b` is `b < a`, `x += y`, `x++` and `x = x + y` are one form, so are `for` and `while`, `a[i]` and `*(a + i)`, and
# `if (c) return; rest` and `if (!c) { rest }`. As the subtrees are a set, the order of statements says nothing.

# Of a statement around others: the name of its head, what stands in the head, and what below it; a case has no field for that.
_HEADS = {
    "for_statement": ("loop", "condition", ("body", "update")),
    "while_statement": ("loop", "condition", ("body",)),
    "if_statement": ("if", "condition", ("consequence",)),
    "for_range_loop": ("for_range_loop", "right", ("body",)),
    "do_statement": ("do_statement", "condition", ("body",)),
    "switch_statement": ("switch_statement", "condition", ("body",)),
    "case_statement": ("case_statement", "value", ()),
}
_SORTED = {"+", "*", "&", "|", "^", "==", "!=", "&&", "||"}
_TURNED = {">": "<", ">=": "<="}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_NUMBERS = {
    "number_literal", "char_literal", "true", "false", "null", "nullptr", "user_defined_literal", "sizeof_expression",
}  # fmt: skip
_TEXTS = {"string_literal", "raw_string_literal", "concatenated_string"}
_WITHOUT_CODE = {
    "comment", "preproc_call", "preproc_def", "preproc_function_def", "preproc_include", "preproc_directive", "type_definition",
    "alias_declaration", "using_declaration", "static_assert_declaration", "identifier", "#endif", "else_clause",
}  # fmt: skip
_AROUND_CODE = {
    "compound_statement", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "declaration_list",
}  # fmt: skip
_CASTS = {"primitive_type", "sized_type_specifier"}  # as a function: float(x)
_TYPES = {*_CASTS, "type_descriptor", "type_identifier", "template_argument_list"}
_THREAD = {"threadIdx", "blockIdx", "blockDim", "gridDim"}
_LEAF = re.compile(r"(?<= )[^() ]+")  # a name or number in a form, and no operator
_PART = re.compile(rf"\((?!\))|(?<!\()\)|{_LEAF.pattern}")  # and the brackets of a subtree, which `max()` has none of
LEAVES = 3  # of a subtree that is counted: `(at (+ p v))` and `(if (< v p))` say nothing
_CALLED = re.compile(r"\b[A-Za-z_]\w*+(?=\s*+(?:<[^<>;(){}]*>\s*+)?\()")
_EXTREME = re.compile(r"f?(max|min)f?")
_LONGEST = 160  # characters of a subtree that are kept, with its length


def kernel_features(source: Source, kernel: Function) -> frozenset[str]:
    """The normalised subtrees of a function and of the functions of the same text that it calls, each with how often it occurs.

    Empty where the text has no tree, or one that is nested too deep to be walked.
    """
    found: Counter[str] = Counter()
    seen, waiting = {kernel.body}, [kernel]
    while waiting:
        function = waiting.pop()
        try:
            _Reader(source, function, found)
        except RecursionError:
            return frozenset()
        names = set(_CALLED.findall(source.code, *function.body))
        called = [each for each in source.functions if each.name in names and not each.is_kernel]
        waiting += [each for each in called if each.body not in seen]
        seen.update(each.body for each in called)
    times = ((text, number) for text, count in found.items() for number in range(min(count, 4)))
    return frozenset(f"{text} {number}" if number else text for text, number in times)


class _Reader:
    """Adds the subtrees of one function to `found`."""

    def __init__(self, source: Source, function: Function, found: Counter[str]) -> None:
        self._text, self._found = source.text, found
        self._names = {each.name: "p" for each in function.parameters}
        start, end = function.body
        node = source.root.descendant_for_byte_range(start, end - 1) if source.root else None
        if node is not None:
            self._block([node], "")

    # ------------------------------------------------------------------------------------------------- statements

    def _block(self, nodes: Iterable[Node], within: str) -> None:
        """Statements below a condition or a loop whose head is `within`."""
        nodes = self._flat(nodes)
        for index, node in enumerate(nodes):
            rest = nodes[index + 1 :]
            taken = self._flat(filter(None, [child(node, "consequence")])) if node.type == "if_statement" else []
            leaves = [each.type for each in taken] == ["return_statement"] and not taken[0].named_child_count
            if leaves and rest and not child(node, "alternative"):
                head = f"(if {self._negated(child(node, 'condition'))})"
                self._add(within, head)
                self._block(rest, head)
                return
            self._statement(node, within)

    def _flat(self, nodes: Iterable[Node]) -> list[Node]:
        """Statements without the braces and the preprocessor's branches around them."""
        found = []
        for node in nodes:
            if node.type in _AROUND_CODE:
                found += self._flat(node.named_children)
            elif node.is_named and node.type not in _WITHOUT_CODE:
                found.append(node)
        return found

    def _statement(self, node: Node, within: str) -> None:
        kind = node.type
        if kind in _HEADS:
            name, field, below = _HEADS[kind]
            if name == "loop" and (first := child(node, "initializer")) is not None:
                self._statement(first, within)
            if kind == "for_range_loop" and (variable := declared(child(node, "declarator"))) is not None:
                self._names[text_of(self._text, variable)] = "v"
            at = child(node, field)
            head = f"({name} {self._expression(at) if at else '#' if name == 'loop' else ''})"
            self._add(within, head)
            inner = [child(node, each) for each in below] or [each for each in node.named_children if each != at]
            self._block(filter(None, inner), head)
            if (other := child(node, "alternative")) is not None:
                self._block(other.named_children, f"(else {head})")
        elif kind == "declaration":
            for each in declarators(node):
                name, value = declared(each), child(each, "value")
                if name is None:
                    continue
                is_shared = "__shared__" in self._text[node.start_byte : each.start_byte]
                self._names[text_of(self._text, name)] = own = "s" if is_shared else "v"
                if is_shared:
                    self._add(within, "(shared)")
                if value is not None:
                    self._add(within, f"(= {own} {self._expression(value)})")
        elif kind == "comma_expression":
            for each in node.named_children:
                self._statement(each, within)
        elif kind in ("expression_statement", "labeled_statement"):
            for each in self._flat(node.named_children):
                self._statement(each, within)
        elif kind == "return_statement":
            self._add(within, f"(return {' '.join(self._expression(each) for each in items(node))})")
        else:
            self._add(within, self._expression(node))

    def _add(self, within: str, form: str) -> None:
        """A statement, or the head of one, with every subtree of it."""
        opened, leaves = [], 0
        for match in _PART.finditer(form):
            sign = match[0]
            if sign == "(":
                opened.append((match.start(), leaves))
            elif sign == ")":
                start, before = opened.pop()
                if leaves - before >= LEAVES:
                    self._count(form[start : match.end()])
            else:
                leaves += 1
        within = within and within[:_LONGEST] + form
        if within and (leaves >= LEAVES or len(_LEAF.findall(within)) >= LEAVES):
            self._count(within)

    def _count(self, subtree: str) -> None:
        self._found[subtree if len(subtree) <= _LONGEST else f"{subtree[:_LONGEST]}~{len(subtree)}"] += 1

    # ------------------------------------------------------------------------------------------------ expressions

    def _expression(self, node: Node) -> str:
        kind = node.type
        if kind == "identifier":
            return self._name(text_of(self._text, node))
        if kind in _NUMBERS:
            return "#"
        if kind in _TEXTS:
            return '"'
        if kind in ("parenthesized_expression", "condition_clause"):
            return " ".join(self._expression(each) for each in items(node))
        if kind == "cast_expression":
            return self._expression(child(node, "value"))
        if kind == "binary_expression":
            return self._binary(self._operator(node), node)
        if kind == "assignment_expression":
            left, operator = self._expression(child(node, "left")), self._operator(node)
            value = self._expression(child(node, "right"))
            return f"(= {left} {_joined(operator[:-1], [left, value]) if operator != '=' else value})"
        if kind == "update_expression":
            value = self._expression(child(node, "argument"))
            return f"(= {value} {_joined(self._operator(node)[:1], [value, '#'])})"
        if kind == "subscript_expression":
            parts = [self._expression(each) for each in items(child(node, "indices"))]
            return f"(at {_joined('+', [self._expression(child(node, 'argument')), *parts])})"
        if kind in ("pointer_expression", "unary_expression"):
            operator, value = self._operator(node), self._expression(child(node, "argument"))
            if value == "#":
                return "#"
            if operator == "*":
                return f"(at {value})"
            is_element = value.startswith("(at ") and value.endswith(")")  # and not a field of one, as in a[i].x
            return value[4:-1] if operator == "&" and is_element else f"({operator} {value})"
        if kind == "field_expression":
            if text_of(self._text, child(node, "argument")) in _THREAD:
                return "t"
            field = text_of(self._text, child(node, "field"))
            inner = self._expression(child(node, "argument"))
            return f"{inner}.{field if field in 'xyzw' or inner not in 'vps' else 'v'}"
        if kind == "call_expression":
            return self._call(node)
        if kind in ("qualified_identifier", "template_function"):
            return self._name(text_of(self._text, child(node, "name")).split("<")[0])
        if kind in _TYPES:
            return ""
        return f"({kind} {' '.join(self._expression(each) for each in items(node))})"

    def _call(self, node: Node) -> str:
        function = child(node, "function")
        given = [self._expression(each) for each in items(child(node, "arguments"))]
        if function.type in _CASTS and len(given) == 1:
            return given[0]
        name = self._expression(function)
        name = "v" if name == "#" else name
        if function.type == "template_function" and text_of(self._text, function).partition("<")[0].endswith("_cast"):
            return given[0] if given else "#"
        if name == "__ldg" and len(given) == 1:
            return f"(at {given[0]})"
        if _EXTREME.fullmatch(name):
            given.sort()
        return f"({name}() {' '.join(given)})"

    def _binary(self, operator: str, node: Node) -> str:
        return _joined(operator, [self._expression(child(node, side)) for side in ("left", "right")])

    def _negated(self, node: Node) -> str:
        while node.type in ("condition_clause", "parenthesized_expression"):
            node = child(node, "value") or node.named_children[0]
        if node.type == "unary_expression" and self._operator(node) == "!":
            return self._expression(child(node, "argument"))
        if node.type == "binary_expression":
            operator = self._operator(node)
            if operator in _NEGATED:
                return self._binary(_NEGATED[operator], node)
            if operator in ("&&", "||"):
                other = "&&" if operator == "||" else "||"
                return _joined(other, [self._negated(child(node, side)) for side in ("left", "right")])
        return f"(! {self._expression(node)})"

    def _operator(self, node: Node) -> str:
        return text_of(self._text, child(node, "operator"))

    def _name(self, name: str) -> str:
        if name in self._names:
            return self._names[name]
        if is_kept(name):
            return re.sub(r"(?<=[a-z])f\Z", "", name) if not name.startswith("_") else name  # expf is exp
        return "#"  # a constant or a macro of the file


def _joined(operator: str, parts: list[str]) -> str:
    """An operator with its operands: turned, flattened and sorted where that changes nothing; of numbers alone a number."""
    if set(parts) <= {"#", "t"}:
        return "t" if "t" in parts else "#"
    if operator in _TURNED:
        operator, parts = _TURNED[operator], parts[::-1]
    if operator in _SORTED:
        head = f"({operator} "
        flat: list[str] = []
        for part in parts:
            is_whole = part.startswith(head) and part.endswith(")")  # and not a field of one, as in (a * b).x
            flat += _operands(part[len(head) : -1]) if is_whole else [part]
        parts = sorted(flat)
    return f"({operator} {' '.join(parts)})"


def _operands(text: str) -> list[str]:
    """The operands in a form, each a word or in brackets."""
    found, depth, start = [], 0, 0
    for index, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == " " and depth == 0:
            found.append(text[start:index])
            start = index + 1
    return [*found, text[start:]]
