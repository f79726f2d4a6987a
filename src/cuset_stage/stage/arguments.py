"""The recipe's keys: checks of a recipe as it was read, and the FinetuningArguments that know `stage: cuset`.

That class is a subclass of LLaMA-Factory's FinetuningArguments. It is built from the class that LLaMA-Factory has just
defined, so this module imports nothing of llamafactory at the top.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from .. import bundled
from .._compatibility import check as check_patches
from ..files import read_json
from ..objective.rules import CUSET_KEYS, OBJECTIVES, RULES
from ..objective.settings import CONFIDENCES, NORMALIZATIONS, REGION_SCOPES, ObjectiveSettings
from ..spans.kinds import DEFAULT_KINDS, KINDS, check_aliases, check_kinds
from ..spans.languages import load_language
from ..text import nearest
from . import proof


STAGE = "cuset"
PATH_KEYS = ("dataset_dir", "deepspeed")
# The largest weight of a row, a message, a span or reasoning. These multiply, and their product stays a float32.
MOST_WEIGHT = 1e9
RENAMED = {"group_by_length": "with transformers 5 write train_sampling_strategy: group_by_length"}


# ---- a recipe as it was read


def check_spelling(args: dict[str, Any], known: set[str]) -> None:
    """Refuse a misspelt `stage: cuset` and a misspelt key.

    In a recipe of another stage, or of export and chat, only keys that resemble `cuset_*` are refused. LLaMA-Factory
    checks the rest.

    Args:
        args: the recipe as it was read.
        known: all keys that a recipe may have.

    Raises:
        ValueError: names the key, and what to write instead.
    """
    stage = args.get("stage", "sft")
    if stage != STAGE and isinstance(stage, str) and get_close_matches(stage.lower(), [STAGE]):
        raise ValueError(f"stage: {stage}: no such stage; did you mean {STAGE}?")
    ours = [name for name in known if name.startswith(f"{STAGE}_")]
    for key in args.keys() - known:
        if (stage == STAGE and "do_train" in known) or get_close_matches(key, ours):
            raise ValueError(f"{key}: no such key in a recipe; {RENAMED.get(key) or nearest(key, known)}")


def with_paths(args: dict[str, Any]) -> dict[str, Any]:
    """Resolve the paths of `PATH_KEYS` in a recipe with `stage: cuset`.

    A path that does not exist in the working directory is looked for beside the recipe and in the package. So a recipe
    that comes with the package, or a copy of it, trains from any folder.

    Args:
        args: the recipe as it was read.

    Returns:
        The recipe, with the paths that were found elsewhere replaced.
    """
    if args.get("stage") != STAGE:
        return args
    folders = [bundled.data().parent]
    if len(sys.argv) > 1 and sys.argv[1].endswith((".yaml", ".yml")):
        folders.insert(0, Path(sys.argv[1]).absolute().parent)
    resolved = {}
    for key in PATH_KEYS:
        value = args.get(key)
        if isinstance(value, str) and not Path(value).exists():
            places = [folder / value for folder in folders if (folder / value).exists()]
            if places:
                resolved[key] = str(places[0])
    if resolved:
        from llamafactory.extras import logging

        paths = ", ".join(f"{key}: {path}" for key, path in resolved.items())
        logging.get_logger(f"llamafactory.{__name__}").info_rank0(
            f"Not in the working directory, so taken from: {paths}"
        )
    return {**args, **resolved}


# ---- the keys


def _argument(default: Any, help_text: str) -> Any:
    """Return a dataclass field with its help text."""
    return field(default=default, metadata={"help": help_text})


def _meanings(values: Mapping[str, str]) -> str:
    """Return the values of a key with their meanings, for its help text."""
    return "; ".join(f"{value}: {meaning}" for value, meaning in values.items())


def extend(base: type) -> type:
    """Return `base`, LLaMA-Factory's FinetuningArguments, with the stage, the keys and the checks of CuSeT added."""

    @dataclass
    class FinetuningArguments(base):
        __doc__ = base.__doc__

        stage: Literal["pt", "sft", "rm", "ppo", "dpo", "kto", "cuset"] = _argument(
            "sft", "Which stage will be performed in training."
        )
        cuset_objective: str = _argument(
            "cuset",
            f"The loss of `stage: cuset`: {_meanings(OBJECTIVES)}; or a rule of your own, as my_module:my_rule or "
            "path/to/file.py:my_rule.",
        )
        cuset_options: dict | str | None = _argument(  # noqa: RUF009
            None, "Options of the objective, where it has some, as a mapping: those of its own settings class."
        )
        cuset_confidence: Literal["online", "base"] = _argument(
            "online", f"Whose probability of a token is its confidence. {_meanings(CONFIDENCES)}."
        )
        cuset_tau: float = _argument(0.1, "Confidence threshold tau, a probability in [0, 1).")
        cuset_lambda: float = _argument(1.0, "Weight lambda of tokens inside CUDA spans, at least 0.")
        cuset_window: int = _argument(256, "Length l of the confidence window in tokens, at least 1.")
        cuset_confidence_mask: bool = _argument(True, "Supervise tokens with a confidence above cuset_tau.")
        cuset_cuda_mask: bool = _argument(True, "Add cuset_lambda to the weight of tokens inside CUDA spans.")
        cuset_region_weight: bool = _argument(True, "Weigh a sample by 1 - confidence of its least confident window.")
        cuset_sensitive_kinds: str = _argument(
            ",".join(DEFAULT_KINDS), "Kinds of CUDA span the mask covers, comma-separated; the default is the paper's."
        )
        cuset_kernel_aliases: str | None = _argument(
            None, "Further macros that stand for __global__ in your code, comma-separated."
        )
        cuset_think_weight: float = _argument(
            1.0, "Weight of reasoning (<think> ... </think> and the like) in the loss, at least 0."
        )
        cuset_language: str = _argument(
            "cuda",
            "Language of the kernels that the mask covers: cuda (HIP too), hip, triton, several separated by commas, auto, or "
            "my_module:find_spans for spans of your own.",
        )
        cuset_region_scope: Literal["response", "cuda"] = _argument("response", f"{_meanings(REGION_SCOPES)}.")
        cuset_normalization: Literal["tokens", "samples"] = _argument(
            "tokens", f"What the loss is divided by. {_meanings(NORMALIZATIONS)}."
        )
        cuset_fused: Literal["auto", "on", "off"] = _argument(
            "auto",
            "Compute the loss in the output layer, without logits. auto: where that is possible; on: stop where it is not; off: never.",
        )
        cuset_cudnn_attention: bool = _argument(
            False, "Keep torch's cuDNN attention on where it is known to be wrong, as on H100 and H200."
        )
        cuset_padding_free: bool = _argument(
            True,
            "Lay the rows of a batch end to end in training: the same loss without computing padding. Not with flash_attn: fa2, sliding "
            "windows, torch_compile or NEFTune, in float32 on a GPU, or on one before Ampere; the log then says why.",
        )
        cuset_pairs: str | None = _argument(
            None,
            "Log eval_pairs_accuracy at each evaluation: a pair file of `cuset pairs`, or cuset_mini: the bundled one.",
        )
        cuset_pairs_samples: int | None = _argument(None, "Only so many of these pairs, evenly over tasks.")
        prob_threshold: str | None = _argument(
            None, "ProFit's threshold (0.1), or `low,high` for threshold_direction: middle."
        )
        threshold_direction: Literal["higher", "lower", "middle", "random"] | None = _argument(
            None, "Which side of prob_threshold ProFit keeps (higher)."
        )

        def __post_init__(self) -> None:
            self.is_cuset = self.stage == STAGE
            if isinstance(self.cuset_fused, bool):  # YAML reads a bare on and off as booleans
                self.cuset_fused = "on" if self.cuset_fused else "off"
            for key in _switches(self):
                setattr(self, key, _switch(getattr(self, key)))
            if self.is_cuset:
                # All of LLaMA-Factory's checks for SFT apply to CuSeT too. So inside the process the stage is sft, and
                # `is_cuset` marks it.
                self.stage = "sft"
                _check(self)
            super().__post_init__()
            proof.begin()
            if self.is_cuset:
                proof.expect(self)

        def to_dict(self) -> dict[str, Any]:
            """Return the arguments with `stage: cuset`, to be shown to people and written to disk."""
            arguments = super().to_dict()
            if self.is_cuset:
                arguments["stage"] = STAGE
            return arguments

    # Pickles (Ray, spawn) and reprs look the class up where LLaMA-Factory defines it.
    FinetuningArguments.__module__ = base.__module__
    FinetuningArguments.__qualname__ = base.__qualname__
    return FinetuningArguments


