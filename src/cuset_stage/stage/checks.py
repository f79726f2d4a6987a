"""Combinations of recipe keys that `stage: cuset` refuses, before a tokenizer or a model is loaded."""

from typing import Any

from llamafactory.extras import logging

from .arguments import changed_keys, keys_of_other_objectives


logger = logging.get_logger(f"llamafactory.{__name__}")  # under its handlers and its verbosity


def check_combination(model_args: Any, data_args: Any, training_args: Any, finetuning_args: Any) -> None:
    """Raise ValueError for what would silently train without CuSeT's loss, or with a wrong one.

    `finetuning_args` has checked its own keys; here are the combinations with the other groups.
    """
    if training_args.label_smoothing_factor:
        raise ValueError(
            f"label_smoothing_factor={training_args.label_smoothing_factor}: CuSeT weighs the likelihood of the target token, "
            "which has no smoothed form. Remove the key, or use stage: sft."
        )
    if getattr(model_args, "use_kt", False):
        raise ValueError(
            "use_kt: true computes its loss inside KTransformers, past CuSeT's. Remove it, or use stage: sft."
        )

    parallelism = getattr(training_args, "parallelism_config", None)
    for name in ("cp", "sp"):
        size = getattr(parallelism, f"{name}_size", 1) or 1
        if size > 1:
            raise ValueError(
                f"parallelism_config.{name}_size={size}: a sample's windows must not be split over devices. Use {name}_size: 1 "
                "with ZeRO or FSDP, or use stage: sft."
            )
    objective = finetuning_args.cuset_objective
    if objective == "asft" and getattr(finetuning_args, "pissa_init", False) and finetuning_args.ref_model is None:
        raise ValueError(
            "pissa_init: true takes a part of the model's weights into the adapter, so that without it the model is not ASFT's base "
            "model. Name that model as ref_model, or remove pissa_init."
        )
    names_base = finetuning_args.ref_model is not None or model_args.adapter_name_or_path is not None
    if objective == "asft" and not training_args.do_train and not names_base:
        logger.warning_rank0(
            "ASFT's base model is the one that is evaluated, so its KL term is 0. If that model was trained already, name the model "
            "it was trained from as ref_model."
        )
    if unused := keys_of_other_objectives(finetuning_args):
        logger.warning_rank0(
            f"{', '.join(unused)} {'has' if len(unused) == 1 else 'have'} no effect on the loss of cuset_objective: {objective}."
        )
    if objective != "cuset" and finetuning_args.cuset_normalization == "samples":
        raise ValueError(
            f"cuset_normalization: samples belongs to Eq. 9 of CuSeT; cuset_objective: {objective} is divided by tokens."
        )
    if not training_args.average_tokens_across_devices and training_args.world_size > 1:
        logger.warning_rank0(
            "average_tokens_across_devices: false divides each rank's loss by its own tokens, so the result depends on how samples "
            "fall on ranks."
        )


def warn_unused_keys(finetuning_args: Any) -> None:
    """Say so when a recipe sets cuset_* keys but trains with another stage."""
    changed = changed_keys(finetuning_args) if hasattr(finetuning_args, "cuset_objective") else []
    if changed:
        logger.warning_rank0(
            f"{', '.join(changed)} {'has' if len(changed) == 1 else 'have'} no effect under stage: {finetuning_args.stage}. "
            "Set stage: cuset to train with CuSeT."
        )
