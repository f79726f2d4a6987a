"""Kernels taken out of their files, in two forms.

`excerpts` returns each kernel together with the declarations of its file that it needs. `kernel_features` returns the
set of a kernel's normalised subtrees, by which copies are recognised.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from tree_sitter import Node

from .source import Function, Range, Source, child, declarators, declared, is_kept, items, last_name, text_of, walk


# ------------------------------------------------------------------------------ a kernel and the declarations it needs

_WORD = re.compile(r"[A-Za-z_]\w*")
_OTHERWISE = {"preproc_else", "preproc_elif"}
_INTO = {"preproc_ifdef", "preproc_if", *_OTHERWISE, "linkage_specification", "declaration_list", "ERROR"}
_ALWAYS = {"preproc_include", "using_declaration", "namespace_alias_definition"}
_DEFINED_TYPES = {"struct_specifier", "class_specifier", "union_specifier", "enum_specifier"}
_ON_DEVICE = re.compile(r"\b(?:__device__|__global__|constexpr|[A-Z_]*DEVICE[A-Z_]*)\b")


class _Unit(NamedTuple):
    """A piece of code at the top level of a file.

    Attributes:
        span: its range in the text.
        names: the names that it introduces. Empty for what every excerpt contains, such as an include.
        namespaces: the namespaces around it, the outermost first.
    """

    span: Range
    names: tuple[str, ...]
    namespaces: tuple[str, ...] = ()


def excerpts(source: Source) -> Iterator[tuple[Function, str]]:
    """Yield each kernel of a file with its excerpt, in the order of the file.

    An excerpt has the kernel, the includes and `using` lines, and every declaration that the kernel needs, directly or
    through another declaration. Host functions are left out, so that an excerpt has no program around its kernel.
    Macros whose bodies are kernels get no excerpt. If the file has no syntax tree, the excerpt is its whole text.
    """
    units = [] if source.root is None else list(_units(source, source.root, (), set()))
    by_name: defaultdict[str, list[_Unit]] = defaultdict(list)
    for unit in units:
        for name in unit.names:
            by_name[name].append(unit)
    always = [unit for unit in units if not unit.names]
    for kernel in (function for function in source.functions if function.is_kernel):
        if not units:
            yield kernel, source.text
            continue
        start, end = kernel.head, kernel.body[1]
        kernel_unit = next((unit for unit in units if unit.span[0] <= start and end <= unit.span[1]), None)
        if kernel_unit and source.text.startswith("#", kernel_unit.span[0]):
            continue  # a macro that makes kernels is no kernel itself
        # The tree may have no unit for the kernel, for example after the use of a macro without a semicolon. Then the
        # kernel's own text serves as the unit.
        kernel_unit = kernel_unit or _Unit((start, end), ())
        # Units that overlap the kernel's are parts of it, or it of them.
        needed, waiting = {kernel_unit}, [kernel_unit]
        needed.update(unit for unit in always if _are_apart(unit, kernel_unit))
        while waiting:
            start, end = waiting.pop().span
            is_macro = source.text.startswith("#", start)  # macros are blank in `code`
            words = set(_WORD.findall(source.text if is_macro else source.code, start, end))
            named = {unit for word in words & by_name.keys() for unit in by_name[word]}
            used = {unit for unit in named - needed if _are_apart(unit, kernel_unit)}
            needed |= used
            waiting += used
        yield kernel, _written(source, sorted(needed))


def _are_apart(one: _Unit, other: _Unit) -> bool:
    return one.span[1] <= other.span[0] or other.span[1] <= one.span[0]


def _units(source: Source, node: Node, namespaces: tuple[str, ...], seen: set[str]) -> Iterator[_Unit]:
    """Yield the units at the top level, in namespaces and in preprocessor branches.

    If two branches define the same name, only the first is taken. `seen` collects the names.
    """
    for entry in node.children:
        kind, span = entry.type, (entry.start_byte, entry.end_byte)
        if kind == "namespace_definition":
            name = child(entry, "name")
            if (inner := child(entry, "body")) is not None:
                yield from _units(source, inner, (*namespaces, text_of(source.text, name) if name else ""), seen)
        elif kind in _INTO:
            seen_before = {*seen}
            for unit in _units(source, entry, namespaces, seen):
                if kind not in _OTHERWISE or not seen_before.intersection(unit.names):
                    yield unit
        elif kind in _ALWAYS:
            yield _Unit(span, (), namespaces)
        elif names := tuple(_introduced(source, entry)):
            seen.update(names)
            yield _Unit(span, names, namespaces)


def _introduced(source: Source, node: Node) -> Iterator[str]:
    """Yield the names that a declaration, a type or a macro introduces. A host function yields none."""
    kind = node.type
    if kind == "template_declaration":
        for part in node.named_children:
            if part.type != "template_parameter_list":
                yield from _introduced(source, part)
    elif kind in ("preproc_def", "preproc_function_def", "alias_declaration", "concept_definition"):
        if (name := child(node, "name")) is not None:
            yield text_of(source.text, name)
    elif kind == "function_definition":
        body = child(node, "body")
        head = source.code[node.start_byte : body.start_byte if body else node.end_byte]
        if _ON_DEVICE.search(head) and (name := declared(node)) is not None:
            yield text_of(source.text, last_name(name))
    elif kind in {*_DEFINED_TYPES, "declaration", "type_definition"}:
        for part in declarators(node):
            if (name := declared(part)) is not None:
                yield text_of(source.text, last_name(name))
        type_ = node if kind.endswith("_specifier") else child(node, "type")
        if type_ is not None and type_.type.endswith("_specifier") and child(type_, "body") is not None:
            if (name := child(type_, "name")) is not None:
                yield text_of(source.text, last_name(name))
            if type_.type == "enum_specifier":
                values = (part for part in walk(child(type_, "body")) if part.type == "enumerator")
                yield from (text_of(source.text, child(part, "name")) for part in values)


def _written(source: Source, units: list[_Unit]) -> str:
    """Return the units as one text, each in its namespaces."""
    parts = []
    for namespaces, group in groupby(units, key=lambda unit: unit.namespaces):
        parts += [f"namespace {name} {{".replace("  ", " ") for name in namespaces]
        for unit in group:
            start, end = unit.span
            semicolon = re.match(r"\s*;", source.text[end : end + 20])  # a type's semicolon
            parts.append(source.text[start : end + (semicolon.end() if semicolon else 0)].rstrip())
        parts += ["}"] * len(namespaces)
    return "\n".join(parts).strip() + "\n"


# -------------------------------------------------------------------------------------------------------- as subtrees

# The normal form leaves out what does not change the result of a kernel, or changes it only a little:
# - Comments, layout, qualifiers, types and casts are dropped.
# - Names become `p` (a parameter), `s` (shared memory) or `v` (a local variable). Words of CUDA and of the mathematics
#   library stay.
# - Numbers, and the constants and macros of the file, become `#`.
# - The index of a thread becomes `t`, however it is computed.
# - The operands of commutative operators are sorted, and `a > b` becomes `b < a`.
# - These have one form each: `x += y`, `x++` and `x = x + y`; `for` and `while`; `a[i]` and `*(a + i)`;
#   `if (c) return; rest` and `if (!c) { rest }`.
# The subtrees are a set, so the order of statements does not matter.

# Statements that contain others: type -> (name of the head, field of the expression in the head, fields below it). A
# case has no field for the statements below it.
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
_LEAF = re.compile(r"(?<= )[^() ]+")  # a name or number in a form, but no operator
_PART = re.compile(rf"\((?!\))|(?<!\()\)|{_LEAF.pattern}")  # a leaf, or a bracket of a subtree; not those of `max()`
# The least number of leaves of a counted subtree: `(at (+ p v))` and `(if (< v p))` say nothing about a kernel.
LEAVES = 3
_CALLED = re.compile(r"\b[A-Za-z_]\w*+(?=\s*+(?:<[^<>;(){}]*>\s*+)?\()")
_EXTREME = re.compile(r"f?(max|min)f?")
_LONGEST = 160  # longer subtrees are cut off after this many characters, and their length is added


def kernel_features(source: Source, kernel: Function) -> frozenset[str]:
    """Return the normalised subtrees of a kernel and of the functions in the same text that it calls.

    A subtree that occurs several times is counted up to four times: the repeats have a number at the end. The result
    is empty if the text has no syntax tree, or one that is nested too deeply to be walked.
    """
    counts: Counter[str] = Counter()
    seen, waiting = {kernel.body}, [kernel]
    while waiting:
        function = waiting.pop()
        try:
            _Reader(source, function, counts)
        except RecursionError:
            return frozenset()
        names = set(_CALLED.findall(source.code, *function.body))
        called = [helper for helper in source.functions if helper.name in names and not helper.is_kernel]
        waiting += [helper for helper in called if helper.body not in seen]
        seen.update(helper.body for helper in called)
    repeats = ((text, number) for text, count in counts.items() for number in range(min(count, 4)))
    return frozenset(f"{text} {number}" if number else text for text, number in repeats)


class _Reader:
    """Normalise the body of one function, and add its subtrees to `found`."""

    def __init__(self, source: Source, function: Function, found: Counter[str]) -> None:
        self._text, self._found = source.text, found
        self._names = {parameter.name: "p" for parameter in function.parameters}
        start, end = function.body
        node = source.root.descendant_for_byte_range(start, end - 1) if source.root else None
        if node is not None:
            self._block([node], "")

    # ------------------------------------------------------------------------------------------------- statements

    def _block(self, nodes: Iterable[Node], within: str) -> None:
        """Read the statements below a condition or a loop whose head is `within`; "" for the body of the function."""
        nodes = self._flat(nodes)
        for index, node in enumerate(nodes):
            rest = nodes[index + 1 :]
            taken = self._flat(filter(None, [child(node, "consequence")])) if node.type == "if_statement" else []
            leaves = [each.type for each in taken] == ["return_statement"] and not taken[0].named_child_count
            if leaves and rest and not child(node, "alternative"):
                # `if (c) return; rest` is read as `if (!c) { rest }`.
                head = f"(if {self._negated(child(node, 'condition'))})"
                self._add(within, head)
                self._block(rest, head)
                return
            self._statement(node, within)

    def _flat(self, nodes: Iterable[Node]) -> list[Node]:
        """Return the statements in `nodes`, without the braces and preprocessor branches around them."""
        statements = []
        for node in nodes:
            if node.type in _AROUND_CODE:
                statements += self._flat(node.named_children)
            elif node.is_named and node.type not in _WITHOUT_CODE:
                statements.append(node)
        return statements

    def _statement(self, node: Node, within: str) -> None:
        kind = node.type
        if kind in _HEADS:
            name, field, below = _HEADS[kind]
            if name == "loop" and (initializer := child(node, "initializer")) is not None:
                self._statement(initializer, within)
            if kind == "for_range_loop" and (variable := declared(child(node, "declarator"))) is not None:
                self._names[text_of(self._text, variable)] = "v"
            head_node = child(node, field)
            head = f"({name} {self._expression(head_node) if head_node else '#' if name == 'loop' else ''})"
            self._add(within, head)
            inner = [child(node, each) for each in below]
            inner = inner or [each for each in node.named_children if each != head_node]
            self._block(filter(None, inner), head)
            if (alternative := child(node, "alternative")) is not None:
                self._block(alternative.named_children, f"(else {head})")
        elif kind == "declaration":
            for each in declarators(node):
                name, value = declared(each), child(each, "value")
                if name is None:
                    continue
                is_shared = "__shared__" in self._text[node.start_byte : each.start_byte]
                self._names[text_of(self._text, name)] = letter = "s" if is_shared else "v"
                if is_shared:
                    self._add(within, "(shared)")
                if value is not None:
                    self._add(within, f"(= {letter} {self._expression(value)})")
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
        """Count the subtrees of a statement or of its head that have enough leaves, also together with `within`."""
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
            is_element = value.startswith("(at ") and value.endswith(")")  # not a field of an element, as in a[i].x
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
        argument_forms = [self._expression(each) for each in items(child(node, "arguments"))]
        if function.type in _CASTS and len(argument_forms) == 1:
            return argument_forms[0]
        name = self._expression(function)
        name = "v" if name == "#" else name
        if function.type == "template_function" and text_of(self._text, function).partition("<")[0].endswith("_cast"):
            return argument_forms[0] if argument_forms else "#"
        if name == "__ldg" and len(argument_forms) == 1:
            return f"(at {argument_forms[0]})"
        if _EXTREME.fullmatch(name):
            argument_forms.sort()
        return f"({name}() {' '.join(argument_forms)})"

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
            return re.sub(r"(?<=[a-z])f\Z", "", name) if not name.startswith("_") else name  # expf becomes exp
        return "#"  # a constant or a macro of the file


def _joined(operator: str, parts: list[str]) -> str:
    """Return the form of an operator with its operands.

    Operands are swapped, flattened and sorted where this does not change the value. If all operands are numbers, the
    form is a number, and if all are numbers and thread indices, it is a thread index.
    """
    if set(parts) <= {"#", "t"}:
        return "t" if "t" in parts else "#"
    if operator in _TURNED:
        operator, parts = _TURNED[operator], parts[::-1]
    if operator in _SORTED:
        head = f"({operator} "
        flat: list[str] = []
        for part in parts:
            is_whole = part.startswith(head) and part.endswith(")")  # not a field of an expression, as in (a * b).x
            flat += _operands(part[len(head) : -1]) if is_whole else [part]
        parts = sorted(flat)
    return f"({operator} {' '.join(parts)})"


def _operands(text: str) -> list[str]:
    """Split a text into its operands, each of which is a word or stands in brackets."""
    operands, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == " " and depth == 0:
            operands.append(text[start:index])
            start = index + 1
    return [*operands, text[start:]]
