"""A function of LLaMA-Factory run in a namespace where some names mean ours: nothing is copied, and no module is changed."""

from collections.abc import Callable
from types import FunctionType
from typing import Any


def rebind_globals(function: Callable[..., Any], replacements: dict[str, Any]) -> Callable[..., Any]:
    """Return a copy of `function` in which the global names in `replacements` mean other things.

    Raises RuntimeError when it does not use one of them: in such a version, training on would leave a part of CuSeT out.
    """
    missing = sorted(set(replacements) - set(function.__code__.co_names))
    if missing:
        raise RuntimeError(
            f"{function.__module__}.{function.__name__} does not use {', '.join(missing)}: this version of LLaMA-Factory is not "
            "supported. Install llamafactory==0.9.5."
        )
    namespace = {**function.__globals__, **replacements}
    copy = FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
