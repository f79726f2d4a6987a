"""PyTorch modules as text that can be compared: without prose, and without the names their author chose. Standard library only."""

from __future__ import annotations

import ast
from collections.abc import Iterator


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
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
    try:
        return _text(_Renamer(tree).visit(tree))
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
    found: set[str] = set()
    if isinstance(node, _FUNCTIONS):
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        found.update(each.arg for each in every if each is not None)
    for each in _within(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(each.name)
    return found


def _within(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield from _within(child)


class _Renamer(ast.NodeTransformer):
    """Numbers names where they first come. A scope maps what it binds; a name that none binds is a library's and stays."""

    def __init__(self, tree: ast.Module) -> None:
        self._imported: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self._imported.update({each.asname: each.name for each in node.names if each.asname})
            elif isinstance(node, ast.ImportFrom):
                self._imported.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
        self._scopes: list[tuple[str, set[str], dict[str, str]]] = [("g", _bound(tree), {})]
        self._self: list[tuple[str, set[str]]] = []
        self._attributes: dict[str, str] = {}

    def _name(self, name: str) -> str:
        for prefix, bound, numbers in reversed(self._scopes):
            if name in bound:
                return numbers.setdefault(name, f"{prefix}{len(numbers)}")
        return self._imported.get(name, name)

    def visit_Import(self, node: ast.Import) -> None:
        """Left out: names carry where they come from."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """As `visit_Import`."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._name(node.id), node.ctx)

    def visit_Global(self, node: ast.Global) -> ast.Global:
        return ast.Global([self._name(name) for name in node.names])

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self._name(node.arg))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        own = self._self and isinstance(node.value, ast.Name) and node.value.id == self._self[-1][0]
        name = self._attribute(node.attr) if own and node.attr in self._self[-1][1] else node.attr
        return ast.Attribute(self.visit(node.value), name, node.ctx)

    def _attribute(self, name: str) -> str:
        return self._attributes.setdefault(name, f"a{len(self._attributes)}")

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._name(node.name)
        methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
        own = {each.name for each in methods if not each.name.endswith("__") and each.name not in _KEPT_METHODS}
        for method in methods:
            first = method.args.args[0].arg if method.args.args else ""
            own.update(
                each.attr
                for each in ast.walk(method)
                if isinstance(each, ast.Attribute)
                and isinstance(each.ctx, ast.Store)
                and isinstance(each.value, ast.Name)
                and each.value.id == first
            )
        node.bases = [self.visit(each) for each in node.bases]
        node.keywords = [self.visit(each) for each in node.keywords]
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        body: list[ast.stmt] = []
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                self._self.append((each.args.args[0].arg if each.args.args else "", own))
                if each.name in own:
                    each.name = self._attribute(each.name)
                body.append(self._function(each))
                self._self.pop()
            else:
                body.append(self.visit(each))
        node.body = body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._name(node.name)
        return self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.Lambda) -> ast.AST:
        node.args.defaults = [self.visit(each) for each in node.args.defaults]  # of the scope around
        self._scopes.append((f"l{len(self._scopes)}_", _bound(node), {}))
        defaults, node.args.defaults = node.args.defaults, []
        self.generic_visit(node)
        node.args.defaults = defaults
        self._scopes.pop()
        return node
