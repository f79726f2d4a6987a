"""Import functions that a recipe names, such as `my_module:focal` or `path/to/rules.py:focal`. Standard library only.

All keys that take such a name read it here: `cuset_language` (the user's own spans) and `cuset_objective` (the user's
own weights). They therefore look for a function in the same places, and fail with the same messages.
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
    """Return whether a value is meant as the name of a function, and not as one of a key's own values."""
    return isinstance(value, str) and ":" in value


def load_function(name: str, key: str) -> Callable[..., Any]:
    """Import the function that a key names.

    Args:
        name: `module:function`, with a module that Python finds in the current folder or among the installed packages,
            or `path/to/file.py:function`, relative to the current folder. Such a file may import modules from its own
            folder. `function` may have dots.
        key: the recipe's key or the command's option, for messages.

    Raises:
        InputError: if the name has another form, if there is no such file, module or function, or if the import fails.
            The message names the key, the value and the fix.
    """
    module, attribute = _import(name, key)
    target: Any = module
    for part in attribute.split("."):
        if not hasattr(target, part):
            functions = [attr for attr, value in vars(target).items() if callable(value) and attr[0] != "_"]
            hint = nearest(part, functions) if functions else "it defines no function"
            raise InputError(f"{key}={name!r}: {name.rpartition(':')[0]} has no {part!r}; {hint}")
        target = getattr(target, part)
    if not callable(target):
        raise InputError(f"{key}={name!r}: {attribute} is {type(target).__name__}, not a function. Name a function.")
    return target


def function_digest(name: str, key: str) -> str:
    """Return a digest of the file in which a named function is defined.

    It goes into cache keys, so that a cache that was made before an edit of the function is not used after it.

    Args:
        name: the function's name, as in `load_function`.
        key: the recipe's key or the command's option, for messages.

    Raises:
        InputError: as in `load_function`.
    """
    module, _ = _import(name, key)
    file = getattr(module, "__file__", None)
    return hashlib.blake2s(Path(file).read_bytes() if file else name.encode(), digest_size=8).hexdigest()


def _import(name: str, key: str) -> tuple[ModuleType, str]:
    """Import the module or file of a function's name, and return it with the rest of the name."""
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
        _look_in(os.getcwd())  # a console script's sys.path starts with the script's folder, not with the current one
        return importlib.import_module(place), attribute
    except Exception as error:  # the user's code may raise anything
        what = one_line(f"{type(error).__name__}: {error}")
        elsewhere = "Start where the module lies, install it, or give path/to/file.py"
        fix = elsewhere if isinstance(error, ImportError) else "Mend it"
        raise InputError(f"{key}={name!r}: importing it failed with {what}. {fix}.") from error


def _import_file(path: Path) -> ModuleType:
    """Import a file under a module name that is made from its path, once per process."""
    name = f"{path.stem}_{hashlib.blake2s(str(path).encode(), digest_size=4).hexdigest()}"
    if name not in sys.modules:
        _look_in(str(path.parent))
        spec = importlib.util.spec_from_file_location(name, path)
        # Registered before it runs, as `import` does.
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
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
