"""PyTorch modules in the form that KernelBench's kind of judge takes. Read on the syntax tree, changed in the text.

A torch extension becomes a Python answer with ModelNew: the AI CUDA Engineer archive pairs the CUDA source with a functional module
whose `forward` takes the function to call as `fn`, and ModelNew is that module with the extension's `forward` in its place.
KernelBook's modules have a class of another name, and arguments with keywords (`[[], {"in_channels": 4}]`), which KernelBench's
`get_init_inputs` does not. Standard library only.
"""

from __future__ import annotations

import ast
import re
import zlib


class AdaptError(ValueError):
    """A row that cannot become a task: `reason` is counted, the message is for people."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


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


def is_extension(code: str) -> bool:
    """Whether a source is a torch extension: it includes torch's headers or binds a module."""
    return bool(re.search(r"#\s*include\s*[<\"](?:torch/|ATen/|c10/)|\bPYBIND11_MODULE\b|\bTORCH_LIBRARY\b", code))


def model_new(cuda: str, functional: str) -> str:
    """The Python answer for a torch extension and the functional module it serves.

    Raises:
        AdaptError: no `forward` in the extension, or a module whose `forward` takes no `fn`.
    """
    bound = re.search(r"PYBIND11_MODULE\s*\(", cuda)
    if bound and not re.search(r"m\s*\.\s*def\s*\(\s*\"forward\"", cuda):
        raise AdaptError("no_forward", "the extension binds no function called forward")
    declared = re.search(
        r"^[ \t]*((?:torch::Tensor|at::Tensor|std::vector<[\w:]+>|std::tuple<[^>]*>)\s+forward\s*\([^{;]*\))",
        cuda,
        re.MULTILINE,
    )
    if not bound and not declared:
        raise AdaptError("no_forward", "the extension defines no function called forward")
    if '"""' in cuda:
        raise AdaptError("unsupported_source", 'the source holds """, which would end the Python string around it')
    tree = parse(functional)
    forward = method_of(tree, "Model", "forward")
    if not forward or not any(argument.arg == "fn" for argument in (*forward.args.args, *forward.args.kwonlyargs)):
        raise AdaptError(
            "no_forward", "the module's Model.forward takes no `fn`, so nothing says how the extension is called"
        )
    # ModelNew must not be called Model: the judge has one of that name.
    kept = [
        node
        for node in tree.body
        if not (isinstance(node, ast.FunctionDef) and node.name in ("get_inputs", "get_init_inputs"))
    ]
    lines = [line.rstrip("\r\n") for line in source_lines(functional)]
    text = "\n\n".join("\n".join(lines[_first_line(node) - 1 : node.end_lineno]) for node in kept)
    text = re.sub(r"\bclass Model\b", "class _Model", text)
    text = re.sub(r"\bsuper\(Model,", "super(_Model,", text)
    return _ANSWER.format(
        module=text,
        cuda=cuda.strip("\n"),
        name=f"extension_{zlib.crc32(cuda.encode(errors='replace')):08x}",
        declaration="" if bound else " ".join(declared[1].split()).replace('"', '\\"') + ";",
        functions=None if bound else '["forward"]',
    )


def source_lines(text: str) -> list[str]:
    """The lines that `ast` counts, with their ends: to `str.splitlines` a form feed and seven others end one as well."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def parse(code: str) -> ast.Module:
    """Raises AdaptError where it is no Python."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise AdaptError("not_python", f"the module does not parse: {error}") from None


def defined_names(tree: ast.Module) -> set[str]:
    """What a module defines at its top level: classes and functions, and names that are assigned or imported."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def check_module(code: str, *names: str) -> None:
    """Raise AdaptError unless Python source defines all of `names` (classes, functions, assignments) at its top level."""
    defined = defined_names(parse(code))
    missing = [name for name in names if name not in defined]
    if missing:
        raise AdaptError("not_a_module", f"the module defines no {', '.join(missing)}")


def kernelbench_form(module: str, entry: str | None) -> str:
    """The module with its class called Model and what makes one in a flat list.

    Args:
        entry: the class, when it is not called Model.

    Raises:
        AdaptError: Python that does not parse, or keywords that cannot be given by position.
    """
    tree = parse(module)
    defined = defined_names(tree)
    if entry and entry != "Model" and entry in defined and "Model" not in defined:
        module = re.sub(rf"\b{re.escape(entry)}\b", "Model", module)
        tree = parse(module)
    if "get_init_inputs" not in defined:
        return f"{module.rstrip()}\n\n\ndef get_init_inputs():\n    return []\n"
    return _with_positions(module, tree)


def _with_positions(module: str, tree: ast.Module) -> str:
    """`return [[a], {"k": v}]` in get_init_inputs as `return [a, v]`, in the order of Model's __init__."""
    given = _init_inputs(tree)
    if given is None or len(given.elts) != 2:
        return module
    listed, named = given.elts
    if not isinstance(listed, (ast.List, ast.Tuple)) or not isinstance(named, ast.Dict):
        return module
    values = [_text(module, value) for value in listed.elts]
    keywords = {}
    for key, value in zip(named.keys, named.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise AdaptError("not_a_module", "get_init_inputs: the keywords are not written out")
        keywords[key.value] = _text(module, value)
    values += _by_position(module, tree, len(values), keywords)
    return f"[{', '.join(values)}]".join(module.rsplit(_text(module, given), 1))


def _init_inputs(tree: ast.Module) -> ast.List | ast.Tuple | None:
    """The list that get_init_inputs returns, a function or a lambda, of the last definition; None when it is not written out."""
    found: ast.expr | None = None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "get_init_inputs":
            end = node.body[-1]
            found = end.value if isinstance(end, ast.Return) else None
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Lambda):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "get_init_inputs" for target in targets):
                found = node.value.body
    return found if isinstance(found, (ast.List, ast.Tuple)) else None


def _by_position(module: str, tree: ast.Module, count: int, keywords: dict[str, str]) -> list[str]:
    """The keywords' values in the order of Model.__init__, with its defaults where one in between is not given."""
    if not keywords:
        return []
    init = method_of(tree, "Model", "__init__")
    if init is None:
        raise AdaptError("not_a_module", "get_init_inputs gives keywords, and Model has no __init__ that names them")
    names = [argument.arg for argument in (*init.args.posonlyargs, *init.args.args)][1:]
    written = (_text(module, value) for value in reversed(init.args.defaults))
    defaults = dict(zip(reversed(names), written, strict=False))
    unknown = sorted(set(keywords) - set(names[count:]))
    if unknown:
        raise AdaptError(
            "not_a_module", f"get_init_inputs gives {unknown[0]!r}, which Model.__init__ takes by name only, or not"
        )
    wanted = names[count : max(names.index(name) for name in keywords) + 1]
    missing = next((name for name in wanted if name not in keywords and name not in defaults), None)
    if missing is not None:
        raise AdaptError("not_a_module", f"get_init_inputs leaves out {missing!r} of Model.__init__")
    return [keywords.get(name, defaults.get(name, "")) for name in wanted]


def method_of(tree: ast.Module, model: str, name: str) -> ast.FunctionDef | None:
    """A method of a class of the file."""
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == model)
    methods = (
        each for node in classes for each in node.body if isinstance(each, ast.FunctionDef) and each.name == name
    )
    return next(methods, None)


def _text(module: str, node: ast.expr) -> str:
    return ast.get_source_segment(module, node) or ast.unparse(node)
