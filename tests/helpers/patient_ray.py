"""Ray gives its processes 30 s to start, and no setting for it; a busy machine may need longer."""

from collections.abc import Callable
from typing import Any


def patient(start: Callable[..., Any], tries: int = 5) -> Callable[..., Any]:
    """`start`, which starts Ray, tried again when Ray gave up waiting for itself."""

    def run(*args: Any, **keys: Any) -> Any:
        import ray

        for left in reversed(range(tries)):
            try:
                return start(*args, **keys)
            except Exception as error:  # Ray has no class of its own for it
                if not left or "timed out during startup" not in str(error):
                    raise
                ray.shutdown()

    return run
