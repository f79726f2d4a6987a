"""The recipe's keys: a subclass of LLaMA-Factory's FinetuningArguments that knows `stage: cuset`.

The subclass is built from the class LLaMA-Factory has just defined, so this module imports nothing of llamafactory.
"""

import os
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

from ..objective.settings import NORMALIZATIONS, OBJECTIVES, REGION_SCOPES, ObjectiveSettings
from . import proof


STAGE = "cuset"
DEFAULT_KINDS = "kernel_body,launch_config"
# What every objective reads: the last two decide which tokens the log counts as CUDA.
COMMON_KEYS = ("cuset_objective", "cuset_fused", "cuset_sensitive_kinds", "cuset_kernel_aliases")


def _argument(default: Any, help_text: str) -> Any:
    return field(default=default, metadata={"help": help_text})


def extend(base: type) -> type:
    """Return `base`, LLaMA-Factory's FinetuningArguments, with the stage, the keys and the checks of CuSeT added."""

    @dataclass
    class FinetuningArguments(base):
        __doc__ = base.__doc__

        stage: Literal["pt", "sft", "rm", "ppo", "dpo", "kto", "cuset"] = _argument(
            "sft", "Which stage will be performed in training."
        )
        cuset_objective: Literal["cuset", "sft", "dft", "eaft", "asft", "profit"] = _argument(
            "cuset", "The loss of `stage: cuset`: " + "; ".join(f"{k}: {v}" for k, v in OBJECTIVES.items()) + "."
        )
        cuset_tau: float = _argument(0.1, "Confidence threshold tau, a probability in [0, 1).")
        cuset_lambda: float = _argument(1.0, "Weight lambda of tokens inside CUDA spans, at least 0.")
        cuset_window: int = _argument(256, "Length l of the confidence window in tokens, at least 1.")
        cuset_confidence_mask: bool = _argument(True, "Supervise tokens with a confidence above cuset_tau.")
        cuset_cuda_mask: bool = _argument(True, "Add cuset_lambda to the weight of tokens inside CUDA spans.")
        cuset_region_weight: bool = _argument(True, "Weigh a sample by 1 - confidence of its least confident window.")
        cuset_sensitive_kinds: str = _argument(
            DEFAULT_KINDS, "Kinds of CUDA span the mask covers, comma-separated; the default is the paper's."
        )
        cuset_kernel_aliases: str | None = _argument(
            None, "Further macros that stand for __global__ in your code, comma-separated."
        )
        cuset_region_scope: Literal["response", "cuda"] = _argument(
            "response", "; ".join(f"{k}: {v}" for k, v in REGION_SCOPES.items()) + "."
        )
        cuset_normalization: Literal["tokens", "samples"] = _argument(
            "tokens",
            "What the loss is divided by. " + "; ".join(f"{k}: {v}" for k, v in NORMALIZATIONS.items()) + ".",
        )
        cuset_fused: Literal["auto", "on", "off"] = _argument(
            "auto",
            "Compute the loss in the output layer, without logits: auto: where it can; on: or stop; off: never.",
        )
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
            _check_profit_keys(self)
            if self.is_cuset:
                # Every check LLaMA-Factory makes for SFT holds for us, so inside the process the stage is SFT with a mark.
                self.stage = "sft"
                _check(self)
            super().__post_init__()
            if self.is_cuset:
                proof.expect(self)

        def to_dict(self) -> dict[str, Any]:
            """What is shown to people and written to disk says `stage: cuset`."""
            shown = super().to_dict()
            if self.is_cuset:
                shown["stage"] = STAGE
            return shown

    # Pickles (Ray, spawn) and reprs look the class up where LLaMA-Factory defines it.
    FinetuningArguments.__module__ = base.__module__
    FinetuningArguments.__qualname__ = base.__qualname__
    return FinetuningArguments


