"""What the source of an answer to a module task looks like: suspicions for people to look at, never a verdict."""

import ast
import re
from collections.abc import Iterator, Mapping


_KERNEL = re.compile(
    r"__global__|load_inline|cpp_extension|\btriton\b|\bcupy\b|RawKernel|RawModule|\bnumba\b|\bcutlass\b|\bcute\b|"
    r"\btilelang\b|_compile_kernel|\bnvrtc\b|\bpycuda\b"
)
NO_KERNEL = "source: no kernel of its own, only calls of torch"
_TIMERS = re.compile(
    r"^(time|torch\.cuda\.(Event|synchronize|current_stream|Stream)|torch\.(allclose|equal|testing))\b"
)
_THREADS = {"threading", "multiprocessing", "concurrent", "asyncio", "_thread"}
_PEEKING = {"inspect", "gc", "ctypes", "__main__"}
_IMPORTERS = {"__import__", "importlib.import_module"}
_READERS = {
    "open", "io.open", "os.open", "os.walk", "os.listdir", "os.scandir", "mmap.mmap", "torch.load", "torch.from_file",
    "torch.UntypedStorage.from_file", "numpy.fromfile", "np.fromfile", "numpy.memmap", "np.memmap", "numpy.load",
    "np.load", "Path", "pathlib.Path", "glob.glob",
}  # fmt: skip


def source_flags(source: str) -> list[str]:
    """Suspicions about a Python source: fall-backs, calls of torch alone, replaced timers, threads, streams, files.

    Text that is no Python gives none: it fails when it is imported.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    flags = dict.fromkeys(_found(tree))
    if not _KERNEL.search(source):
        flags[NO_KERNEL] = None
    return list(flags)


def _found(tree: ast.AST) -> Iterator[str]:
    names = _meanings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Try):
            yield "source: try/except, perhaps a fall-back to what the reference does"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for name in _imported(node):
                yield from _of_import(name)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                name = _dotted(target, names)
                if (
                    isinstance(target, ast.Attribute)  # a name of its own may be any
                    and name
                    and (_TIMERS.match(name) or name.startswith("torch."))
                    and not name.startswith("torch.backends.")
                ):
                    yield f"source: assigns to {name}"
        elif isinstance(node, ast.Call):
            name = _dotted(node.func, names)
            if name == "setattr" and node.args and (place := _dotted(node.args[0], names)):
                if place.split(".")[0] in ("torch", "time", "builtins"):
                    yield f"source: sets an attribute of {place}"
            elif name in ("torch.cuda.Stream", "torch.cuda.ExternalStream", "torch.cuda.set_stream"):
                yield "source: streams of its own"
            elif name in _READERS:
                yield "source: looks at files, where it could find its inputs ahead of time"
            elif name == "sys._getframe":
                yield "source: looks at the frames that call it"
            elif name in _IMPORTERS and node.args:
                asked = node.args[0]
                if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                    yield from _of_import(asked.value.split(".")[0])
                else:
                    yield f"source: {name} of a name that is not written there"
        elif isinstance(node, ast.Attribute | ast.Name) and _dotted(node, names) == "sys.modules":
            yield "source: looks at sys.modules, where it could find what runs it"
    if isinstance(tree, ast.Module):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name == "ModelNew" and "Model" in map(_dotted, node.bases):
                yield "source: ModelNew inherits from Model"


def _of_import(name: str) -> Iterator[str]:
    if name in _THREADS:
        yield f"source: imports {name}"
    elif name in _PEEKING:
        yield f"source: imports {name}, with which it could look at what runs it"


def _meanings(tree: ast.AST) -> dict[str, str]:
    """What imports give a name to: {"Event": "torch.cuda.Event"} for `from torch.cuda import Event`."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "").split(".")[0]]
    return [alias.name.split(".")[0] for alias in node.names]


def _dotted(node: ast.AST, names: Mapping[str, str] | None = None) -> str | None:
    """`torch.cuda.Event` for the expression of that look, also by a name from `_meanings`; else None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([(names or {}).get(node.id, node.id), *reversed(parts)])
