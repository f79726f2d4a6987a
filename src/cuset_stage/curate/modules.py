"""PyTorch modules: in the form that KernelBench's kind of judge takes, and as text that can be compared.

A torch extension becomes a Python answer with ModelNew: the AI CUDA Engineer archive pairs the CUDA source with a functional module
whose `forward` takes the function to call as `fn`, and ModelNew is that module with the extension's `forward` in its place.
KernelBook's modules have a class of another name, and arguments with keywords (`[[], {"in_channels": 4}]`), which KernelBench's
`get_init_inputs` does not. Modules are read on the syntax tree and changed in the text, which keeps their comments.
"""

from __future__ import annotations

import ast
import re
import zlib

from .stage_rows import RowError


_ANSWER = '''import torch
from torch.utils.cpp_extension import load_inline

{module}

cuda_source = r"""
{cuda}
"""

extension = load_inline(
    name="{name}",
    cpp_sources="{declaration}",
    cuda_sources=cuda_source,
    functions={functions},
    extra_cuda_cflags=["-O3"],
)


class ModelNew(_Model):
    def forward(self, *args):
        return super().forward(*args, fn=extension.forward)
'''
_FORWARD = re.compile(
    r"^[ \t]*((?:torch::Tensor|at::Tensor|std::vector<[\w:]+>|std::tuple<[^>]*>)\s+forward\s*\([^{;]*\))", re.MULTILINE
)
# KernelBook's modules give keywords beside the list; KernelBench's judge gives arguments by position alone.
_POSITIONS = """

def get_init_inputs(given=get_init_inputs):
    import inspect

    listed, named = given()
    bound = inspect.signature(Model).bind(*listed, **named)
    bound.apply_defaults()
    assert not bound.kwargs.keys() & named.keys(), "Model takes an argument by name only"
    return list(bound.args)
"""


def is_extension(code: str) -> bool:
    """Whether a source is a torch extension: it includes torch's headers or binds a module."""
    return bool(re.search(r"#\s*include\s*[<\"](?:torch/|ATen/|c10/)|\bPYBIND11_MODULE\b|\bTORCH_LIBRARY\b", code))


def model_new(cuda: str, functional: str) -> str:
    """The Python answer for a torch extension and the functional module it serves.

    Raises:
        RowError: no `forward` in the extension, or a module whose `forward` takes no `fn`.
    """
    bound, declared = re.search(r"PYBIND11_MODULE\s*\(", cuda), _FORWARD.search(cuda)
    if not (re.search(r"m\s*\.\s*def\s*\(\s*\"forward\"", cuda) if bound else declared):
        raise RowError("no_forward", "the extension binds, or defines, no function called forward")
    if '"""' in cuda:
        raise RowError("unsupported_source", 'the source holds """, which would end the Python string around it')
    tree = parse(functional)
    forward = method_of(tree, "Model", "forward")
    if not forward or not any(argument.arg == "fn" for argument in (*forward.args.args, *forward.args.kwonlyargs)):
        raise RowError(
            "no_forward", "the module's Model.forward takes no `fn`, so nothing says how the extension is called"
        )
    text = functional
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in ("get_inputs", "get_init_inputs"):
            text = text.replace(ast.get_source_segment(functional, node) or "", "")
    # ModelNew must not be called Model: the judge has one of that name.
    text = re.sub(r"\bclass Model\b", "class _Model", text)
    return _ANSWER.format(
        module=re.sub(r"\bsuper\(Model,", "super(_Model,", text).strip(),
        cuda=cuda.strip("\n"),
        name=f"extension_{zlib.crc32(cuda.encode(errors='replace')):08x}",
        declaration="" if bound else " ".join(declared[1].split()).replace('"', '\\"') + ";",
        functions=None if bound else '["forward"]',
    )


