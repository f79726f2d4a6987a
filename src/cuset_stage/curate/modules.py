"""PyTorch modules in KernelBench's form: a class Model, get_inputs(), and get_init_inputs() with the positional arguments of Model.

KernelBook's modules have another name, and `get_init_inputs` returns the arguments and the keywords: `[[], {"in_channels": 4}]`.
Standard library only: read on the syntax tree, and changed in the text.
"""

from __future__ import annotations

import ast
import re

from .extension import defined_names, source_lines
from .signature import AdaptError


def kernelbench_form(module: str, entry: str | None) -> str:
    """The module with its class called Model and what makes one in a flat list.

    Args:
        entry: the class, when it is not called Model.

    Raises:
        AdaptError: Python that does not parse, or keywords that cannot be given by position.
    """
    tree = _parse(module)
    defined = defined_names(tree)
    if entry and entry != "Model" and entry in defined and "Model" not in defined:
        module = re.sub(rf"\b{re.escape(entry)}\b", "Model", module)
        tree = _parse(module)
    if "get_init_inputs" not in defined:
        return f"{module.rstrip()}\n\n\ndef get_init_inputs():\n    return []\n"
    return _with_positions(module, tree)


def _parse(module: str) -> ast.Module:
    try:
        return ast.parse(module)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise AdaptError("not_python", f"the module does not parse: {error}") from None


def _with_positions(module: str, tree: ast.Module) -> str:
    """`return [[a], {"k": v}]` in get_init_inputs as `return [a, v]`, in the order of Model's __init__."""
    last = _init_inputs(tree)
    if last is None:
        return module
    given = last.elts
    if len(given) != 2 or not isinstance(given[0], (ast.List, ast.Tuple)) or not isinstance(given[1], ast.Dict):
        return module
    values = [_text(module, value) for value in given[0].elts]
    if any(not isinstance(key, ast.Constant) or not isinstance(key.value, str) for key in given[1].keys):
        raise AdaptError("not_a_module", "get_init_inputs: the keywords are not written out")
    keywords = {
        str(key.value): _text(module, value)
        for key, value in zip(given[1].keys, given[1].values, strict=True)
        if isinstance(key, ast.Constant)
    }
    if keywords:
        values += _by_position(module, tree, len(values), keywords)
    flat = f"[{', '.join(values)}]"
    lines = source_lines(module)
    start = sum(len(line) for line in lines[: last.lineno - 1])
    head = lines[last.lineno - 1].encode("utf-8")[: last.col_offset].decode("utf-8")
    tail = lines[int(last.end_lineno or last.lineno) - 1].encode("utf-8")[last.end_col_offset :].decode("utf-8")
    after = sum(len(line) for line in lines[: int(last.end_lineno or last.lineno)])
    return module[:start] + head + flat + tail + module[after:]


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
    model = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Model"), None)
    init = model and next(
        (node for node in model.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None
    )
    if init is None:
        raise AdaptError("not_a_module", "get_init_inputs gives keywords, and Model has no __init__ that names them")
    names = [argument.arg for argument in (*init.args.posonlyargs, *init.args.args)][1:]
    defaults = dict(
        zip(reversed(names), (_text(module, value) for value in reversed(init.args.defaults)), strict=False)
    )
    unknown = sorted(set(keywords) - set(names[count:]))
    if unknown:
        raise AdaptError(
            "not_a_module", f"get_init_inputs gives {unknown[0]!r}, which Model.__init__ takes by name only, or not"
        )
    until = max(names.index(name) for name in keywords) + 1
    values = []
    for name in names[count:until]:
        if name not in keywords and name not in defaults:
            raise AdaptError("not_a_module", f"get_init_inputs leaves out {name!r} of Model.__init__")
        values.append(keywords.get(name, defaults.get(name, "")))
    return values


def _text(module: str, node: ast.expr) -> str:
    return ast.get_source_segment(module, node) or ast.unparse(node)
