"""Errors at the edges of an array: one element too many or too few, a remainder or a bounds check left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ..cuda_source import Function
from ..cuda_source.tree import child, items, sides, walk
from .program import COMPARISONS, Edit, Program, covers, initial_value


_LOOSER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_LOGICAL = ("&&", "||")
_CLAMPS = frozenset({"min", "max", "clamp", "fminf", "fmaxf", "fmin", "fmax"})
_ENDS_IN_WORD = re.compile(r"(?:.*\W)?[A-Za-z_]\w*", re.DOTALL)
_FLOAT = re.compile(r"(?!0[xX]).*(?:\.|[fF]\Z)")


def bound_off_by_one(program: Program) -> Iterator[Edit]:
    """`i < n` as `i <= n` or `i < n - 1`, a loop that starts late or ends early, `(n + 255) / 256` as `n / 256`."""
    for loop in program.nodes("for_statement"):
        body = child(loop, "body")
        if program.device_function(loop) or "<<<" in program.code[body.start_byte : body.end_byte]:
            yield from _loop_bounds(program, loop)
    for node, function in program.in_device("binary_expression"):
        if program.sign(node) in COMPARISONS and not covers(program.loop_heads, node):
            yield from _guard(program, node, function)
        elif program.sign(node) == "-" and program.text(child(node, "right")) == "1":
            yield from _last_element(program, node)
    for node in program.nodes("binary_expression"):
        if program.sign(node) == "/" and not covers(program.checks, node):
            yield from _ceil_division(program, node)


def _loop_bounds(program: Program, loop: Node) -> Iterator[Edit]:
    condition, update, first = child(loop, "condition"), child(loop, "update"), initial_value(loop)
    steps = {program.text(node) for node in walk(update) if not node.is_named}
    halving, doubling = steps & {"/=", ">>="}, steps & {"*=", "<<="}
    strided = not (steps & {"++", "--"} or halving or doubling)
    from_zero = first is not None and program.text(first) == "0"
    for node in walk(condition):
        if (sign := program.sign(node)) not in COMPARISONS:
            continue
        left, right = sides(node)
        relation, bound = child(node, "operator"), program.text(right)
        if halving:
            if sign == ">" and bound == "0":
                yield program.edit(right, "1", "last round")
            elif sign == ">=":
                yield program.edit(relation, ">", "last round")
        elif doubling:
            if sign == "<=":
                yield program.edit(relation, "<", "last round")
            elif sign == "<":
                yield program.edit(right, f"{program.operand(right)} / 2", "last round")
        elif strided and from_zero:
            if sign == "<" and left.type == "identifier" and update is not None and program.sign(update) == "+=":
                tile = program.text(child(update, "right"))
                yield program.edit(node, f"{program.text(left)} + {tile} <= {bound}", "last tile")
            yield program.edit(relation, _LOOSER[sign], "loop relation", 2)
        else:
            yield program.edit(relation, _LOOSER[sign], "loop relation", 1 if strided else 0)
            if sign == "<":
                yield program.edit(right, f"{bound} - 1", "loop end")
    if from_zero and "++" in steps:
        yield program.edit(first, "1", "loop start")


def _guard(program: Program, node: Node, function: Function) -> Iterator[Edit]:
    if not is_bound(program, node, function):
        return
    sign, right = program.sign(node), child(node, "right")
    bound, indexed = program.text(right), program.words(right) & program.indices[function]
    tier = 0 if sign == "<=" or bound == "0" or indexed else 1
    yield program.edit(child(node, "operator"), _LOOSER[sign], "relation", tier)
    if sign in ("<", ">=") and _ENDS_IN_WORD.fullmatch(bound) and not indexed:
        yield program.edit(right, f"{bound} - 1", "bound")


def is_bound(program: Program, node: Node, function: Function) -> bool:
    """Whether a comparison checks a position against a bound: a position on the left, no floating-point value."""
    left, right = sides(node)
    if not _outside_subscripts(program, left) & program.indices[function]:
        return False
    one, other = program.text(left), program.text(right)
    if left.type == right.type == "identifier" and len(one) == len(other) > 3 and one[:-1] == other[:-1]:
        return False  # indexA and indexB are two values of a kind
    return not any(each.type == "number_literal" and _FLOAT.match(program.text(each)) for each in walk(right))


def _outside_subscripts(program: Program, node: Node) -> set[str]:
    """The identifiers of an expression outside of [ ], without members."""
    found = walk(node, lambda at: [] if at.type == "subscript_argument_list" else at.children)
    return {program.text(each) for each in found if each.type == "identifier"}


def _last_element(program: Program, node: Node) -> Iterator[Edit]:
    """`n - 1` as the end of a clamp or of an array, written `n`."""
    left, outer = child(node, "left"), node.parent
    is_end = outer.type == "subscript_argument_list" and left.type == "identifier"
    is_argument = outer.type == "argument_list" and outer.parent.type == "call_expression"
    is_end = is_end or (is_argument and program.calls(outer.parent, _CLAMPS))
    if is_end and _ENDS_IN_WORD.fullmatch(program.text(left)):
        yield program.edit((left.end_byte, node.end_byte), "", "last element", 1)


def _ceil_division(program: Program, node: Node) -> Iterator[Edit]:
    """`(n + b - 1) / b`, `(n + 255) / 256` and `(n - 1) / b + 1`, written `n / b`."""
    left, divisor = sides(node)
    while left.type == "binary_expression":  # a * (n + 255) / 256
        left = child(left, "right")
    inner = items(left)[0] if left.type == "parenthesized_expression" else None
    if inner is None or inner.type != "binary_expression":
        return
    sign, (count, last), end = program.sign(inner), sides(inner), node.end_byte
    number, width = program.text(last), program.text(divisor)
    if sign == "-" and number == "1":
        if program.adds(node.parent, "1"):
            end = node.parent.end_byte
        elif program.adds(count, width):
            count = child(count, "left")
        else:
            return
    elif not (sign == "+" and number.isdecimal() and width == str(int(number) + 1)):
        return
    yield program.edit((left.start_byte, end), f"{program.operand(count)} / {width}", "remainder")


def drop_boundary_check(program: Program) -> Iterator[Edit]:
    """A guard left out: the whole `if`, one half of `row < m && col < n`, or the choice of 0 outside the array."""
    for node, function in program.in_device("if_statement"):
        yield from _whole_if(program, node, function)
    for node, function in program.in_device("binary_expression", heads=False):
        if program.sign(node) in _LOGICAL:
            yield from _half(program, node, function)
    for node, function in program.in_device("conditional_expression"):
        yield from _choice(program, node, function)


def _bounds_in(program: Program, node: Node, function: Function) -> bool:
    """Whether an expression consists of bounds checks alone."""
    signs = [each for each in walk(node) if program.sign(each) in COMPARISONS]
    return (
        bool(signs)
        and all(is_bound(program, each, function) for each in signs)
        and re.search(r"[=!]=|\[", program.text(node)) is None
    )


def _whole_if(program: Program, node: Node, function: Function) -> Iterator[Edit]:
    condition, taken = child(node, "condition"), child(node, "consequence")
    follows = program.before(node.start_byte) in (";", "{", "}")
    if not follows or child(node, "alternative") or not _bounds_in(program, condition, function):
        return
    if re.match(r"\{?\s*return\b", program.code[taken.start_byte : taken.end_byte]):
        yield program.cut(node, "return")
    else:
        yield program.cut((node.start_byte, condition.end_byte), "if")


def _half(program: Program, node: Node, function: Function) -> Iterator[Edit]:
    left, right = sides(node)
    while program.sign(left) in _LOGICAL:
        left = child(left, "right")
    while program.sign(right) in _LOGICAL:
        right = child(right, "left")
    if _bounds_in(program, right, function):
        yield program.edit((left.end_byte, right.end_byte), "", "right half")
    if _bounds_in(program, left, function):
        yield program.cut((left.start_byte, child(node, "operator").end_byte), "left half")


def _choice(program: Program, node: Node, function: Function) -> Iterator[Edit]:
    """`i < n ? a[i] : 0` as `a[i]`."""
    condition, taken, other = (child(node, name) for name in ("condition", "consequence", "alternative"))
    if taken is None or other.type == "conditional_expression" or "[" not in program.text(taken):
        return
    if condition.type == "identifier" or _bounds_in(program, condition, function):
        yield program.edit(node, program.text(taken), "choice")
