"""The workflow of `stage: cuset`: LLaMA-Factory's SFT workflow with six of the names it uses replaced.

`run_sft` is executed as it is, in a namespace where six names mean ours. No code is copied and no module is changed.
So whatever else SFT does there, now or in a later version, is done here too.
"""

import copy
import json
import re
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import torch
from huggingface_hub.errors import HFValidationError
from llamafactory.extras import logging
from llamafactory.extras.misc import has_tokenized_data
from llamafactory.train.sft import workflow as sft_workflow
from llamafactory.train.trainer_utils import create_ref_model
from safetensors import SafetensorError, safe_open
from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState
from transformers.trainer_utils import get_last_checkpoint

from .. import attention
from ..files import full_disk, is_whole, whole_checkpoints
from ..objective.statistics import LOG_PREFIX
from ..settings import check_datasets
from ..text import InputError, one_line
from . import proof
from .arguments import check_combination, hyper_parameters, labelling_settings, objective_settings
from .artifacts import plot_run
from .collator import CusetDataCollator
from .dataset import data_set_names, labelled_dataset
from .loading import check_template, named_tokenizer
from .processors import LabelRules
from .rebinding import rebind_globals
from .trainer import CusetTrainer, Metric


logger = logging.get_logger(f"llamafactory.{__name__}")  # a child of its logger, for its handlers and verbosity


def run_cuset(
    model_args: Any,
    data_args: Any,
    training_args: Any,
    finetuning_args: Any,
    generating_args: Any,
    callbacks: list[Any] | None = None,
) -> None:
    """Train, evaluate or predict as LLaMA-Factory's `run_sft` does, with CuSeT's loss.

    Raises:
        ValueError: CuSeT cannot train with these keys. This is checked before anything is loaded.
        InputError: a file of weights is cut off or damaged, or the model cannot be written.
    """
    proof.begin()
    if data_args.tokenized_path is None or not has_tokenized_data(data_args.tokenized_path):  # it needs no data set
        check_datasets(data_set_names(data_args), data_args.dataset_dir)
    if data_args.template is not None:
        check_template(data_args.template)
    template = import_module("cuset_stage.project.template")  # imported late: a layer above this package
    notes = [
        *check_combination(model_args, training_args, finetuning_args),
        template.difference(model_args.model_name_or_path, data_args.template),
        attention.switch(training_args.device, keep=finetuning_args.cuset_cudnn_attention),
    ]
    for note in filter(None, notes):
        logger.warning_rank0(note)
    objective = objective_settings(finetuning_args)
    rules = LabelRules(**labelling_settings(finetuning_args), think_weight=float(finetuning_args.cuset_think_weight))
    if training_args.do_train:
        choose_checkpoint(training_args, objective.name)
    settings = ", ".join(f"{key}={value}" for key, value in hyper_parameters(finetuning_args, objective).items())
    logger.info_rank0(f"stage: cuset with {settings}")

    metrics: list[Metric] = []  # computed at every evaluation in addition to the loss
    if finetuning_args.cuset_pairs:
        pairs = import_module("cuset_stage.pairs.metric")  # imported late: a layer above this package
        metrics.append(pairs.PairsMetric(str(finetuning_args.cuset_pairs), finetuning_args.cuset_pairs_samples))
    label_summaries: list[str] = []

    def make_trainer(**kwargs: Any) -> CusetTrainer:
        if objective.needs_reference:
            kwargs["ref_model"] = reference_model(kwargs["model"], model_args, finetuning_args)
        if training_args.device.type == "cpu" and not training_args.bf16:
            for name in ("model", "ref_model"):
                as_float32(kwargs.get(name))
        return CusetTrainer(objective=objective, label_summaries=label_summaries, metrics=metrics, **kwargs)

    callbacks = [*(callbacks or ()), TrainedBy(objective.name)]
    run = rebind_globals(
        sft_workflow.run_sft,
        {
            "load_tokenizer": named_tokenizer,
            "get_dataset": partial(labelled_dataset, rules, label_summaries),
            "SFTDataCollatorWith4DAttentionMask": CusetDataCollator,
            "CustomSeq2SeqTrainer": make_trainer,
            "plot_loss": lambda output_dir, keys: plot_run(output_dir, keys, objective.name),
            # It calls the method of the base class, `Trainer`, past the one of our trainer.
            "create_modelcard_and_push": rebind_globals(
                sft_workflow.create_modelcard_and_push, {"Trainer": CusetTrainer}
            ),
        },
    )
    try:
        run(model_args, data_args, training_args, finetuning_args, generating_args, callbacks)
    except InputError:
        raise
    except Exception as error:
        # safetensors, torch, tokenizers and a full disk name no file that cannot be written
        full, words = full_disk(error), "while serializing|unexpected pos|PytorchStreamWriter|os error 28"
        if (full and full.filename is None) or re.search(words, str(error)):
            fix = "Free disk space. With resume_from_checkpoint: true, the run then goes on from its last whole checkpoint"
            raise InputError(f"{training_args.output_dir}: the model cannot be written ({error}). {fix}.") from error
        if not isinstance(error, SafetensorError):
            raise
        folders = (model_args.model_name_or_path, *(model_args.adapter_name_or_path or ()), finetuning_args.ref_model)
        torn = torn_weights(*folders, training_args.resume_from_checkpoint) or model_args.model_name_or_path
        raise InputError(
            f"{torn}: its weights are cut off or damaged ({error}). Copy or download them again."
        ) from error