def _switches(args: Any) -> list[str]:
    """Return the names of the keys that are true or false."""
    return [f.name for f in fields(args) if f.name.startswith(f"{STAGE}_") and isinstance(f.default, bool)]


def _switch(value: Any) -> Any:
    """Return the value of a switch as a boolean if it can be read as one, else unchanged.

    LLaMA-Factory's web UI drops `false` from its extra arguments. So `"false"`, `"off"` and 0 are accepted too.
    """
    words = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
    return words.get(str(value).lower(), value)


def _names(value: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    """Split a comma-separated key into names. Lists, which YAML offers too, are accepted as well."""
    items = value if isinstance(value, (list, tuple)) else str("" if value is None else value).split(",")
    return tuple(name for name in (str(item).strip() for item in items) if name)


def labelling_settings(args: Any) -> dict[str, Any]:
    """Return which spans the run's CUDA mask covers, as arguments of `token_labels.LabelRules`."""
    return {
        "kinds": _names(args.cuset_sensitive_kinds),
        "aliases": _names(args.cuset_kernel_aliases),
        "language": ",".join(_names(args.cuset_language)),
    }


def objective_settings(args: Any) -> ObjectiveSettings:
    """Return the run's objective and its settings.

    Raises:
        ValueError: a value is out of range. The message names the key.
    """
    threshold = "0.1" if args.prob_threshold is None else args.prob_threshold
    parts = _names(threshold if isinstance(threshold, (list, tuple)) else str(threshold).strip("[]() "))
    try:
        thresholds = tuple(float(part) for part in parts)
    except ValueError:
        raise ValueError(f"prob_threshold={threshold!r}: expected a number, or two as low,high.") from None

    return ObjectiveSettings(
        objective=args.cuset_objective,
        confidence=args.cuset_confidence,
        options=_options(args.cuset_options),
        **{name: getattr(args, key) for name, key in CUSET_KEYS.items()},
        eaft_alpha=args.eaft_alpha,
        asft_alpha=args.asft_alpha,
        prob_threshold=thresholds,
        threshold_direction=args.threshold_direction or "higher",
    )


def _options(value: Any) -> dict[str, Any]:
    """Return `cuset_options` as a mapping. A text, as a command line may give, is read as JSON."""
    try:
        options = json.loads(value) if isinstance(value, str) and value.strip() else value or {}
    except json.JSONDecodeError:
        options = value
    if not isinstance(options, dict):
        raise ValueError(f"cuset_options={value!r}: expected a mapping, as cuset_options: {{gamma: 2.0}} in a recipe.")
    return options


def objective_keys(settings: ObjectiveSettings) -> tuple[str, ...]:
    """Return the recipe's keys that an objective reads besides `cuset_options`."""
    windows = ("cuset_window", "cuset_region_scope") if settings.rule.sample_weight else ()
    return (*(windows if settings.rule.keys is None else settings.rule.keys), "cuset_confidence")


def hyper_parameters(args: Any, settings: ObjectiveSettings) -> dict[str, str]:
    """Return the keys that define the run's objective, whose settings are given, with their values as a recipe writes them.

    Options are included even if they have their default values.
    """
    values = {"cuset_objective": args.cuset_objective}
    values |= {key: getattr(args, key) for key in objective_keys(settings)}
    if settings.rule.keys is None and (options := settings.rule_options) is not None:
        chosen = asdict(options) if is_dataclass(options) else options.model_dump()
        values |= {f"cuset_options.{key}": value for key, value in chosen.items()}
    if args.cuset_objective == "profit":
        values["prob_threshold"] = ",".join(map(str, settings.prob_threshold))
        values["threshold_direction"] = settings.threshold_direction
    if args.cuset_objective == "cuset":
        labels = labelling_settings(args)
        values |= {"cuset_sensitive_kinds": ",".join(labels["kinds"]), "cuset_language": labels["language"]}
        values |= {"cuset_kernel_aliases": ",".join(labels["aliases"])} if labels["aliases"] else {}
    if args.cuset_think_weight != 1.0:
        values["cuset_think_weight"] = args.cuset_think_weight
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in values.items()}