def _names(value: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    """Split a comma-separated key; lists, which YAML offers too, are taken as they are."""
    items = value if isinstance(value, (list, tuple)) else str("" if value is None else value).split(",")
    return tuple(name for name in (str(item).strip() for item in items) if name)


def sensitive_kinds(args: Any) -> tuple[str, ...]:
    """The kinds of span the run's CUDA mask covers."""
    return _names(args.cuset_sensitive_kinds)


def kernel_aliases(args: Any) -> tuple[str, ...]:
    """The user's own macros for __global__."""
    return _names(args.cuset_kernel_aliases)


def objective_settings(args: Any) -> ObjectiveSettings:
    """The run's objective. Raises ValueError, naming the key, for a value out of range."""
    threshold = "0.1" if args.prob_threshold is None else args.prob_threshold
    parts = _names(threshold if isinstance(threshold, (list, tuple)) else str(threshold).strip("[]() "))
    try:
        thresholds = tuple(float(part) for part in parts)
    except ValueError:
        raise ValueError(f"prob_threshold={threshold!r}: expected a number, or two as low,high.") from None

    return ObjectiveSettings(
        objective=args.cuset_objective,
        tau=args.cuset_tau,
        lam=args.cuset_lambda,
        window=args.cuset_window,
        use_confidence_mask=args.cuset_confidence_mask,
        use_cuda_mask=args.cuset_cuda_mask,
        use_region_weight=args.cuset_region_weight,
        region_scope=args.cuset_region_scope,
        normalization=args.cuset_normalization,
        eaft_alpha=args.eaft_alpha,
        asft_alpha=args.asft_alpha,
        prob_threshold=thresholds,
        threshold_direction=args.threshold_direction or "higher",
    )


def _check_profit_keys(args: Any) -> None:
    """ProFit's keys come from recipes for its fork of LLaMA-Factory: refuse to train something else with them."""
    set_keys = [key for key in ("prob_threshold", "threshold_direction") if getattr(args, key) is not None]
    if set_keys and not (args.is_cuset and args.cuset_objective == "profit"):
        raise ValueError(
            f"{' and '.join(set_keys)} {'belong' if len(set_keys) > 1 else 'belongs'} to ProFit: set stage: cuset with "
            "cuset_objective: profit, or remove it."
        )


def _check(args: Any) -> None:
    """Refuse what this group of keys alone can tell to be wrong."""
    from .._compatibility import check as check_patches
    from ..spans import KINDS

    check_patches()
    for key in ("cuset_confidence_mask", "cuset_cuda_mask", "cuset_region_weight"):
        if not isinstance(getattr(args, key), bool):
            raise ValueError(f"{key}={getattr(args, key)!r}: expected true or false.")
    objective_settings(args)
    if args.cuset_fused not in ("auto", "on", "off"):
        raise ValueError(f"cuset_fused={args.cuset_fused!r}: expected auto, on or off.")

    kinds = sensitive_kinds(args)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ValueError(
            f"cuset_sensitive_kinds={args.cuset_sensitive_kinds!r}: expected one or more of {', '.join(KINDS)}, "
            "separated by commas."
        )
    for alias in kernel_aliases(args):
        if not alias.isidentifier():
            raise ValueError(f"cuset_kernel_aliases: {alias!r} is not the name of a macro.")

    for key in ("use_dft_loss", "use_eaft_loss", "use_asft_loss"):
        if getattr(args, key, False):
            name = key.removeprefix("use_").removesuffix("_loss")
            raise ValueError(
                f"{key}: true selects LLaMA-Factory's own loss, which stage: cuset replaces. Remove it and set "
                f"cuset_objective: {name}, or use stage: sft."
            )
    # Known ways to a trainer of another kind, refused before a model is loaded; `proof` refuses those nobody knows yet.
    for name in ("use_hyper_parallel", "USE_MCA", "USE_MEGATRON_BRIDGE"):
        if getattr(args, name.lower(), False) or os.getenv(name, "0").lower() in ("1", "true", "y", "yes", "on"):
            raise ValueError(
                f"{name} chooses another trainer, which would train without CuSeT's loss. Unset it, or use stage: sft."
            )


def changed_keys(args: Any, prefix: str = "cuset_") -> list[str]:
    """The keys of a prefix whose value is not the default, for the warning under another stage."""
    defaults = {f.name: f.default for f in fields(args) if f.name.startswith(prefix) and f.default is not MISSING}
    return [name for name, default in defaults.items() if getattr(args, name) != default]


def keys_of_other_objectives(args: Any) -> list[str]:
    """The changed keys that only the loss of an objective other than the run's reads."""
    names = [name for name in changed_keys(args) if name not in COMMON_KEYS] if args.cuset_objective != "cuset" else []
    for objective in ("eaft", "asft"):
        if args.cuset_objective != objective:
            names += changed_keys(args, f"{objective}_alpha")
    return names
