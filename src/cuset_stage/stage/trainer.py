"""LLaMA-Factory's SFT trainer with the loss, the log and the evaluation of CuSeT.

The trainer uses the fused head, and computes no padding, where the model allows it. It finds this out with the first
batch, and otherwise falls back to materialised logits or padded batches.
"""

import contextlib
import copy
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from llamafactory.extras import logging
from llamafactory.extras.misc import is_env_enabled
from llamafactory.train.sft.trainer import CustomSeq2SeqTrainer
from peft.tuners.tuners_utils import BaseTunerLayer
from torch.utils.data import IterableDataset
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR, EvalLoopOutput

from .. import attention
from ..objective import ObjectiveMeter, ObjectiveSettings, TokenTerms, token_terms
from ..objective.cuset import IGNORE_INDEX, NonFiniteError, no_loss, supervised_positions
from ..objective.statistics import LOG_PREFIX
from . import padding_free, proof
from .arguments import check_layout
from .artifacts import describe_method
from .head import FusedHead, evaluating
from .processors import COLUMNS, WEIGHTS


logger = logging.get_logger(f"llamafactory.{__name__}")  # a child of its logger, for its handlers and verbosity

LOW_CONFIDENCE = 0.2  # mean confidence over tokens at the first log; below this, something is wrong


Metric = Callable[["CusetTrainer"], dict[str, float]]


