"""What the source of an answer to a module task looks like: suspicions for people to look at, never a verdict."""

import ast
import re
from collections.abc import Iterator, Mapping


_KERNEL = re.compile(
    r"__global__|load_inline|cpp_extension|\btriton\b|\bcupy\b|RawKernel|RawModule|\bnumba\b|\bcutlass\b|\bcute\b|"
    r"\btilelang\b|_compile_kernel|\bnvrtc\b|\bpycuda\b"
)
NO_KERNEL = "source: no kernel of its own, only calls of torch"
_THREADS = {"threading", "multiprocessing", "concurrent", "asyncio", "_thread"}
_PEEKING = {"inspect", "gc", "ctypes", "__main__"}
_STREAMS = {"torch.cuda.Stream", "torch.cuda.ExternalStream", "torch.cuda.set_stream"}
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
    names = _meanings(tree)
    flags = [f"source: {said}" for node in ast.walk(tree) for said in _suspicions(node, names)]
    if any(isinstance(node, ast.ClassDef) and _is_model(node) for node in tree.body):
        flags.append("source: ModelNew inherits from Model")
    if not _KERNEL.search(source):
        flags.append(NO_KERNEL)
    return list(dict.fromkeys(flags))


def _suspicions(node: ast.AST, names: Mapping[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Try):
        yield "try/except, perhaps a fall-back to what the reference does"
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield from _of_import(alias.name)
    elif isinstance(node, ast.ImportFrom):
        yield from _of_import(node.module or "")
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            name = isinstance(target, ast.Attribute) and _dotted(target, names)  # a name of its own may be any
            if name and name.startswith(("torch.", "time.")) and not name.startswith("torch.backends."):
                yield f"assigns to {name}"
    elif isinstance(node, ast.Call):
        yield from _of_call(_dotted(node.func, names), node, names)
    elif isinstance(node, ast.Attribute | ast.Name) and _dotted(node, names) == "sys.modules":
        yield "looks at sys.modules, where it could find what runs it"


def _of_call(name: str | None, node: ast.Call, names: Mapping[str, str]) -> Iterator[str]:
    first = node.args[0] if node.args else None
    if name == "setattr" and first and (place := _dotted(first, names)):
        if place.split(".")[0] in ("torch", "time", "builtins"):
            yield f"sets an attribute of {place}"
    elif name in _STREAMS:
        yield "streams of its own"
    elif name in _READERS:
        yield "looks at files, where it could find its inputs ahead of time"
    elif name == "sys._getframe":
        yield "looks at the frames that call it"
    elif name in ("__import__", "importlib.import_module") and first:
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield from _of_import(first.value)
        else:
            yield f"{name} of a name that is not written there"


def _of_import(module: str) -> Iterator[str]:
    name = module.split(".")[0]
    if name in _THREADS:
        yield f"imports {name}"
    elif name in _PEEKING:
        yield f"imports {name}, with which it could look at what runs it"


def _is_model(node: ast.ClassDef) -> bool:
    return node.name == "ModelNew" and "Model" in (_dotted(base, {}) for base in node.bases)


def _meanings(tree: ast.AST) -> dict[str, str]:
    """What imports give a name to: {"Event": "torch.cuda.Event"} for `from torch.cuda import Event`."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _dotted(node: ast.AST, names: Mapping[str, str]) -> str | None:
    """`torch.cuda.Event` for the expression of that look, also by a name from `_meanings`; else None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([names.get(node.id, node.id), *reversed(parts)])
