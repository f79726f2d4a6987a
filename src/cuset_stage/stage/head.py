"""The fused head inside a model: in a training step the model's output layer returns the loss, not the logits.

A causal language model ends in `logits = lm_head(hidden)`. `FusedHead` replaces that layer's `forward`. While a batch
is armed, the layer computes the objective from its hidden states and its own weight, and returns the loss as a tensor
[1, 1, 1]. The model hands it on as its logits. The call goes through the layer, so weights that ZeRO-3 or FSDP shard
are gathered. The loss flows through the model's output, so DDP, autocast and gradient checkpointing see an ordinary
forward. No tensor of size vocabulary times tokens exists.

Where this cannot be right, `reason` says why, and the trainer computes the loss from materialised logits.
"""

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..objective import ObjectiveSettings, TokenTerms, fused_objective
from ..objective.fused import Reference


PROBED_TOKENS = 8  # tokens of each row in a probe
# Logits of a probe lie between minus and plus this value. It is large enough to show a logit cap, even in bfloat16.
PROBED_RANGE = 1000.0


class FusedHead:
    """Replaces the forward of a model's output layer by the fused objective.

    Attributes:
        reason: why the head cannot be fused, or None.
        is_verified: whether `verify` has seen that the model does not change what its output layer returns.
        is_confirmed: whether `loss_of` has seen the same for a loss, in training.
        terms: the objective's terms of the armed batch, once the model has run. They keep nothing for the backward
            pass.

    Args:
        model: the bare model, without DDP, DeepSpeed or the like. PEFT's wrapper may be around it.
        settings: the objective.
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
        self._is_rounded = False  # whether the model rounds the loss to a narrower type
        self.reason: str | None = None
        self.head = model.get_output_embeddings()
        earlier = getattr(getattr(self.head, "forward", None), "__self__", None)
        if isinstance(earlier, FusedHead):  # of an earlier trainer of this model
            earlier.uncover()
        layer_type = type(self.head)
        if layer_type is not torch.nn.Linear:
            self.reason = (
                f"the output layer is a {layer_type.__module__}.{layer_type.__qualname__}, not torch.nn.Linear"
            )
        elif "forward" in vars(self.head):
            self.reason = "something else has already replaced the output layer's forward"
        else:
            # The same function for the whole run, so that a compiled model is not compiled again for every batch.
            self.head.forward = self._forward

    def uncover(self) -> None:
        """Restore the output layer's own forward, if this head has replaced it."""
        if vars(self.head).get("forward") == self._forward:
            del self.head.forward

    @torch.compiler.disable
    def _forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Stand in for the output layer's forward: hidden states [batch, length, hidden] to logits or loss."""
        weight, bias = self.head.weight, self.head.bias
        if self._keeps:  # ASFT's reference pass needs only the hidden states
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
        """Check that the model hands on what its output layer returns, and set `reason` if it does not.

        This is a property of the model, so one check is enough. During the check the layer returns the made-up logits
        of `probe_like` for a few tokens. The model's own logits may show nothing: those of a head of zeros stay zero
        under any scale.

        Args:
            run: a forward pass of the model without gradients.
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
            probes, self._probed = self._probed, None
        logits = output.get("logits") if hasattr(output, "get") else output[0]
        if len(probes) != 1:
            self.reason = "the model does not call its output layer" + (" once" if probes else "")
        elif not isinstance(logits, torch.Tensor) or logits.shape != probes[0].shape:
            self.reason = "the model reshapes its logits"
        elif not torch.equal(logits.float(), probes[0].float()):
            self.reason = "the model changes its logits behind the output layer"
        else:
            self.is_verified = True

    @contextlib.contextmanager
    def armed(self, **batch: Any) -> Iterator[None]:
        """Make forward passes of the model return the loss of a batch (see `fused_objective`) within this context."""
        self._batch = batch
        self.terms = self._loss = None
        try:
            yield
        finally:
            self._batch = self.terms = None

    def inputs_of(self, run: Callable[[], Any], with_head: bool) -> Reference:
        """Run the model and return what reaches its output layer.

        Args:
            run: a forward pass of the model.
            with_head: also return the layer's weight and bias. Where ZeRO-3 or FSDP release them after the pass, they
                are copied during the pass.

        Returns:
            The hidden states, and (weight, bias) or None.
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
        """Check that the kept weight is still there after the forward pass."""
        (weight, _), now = self._kept[1], self.head.weight
        # After a pass DeepSpeed empties the parameter, FSDP 1 empties its storage, and FSDP 2 exchanges the parameter.
        is_there = weight is now and now.dim() == 2 and now.untyped_storage().size() > 0
        return is_there and tuple(now.shape) == (self.head.out_features, self.head.in_features)

    def loss_of(self, logits: Any) -> torch.Tensor | None:
        """Return the loss that came out of the model in place of its logits.

        Waits for the device until one loss has shown that the model does not change it in training either. In a run
        this happens with the first batch. Wrappers of the model may convert outputs to bfloat16 or float16, as FSDP 2
        does under mixed precision. The returned loss then still has its unrounded value.

        Args:
            logits: the logits in the model's output.

        Returns:
            The loss, a scalar with a gradient. None if it did not come out as it went in; then `reason` is set.
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
        """Set `reason` if the model's output is not the loss that went in.

        0, NaN and infinity prove nothing, so they are skipped.
        """
        if not math.isfinite(went_in) or went_in == 0.0:  # a scale or a cap leaves 0 unchanged
            return
        self._is_rounded = came_out != float(went_in)
        rounded = [float(went_in.to(dtype)) for dtype in (torch.float32, torch.bfloat16, torch.float16)]
        if self._is_rounded and came_out not in rounded:
            self.reason = "the model changes its logits behind the output layer in training"
        else:
            self.is_confirmed = True


def probe_like(logits: torch.Tensor) -> torch.Tensor:
    """Return made-up logits of the same shape, dtype and device.

    They have either sign and many sizes. No random number is drawn, so the random state of the training does not
    change.
    """
    wave = torch.arange(logits.numel(), dtype=torch.float32, device=logits.device).sin_().mul_(PROBED_RANGE)
    return wave.to(logits.dtype).view(logits.shape)


def check_base_model(model: torch.nn.Module, settings: ObjectiveSettings) -> None:
    """Check that an objective that compares with a base model has one.

    Raises:
        ValueError: the objective needs a base model, and the bare model has no adapter that can be turned off.
    """
    if settings.needs_reference and not hasattr(model, "disable_adapter"):
        raise ValueError(
            f"objective={settings.name}: compares with the base model, which is the model with its adapter off. Give a peft_config."
        )


@contextlib.contextmanager
def evaluating(model: torch.nn.Module) -> Iterator[None]:
    """Turn off dropout, NEFTune's noise and everything else that draws random numbers in training.

    Linear layers draw none and keep their mode. In evaluation mode, bitsandbytes' 4-bit layers repack their weights on
    CPUs with AVX512-BF16, and training afterwards would compute with weights that it cannot read.
    """
    was_training = {module: module.training for module in model.modules()}
    for module in was_training:
        module.training = module.training and isinstance(module, torch.nn.Linear)
    try:
        yield
    finally:
        for module, mode in was_training.items():
            module.training = mode
