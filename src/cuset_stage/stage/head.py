"""The fused head inside a model: during a training step its output layer returns the loss in place of the logits.

A causal language model ends in `logits = lm_head(hidden)`. `FusedHead` covers that layer's `forward`; while a batch is armed, the layer
computes the objective from the hidden states it is given and its own weight, and returns the loss as a tensor [1, 1, 1], which the
model hands on as its logits. The call goes through the layer, so weights that ZeRO-3 or FSDP shard are there, and the loss flows
through the model's output, so DDP, autocast and gradient checkpointing see an ordinary forward. Nothing of size vocabulary times
tokens exists.

Where that cannot be right, `reason` says why and the trainer takes the readable loss on materialised logits.
"""

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..objective import ObjectiveSettings, TokenTerms, fused_objective
from ..objective.fused import Reference


PROBED_TOKENS = 8  # of each row
# Logits of a probe reach this far to either side of 0: far enough to show a cap in bfloat16 too.
PROBED_RANGE = 1000.0


class FusedHead:
    """Covers the output layer of `model`, which is bare: without DDP, DeepSpeed or the like; PEFT's wrapper may be around it.

    Attributes:
        reason: why the head cannot be fused, or None.
        is_verified: whether `verify` has seen that the model leaves alone what its output layer returns.
        is_confirmed: whether `loss_of` has seen the same of a loss, in training.
        terms: the objective's terms of the batch that is armed, once the model has run; nothing of them stays for the backward pass.
    """

    def __init__(self, model: torch.nn.Module, settings: ObjectiveSettings) -> None:
        self.settings = settings
        self.terms: TokenTerms | None = None
        self._batch: dict[str, Any] | None = None
        self._loss: torch.Tensor | None = None
        self._kept: Reference | None = None
        self._keeps = self._copies_weight = False
        self._probed: list[torch.Tensor] | None = None
        self.is_verified = self.is_confirmed = False
        self._is_rounded = False  # the loss that comes out of the model
        self.reason: str | None = None
        self.head = model.get_output_embeddings()
        kind = type(self.head)
        if kind is not torch.nn.Linear:
            self.reason = f"the output layer is a {kind.__module__}.{kind.__qualname__}, not torch.nn.Linear"
        elif "forward" in vars(self.head):
            self.reason = "something else has already replaced the output layer's forward"
        else:
            # One function for the whole run, so that a compiled model is not compiled anew with every batch.
            self.head.forward = self._forward

    def uncover(self) -> None:
        """Give the output layer its own forward back, where this head has covered it."""
        if vars(self.head).get("forward") == self._forward:
            del self.head.forward

    @torch.compiler.disable
    def _forward(self, hidden: torch.Tensor) -> torch.Tensor:
        weight, bias = self.head.weight, self.head.bias
        if self._keeps:  # ASFT's reference pass wants the hidden states and no logits
            if self._copies_weight:
                weight, bias = weight.detach().clone(), None if bias is None else bias.detach().clone()
            self._kept = hidden, (weight, bias)
            return hidden
        if self._probed is not None:
            logits = probe_like(torch.nn.functional.linear(hidden[..., :PROBED_TOKENS, :], weight, bias))
            self._probed.append(logits.clone())
            return logits
        if self._batch is None:
            return torch.nn.functional.linear(hidden, weight, bias)

        loss, self.terms = fused_objective(hidden, weight, settings=self.settings, bias=bias, **self._batch)
        self._loss = loss.detach()
        return loss.reshape(1, 1, 1)

    def verify(self, run: Callable[[], Any]) -> None:
        """Set `reason` unless the model hands on what its output layer returns. That is a property of the model: once is enough.

        In `run`, a forward pass of the model without a gradient, the layer returns the logits of `probe_like` for a few tokens: the
        model's own may show nothing, as those of a head of zeros, which stay what they are under any scale.
        """
        self._probed = []
        try:
            output = run()
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
            if isinstance(error, torch.OutOfMemoryError):
                raise
            self.reason = f"the model does not run with the logits of a few tokens ({type(error).__name__}: {error})"
            return
        finally:
            made, self._probed = self._probed, None
        logits = output.get("logits") if hasattr(output, "get") else output[0]
        if len(made) != 1:
            self.reason = "the model does not call its output layer" + (" once" if made else "")
        elif not isinstance(logits, torch.Tensor) or logits.shape != made[0].shape:
            self.reason = "the model reshapes its logits"
        elif not torch.equal(logits.float(), made[0].float()):
            self.reason = "the model changes its logits behind the output layer"
        else:
            self.is_verified = True

    @contextlib.contextmanager
    def armed(self, **batch: Any) -> Iterator[None]:
        """Within this context the next forward pass of the model gives the loss of `batch`, arguments of `fused_objective`."""
        self._batch = batch
        self.terms = self._loss = None
        try:
            yield
        finally:
            self._batch = self.terms = None

    def inputs_of(self, run: Callable[[], Any], with_head: bool) -> Reference:
        """What reaches the output layer in `run`, a forward pass of the model, and the layer's weight and bias.

        with_head: whether these are wanted; where ZeRO-3 or FSDP take them away again, they are copied in the pass.
        """
        self._keeps = True
        try:
            run()
            if with_head and not self._copies_weight and not self._has_weight():
                self._copies_weight = True
                run()
        finally:
            self._keeps = False
            kept, self._kept = self._kept, None
        return kept if with_head else (kept[0], None)

    def _has_weight(self) -> bool:
        (weight, _), now = self._kept[1], self.head.weight
        # DeepSpeed empties the parameter, FSDP 1 its storage, and FSDP 2 exchanges it.
        is_there = weight is now and now.dim() == 2 and now.untyped_storage().size() > 0
        return is_there and tuple(now.shape) == (self.head.out_features, self.head.in_features)

    def loss_of(self, logits: Any) -> torch.Tensor | None:
        """The loss that came out of the model as its logits; None, and a `reason`, when it did not come out as it went in.

        Waits for the device until a loss has shown that the model leaves it alone in training, too: in a run, with its first batch.
        What wraps the model may give outputs in bfloat16 or float16 (FSDP 2 does under mixed precision): the loss keeps its value then.
        """
        if self._loss is None:
            self.reason = "the model does not call its output layer"
        elif not isinstance(logits, torch.Tensor) or logits.numel() != 1:
            self.reason = "the model reshapes its logits"
        elif not self.is_confirmed and self.head.training:
            self._confirm(self._loss.cpu(), float(logits.detach()))
        if self.reason:
            return None
        loss = logits.reshape(())
        return self._loss + (loss - loss.detach()) if self._is_rounded else loss

    def _confirm(self, went_in: torch.Tensor, came_out: float) -> None:
        """Set `reason` when what came out of the model is not the loss that went in. 0, NaN and infinity tell nothing."""
        if not math.isfinite(went_in) or went_in == 0.0:  # 0 stays what it is under a scale or a cap
            return
        self._is_rounded = came_out != float(went_in)
        rounded = [float(went_in.to(dtype)) for dtype in (torch.float32, torch.bfloat16, torch.float16)]
        if self._is_rounded and came_out not in rounded:
            self.reason = "the model changes its logits behind the output layer in training"
        else:
            self.is_confirmed = True