def _check(args: Any) -> None:
    """Refuse values that can be judged from this group of keys alone.

    `ObjectiveSettings` checks the ranges of the objective's values.
    """
    check_patches()
    for key in _switches(args):
        if not isinstance(getattr(args, key), bool):
            raise ValueError(f"{key}={getattr(args, key)!r}: expected true or false.")
    objective_settings(args)
    if args.cuset_fused not in ("auto", "on", "off"):
        raise ValueError(f"cuset_fused={args.cuset_fused!r}: expected auto, on or off.")
    labels = labelling_settings(args)
    checks = {"cuset_sensitive_kinds": (check_kinds, "kinds"), "cuset_kernel_aliases": (check_aliases, "aliases")}
    for key, (check, name) in checks.items():
        try:
            check(labels[name])
        except ValueError as error:
            raise ValueError(f"{key}={getattr(args, key)!r}: {error}") from None
    load_language(labels["language"])
    if not labels["kinds"]:
        raise ValueError(
            f"cuset_sensitive_kinds={args.cuset_sensitive_kinds!r}: name one or more of {', '.join(KINDS)}."
        )

    weight = args.cuset_think_weight
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight <= MOST_WEIGHT:
        raise ValueError(
            f"cuset_think_weight={weight!r}: expected a number of at least 0 and at most {MOST_WEIGHT:g}."
        )
    if (count := args.cuset_pairs_samples) is not None and (type(count) is not int or count < 1):
        raise ValueError(f"cuset_pairs_samples={count!r}: expected a number of pairs, at least 1.")

    for name in ("dft", "eaft", "asft"):
        if getattr(args, f"use_{name}_loss", False):
            raise ValueError(
                f"use_{name}_loss: true selects LLaMA-Factory's own loss, which stage: cuset replaces. Remove it and set "
                f"cuset_objective: {name}, or use stage: sft."
            )
    # Known settings that choose another trainer are refused before a model is loaded. `proof` catches unknown ones.
    for name in ("use_hyper_parallel", "USE_MCA", "USE_MEGATRON_BRIDGE"):
        if getattr(args, name.lower(), False) or os.getenv(name, "0").lower() in ("1", "true", "y", "yes", "on"):
            raise ValueError(
                f"{name} chooses another trainer, which would train without CuSeT's loss. Unset it, or use stage: sft."
            )


