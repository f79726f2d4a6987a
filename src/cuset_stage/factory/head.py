"""The fused head inside a model: during a training step its output layer returns the loss in place of the logits.

A causal language model ends in `logits = lm_head(hidden)`. `FusedHead` covers that layer's `forward`; while a batch is armed, the layer
computes the objective from the hidden states it is given and its own weight, and returns the loss as a tensor [1, 1, 1], which the
model hands on as its logits. The call goes through the layer, so weights that ZeRO-3 or FSDP shard are there, and the loss flows
through the model's output, so DDP, autocast and gradient checkpointing see an ordinary forward. Nothing of size vocabulary times
tokens exists.

Where that cannot be right, `reason` says why and the trainer takes the readable loss on materialised logits.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from ..objective import ObjectiveSettings, TokenTerms, fused_objective


# Configuration keys of models that change the logits behind the head (Gemma 2 and 3, Cohere, Granite, and their like).
_POST_PROCESSING = (
    "final_logit_softcapping",
    "logit_scale",
    "logits_scaling",
    "lm_head_multiplier",
    "output_multiplier_scale",
)


class FusedHead:
    """Covers the output layer of `model`.

    Args:
        model: the bare model, without DDP, DeepSpeed or the like; PEFT's wrapper may be around it.
        settings: the objective.

    Attributes:
        reason: why the head cannot be fused, or None.
        terms: the objective's terms of the last armed batch.
    """

    def __init__(self, model: torch.nn.Module, settings: ObjectiveSettings) -> None:
        self.settings = settings
        self.terms: TokenTerms | None = None
        self._batch: dict[str, Any] | None = None
        self._loss: torch.Tensor | None = None
        self._hidden: torch.Tensor | None = None
        self._keeps_hidden = False
        self._is_verified = False
        self.head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
        self.reason = self._obstacle(model)
        if self.reason is None:
            # One function for the whole run, so that a compiled model is not compiled anew with every batch.
            self.head.forward = self._forward

    def _obstacle(self, model: torch.nn.Module) -> str | None:
        if self.head is None:
            return "the model has no output layer that can be found"
        if type(self.head) is not torch.nn.Linear:
            return f"the output layer is a {type(self.head).__name__}, not a plain linear layer"
        if "forward" in vars(self.head):
            return "something else has already replaced the output layer's forward"
        text_config = model.config.get_text_config()
        for key in _POST_PROCESSING:
            value = getattr(text_config, key, None)
            if value not in (None, 1, 1.0):
                return f"the model changes its logits behind the output layer ({key}={value})"
        return None

    @torch.compiler.disable
    def _forward(self, hidden: torch.Tensor) -> torch.Tensor:
        if self._keeps_hidden:  # ASFT's reference pass wants the hidden states and no logits
            self._hidden = hidden
            return hidden
        if self._batch is None:
            return torch.nn.functional.linear(hidden, self.head.weight, self.head.bias)

        loss, self.terms = fused_objective(
            hidden, self.head.weight, settings=self.settings, bias=self.head.bias, **self._batch
        )
        self._loss = loss.detach()
        return loss.reshape(1, 1, 1)

    @contextlib.contextmanager
    def armed(
        self,
        labels: torch.Tensor,
        cuda_mask: torch.Tensor,
        sample_ids: torch.Tensor,
        num_items_in_batch: Any,
        reference: dict[str, torch.Tensor | None],
    ) -> Iterator[None]:
        """Within this context the next forward pass of the model gives the loss of this batch."""
        self._batch = {
            "labels": labels,
            "cuda_mask": cuda_mask,
            "sample_ids": sample_ids,
            "num_items_in_batch": num_items_in_batch,
            **reference,
        }
        self.terms = self._loss = None
        try:
            yield
        finally:
            self._batch = None

    @contextlib.contextmanager
    def keeping_hidden(self) -> Iterator[None]:
        """Within this context the model's forward pass keeps its last hidden states, for `take_hidden`."""
        self._keeps_hidden = True
        try:
            yield
        finally:
            self._keeps_hidden = False

    def take_hidden(self) -> torch.Tensor:
        hidden, self._hidden = self._hidden, None
        return hidden

    def loss_of(self, logits: Any) -> torch.Tensor | None:
        """The loss that came out of the model as its logits; None, and a `reason`, when it is not what the head put in.

        That a model does not touch what its head returns is a property of the model, so the values are compared once.
        """
        problem = None
        if self._loss is None:
            problem = "the model does not call its output layer"
        elif not isinstance(logits, torch.Tensor) or logits.numel() != 1:
            problem = "the model reshapes its logits"
        elif not self._is_verified and not torch.equal(logits.detach().reshape(()).float(), self._loss.float()):
            problem = "the model changes its logits behind the output layer"
        if problem:
            self.reason = problem
            return None
        self._is_verified = True
        return logits.reshape(())
