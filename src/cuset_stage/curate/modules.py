"""Convert PyTorch modules to the form of KernelBench, which the judge takes, and to text that can be compared.

A torch extension becomes a Python answer with ModelNew. The AI CUDA Engineer archive pairs each CUDA source with a
functional module whose `forward` takes the function to call as `fn`. ModelNew is that module, with the extension's
`forward` passed as `fn`.

KernelBook's modules name their class differently, and their `get_init_inputs` returns keyword arguments as well
(`[[], {"in_channels": 4}]`), which KernelBench's does not.

Modules are analysed on the syntax tree but changed in the text, which keeps their comments.
"""

import ast
import re
import symtable
import zlib
from collections.abc import Callable
from typing import Any

from .rows import RowError


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
# KernelBook's modules return keyword arguments as well. KernelBench's judge passes arguments by position only.
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
    """Return True for the source of a torch extension, which includes torch's headers or binds a module."""
    return bool(re.search(r"#\s*include\s*[<\"](?:torch/|ATen/|c10/)|\bPYBIND11_MODULE\b|\bTORCH_LIBRARY\b", code))


def model_new(cuda: str, functional: str) -> str:
    """Return a Python answer with ModelNew, made of a torch extension and the functional module that calls it.

    Args:
        cuda: the source of the extension.
        functional: Python with a class Model whose `forward` takes the function to call as `fn`.

    Raises:
        RowError: the extension has no `forward`, its source contains triple quotes, the module does not parse, or the
            module's `forward` takes no `fn`.
    """
    bound, declared = re.search(r"PYBIND11_MODULE\s*\(", cuda), _FORWARD.search(cuda)
    if not (re.search(r"m\s*\.\s*def\s*\(\s*\"forward\"", cuda) if bound else declared):
        raise RowError("no_forward", "the extension binds, or defines, no function called forward")
    if '"""' in cuda:
        raise RowError("unsupported_source", 'the source holds """, which would end the Python string around it')
    tree = parse(functional)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model"]
    methods = [method for model in classes for method in _functions(model.body, "forward")]
    if not any(argument.arg == "fn" for each in methods for argument in (*each.args.args, *each.args.kwonlyargs)):
        raise RowError("no_forward", "the module's Model.forward takes no `fn` to call the extension by")
    text = functional
    for node in _functions(tree.body, "get_inputs", "get_init_inputs"):
        text = text.replace(ast.get_source_segment(functional, node) or "", "")
    # The base class of ModelNew must not be called Model, as the judge's reference has this name.
    text = re.sub(r"\bclass Model\b", "class _Model", text)
    return _ANSWER.format(
        module=re.sub(r"\bsuper\(Model,", "super(_Model,", text).strip(),
        cuda=cuda.strip("\n"),
        name=f"extension_{zlib.crc32(cuda.encode(errors='replace')):08x}",
        declaration="" if bound else " ".join(declared[1].split()).replace('"', '\\"') + ";",
        functions=None if bound else '["forward"]',
    )


def _functions(body: list[ast.stmt], *names: str) -> list[ast.FunctionDef]:
    """Return the functions of these names in the body of a module or class."""
    return [node for node in body if isinstance(node, ast.FunctionDef) and node.name in names]


def parse(code: str, parser: Callable[[str], Any] = ast.parse) -> Any:
    """Parse Python with `parser` and return what it returns. Raises RowError if the code is not valid Python."""
    try:
        return parser(code)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise RowError("not_python", f"the module does not parse: {error}") from None


def defined_names(code: str) -> set[str]:
    """Return the names that a module defines at its top level, including imports.

    Raises:
        RowError: the code is not valid Python.
    """
    symbols = parse(code, lambda text: symtable.symtable(text, "module", "exec")).get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}


def check_module(code: str, *names: str) -> None:
    """Check that Python code defines all of `names` at its top level.

    Raises:
        RowError: a name is missing, or the code is not valid Python.
    """
    defined = defined_names(code)
    missing = [name for name in names if name not in defined]
    if missing:
        raise RowError("not_a_module", f"the module defines no {', '.join(missing)}")


def kernelbench_form(module: str, entry: str | None) -> str:
    """Return the module with its class named Model, and with a `get_init_inputs` that returns a flat list.

    Args:
        module: the module's source.
        entry: the name of the class, if it is not Model.

    Raises:
        RowError: the module does not parse.
    """
    defined = defined_names(module)
    if entry and entry != "Model" and entry in defined and "Model" not in defined:
        module = re.sub(rf"\b{re.escape(entry)}\b", "Model", module)
    if "get_init_inputs" not in defined:
        return f"{module.rstrip()}\n\n\ndef get_init_inputs():\n    return []\n"
    return f"{module.rstrip()}\n{_POSITIONS}" if _has_keywords(module) else module


def _has_keywords(module: str) -> bool:
    """Return True if get_init_inputs returns `[[...], {...}]`, positional and keyword arguments."""
    last = (node.body[-1] for node in _functions(ast.parse(module).body, "get_init_inputs"))
    returned = (getattr(getattr(statement, "value", None), "elts", ()) for statement in last)
    return any(list(map(type, elements)) == [ast.List, ast.Dict] for elements in returned)


def bare(source: str, *, inputs: bool = True) -> str:
    """Return the statements of a module without docstrings, annotations and comments.

    The operator // is replaced by a word, because `cuda_source.tokens` reads C++, in which // starts a comment. A text
    that is not valid Python is returned unchanged.

    Args:
        source: the module's source.
        inputs: False leaves out the module's sizes and inputs, which benchmarks change from version to version. Only
            its classes and functions are kept then, without get_inputs and get_init_inputs, if it has a class.
    """
    try:
        tree = ast.parse(source)
        if not inputs:
            stated = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
            stated = [node for node in stated if node.name not in ("get_inputs", "get_init_inputs")]
            tree.body = stated if any(isinstance(node, ast.ClassDef) for node in stated) else tree.body
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            if isinstance(node, ast.FunctionDef):
                node.returns = None
            if isinstance(node, ast.arg):
                node.annotation = None
        return ast.unparse(tree).replace(" //", " floordiv")
    except (SyntaxError, ValueError, RecursionError):
        return source
