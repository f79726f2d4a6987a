"""TRL's SFTTrainer with the loss of CuSeT, or of one of the methods it is compared with.

    from cuset_stage.trl import CusetTrainer
    CusetTrainer("Qwen/Qwen2.5-Coder-1.5B-Instruct", train_dataset=rows).train()

This needs torch, transformers and TRL. LLaMA-Factory is not imported.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import torch
from transformers import Trainer
from trl import SFTTrainer

from .objective import ObjectiveMeter, ObjectiveSettings
from .objective.cuset import LABEL_COLUMNS
from .objective.statistics import LOG_PREFIX
from .spans import DEFAULT_KINDS
from .stage.batch_labels import BatchLabeller
from .stage.head import FusedHead, check_base_model, evaluating


logger = logging.getLogger(__name__)


def labelled_batch(collator: Callable[[Any], dict], labeller: BatchLabeller, examples: Any) -> dict[str, Any]:
    """Return another collator's batch with the two columns that CuSeT reads beside `labels`, both [rows, length].

    A collator that packs rows end to end must not supervise the first token of a row, because nothing predicts it.
    TRL's collator does not.

    Args:
        collator: makes a batch, a dictionary with `input_ids` and `labels`, of examples.
        labeller: finds the CUDA tokens of the batch.
        examples: the collator's argument.
    """
    batch = collator(examples)
    return {**batch, **labeller.columns(batch["input_ids"], batch["labels"])}


class CusetTrainer(SFTTrainer):
    """TRL's SFTTrainer, in which the output layer computes CuSeT's loss in place of logits.

    Data, templates, packing, PEFT and everything else are TRL's. During evaluation the loss is TRL's cross-entropy, so
    that methods can be compared.

    Args:
        args: SFTTrainer's positional arguments.
        objective: the loss and its settings, or its name alone. None means CuSeT's loss with the paper's settings.
        kinds: the kinds of span that count as CUDA-sensitive, as in `find_spans`.
        aliases: as in `find_spans`.
        language: as in `find_spans`.
        kwargs: SFTTrainer's keyword arguments.

    Raises:
        ValueError: if the output layer cannot compute the loss, if the objective compares with a base model and there
            is no adapter to turn off, or if a setting would have no effect.
    """

    def __init__(
        self,
        *args: Any,
        objective: ObjectiveSettings | str | None = None,
        kinds: Sequence[str] = DEFAULT_KINDS,
        aliases: Iterable[str] = (),
        language: str = "cuda",
        **kwargs: Any,
    ) -> None:
        is_settings = isinstance(objective, ObjectiveSettings)
        self.objective = objective if is_settings else ObjectiveSettings(objective or "cuset")
        super().__init__(*args, **kwargs)
        tokenizer = getattr(self.processing_class, "tokenizer", self.processing_class)
        labeller = BatchLabeller(tokenizer, kinds, aliases, language)
        self.data_collator = partial(labelled_batch, self.data_collator, labeller)
        model = self.accelerator.unwrap_model(self.model)
        self._check_settings(model)
        check_base_model(model, self.objective)
        self.fused_head = FusedHead(model, self.objective)
        self._check_head()
        self._meter = ObjectiveMeter()
        # When this attribute is set, the Trainer counts the optimizer step's supervised tokens over gradient
        # accumulation and ranks, and does not divide the loss any further.
        self.compute_loss_func = self._loss

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return the loss of a batch.

        In training this is the objective's sum over the batch's tokens, divided by the tokens of the optimizer step.
        In evaluation it is SFTTrainer's own loss.
        """
        inputs = dict(inputs)
        columns = {name: inputs.pop(name) for name in LABEL_COLUMNS}
        if not model.training:
            self.compute_loss_func = None
            try:
                return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
            finally:
                self.compute_loss_func = self._loss
        inputs["use_cache"] = False
        batch = {"labels": inputs["labels"], **columns, "num_items_in_batch": num_items_in_batch}
        with self.fused_head.armed(**batch, reference=self._reference(model, inputs)):
            # Skip SFTTrainer's own method, which reads the logits: there are none here.
            return Trainer.compute_loss(self, model, inputs, return_outputs, num_items_in_batch)

    def _loss(self, outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
        """Return the loss that the output layer has put in the place of the logits, and collect its statistics."""
        loss = self.fused_head.loss_of(outputs.logits)
        self._check_head()
        self._meter.update(self.fused_head.terms, self.objective.tau)
        return loss

    def _check_settings(self, model: torch.nn.Module) -> None:
        """Raise ValueError for a setting that would have no effect."""
        without_effect = {
            "ObjectiveSettings.normalization": self.objective.normalization != "tokens",
            "label_smoothing_factor": bool(self.args.label_smoothing_factor),
            "loss_type": getattr(self.args, "loss_type", "nll") != "nll",
            "compute_loss_func": self.compute_loss_func is not None,
            "model.config.output_router_logits": getattr(model.config, "output_router_logits", False),
        }
        for name, is_set in without_effect.items():
            if is_set:
                raise ValueError(
                    f"{name}: this trainer does not add it to the loss, which `objective` names; leave it at its default."
                )

    def _check_head(self) -> None:
        """Raise ValueError where the output layer cannot compute the loss."""
        if self.fused_head.reason:
            raise ValueError(
                f"the output layer cannot compute the loss: {self.fused_head.reason}. Where Liger's kernels replace it, set use_liger_kernel=False."
            )

    def _reference(self, model: Any, inputs: dict[str, Any]) -> Any:
        """Return the input of the base model's output layer for a batch, or None if the objective does not need it."""
        if not self.objective.needs_reference:
            return None
        inputs = {name: value for name, value in inputs.items() if name != "labels"}
        with torch.no_grad(), evaluating(model), self.accelerator.unwrap_model(model).disable_adapter():
            return self.fused_head.inputs_of(lambda: model(**inputs), with_head=False)

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Log the objective's statistics with each training loss, and warn if the data have no CUDA token."""
        if "loss" in logs:
            averages = self._meter.compute(self.args.device, self.accelerator.gather)
            if averages.get("cuda_share") == 0:
                logger.warning(
                    "NOT ONE CUDA TOKEN in the last %d steps: the CUDA mask does nothing.", self.args.logging_steps
                )
            logs = {**logs, **{LOG_PREFIX + name: value for name, value in averages.items()}}
        super().log(logs, *args, **kwargs)
