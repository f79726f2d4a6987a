"""Errors of arithmetic: the wrong operator, an accumulator that starts at the wrong value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ..cuda_source import Function
from ..cuda_source.tree import callee, child
from .bounds import is_bound
from .program import COMPARISONS, Edit, Program


_EXTREMA = (("max", "min"), ("fmaxf", "fminf"), ("fmax", "fmin"), ("atomicMax", "atomicMin"), ("__hmax", "__hmin"))
_CALLS = dict(_EXTREMA) | {smaller: larger for larger, smaller in _EXTREMA}
_ASSIGNED = {"+=": "-=", "-=": "+=", "*=": "+=", "|=": "&=", "^=": "|="}
_BINARY = {"+": "-", "-": "+", "^": "|", "|": "&", "&": "|", "<<": ">>", ">>": "<<"}
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_LIMITS = frozenset({"INFINITY", "FLT_MAX", "DBL_MAX", "INT_MAX", "INT_MIN", "HUGE_VALF", "FLT_MIN", "UINT_MAX"})
_ZEROS = {"0": "1", "0.0f": "1.0f", "0.f": "1.f", "0.0": "1.0", "0u": "1u", "0.": "1.", "0ULL": "1ULL", "0f": "1f"}
_EXPONENTIALS = frozenset({"exp", "expf", "__expf", "exp2f"})


def wrong_operator(program: Program) -> Iterator[Edit]:
    """`+` for `-`, `max` for `min`, `<<` for `>>`, a comparison of values reversed."""
    for call, _ in program.in_device("call_expression", heads=False):
        if program.calls(call, _CALLS):
            yield program.edit(callee(call), _CALLS[program.text(callee(call))], "extreme")
    for node, function in program.in_device("assignment_expression", "binary_expression", heads=False):
        sign, operator = program.sign(node), child(node, "operator")
        if sign in _ASSIGNED:
            yield program.edit(operator, _ASSIGNED[sign], "assignment", 1 if sign == "*=" else 0)
        elif sign in COMPARISONS and not is_bound(program, node, function):
            yield program.edit(operator, _FLIPPED[sign], "comparison", 1)
        elif sign in _BINARY:
            # Where a subscript or a pointer is computed, an error of the index operators would be the same.
            is_address = _addresses(node) or program.after(operator.end_byte) == "threadIdx"
            yield program.edit(operator, _BINARY[sign], "operator", 1 if is_address or sign not in ("+", "-") else 0)


def _addresses(node: Node) -> bool:
    while (node := node.parent) and not node.type.endswith(("statement", "declaration")):
        pointer = child(node, "declarator")
        if node.type in ("subscript_argument_list", "array_declarator") or (
            node.type == "init_declarator" and pointer and pointer.type == "pointer_declarator"
        ):
            return True
    return False


def wrong_initial_value(program: Program) -> Iterator[Edit]:
    """A sum that starts at 1, a maximum that starts at 0, an array cleared with 1."""
    for node, function in program.in_device("identifier", heads=False):
        if program.text(node) not in _LIMITS or program.after(node.end_byte) not in (";", ",", "}", ")"):
            continue
        whole = node.parent if program.text(node.parent).startswith("-") else node
        if program.before(whole.start_byte) in ("=", "{", ":", ",", "("):
            zero = "0" if program.text(node).startswith(("INT", "UINT")) else "0.0f"
            # A softmax does not change with the number that its exponents are shifted by.
            yield program.edit(whole, zero, "extreme", 2 if program.words(function.body) & _EXPONENTIALS else 0)
    for node, function in program.in_device("number_literal", heads=False):
        one, before, after = (
            _ZEROS.get(program.text(node)), program.before(node.start_byte), program.after(node.end_byte)
        )  # fmt: skip
        if one and before == "=" and after in (";", ","):
            target = child(node.parent, "left") or child(node.parent, "declarator") or node
            is_sum = target.type == "subscript_expression" or _is_added_to(program, target, function)
            yield program.edit(node, one, "zero", 0 if is_sum else 1)
        elif one and before == ":" and after in (";", ",", ")"):
            yield program.edit(node, one, "neutral element", 1)


def _is_added_to(program: Program, variable: Node, function: Function) -> bool:
    """Whether something is added to a variable later in the function."""
    name = re.escape(program.text(variable))
    added = re.compile(rf"\b{name}\s*(?:[-+*|^]=|\+\+)|\+\+\s*{name}\b")
    return added.search(program.code, variable.end_byte, function.body[1]) is not None
