"""PyTorch modules as text that can be compared: without prose, and without the names their author chose. Standard library only."""

from __future__ import annotations

import ast
from collections.abc import Iterator


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_KEPT_METHODS = {"forward"}  # what nn.Module calls, beside what has underscores on both sides


def bare(source: str) -> str:
    """The statements of a module without docstrings, annotations and comments; as it stands when it is not Python."""
    tree = _parsed(source)
    return source if tree is None else _text(tree)


def renamed(source: str) -> str | None:
    """`bare` with the author's names numbered in the order they come; None when it is not Python.

    Local names are numbered for each function by itself, and attributes of `self` and names of the file apart from them: whether
    `get_inputs` calls its tensor what `forward` calls its argument says nothing. Names of libraries stay, whatever alias they
    came under: relu is not sigmoid.
    """
    tree = _parsed(source)
    if tree is None:
        return None
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported.update({each.asname: each.name for each in node.names if each.asname})
        elif isinstance(node, ast.ImportFrom):
            imported.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    own = _own_attributes(tree)
    try:
        _rename(tree, [(_bound(tree), {}, "g")], imported, own, {})
        tree.body = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
        return _text(tree)
    except RecursionError:
        return None


def _parsed(source: str) -> ast.Module | None:
    try:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            if isinstance(node, ast.FunctionDef):
                node.returns = None
            if isinstance(node, ast.arg):
                node.annotation = None
        ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return tree


def _text(tree: ast.AST) -> str:
    """Python in words that `cuda_source.tokens` reads: to C++, what follows // is a comment."""
    return ast.unparse(tree).replace(" //", " floordiv")


def _bound(node: ast.AST) -> set[str]:
    """The names a function or a file gives a value itself, not those of functions and classes within it."""
    found = (
        {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        if isinstance(node, _FUNCTIONS)
        else set()
    )
    for each in _within(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(each.name)
    return found


def _within(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _within(child)


def _own_attributes(tree: ast.Module) -> set[str]:
    """The methods of the file's classes, and what they assign to `self`."""
    methods = {each.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body
               if isinstance(each, ast.FunctionDef)}  # fmt: skip
    own = {name for name in methods if not name.endswith("__") and name not in _KEPT_METHODS}
    return own | {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
    }


_Scope = tuple[set[str], dict[str, str], str]  # names that it binds, their numbers, and what stands before a number


def _is_local(node: ast.AST, scopes: list[_Scope]) -> bool:
    return isinstance(node, ast.Name) and any(node.id in bound for bound, _, _ in scopes[1:])


def _rename(
    node: ast.AST, scopes: list[_Scope], imported: dict[str, str], own: set[str], attributes: dict[str, str]
) -> None:
    """Number names where they first come. A name that no scope binds is a library's and stays."""

    def name_of(name: str) -> str:
        for bound, numbers, prefix in reversed(scopes):
            if name in bound:
                return numbers.setdefault(name, f"{prefix}{len(numbers)}")
        return imported.get(name, name)

    for child in ast.iter_child_nodes(node):
        inner = scopes
        if isinstance(child, _FUNCTIONS):
            inner = [*scopes, (_bound(child), {}, f"l{len(scopes)}_")]
        if isinstance(child, ast.Name):
            child.id = name_of(child.id)
        elif isinstance(child, ast.arg):
            child.arg = name_of(child.arg)
        elif isinstance(child, ast.Global):
            child.names = [name_of(name) for name in child.names]
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(node, ast.ClassDef):
            child.name = attributes.setdefault(child.name, f"a{len(attributes)}") if child.name in own else child.name
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            child.name = name_of(child.name)
        elif isinstance(child, ast.Attribute) and child.attr in own and _is_local(child.value, scopes):
            child.attr = attributes.setdefault(child.attr, f"a{len(attributes)}")
        _rename(child, inner, imported, own, attributes)