class CusetTrainer(CustomSeq2SeqTrainer):
    """Trains with one of the objectives of `cuset_stage.objective`. Everything else is LLaMA-Factory's.

    The loss of a micro-batch is its sum over tokens divided by the count of the whole optimizer step
    (`num_items_in_batch`, over accumulation and ranks). The Trainer then multiplies it by the number of ranks, because
    gradients are averaged over them.

    Attributes:
        fused_head: what replaces the model's output layer. None: the loss is computed from logits.

    Args:
        objective: the objective and its settings.
        label_summaries: sentences about the labels, for the model card.
        metrics: each is called with the trainer at an evaluation, on every rank, and returns entries of the
            evaluation's log.
        kwargs: arguments of LLaMA-Factory's trainer.
    """

    def __init__(
        self, objective: ObjectiveSettings, label_summaries: Sequence[str], metrics: Sequence[Metric], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._label_summaries = label_summaries
        self._metrics = metrics
        # accelerate may also build a layout from environment variables
        check_layout(getattr(self.accelerator, "parallelism_config", None))
        self.objective = objective
        self.compute_loss_func = self._objective_loss
        self._said_fused = False
        self.fused_head: FusedHead | None = None
        self._reference_head: FusedHead | None = None
        if self.finetuning_args.cuset_fused != "off":
            heads = [FusedHead(model, objective) for model in self._models()]
            self.fused_head, self._reference_head = heads[0], heads[-1]
            if reason := heads[0].reason or heads[-1].reason:
                self._give_up_fused(reason)
        self._is_padding_free = self.finetuning_args.cuset_padding_free
        self._said_padding_free = False
        if self._is_padding_free:
            reasons = [padding_free.reason_against(model, self.args) for model in self._models()]
            if self.data_collator.label_pad_token_id != IGNORE_INDEX:
                reasons.append("ignore_pad_token_for_loss: false supervises it")
            if reason := next(filter(None, reasons), None):
                self._give_up_padding_free(reason)
        # A step must not wait for the device, so that the next one can be queued while the device works. So the
        # collator counts the tokens of rows, batches are copied without waiting, and the log's filter against NaN is
        # off. The filter is not needed, because a loss that is not finite ends the run first. A streamed batch has no
        # counts, because accelerate sends it from one process to the others, which works with tensors alone. A run
        # without training (train_dataset None) may evaluate streamed data, and only training reads counts.
        sends_batches = self.accelerator.dispatch_batches or isinstance(self.train_dataset, IterableDataset | None)
        self.data_collator.gives_lengths = self._is_padding_free and not sends_batches
        self.accelerator.dataloader_config.non_blocking |= self.args.dataloader_pin_memory
        self.args.logging_nan_inf_filter = False
        self._meter = ObjectiveMeter()
        self._has_logged = False
        self._step_items: torch.Tensor | None = None  # tokens or samples of the optimizer step, over all ranks
        self._grad_norm: Any = None  # norm at the last optimizer step
        # Label columns of the batch while its loss is computed from logits. None: the fused head computes it.
        self._columns: dict[str, torch.Tensor] | None = None
        self._reference_logits: torch.Tensor | None = None
        self._is_evaluating = False
        self._wants_logits = False
        self._evaluated_rows: list[torch.Tensor] = []

    def _give_up_fused(self, reason: str) -> None:
        """Compute the loss from materialised logits from now on.

        Raises:
            ValueError: `cuset_fused: on` does not allow this.
        """
        if self.finetuning_args.cuset_fused == "on":
            raise ValueError(
                f"cuset_fused: on, but {reason}. Set cuset_fused: auto to compute the loss from materialised logits."
            )
        logger.info_rank0(f"The loss is computed from materialised logits: {reason}.")
        self.fused_head = None

    def _models(self) -> list[torch.nn.Module]:
        """Return the bare models that run in a step: the model, and the reference model if it is another one."""
        has_reference = self.objective.needs_reference and self.ref_model is not None
        models = [self.model, self.ref_model] if has_reference else [self.model]
        return [self.accelerator.unwrap_model(model) for model in models]

    def _give_up_padding_free(self, reason: str) -> None:
        """Compute padding from now on."""
        logger.info_rank0(f"Padding is computed: {reason}.")
        self._is_padding_free, self._said_padding_free = False, True

    def _save_checkpoint(self, *args: Any, **kwargs: Any) -> None:
        # trainer_state.json is written last and marks a checkpoint as whole. One that an earlier run left would make a
        # half overwritten checkpoint look whole, so it is removed first.
        if self.args.should_save:
            folder = Path(self.args.output_dir, f"{PREFIX_CHECKPOINT_DIR}-{self.state.global_step}")
            (folder / "trainer_state.json").unlink(missing_ok=True)
        super()._save_checkpoint(*args, **kwargs)

    def train(self, *args: Any, **kwargs: Any) -> Any:
        """Train, add `train_nll` to the metrics, and warn if no CUDA token was trained on."""
        result = super().train(*args, **kwargs)
        self._check_gradient()
        nll, share = LOG_PREFIX + "nll", LOG_PREFIX + "cuda_share"
        log = [(entry["step"], entry[nll], entry[share]) for entry in self.state.log_history if nll in entry]
        if rest := self._meter.compute(self.args.device, self.accelerator.gather):  # steps since the last log entry
            log.append((self.state.global_step, rest["nll"], rest["cuda_share"]))
        if not log:
            return result
        steps, losses, shares = zip(*log, strict=True)
        # The plain cross-entropy can be compared with the `train_loss` of SFT. CuSeT's own `train_loss` cannot.
        result.metrics["train_nll"] = float(np.average(losses, weights=np.diff([0, *steps])))
        if self.objective.objective == "cuset" and self.objective.use_cuda_mask and not any(shares):
            # By now, the warning about the data set is far above in the log.
            logger.warning_rank0(
                "NOT ONE CUDA TOKEN was trained on, so the CUDA mask did nothing. The warning at the beginning of the log names the causes; "
                "`cuset label` shows what is found in each row."
            )
        return result

    def _inner_training_loop(self, *args: Any, **kwargs: Any) -> Any:
        self._meter = ObjectiveMeter()  # auto_find_batch_size begins anew when memory has run out
        return super()._inner_training_loop(*args, **kwargs)

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        """Return the Trainer's estimate for a batch, without counting the parameters in every micro-batch.

        The GPU would wait for that count.
        """
        return self._operations_of_a_token * inputs["input_ids"].numel()

    @functools.cached_property
    def _operations_of_a_token(self) -> int:
        return super().floating_point_ops({"input_ids": torch.zeros(1)})

    def training_step(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Make a training step, and check that it computed CuSeT's loss.

        Some libraries replace the Trainer's training step by one that computes a loss of its own.

        Raises:
            OtherTrainerError: the step computed another loss.
            NonFiniteError: the loss or the last gradient is not finite. The message names likely causes.
        """
        self._computed_loss = False
        with (
            self._explained_non_finite(f"step {self.state.global_step + 1}"),
            padding_free.training(self._is_padding_free),
            self._no_casts(),
        ):
            loss = super().training_step(*args, **kwargs)
        if not self._computed_loss:
            raise proof.OtherTrainerError("a training step did not compute CuSeT's loss")
        return loss

    @functools.cached_property
    def _casting_layers(self) -> list[BaseTunerLayer]:
        """Adapted layers whose inputs PEFT would copy to float32.

        The copies are useless, because autocast computes the products in its own type.
        """
        arguments = self.finetuning_args
        if not self.accelerator.native_amp or arguments.finetuning_type != "lora" or arguments.use_dora:
            return []
        layers = (module for module in self.model.modules() if isinstance(module, BaseTunerLayer))
        return [layer for layer in layers if layer.cast_input_dtype_enabled]

    @contextlib.contextmanager
    def _no_casts(self) -> Iterator[None]:
        """Turn off the copies that PEFT makes in `_casting_layers` within this context.

        It encloses only a step. Generation in an evaluation runs outside of autocast and needs the copies.
        """
        for layer in self._casting_layers:
            layer.cast_input_dtype_enabled = False
        try:
            yield
        finally:
            for layer in self._casting_layers:
                layer.cast_input_dtype_enabled = True

    def _maybe_log_save_evaluate(self, tr_loss: torch.Tensor, grad_norm: Any, *args: Any, **kwargs: Any) -> None:
        self._grad_norm = grad_norm
        if self.control.should_log or self.control.should_save or self.control.should_evaluate:
            self._check_gradient()  # logging, saving and evaluating wait for the device anyway
        super()._maybe_log_save_evaluate(tr_loss, grad_norm, *args, **kwargs)

    def _check_gradient(self) -> None:
        """Check that the gradient of the last optimizer step was finite. Waits for the device.

        Raises:
            NonFiniteError: it was not.
        """
        norm = 0.0 if self._grad_norm is None else float(self._grad_norm)
        if not math.isfinite(norm) and not self.args.fp16:  # float16's loss scaler skips such steps
            problem = f"step {self.state.global_step}: the gradient norm is {norm}, which ruins the weights"
            raise NonFiniteError(problem, self._causes())

    @contextlib.contextmanager
    def _explained_non_finite(self, where: str) -> Iterator[None]:
        """Raise a NonFiniteError of the loss again, with the place and the possible causes."""
        try:
            yield
        except NonFiniteError as error:
            self._check_gradient()
            raise NonFiniteError(f"{where}: {error.found}", self._causes()) from None

    def _causes(self) -> str:
        """Return a sentence on what may have made numbers NaN or infinite, with a fix for each cause."""
        causes = [
            attention.suspicion(self.args.device),
            "float16 overflows: use bf16 in place of fp16" if self.args.fp16 else None,
            "training has diverged: lower learning_rate or set max_grad_norm",
            "the files of the model or of its adapter are damaged: load others",
        ]
        return f"Possible causes: {'; '.join(filter(None, causes))}."

    # ---- the loss

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> Any:
        """Compute CuSeT's loss of a micro-batch, fused and without padding where possible."""
        if "cuda_mask" not in inputs:
            raise ValueError("the batch has no cuda_mask: the data set was not labelled by stage: cuset.")
        self._computed_loss = True
        if not self.state.global_step:
            self._check_tokens(inputs["input_ids"])
        lengths = inputs.pop(padding_free.LENGTHS, None)
        if self._is_padding_free and not self._is_evaluating:
            loss = self._loss_without_padding(model, inputs, lengths, num_items_in_batch)
            if loss is not None:
                return loss
        return self._loss_of(model, inputs, return_outputs, num_items_in_batch)

    def _check_tokens(self, input_ids: torch.Tensor) -> None:
        """Check that every token has an embedding. Waits for the device.

        On a GPU, a token without one ends in an obscure error message.

        Raises:
            ValueError: names the token and the fix.
        """
        embeddings = getattr(self.model.get_input_embeddings(), "num_embeddings", None)
        if embeddings is not None and (largest := int(input_ids.max())) >= embeddings:
            raise ValueError(
                f"a row has token {largest}, the model knows 0 to {embeddings - 1}: the template or the tokenizer is not the model's. Give "
                "its own, or resize_vocab: true."
            )

    def _loss_without_padding(
        self, model: torch.nn.Module, inputs: dict[str, Any], lengths: Sequence[int] | None, num_items_in_batch: Any
    ) -> torch.Tensor | None:
        """Return the loss of the batch with its rows laid end to end, or None if padding has to be computed.

        The first batch shows whether the models allow it, on all ranks alike. So the first batch is laid even if it
        has no padding: where ranks share weights, no rank may run a model more often than the others.
        """
        is_first = not self._said_padding_free
        laid = padding_free.lay(inputs, lengths, full=is_first)
        if laid is None:
            return None
        batch, rows = laid
        meter = copy.deepcopy(self._meter) if is_first else None
        padding_free.begin(rows)
        try:
            loss = self._loss_of(model, batch, False, num_items_in_batch)
            rows.check(*(self._models() if is_first else ()))
        except (padding_free.NotPossibleError, TypeError) as error:  # a model may take no positions
            if not is_first:
                raise
            self._give_up_padding_free(str(error))
            self._meter = meter
            padding_free.begin(None)
            return None
        if is_first:
            logger.info_rank0("Padding is not computed: the rows of a batch are laid end to end.")
            self._said_padding_free = True
        return loss

    def _prepare_inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Move a batch to the device. Under DeepSpeed the Trainer rounds floats to bf16, which the weights must not be."""
        weights = inputs.get(WEIGHTS)
        prepared = super()._prepare_inputs(inputs)
        return prepared if weights is None else {**prepared, WEIGHTS: weights.to(self.args.device)}

    def _loss_of(
        self, model: torch.nn.Module, inputs: dict[str, Any], return_outputs: bool, num_items_in_batch: Any
    ) -> Any:
        """Return the loss of a batch, by the fused head or from logits."""
        inputs = dict(inputs)
        columns = {name: inputs.pop(name) for name in COLUMNS}
        columns[WEIGHTS] = inputs.pop(WEIGHTS, None)
        options = {"return_outputs": return_outputs, "num_items_in_batch": num_items_in_batch}
        if self.fused_head is not None and not self._wants_logits:
            reason = self._why_not_fused(model, inputs)
            if reason is None:
                reference = self._reference(model, inputs, fused=True)
                batch = {"labels": inputs["labels"], **columns, "num_items_in_batch": num_items_in_batch}
                with self.fused_head.armed(**batch, reference=reference):
                    result = super().compute_loss(model, dict(inputs), **options)
                reason = self.fused_head.reason
            if reason is None:
                if not self._said_fused:  # only now, because the first batch may still show that the model cannot
                    logger.info_rank0(
                        "The loss is computed by the fused head; no logits are materialised in training."
                    )
                    self._said_fused = True
                return result
            self._give_up_fused(reason)

        self._columns = columns
        self._reference_logits = self._reference(model, inputs, fused=False)
        try:
            return super().compute_loss(model, inputs, **options)
        finally:
            self._columns = self._reference_logits = None

    def _why_not_fused(self, model: torch.nn.Module, inputs: dict[str, Any]) -> str | None:
        """Return why this run cannot use the fused head, or None. It is found out with the first batch."""
        inputs = {name: value for name, value in inputs.items() if name != "labels"}
        if not self.fused_head.is_verified:  # eager, so that nothing is compiled for a single pass
            with torch.no_grad(), torch.compiler.set_stance("force_eager"), evaluating(model):
                self.fused_head.verify(lambda: model(**inputs))
        if self._reference_head is not self.fused_head and not self._reference_head.is_verified:
            with torch.no_grad():
                self._reference_head.verify(lambda: self.ref_model(**inputs))
        return self.fused_head.reason or self._reference_head.reason

    def _objective_loss(self, outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
        """Return the loss that the Trainer takes from the model's output; in an evaluation the cross-entropy."""
        logits = outputs.get("logits") if hasattr(outputs, "get") else outputs[0]
        if self._columns is None:
            loss = self.fused_head.loss_of(logits)
            if loss is None:  # _loss_of sees the reason and computes this batch again
                return labels.new_zeros((), dtype=torch.float32)
            terms = self.fused_head.terms
        else:
            if not isinstance(logits, torch.Tensor) or logits.dim() != 3:
                raise ValueError(
                    "the model returned no logits (some accelerated models leave them out in training), and CuSeT's loss is computed "
                    "from them. Turn off use_unsloth or the like, or use stage: sft."
                )
            reference = self._reference_logits
            terms = token_terms(logits, labels, settings=self.objective, reference_logits=reference, **self._columns)
            loss = terms.loss.sum() / terms.count(self.objective.normalization, num_items_in_batch)

        if self._is_evaluating:
            self._keep_for_evaluation(terms, labels.size(0))  # on all ranks, even those without a supervised token
        # Without a supervised token there is nothing to learn, but every rank needs a gradient path.
        if not terms.nll.numel():
            return loss if self._columns is None else no_loss(logits)
        if self._is_evaluating:
            # eval_loss is the plain cross-entropy, so that methods can be compared
            return terms.nll.sum() / terms.count("tokens", num_items_in_batch)
        self._meter.update(terms, self.objective.tau)
        return loss + self._auxiliary_loss(outputs, terms, num_items_in_batch)

    def _reference(self, model: torch.nn.Module, inputs: dict[str, Any], fused: bool) -> Any:
        """Run the base model on the same inputs.

        Returns:
            The fused head's `reference`, or logits [batch, length, vocabulary]. None if the objective reads no base
            model.
        """
        if not self.objective.needs_reference:
            return None
        inputs = {name: value for name, value in inputs.items() if name != "labels"}
        with torch.no_grad(), self._base_model(model) as base:
            if not fused:
                return base(**inputs).logits
            is_other = self._reference_head is not self.fused_head
            return self._reference_head.inputs_of(lambda: base(**inputs), with_head=is_other)

    def _auxiliary_loss(self, outputs: Any, terms: TokenTerms, num_items_in_batch: Any) -> torch.Tensor | float:
        """Return the router loss of mixture-of-experts models.

        The models add it themselves only when they compute the loss. It is a mean over a micro-batch, so it is
        weighted by the micro-batch's share of the step. Then its size does not depend on how the step is split.
        """
        auxiliary = outputs.get("aux_loss") if hasattr(outputs, "get") else None
        if not isinstance(auxiliary, torch.Tensor) or not self._router_factor:
            return 0.0
        share = 1.0 if num_items_in_batch is None else terms.count(self.objective.normalization) / self._step_items
        return self._router_factor * auxiliary * share

    @functools.cached_property
    def _router_factor(self) -> float:
        """The factor of a mixture-of-experts model's router loss. 0 for other models."""
        config = self.accelerator.unwrap_model(self.model).config.get_text_config()
        return getattr(config, "router_aux_loss_coef", 0.0)

    @contextlib.contextmanager
    def _base_model(self, model: torch.nn.Module) -> Iterator[torch.nn.Module]:
        """Yield the objective's base model: a frozen copy, or the wrapped model itself with its adapters off."""
        if self.ref_model is not None:
            yield self.ref_model
            return

        # DDP, DeepSpeed and FSDP hide disable_adapter, so the bare model's is used. The forward must be the wrapper's.
        adapted = self.accelerator.unwrap_model(model)
        with evaluating(model), adapted.disable_adapter():
            yield model

    def get_batch_samples(
        self, epoch_iterator: Iterator[Any], num_batches: int, device: torch.device
    ) -> tuple[list[Any], Any]:
        """Return the batches of an optimizer step, and the count that the step's loss is divided by.

        Before transformers 4.57 nothing smaller than this method can be overridden. Tokens are divided by the
        Trainer's count, as in SFT. Before transformers 5.12 that count includes a row's first label, which nothing
        predicts. Where the step's samples are needed, or the tokens that have a loss, they are counted here.
        """
        batches, count = super().get_batch_samples(epoch_iterator, num_batches, device)
        divided_by = self.objective.normalization
        if count is not None and (divided_by == "samples" or self._router_factor):
            items = sum(count_items(batch["labels"], batch.get("sample_ids"), divided_by) for batch in batches)
            items = torch.as_tensor(items, device=device)
            is_shared = self.args.average_tokens_across_devices and self.args.world_size > 1
            self._step_items = self.accelerator.gather(items).sum() if is_shared else items
            if divided_by == "samples":
                count = self._step_items
        return batches, count

    # ---- the log

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Add the objective's averages to the training log."""
        if "loss" in logs:
            averages = self._meter.compute(self.args.device, self.accelerator.gather)
            if averages and not self._has_logged:
                self._has_logged = True
                self._warn_of(averages)
            averages = {LOG_PREFIX + name: value for name, value in averages.items()}
            logs = {**logs, **averages}
            if is_env_enabled("LLAMABOARD_ENABLED"):  # the web UI's log box shows only a few values of LLaMA-Factory
                logger.info_rank0(", ".join(f"{name}: {value:.4f}" for name, value in averages.items()))
        super().log(logs, start_time)

    def _warn_of(self, averages: dict[str, float]) -> None:
        """Warn if the model finds its own training data unlikely at the first log.

        A pretrained model never does.
        """
        share = averages["cuda_share"]
        means = averages.get("cuda_confidence", 0.0), averages.get("other_confidence", 0.0)
        confidence = share * means[0] + (1 - share) * means[1]
        if confidence < LOW_CONFIDENCE:
            logger.warning_rank0(
                f"THE MODEL HARDLY KNOWS THE DATA: at the first log its mean confidence is {confidence:.2g}, and "
                f"{averages['left_out_share']:.0%} of the tokens weigh 0. Possible causes: the weights are "
                "random, damaged or another model's (model_name_or_path); the template or the tokenizer is not the model's (template); the "
                "responses are not text that a model has read, such as encoded files; learning_rate is far too high."
            )

    # ---- evaluation

    def prediction_step(
        self, model: torch.nn.Module, inputs: dict[str, Any], prediction_loss_only: bool, *args: Any, **kwargs: Any
    ) -> Any:
        self._is_evaluating, self._wants_logits = True, not prediction_loss_only
        try:
            with self._explained_non_finite(f"evaluation after step {self.state.global_step}"):
                return super().prediction_step(model, inputs, prediction_loss_only, *args, **kwargs)
        finally:
            self._is_evaluating = self._wants_logits = False

    def _keep_for_evaluation(self, terms: TokenTerms, batch_size: int) -> None:
        """Keep each row's loss, tokens and samples for the evaluation's result.

        Rows that a sampler repeats to fill the last batch are dropped again.
        """
        rows = torch.zeros(batch_size, 3, dtype=torch.float32, device=terms.nll.device)
        first = torch.ones_like(terms.sample)
        first[1:] = terms.sample[1:] != terms.sample[:-1]
        values = torch.stack([terms.loss.detach(), torch.ones_like(terms.nll), first.float()], dim=1)
        rows.index_add_(0, terms.row, values)
        # self.gather_function cannot be used: Seq2SeqTrainer sets it to the function that keeps repeated rows.
        self._evaluated_rows.append(self.accelerator.gather_for_metrics(rows).double().sum(dim=0).cpu())

    def evaluation_loop(self, *args: Any, metric_key_prefix: str = "eval", **kwargs: Any) -> EvalLoopOutput:
        """Evaluate, and add the metrics and the objective's loss (`eval_<objective>_loss`) to the result."""
        self._evaluated_rows = []
        output = super().evaluation_loop(*args, metric_key_prefix=metric_key_prefix, **kwargs)
        if metric_key_prefix.startswith("eval"):
            for metric in self._metrics:
                output.metrics.update(metric(self))
        if self._evaluated_rows:
            loss, tokens, samples = torch.stack(self._evaluated_rows).sum(dim=0).tolist()
            count = tokens if self.objective.normalization == "tokens" else samples
            if count:
                output.metrics[f"{metric_key_prefix}_{self.objective.name}_loss"] = loss / count
        return output

    # ---- the model card

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        # transformers' table needs the same metrics in every row. A run that goes on may have evaluated fewer before.
        history = self.state.log_history
        metrics = dict.fromkeys((name for entry in history if "eval_loss" in entry for name in entry), "")
        self.state.log_history = [metrics | entry if "eval_loss" in entry else entry for entry in history]
        try:
            super().create_model_card(*args, **kwargs)
        finally:
            self.state.log_history = history
        if self.is_world_process_zero():
            describe_method(self.args.output_dir, self.finetuning_args, self.objective, self._label_summaries)


def count_items(labels: torch.Tensor, sample_ids: torch.Tensor | None, normalization: str) -> torch.Tensor | int:
    """Count what the loss of a batch is divided by.

    Args:
        labels: [batch, length].
        sample_ids: [batch, length], needed only for samples.
        normalization: tokens or samples.

    Returns:
        The number of supervised tokens that a token before them predicts, or of samples that have such a token.
    """
    is_predicted = supervised_positions(labels)
    if normalization == "tokens":
        return is_predicted.sum()
    ids = torch.where(is_predicted, sample_ids[:, 1:], 0)
    return sum(int(row[row > 0].unique().numel()) for row in ids)