def torn_weights(*folders: str | None) -> Path | None:
    """Return the first safetensors file in the folders that cannot be opened, or None."""
    for file in (file for folder in filter(None, folders) for file in sorted(Path(folder).glob("*.safetensors"))):
        try:
            with safe_open(file, framework="numpy"):
                pass
        except SafetensorError:
            return file
    return None


class TrainedBy(TrainerCallback, ExportableState):
    """Records the objective in the trainer_state.json of each checkpoint."""

    def __init__(self, objective: str) -> None:
        self.objective = objective

    def state(self) -> dict[str, Any]:
        return {"args": {"objective": self.objective}, "attributes": {}}

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # A checkpoint of an earlier version has no entry, which the Trainer expects when it saves the next one.
        state.stateful_callbacks.setdefault(type(self).__name__, self.state())


def choose_checkpoint(training_args: Any, objective: str) -> None:
    """Check the checkpoint that training resumes from, and take the last whole one in the output folder for a torn one.

    LLaMA-Factory would also resume from a checkpoint that was not written to its end. Without a whole one, training
    starts anew. A warning tells that training resumes, because the checkpoint may come from a trial run.

    Raises:
        InputError: one of its files is cut off, or the checkpoint is from `stage: sft` or from another objective. What
            it has learned would be taken for this one's.
    """
    output, last = Path(training_args.output_dir), training_args.resume_from_checkpoint
    if last is True:  # the Trainer looks for it, too
        last = get_last_checkpoint(output) if output.is_dir() else None
    if not last or not Path(last).is_dir():  # what is missing the Trainer names, as under SFT
        return
    training_args.resume_from_checkpoint = last  # its name, also where the recipe says `true`
    checkpoint, whole = Path(last), whole_checkpoints(output)
    is_in_output = checkpoint.resolve().parent == output.resolve()
    if is_in_output and not is_whole(checkpoint):
        logger.warning_rank0(f"{checkpoint}: this checkpoint was not written to its end.")
        training_args.resume_from_checkpoint = str(whole[-1]) if whole else None
        if not whole:
            return
        checkpoint = whole[-1]
    if (trained_by := trained_under(checkpoint)) not in (None, objective):
        fix = "Give another output_dir, or overwrite_output_dir: true, and no resume_from_checkpoint"
        raise InputError(
            f"{checkpoint} was trained by {trained_by}, and this run's objective is {objective}. "
            f"{fix if is_in_output else 'Remove resume_from_checkpoint, or give a checkpoint of this objective'}."
        )
    # What torch writes is a zip archive, whose directory comes last.
    if torn := next((file for file in sorted(checkpoint.glob("*.pt*")) if not is_zipfile(file)), None):
        raise InputError(f"{torn} is cut off or damaged; remove {checkpoint}, or resume from another checkpoint.")
    lost = [f"{name}.pt" for name in ("optimizer", "scheduler") if not any(checkpoint.glob(f"{name}*"))]
    if lost and not any(checkpoint.glob("global_step*")):  # DeepSpeed has files of its own, and says what is missing
        logger.warning_rank0(
            f"{checkpoint} has no {' and no '.join(lost)}, so optimizer and learning rate begin anew: not as the run that was interrupted."
        )
    if is_in_output:
        logger.warning_rank0(
            f"Training goes on from {checkpoint}, which an earlier run has left. For a run of its own give another output_dir, or "
            "overwrite_output_dir: true."
        )


