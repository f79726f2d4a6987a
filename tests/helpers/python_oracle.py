"""Triton kernels and launches in Python files by Python's own parser: what the tests hold the lexer to.

A body goes from its first statement or comment to its last, comments deeper than the `def` included.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from typing import NamedTuple


Extent = tuple[int, int]


class Found(NamedTuple):
    """Extents in str indices; `unknown` are subscripts of which nobody can tell whether they launch."""

    bodies: list[Extent]
    launches: list[Extent]
    unknown: list[Extent]


class _Positions:
    """Lines and columns, in bytes as `ast` has them or in characters as `tokenize` has them, as str indices."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")  # as the parser: "\r\n" ends with "\n", and nothing else does
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def at(self, line: int, byte: int) -> int:
        text = self.lines[line - 1]
        column = byte if text.isascii() else len(text.encode()[:byte].decode())
        return self.starts[line - 1] + column

    def start(self, node: ast.AST) -> int:
        """Where a statement starts, its decorators included."""
        first = min([node, *getattr(node, "decorator_list", [])], key=lambda each: each.lineno)
        return self.at(first.lineno, node.col_offset)

    def end(self, node: ast.AST) -> int:
        return self.at(node.end_lineno, node.end_col_offset)


def dotted(node: ast.AST) -> str:
    """`a.b.c` of a decorator or callee, a call's function without its arguments."""
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def is_jit(function: ast.AST) -> bool:
    """Whether a decorator makes a Triton kernel of the function."""
    return any(
        name.split(".")[-1] == "jit" and (name.split(".")[0] in ("triton", "gluon", "tr", "jit"))
        for decorator in function.decorator_list
        for name in (dotted(each) for each in ast.walk(decorator) if isinstance(each, ast.Attribute | ast.Name))
    )


def triton_names(trees: Iterable[ast.AST]) -> set[str]:
    """Names of a repository's kernels, and of variables that hold one."""
    trees = list(trees)
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = {node.name for node in functions if is_jit(node)} | set().union(*map(wrapped_names, trees))
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and _holds_kernel(node.value, names):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def wrapped_names(tree: ast.AST) -> set[str]:
    """Names of functions in `triton.jit(function)`."""
    return {
        node.args[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and node.args
        and dotted(node) == "triton.jit"
        and isinstance(node.args[0], ast.Name)
    }


def _holds_kernel(value: ast.AST, names: set[str]) -> bool:
    """Whether an assigned value is a kernel, and not the result of a launch."""
    parts = list(ast.walk(value))
    has_launch = any(isinstance(part, ast.Subscript) for part in parts)
    return not has_launch and any(isinstance(part, ast.Name) and part.id in names for part in parts)


def find(text: str, tree: ast.AST, kernels: set[str]) -> Found:
    """Kernels and launches of a file. kernels: `triton_names` of it."""
    places = _Positions(text)
    comments = list(_comments(text))
    bodies, launches, unknown = list[Extent](), list[Extent](), list[Extent]()
    wrapped = wrapped_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if is_jit(node) or node.name in wrapped:
                bodies.append(_body(places, comments, node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            extent = text.index("[", places.end(node.func.value)), places.end(node.func)
            names = {part.id for part in ast.walk(node.func.value) if isinstance(part, ast.Name)}
            names |= {part.attr for part in ast.walk(node.func.value) if isinstance(part, ast.Attribute)}
            if names & kernels:
                launches.append(extent)
            elif not isinstance(node.func.slice, ast.Constant):
                unknown.append(extent)
    return Found(sorted(bodies), sorted(launches), sorted(unknown))


def _comments(text: str) -> Iterator[tuple[int, int, int, bool]]:
    """(start, end, column, whether it has its line alone) of every comment."""
    places = _Positions(text)
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type == tokenize.COMMENT:
            start = places.starts[token.start[0] - 1] + token.start[1]
            yield start, start + len(token.string.rstrip()), token.start[1], not token.line[: token.start[1]].strip()


def _body(places: _Positions, comments: list[tuple[int, int, int, bool]], node: ast.AST) -> Extent:
    text = places.text
    start, end = places.start(node.body[0]), places.end(node.body[-1])
    column = len(places.lines[node.lineno - 1]) - len(places.lines[node.lineno - 1].lstrip())

    def only_comments(first: int, last: int) -> bool:
        lines = map(str.strip, text[first:last].split("\n"))
        return all(not line or line.startswith("#") for line in lines)

    for begin, _, at, alone in reversed(comments):  # between the head and the first statement
        is_inside = begin < start and alone and at > column and begin >= places.at(node.lineno, node.col_offset)
        start = begin if is_inside and only_comments(begin, start) else start
    for begin, finish, at, alone in comments:  # behind the last one
        is_inside = begin >= end and (at > column or not alone)
        end = finish if is_inside and only_comments(end, begin) else end
    return start, end
