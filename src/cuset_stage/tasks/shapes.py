"""Shapes that depend on a case's parameters: `["m", "2 * k + 1"]` with m = 3, k = 4 is (3, 9). Standard library only."""

import ast
import operator
from collections.abc import Mapping, Sequence
from typing import Any


_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ALLOWED = "names, integers, + - * // % and parentheses"
MAX_EXPRESSION = 200  # characters; also keeps the parser's recursion shallow
MAX_SIZE = 2**48  # elements of one dimension: what is larger is a mistake, not a tensor


class ShapeError(ValueError):
    """A shape cannot be evaluated; the message names the entry, what was expected and what is there."""


def evaluate_shape(shape: Sequence[int | str], parameters: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape with every entry evaluated. Raises ShapeError, also for an empty shape."""
    if not shape:
        raise ShapeError(f"{shape!r} is not a list of at least one size")
    return tuple(evaluate_size(entry, parameters) for entry in shape)


def evaluate_size(entry: int | str, parameters: Mapping[str, Any]) -> int:
    """One dimension: a positive int, or arithmetic (names, ints, + - * // %, parentheses) over `parameters`.

    Evaluated on the syntax tree, so no call, attribute or subscript can run. Raises ShapeError.
    """
    if type(entry) not in (int, str):
        raise ShapeError(f"{entry!r} is neither an integer nor a string")
    size = entry
    if isinstance(entry, str):
        if len(entry) > MAX_EXPRESSION:
            raise ShapeError(f"{entry[:40]!r}...: {len(entry)} characters, at most {MAX_EXPRESSION}")
        try:
            tree = ast.parse(entry.strip(), mode="eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise ShapeError(f"{entry!r} is not an expression of {_ALLOWED}") from None
        size = _evaluate(tree.body, entry, parameters)
    if not 0 < size <= MAX_SIZE:
        raise ShapeError(f"{entry!r} is {size}, a size is positive and at most {MAX_SIZE}")
    return size


def _evaluate(node: ast.expr, entry: str, parameters: Mapping[str, Any]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in parameters:
            raise ShapeError(f"{entry!r}: {node.id!r} is no parameter of the case, which has {sorted(parameters)}")
        value = parameters[node.id]
        if type(value) is not int:
            raise ShapeError(f"{entry!r}: parameter {node.id!r} is {value!r}, a shape needs an integer")
        return value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _evaluate(node.left, entry, parameters), _evaluate(node.right, entry, parameters)
        try:
            result = _OPERATORS[type(node.op)](left, right)
        except ZeroDivisionError:
            raise ShapeError(f"{entry!r}: division by zero with {dict(parameters)}") from None
        if abs(result) > MAX_SIZE:
            raise ShapeError(f"{entry!r}: exceeds {MAX_SIZE} with {dict(parameters)}")
        return result
    raise ShapeError(f"{entry!r}: only {_ALLOWED} are allowed")
