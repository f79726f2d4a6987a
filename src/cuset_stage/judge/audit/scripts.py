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
            if value and not _inside(value):
                found.append(value)
        value = _text(node)
        if value and " " not in value and value.startswith(("/", "~/", "../")) and len(value) > 3:
            found.append(value)
    return list(dict.fromkeys(found))


def _writes(call: ast.Call) -> bool:
    mode = (
        call.args[1] if len(call.args) > 1 else next((key.value for key in call.keywords if key.arg == "mode"), None)
    )
    text = _text(mode) if mode is not None else None
    return _called(call.func) == "open" and bool(text) and set(text) & set("wax") != set()


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _inside(path: str) -> bool:
    return posixpath.normpath(path).split("/")[0] == "data"
