"""Proof that `stage: cuset` trains with CuSeT's loss, whatever route LLaMA-Factory takes.

LLaMA-Factory chooses a trainer by environment variables and keys, more of them with each version. So nothing is believed: once a
recipe with `stage: cuset` is parsed, no optimizer makes a step in this process before CuSeT's trainer has begun to train, and a run
that returns without having gone through CuSeT's workflow has failed. The trainer sees for itself that each of its steps computes
CuSeT's loss. Imports no other file of this package.
"""

import functools
import weakref
from collections.abc import Callable
from typing import Any


_arguments: weakref.ref[Any] | None = None  # of the recipe; what was only parsed and is gone again asks for nothing
_is_open = False  # asked for, and CuSeT's workflow has not come to its end
_hook: Any = None  # on every optimizer, until CuSeT's trainer begins


class OtherTrainerError(RuntimeError):
    """Another trainer than CuSeT's would train, or has trained, under `stage: cuset`."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"stage: cuset: {what}: LLaMA-Factory took a way past CuSeT's trainer, such as an environment variable or a key that "
            "chooses a trainer of its own (USE_MCA, USE_MEGATRON_BRIDGE, use_hyper_parallel). Unset it, or use stage: sft."
        )


def expect(arguments: Any) -> None:
    """A recipe with `stage: cuset` was parsed: from here on, CuSeT's trainer comes before an optimizer's first step."""
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    global _arguments, _is_open, _hook
    forget()
    _arguments, _is_open = weakref.ref(arguments), True
    _hook = register_optimizer_step_pre_hook(_refuse_step)


def begin() -> None:
    """CuSeT's trainer begins: the steps from here on are its own (resuming makes one before the first loss, under FSDP 2)."""
    global _hook
    if _hook is not None:
        _hook.remove()
        _hook = None


def finish() -> None:
    """CuSeT's workflow has come to its end."""
    global _is_open
    _is_open = False


def forget() -> None:
    """Nothing is expected any more."""
    global _arguments, _is_open
    begin()
    _arguments, _is_open = None, False


def proved(train: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap LLaMA-Factory's function of a whole run: it raises OtherTrainerError when it returns with the proof missing."""

    @functools.wraps(train)
    def run(*args: Any, **kwargs: Any) -> Any:
        forget()  # of an earlier run in this process
        try:
            result = train(*args, **kwargs)
            if _is_open:
                raise OtherTrainerError("the run has ended without CuSeT's workflow")
            return result
        finally:
            forget()

    return run


def _refuse_step(optimizer: Any, *_: Any) -> None:
    if _arguments is None or _arguments() is None:
        begin()
    else:
        raise OtherTrainerError(
            f"another trainer would have trained, without CuSeT's loss ({type(optimizer).__name__} was about to make a first step)"
        )
