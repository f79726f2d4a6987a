"""Run a function of LLaMA-Factory in a namespace where some names mean ours.

No source code is copied and no module is changed, so everything else in the function stays LLaMA-Factory's.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any


def rebind_globals(function: Callable[..., Any], replacements: dict[str, Any]) -> Callable[..., Any]:
    """Return a copy of `function` in which some global names mean other things.

    Args:
        function: a plain Python function.
        replacements: the global names to replace, with their new values.

    Raises:
        RuntimeError: the function does not use one of the names. In such a version of LLaMA-Factory, a part of CuSeT
            would be left out without notice.
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
