"""What the source of an answer to a module task looks like: suspicions for people to look at, never a verdict."""

import ast
import re
from collections.abc import Iterator, Mapping


_KERNEL = re.compile(
    r"__global__|load_inline|cpp_extension|\btriton\b|\bcupy\b|RawKernel|RawModule|\bnumba\b|\bcutlass\b|\bcute\b|"
    r"\btilelang\b|_compile_kernel|\bnvrtc\b|\bpycuda\b"
)
NO_KERNEL = "source: no kernel of its own, only calls of torch"
_IMPORTS = {
    **dict.fromkeys(("threading", "multiprocessing", "concurrent", "asyncio", "_thread"), ""),
    **dict.fromkeys(("inspect", "gc", "ctypes", "__main__"), ", with which it could look at what runs it"),
}
_READERS = (
    "open", "io.open", "os.open", "os.walk", "os.listdir", "os.scandir", "mmap.mmap", "torch.load", "torch.from_file",
    "torch.UntypedStorage.from_file", "numpy.fromfile", "np.fromfile", "numpy.memmap", "np.memmap", "numpy.load",
    "np.load", "Path", "pathlib.Path", "glob.glob",
)  # fmt: skip
_USES = {
    **dict.fromkeys(("torch.cuda.Stream", "torch.cuda.ExternalStream", "torch.cuda.set_stream"), "streams of its own"),
    **dict.fromkeys(_READERS, "looks at files, where it could find its inputs ahead of time"),
    "sys._getframe": "looks at the frames that call it",
    "sys.modules": "looks at sys.modules, where it could find what runs it",
}


def source_flags(source: str) -> list[str]:
    """Suspicions about a Python source: fall-backs, calls of torch alone, replaced timers, threads, streams, files.

    Text that is no Python gives none: it fails when it is imported.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    names = {}  # what imports give another name to: {"Event": "torch.cuda.Event"} for `from torch.cuda import Event`
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    flags = [f"source: {said}" for node in ast.walk(tree) for said in _suspicions(node, names)]
    return list(dict.fromkeys(flags if _KERNEL.search(source) else [*flags, NO_KERNEL]))


def _suspicions(node: ast.AST, names: Mapping[str, str]) -> Iterator[str]:
    modules: list[str] = []
    match node:
        case ast.Try():
            yield "try/except, perhaps a fall-back to what the reference does"
        case ast.ClassDef(name="ModelNew") if "Model" in (_dotted(base, {}) for base in node.bases):
            yield "ModelNew inherits from Model"
        case ast.Import():
            modules = [alias.name for alias in node.names]
        case ast.ImportFrom():
            modules = [node.module or ""]
        case ast.Attribute(ctx=ast.Store()):
            name = _dotted(node, names) or ""
            if name.startswith(("torch.", "time.")) and not name.startswith("torch.backends."):
                yield f"assigns to {name}"
        case ast.Attribute() | ast.Name():
            yield from filter(None, [_USES.get(_dotted(node, names))])
        case ast.Call(func=func, args=[first, *_]):
            name = _dotted(func, names)
            if name == "setattr" and (place := _dotted(first, names) or "").split(".")[0] in (
                "torch",
                "time",
                "builtins",
            ):
                yield f"sets an attribute of {place}"
            elif name in ("__import__", "importlib.import_module"):
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    modules = [first.value]
                else:
                    yield f"{name} of a name that is not written there"
    for name in (module.split(".")[0] for module in modules):
        if name in _IMPORTS:
            yield f"imports {name}{_IMPORTS[name]}"


def _dotted(node: ast.AST, names: Mapping[str, str]) -> str | None:
    """`torch.cuda.Event` for the expression of that look, also by a name that an import gave; else None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([names.get(node.id, node.id), *reversed(parts)])
