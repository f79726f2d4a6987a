"""Functions that a recipe names: `my_module:focal` or `path/to/rules.py:focal`. Standard library only.

Whatever takes such a name reads it here, so that all of them find a function in the same places and fail with the same words:
`cuset_language` (spans of one's own) and `cuset_objective` (weights of one's own).
"""

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from .text import InputError, nearest, one_line


def is_function_name(value: object) -> bool:
    """Whether a value is meant as the name of a function, and not as one of the names that a key knows itself."""
    return isinstance(value, str) and ":" in value


def load_function(name: str, key: str) -> Callable[..., Any]:
    """Import the function that a key names.

    name: `module:function`, with a module that Python finds from the current folder or among what is installed, or
        `path/to/file.py:function`, relative to the current folder. A file may import what lies beside it. `function` may have dots.
    key: the recipe's key or the command's option, for messages.

    Raises:
        InputError: no such form, file, module or function, or an import that fails; names the key, the value and the fix.
    """
    module, attribute = _import(name, key)
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            functions = [known for known, value in vars(found).items() if callable(value) and known[0] != "_"]
            hint = nearest(part, functions) if functions else "it defines no function"
            raise InputError(f"{key}={name!r}: {found.__name__} has no {part!r}; {hint}.")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{key}={name!r}: {attribute} is {type(found).__name__}, not a function. Name a function.")
    return found


def function_digest(name: str, key: str) -> str:
    """A digest of the file that a named function stands in, so that a cache made with the function before an edit is not used after it.

    Raises:
        InputError: as `load_function`.
    """
    module, _ = _import(name, key)
    file = getattr(module, "__file__", None)
    return hashlib.blake2s(Path(file).read_bytes() if file else name.encode(), digest_size=8).hexdigest()


def _import(name: str, key: str) -> tuple[ModuleType, str]:
    place, _, attribute = name.rpartition(":") if isinstance(name, str) else ("", "", "")
    if not place.strip() or not all(part.isidentifier() for part in attribute.split(".")):
        raise InputError(f"{key}={name!r}: expected my_module:my_function or path/to/file.py:my_function.")
    path = Path(place).expanduser()
    if place.endswith(".py") and not path.is_file():
        raise InputError(
            f"{key}={name!r}: there is no file {place} in {os.getcwd()}. Give a path from the current folder."
        )
    try:
        if place.endswith(".py"):
            return _import_file(path.resolve()), attribute
        _look_in(os.getcwd())  # a command's own sys.path starts with the folder of its script
        return importlib.import_module(place), attribute
    except Exception as error:  # whatever the user's code raises
        what = one_line(f"{type(error).__name__}: {error}")
        fix = (
            "Start where the module lies, install it, or give path/to/file.py"
            if isinstance(error, ImportError)
            else "Mend it"
        )
        raise InputError(f"{key}={name!r}: importing it failed with {what}. {fix}.") from error


def _import_file(path: Path) -> ModuleType:
    """Import a file under a name of its own, once a process."""
    name = f"{path.stem}_{hashlib.blake2s(str(path).encode(), digest_size=4).hexdigest()}"
    if name not in sys.modules:
        _look_in(str(path.parent))
        spec = importlib.util.spec_from_file_location(name, path)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)  # before it runs, as `import` does
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _look_in(folder: str) -> None:
    """Add a folder at the end of sys.path, where it hides nothing that is installed."""
    if folder not in sys.path:
        sys.path.append(folder)