def check_combination(model_args: Any, training_args: Any, args: Any) -> list[str]:
    """Check these keys against LLaMA-Factory's other keys, before a tokenizer or a model is loaded.

    Returns:
        Warnings, one sentence or two each.

    Raises:
        ValueError: the combination would silently train without CuSeT's loss, or with a wrong one.
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
    check_layout(getattr(training_args, "parallelism_config", None))
    objective = args.cuset_objective
    needs_base = objective_settings(args).needs_reference
    if objective != "cuset" and args.cuset_normalization == "samples":
        raise ValueError(
            f"cuset_normalization: samples belongs to Eq. 9 of CuSeT; cuset_objective: {objective} is divided by tokens."
        )
    residual_by = "pissa_init: true" if getattr(args, "pissa_init", False) else _continued_residual(model_args, args)
    if needs_base and residual_by and args.ref_model is None:
        raise ValueError(
            f"{residual_by} takes a part of the model's weights into the adapter, so that without it the model is not the base "
            f"model that cuset_objective: {objective} reads. Name that model as ref_model, or begin with a plain adapter."
        )

    notes = []
    names_base = args.ref_model is not None or model_args.adapter_name_or_path is not None
    if needs_base and not training_args.do_train and not names_base:
        notes.append(
            f"The base model of cuset_objective: {objective} is the one that is evaluated. If that model was trained already, name the "
            "model it was trained from as ref_model."
        )
    if note := unused_keys_note(args):
        notes.append(note)
    if args.cuset_pairs and not training_args.do_eval:
        notes.append(
            "cuset_pairs has no effect, because the run does not evaluate. Set eval_strategy: steps, and eval_dataset or val_size."
        )
    if args.cuset_pairs_samples is not None and not args.cuset_pairs:
        notes.append("cuset_pairs_samples has no effect without cuset_pairs, which names the pairs.")
    if not training_args.average_tokens_across_devices and training_args.world_size > 1:
        notes.append(
            "average_tokens_across_devices: false divides each rank's loss by its own tokens, so the result depends on how samples "
            "fall on ranks."
        )
    return notes


def _continued_residual(model_args: Any, args: Any) -> str | None:
    """Return the adapter that training goes on with, if it was begun from a part of the base model's weights."""
    if not model_args.adapter_name_or_path or getattr(args, "create_new_adapter", False):
        return None
    adapter = model_args.adapter_name_or_path[-1]
    config = read_json(Path(adapter) / "adapter_config.json")
    if config is None:  # an adapter on the Hub, or one that LLaMA-Factory will complain of
        return None
    begun = str(config.get("init_lora_weights"))
    return f"{adapter} (init_lora_weights: {begun})" if begun.startswith(("pissa", "olora", "corda")) else None


