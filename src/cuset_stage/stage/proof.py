"""Proof that `stage: cuset` trains with CuSeT's loss, whatever route LLaMA-Factory takes.

LLaMA-Factory chooses a trainer by environment variables and keys, more of them with each version. So nothing is believed: once a
recipe with `stage: cuset` is parsed, no optimizer makes a step in this process before CuSeT's workflow has begun. The workflow's trainer
sees for itself that each of its steps computes CuSeT's loss. Imports no other file of this package.
"""

import weakref
from typing import Any


_hook: Any = None  # on every optimizer, until CuSeT's workflow begins


class OtherTrainerError(RuntimeError):
    """Another trainer than CuSeT's would train, or has trained, under `stage: cuset`."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"stage: cuset: {what}: LLaMA-Factory took a way past CuSeT's trainer, such as an environment variable or a key that "
            "chooses a trainer of its own (USE_MCA, USE_MEGATRON_BRIDGE, use_hyper_parallel). Unset it, or use stage: sft."
        )


def expect(arguments: Any) -> None:
    """From here on, CuSeT's workflow comes before an optimizer's first step.

    arguments: of the recipe with `stage: cuset` that was parsed. When they are gone, the recipe was only read, and nothing is expected.
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
    """CuSeT's workflow begins: the steps from here on are its own (resuming makes one before the first loss, under FSDP 2).

    So do those of any recipe that is parsed later.
    """
    global _hook
    if _hook is not None:
        _hook.remove()
        _hook = None
