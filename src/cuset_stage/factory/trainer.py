"""LLaMA-Factory's SFT trainer with the loss, the log and the evaluation of CuSeT."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from llamafactory.train.sft.trainer import CustomSeq2SeqTrainer
from transformers.trainer_utils import EvalLoopOutput

from ..objective import ObjectiveMeter, ObjectiveSettings, TokenTerms, token_terms
from .modelcard import describe_method


LOG_PREFIX = "cuset/"


class CusetTrainer(CustomSeq2SeqTrainer):
    """Trains with one of the objectives of `cuset_stage.objective`; everything else is LLaMA-Factory's.

    The loss of a micro-batch is its sum over tokens divided by the count of the whole optimizer step (`num_items_in_batch`, over
    accumulation and ranks); the Trainer then multiplies by the number of ranks, because gradients are averaged over them.
    """

    def __init__(self, objective: ObjectiveSettings, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.objective = objective
        self.compute_loss_func = self._objective_loss
        self._meter = ObjectiveMeter()
        self._batch_labels: tuple[torch.Tensor, torch.Tensor] | None = None
        self._reference_logits: torch.Tensor | None = None
        self._is_evaluating = False
        self._evaluated_rows: list[torch.Tensor] = []

    # ---- the loss

    def compute_loss(self, model: torch.nn.Module, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if "cuda_mask" not in inputs:
            raise ValueError("the batch has no cuda_mask: the data set was not labelled by stage: cuset.")
        inputs = dict(inputs)
        self._batch_labels = inputs.pop("cuda_mask"), inputs.pop("sample_ids")
        if self.objective.objective == "asft" and self.objective.asft_alpha > 0:
            without_labels = {name: value for name, value in inputs.items() if name != "labels"}
            with torch.no_grad(), self._base_model(model) as base:
                self._reference_logits = base(**without_labels).logits
        try:
            return super().compute_loss(model, inputs, *args, **kwargs)
        finally:
            self._batch_labels = self._reference_logits = None

    def _objective_loss(self, outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
        logits = outputs.get("logits") if hasattr(outputs, "get") else outputs[0]
        if not isinstance(logits, torch.Tensor) or logits.dim() != 3:
            raise ValueError(
                "the model returned no logits in training (some accelerated models leave them out), and CuSeT's loss is computed "
                "from them. Turn off use_unsloth or the like, or use stage: sft."
            )
        terms = token_terms(logits, labels, *self._batch_labels, self.objective, self._reference_logits)
        if self._is_evaluating:
            self._keep_for_evaluation(terms, labels.size(0))
            loss = terms.nll.sum()  # eval_loss is plain cross-entropy, so that methods compare
            count = terms.nll.numel()
        else:
            self._meter.update(terms, self.objective.tau)
            loss = terms.loss.sum()
            count = terms.nll.numel() if self.objective.normalization == "tokens" else terms.sample_weight.numel()

        if num_items_in_batch is not None:
            count = num_items_in_batch
        # Without a supervised token there is nothing to learn, but every rank needs a gradient path.
        loss = loss / count if terms.nll.numel() else logits.sum() * 0.0
        return loss + self._auxiliary_loss(outputs)

    def _auxiliary_loss(self, outputs: Any) -> torch.Tensor | float:
        """The router loss of mixture-of-experts models, which they add themselves only when they compute the loss."""
        auxiliary = outputs.get("aux_loss") if hasattr(outputs, "get") else None
        if not isinstance(auxiliary, torch.Tensor):
            return 0.0
        config = self.accelerator.unwrap_model(self.model).config.get_text_config()
        return getattr(config, "router_aux_loss_coef", 0.0) * auxiliary

    @contextlib.contextmanager
    def _base_model(self, model: torch.nn.Module) -> Iterator[torch.nn.Module]:
        """ASFT's reference: a frozen copy, or under LoRA the wrapped model itself with its adapters off."""
        if self.ref_model is not None:
            yield self.ref_model
            return

        # DDP, DeepSpeed and FSDP hide disable_adapter, but their forward must be the one that is called.
        adapted = self.accelerator.unwrap_model(model)
        was_training = model.training
        model.eval()  # no dropout and no NEFTune noise in the reference
        try:
            with adapted.disable_adapter():
                yield model
        finally:
            model.train(was_training)

    def _get_num_items_in_batch(self, batch_samples: list[Any], device: torch.device) -> Any:
        if self.objective.normalization == "samples" and not self._is_evaluating:
            samples = sum(count_samples(batch["labels"], batch["sample_ids"]) for batch in batch_samples)
            batch_samples = [{"labels": torch.zeros(samples)}]  # what the Trainer counts is entries that are not -100
        return super()._get_num_items_in_batch(batch_samples, device)

    # ---- the log

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        if "loss" in logs:
            averages = self._meter.compute(self.args.device, self._reduce)
            logs = {**logs, **{LOG_PREFIX + name: value for name, value in averages.items()}}
        super().log(logs, start_time)

    def _reduce(self, values: torch.Tensor, how: str) -> torch.Tensor:
        gathered = self.accelerator.gather(values[None])
        return gathered.sum(dim=0) if how == "sum" else gathered.amax(dim=0)

    # ---- evaluation

    def prediction_step(self, *args: Any, **kwargs: Any) -> Any:
        self._is_evaluating = True
        try:
            return super().prediction_step(*args, **kwargs)
        finally:
            self._is_evaluating = False

    def _keep_for_evaluation(self, terms: TokenTerms, batch_size: int) -> None:
        """Keep each row's loss, tokens and samples: rows that a sampler repeats to fill the last batch are dropped again."""
        rows = torch.zeros(batch_size, 3, dtype=torch.float32, device=terms.nll.device)
        first = torch.ones_like(terms.sample)
        first[1:] = terms.sample[1:] != terms.sample[:-1]
        values = torch.stack([terms.loss.detach(), torch.ones_like(terms.nll), first.float()], dim=1)
        rows.index_add_(0, terms.row, values)
        self._evaluated_rows.append(self.gather_function(rows).double().sum(dim=0).cpu())

    def evaluation_loop(self, *args: Any, metric_key_prefix: str = "eval", **kwargs: Any) -> EvalLoopOutput:
        self._evaluated_rows = []
        output = super().evaluation_loop(*args, metric_key_prefix=metric_key_prefix, **kwargs)
        if self._evaluated_rows and output.metrics is not None:
            loss, tokens, samples = torch.stack(self._evaluated_rows).sum(dim=0).tolist()
            count = tokens if self.objective.normalization == "tokens" else samples
            if count:
                output.metrics[f"{metric_key_prefix}_{self.objective.objective}_loss"] = loss / count
        return output

    # ---- the model card

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        super().create_model_card(*args, **kwargs)
        if self.is_world_process_zero():
            describe_method(self.args.output_dir, self.objective, self.finetuning_args)


def count_samples(labels: torch.Tensor, sample_ids: torch.Tensor) -> int:
    """How many samples of a batch [batch, length] have a supervised token that is predicted from another one."""
    ids = torch.where(labels[:, 1:] != -100, sample_ids[:, 1:], 0)
    return sum(int(row[row > 0].unique().numel()) for row in ids)
