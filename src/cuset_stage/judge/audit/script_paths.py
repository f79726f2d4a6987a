"""What a compare.py gives away by its text: files that it reads outside data/."""

import ast
import posixpath


_READERS = {
    "open", "fromfile", "memmap", "load", "loadtxt", "genfromtxt", "Path", "imread", "getsize", "exists", "stat",
}  # fmt: skip


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
        if isinstance(node, ast.Call) and node.args and _called(node) in _READERS and not _writes(node):
            value = _text(node.args[0])
            if value and posixpath.normpath(value).split("/")[0] != "data":
                found.append(value)
        value = _text(node)
        if " " not in value and value.startswith(("/", "~/", "../")) and len(value) > 3:
            found.append(value)
    return list(dict.fromkeys(found))


def _called(call: ast.Call) -> str:
    """The last part of the called name; "" for another expression."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _writes(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(key.value for key in call.keywords if key.arg == "mode")]
    return _called(call) == "open" and any(set(_text(mode)) & set("wax") for mode in modes)


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
