"""Make sure that `stage: cuset` trains with CuSeT's loss, whatever route LLaMA-Factory takes.

LLaMA-Factory chooses a trainer by environment variables and keys, and each version adds more of them. So this file
relies on none of them. Once a recipe with `stage: cuset` is parsed, no optimizer may make a step in this process
before CuSeT's workflow has begun. The workflow's trainer then checks by itself that each of its steps computes CuSeT's
loss. This file imports no other file of the package.
"""

import weakref
from typing import Any


_hook: Any = None  # a step hook on every optimizer; removed when CuSeT's workflow begins


class OtherTrainerError(RuntimeError):
    """A trainer other than CuSeT's would train, or has trained, under `stage: cuset`."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"stage: cuset: {what}: LLaMA-Factory took a way past CuSeT's trainer, such as an environment variable or a key that "
            "chooses a trainer of its own (USE_MCA, USE_MEGATRON_BRIDGE, use_hyper_parallel). Unset it, or use stage: sft."
        )


def expect(arguments: Any) -> None:
    """Refuse optimizer steps from now on, until CuSeT's workflow begins.

    Args:
        arguments: the parsed arguments of the recipe with `stage: cuset`. Only a weak reference is kept. Once they are
            garbage-collected, the recipe was only read and not run, so nothing is refused.
    """
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    global _hook
    arguments = weakref.ref(arguments)

    def refuse_step(optimizer: Any, *_: Any) -> None:
        begin()
        if arguments() is not None:
            raise OtherTrainerError(
                f"another trainer would have trained, without CuSeT's loss ({type(optimizer).__name__} was about to make a first step)"
            )

    _hook = register_optimizer_step_pre_hook(refuse_step)


def begin() -> None:
    """Mark the beginning of CuSeT's workflow, from which on optimizer steps are allowed.

    The steps from here on are the workflow's own. Under FSDP 2, resuming makes one before the first loss. Steps of a
    recipe that is parsed later are allowed too.
    """
    global _hook
    if _hook is not None:
        _hook.remove()
        _hook = None