def probe_like(logits: torch.Tensor) -> torch.Tensor:
    """Made-up logits of the same shape, dtype and device, of either sign and many sizes, without a random number: training wants those."""
    wave = torch.arange(logits.numel(), dtype=torch.float32, device=logits.device).sin_().mul_(PROBED_RANGE)
    return wave.to(logits.dtype).view(logits.shape)


def check_base_model(model: torch.nn.Module, settings: ObjectiveSettings) -> None:
    """Raise ValueError where the objective compares with a base model, and the bare model has no adapter that can be turned off."""
    if settings.needs_reference and not hasattr(model, "disable_adapter"):
        raise ValueError(
            f"objective={settings.name}: compares with the base model, which is the model with its adapter off. Give a peft_config."
        )


@contextlib.contextmanager
def evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Without dropout, NEFTune's noise or anything else that takes random numbers in training.

    Linear layers, which take none, keep their mode: in evaluation bitsandbytes' 4-bit layers repack their weights on CPUs with
    AVX512-BF16, and what trains afterwards computes with weights it cannot read.
    """
    was_training = {module: module.training for module in model.modules()}
    for module in was_training:
        module.training = module.training and isinstance(module, torch.nn.Linear)
    try:
        yield
    finally:
        for module, mode in was_training.items():
            module.training = mode