def trained_under(checkpoint: Path) -> str | None:
    """Return the objective that has trained a checkpoint, or "stage: sft".

    Returns:
        None if the checkpoint does not tell: it has no trainer_state.json, or is from `stage: cuset` of an earlier version.

    Raises:
        InputError: its trainer_state.json is damaged.
    """
    if not (file := checkpoint / "trainer_state.json").is_file():
        return None
    try:
        state = json.loads(file.read_bytes())
    except ValueError as error:
        raise InputError(f"{file} is cut off or damaged ({error}); resume from another checkpoint.") from None
    trained_by = state.get("stateful_callbacks", {}).get(TrainedBy.__name__, {}).get("args", {}).get("objective")
    logged = {name for entry in state.get("log_history", ()) for name in entry}
    is_of_earlier_version = trained_by is None and any(name.startswith(LOG_PREFIX) for name in logged)
    return None if is_of_earlier_version else trained_by or "stage: sft"


def as_float32(model: Any) -> None:
    """Convert 16-bit weights to float32, in place, if the processor has no instructions for them.

    A training step would take minutes otherwise. LLaMA-Factory loads frozen weights in the type of their files,
    whatever the machine.
    """
    if model is None or torch.ops.mkldnn._is_mkldnn_bf16_supported() or getattr(model, "is_quantized", False):
        return
    if any(parameter.dtype in (torch.bfloat16, torch.float16) for parameter in model.parameters()):
        logger.info_rank0("This processor has no 16-bit arithmetic: the weights are converted to float32.")
        model.float()


def reference_model(model: Any, model_args: Any, finetuning_args: Any) -> Any:
    """Load the base model that an objective reads as a model of its own.

    Returns:
        The reference model, or None if it is `model` with its adapters off.

    Raises:
        InputError: the recipe's `ref_model` cannot be loaded.
    """
    if finetuning_args.ref_model is None and hasattr(model, "disable_adapter"):
        return None
    model_args = copy.copy(model_args)
    for key in ("add_tokens", "add_special_tokens"):  # LLaMA-Factory has split these texts, and will do so once more
        setattr(model_args, key, ",".join(getattr(model_args, key) or ()) or None)
    if finetuning_args.ref_model is None:
        logger.info_rank0(
            "The objective keeps a frozen copy of the model as its base model: twice the memory of the weights."
        )
        # When a model is only evaluated, its adapters are merged into its weights. So the base is loaded without them.
        model_args.adapter_name_or_path = None
        finetuning_args = copy.copy(finetuning_args)
        finetuning_args.finetuning_type = "full"  # makes LLaMA-Factory load a copy
    try:
        return create_ref_model(model_args, finetuning_args)
    except (OSError, HFValidationError) as error:  # LLaMA-Factory says neither which model nor why
        if finetuning_args.ref_model is None:
            raise
        reason = one_line(error.__cause__ or error)
        raise InputError(
            f"ref_model: {finetuning_args.ref_model}: expected a model's folder or Hub name; {reason}"
        ) from error