def check_layout(parallelism: Any) -> None:
    """Refuse a layout (accelerate's ParallelismConfig, or None) that splits sequences over devices.

    Raises:
        ValueError: names the setting and the fix.
    """
    for name in ("cp", "sp"):
        if (size := getattr(parallelism, f"{name}_size", 1) or 1) > 1:
            raise ValueError(
                f"parallelism_config.{name}_size={size}: a sample's windows must not be split over devices. Use {name}_size: 1 "
                "with ZeRO or FSDP, or use stage: sft."
            )


def unused_keys_note(args: Any) -> str | None:
    """Return a warning about keys that the recipe sets and its run does not read, or None if there are none."""
    if args.is_cuset:
        settings = objective_settings(args)
        used = objective_keys(settings)
        keys = [key for rule in RULES.values() for key in rule.keys if key not in used]
        keys += [] if settings.needs_reference else ["ref_model"]
        where = f"on the loss of cuset_objective: {args.cuset_objective}."
    else:
        keys = [f.name for f in fields(args) if f.name.startswith("cuset_") or f.name in RULES["profit"].keys]
        where = f"under stage: {args.stage}. Set stage: cuset to train with CuSeT."
    defaults = {f.name: f.default for f in fields(args)}
    changed = [key for key in keys if getattr(args, key) != defaults[key]]
    return f"{', '.join(changed)} {'has' if len(changed) == 1 else 'have'} no effect {where}" if changed else None
