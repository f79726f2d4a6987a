"""What a compare.py gives away by its text: files that it reads outside data/."""

import ast
import posixpath


_READERS = {
    "open",
    "fromfile",
    "memmap",
    "load",
    "loadtxt",
    "genfromtxt",
    "Path",
    "imread",
    "getsize",
    "exists",
    "stat",
}


def reads_elsewhere(source: str) -> list[str]:
    """The paths, in the order they stand, that the script names and that do not lie under data/.

    Two kinds: a text that is the first argument of something that reads files, and any text that starts with "/", "~" or
    "../". A text that is not there to be read (a message, a format) has neither form.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _called(node.func) in _READERS and not _writes(node):
            value = _text(node.args[0])
            if value and posixpath.normpath(value).split("/")[0] != "data":
                found.append(value)
        value = _text(node)
        if value and " " not in value and value.startswith(("/", "~/", "../")) and len(value) > 3:
            found.append(value)
    return list(dict.fromkeys(found))


def _writes(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(key.value for key in call.keywords if key.arg == "mode")]
    return _called(call.func) == "open" and any(set(_text(mode) or "") & set("wax") for mode in modes)


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