def parse(code: str) -> ast.Module:
    """Raises RowError where it is no Python."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise RowError("not_python", f"the module does not parse: {error}") from None


def defined_names(tree: ast.AST) -> set[str]:
    """What a file defines itself, not within its functions and classes: classes, functions, and names assigned or imported."""
    names: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        else:
            names |= defined_names(node) | ({node.id} if _is_stored(node) and isinstance(node, ast.Name) else set())
    return names


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def check_module(code: str, *names: str) -> None:
    """Raise RowError unless Python source defines all of `names` (classes, functions, assignments) at its top level."""
    defined = defined_names(parse(code))
    missing = [name for name in names if name not in defined]
    if missing:
        raise RowError("not_a_module", f"the module defines no {', '.join(missing)}")


def kernelbench_form(module: str, entry: str | None) -> str:
    """The module with its class called Model and its arguments in a flat list.

    entry: the class, when it is not called Model. Raises RowError where the Python does not parse.
    """
    tree = parse(module)
    defined = defined_names(tree)
    if entry and entry != "Model" and entry in defined and "Model" not in defined:
        module = re.sub(rf"\b{re.escape(entry)}\b", "Model", module)
    if "get_init_inputs" not in defined:
        return f"{module.rstrip()}\n\n\ndef get_init_inputs():\n    return []\n"
    return f"{module.rstrip()}\n{_POSITIONS}" if _has_keywords(tree) else module


def _has_keywords(tree: ast.Module) -> bool:
    """Whether get_init_inputs returns `[[...], {...}]`."""
    found = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "get_init_inputs")
    returned = [getattr(getattr(node.body[-1], "value", None), "elts", ()) for node in found]
    return any(list(map(type, elements)) == [ast.List, ast.Dict] for elements in returned)


def method_of(tree: ast.Module, model: str, name: str) -> ast.FunctionDef | None:
    """A method of a class of the file."""
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == model)
    methods = (
        each for node in classes for each in node.body if isinstance(each, ast.FunctionDef) and each.name == name
    )
    return next(methods, None)


# --------------------------------------------------------------------------------------------------- text to compare


def bare(source: str) -> str:
    """The statements of a module without docstrings, annotations and comments; as it stands when it is not Python."""
    try:
        return _text(_stripped(source))
    except (SyntaxError, ValueError, RecursionError):
        return source


def renamed(source: str) -> str | None:
    """`bare` without imports, and with the author's names numbered in the order they come; None when it is not Python.

    Local names are numbered for each function by itself, and attributes of `self` and names of the file apart from them: whether
    `get_inputs` calls its tensor what `forward` calls its argument says nothing. Names of libraries stay, whatever alias they
    came under: relu is not sigmoid.
    """
    try:
        tree = _stripped(source)
        return _text(_Renamed(tree).visit(tree))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _stripped(source: str) -> ast.Module:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return tree


def _text(tree: ast.AST) -> str:
    """Python in words that `cuda_source.tokens` reads: to C++, what follows // is a comment."""
    return ast.unparse(tree).replace(" //", " floordiv")


class _Names(dict[str, str]):
    """Names of one kind, numbered where they first come."""

    def __init__(self, prefix: str, names: set[str]) -> None:
        super().__init__()
        self.prefix, self.names = prefix, names

    def __missing__(self, name: str) -> str:
        return self.setdefault(name, f"{self.prefix}{len(self)}")


class _Renamed(ast.NodeTransformer):
    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        self.imported = {
            each.asname or each.name: f"{node.module}.{each.name}" if isinstance(node, ast.ImportFrom) else each.name
            for node in imports
            for each in node.names
        }
        classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        self.methods = {each: each.name for node in classes for each in node.body if isinstance(each, ast.FunctionDef)}
        # What nn.Module calls keeps its name.
        own = {name for name in self.methods.values() if not name.endswith("__") and name != "forward"}
        own |= {each.attr for each in nodes if isinstance(each, ast.Attribute) and _is_stored(each)}
        self.attributes = _Names("a", own)
        self.scopes = [_Names("g", defined_names(tree) - self.imported.keys())]

    def _name(self, name: str) -> str:
        """A name that the source does not bind is a library's and stays."""
        scope = next((each for each in reversed(self.scopes) if name in each.names), None)
        return self.imported.get(name, name) if scope is None else scope[name]

    def _attribute(self, name: str) -> str:
        return self.attributes[name] if name in self.attributes.names else name

    def visit_Import(self, _node: ast.AST) -> None:
        return None

    visit_ImportFrom = visit_Import

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._name(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self._name(node.arg))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and any(node.value.id in scope.names for scope in self.scopes[1:]):
            node.attr = self._attribute(node.attr)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._name(node.name)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._attribute(node.name) if node in self.methods else self._name(node.name)
        arguments = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        self.scopes.append(_Names(f"l{len(self.scopes)}_", arguments | defined_names(node)))
        self.generic_visit(node)
        self.scopes.pop()
        return node

    visit_AsyncFunctionDef = visit_FunctionDef
