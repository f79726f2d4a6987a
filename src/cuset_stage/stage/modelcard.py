"""The model card's account of the method: what was trained with, and where it comes from."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from huggingface_hub import ModelCard

from ..objective import OBJECTIVES, ObjectiveSettings
from .arguments import sensitive_kinds


HEADING = "## Training objective"

# Which settings belong to which objective.
_KEYS = {
    "cuset": (
        "tau",
        "lam",
        "window",
        "use_confidence_mask",
        "use_cuda_mask",
        "use_region_weight",
        "region_scope",
        "normalization",
    ),
    "sft": (),
    "dft": (),
    "eaft": ("eaft_alpha",),
    "asft": ("asft_alpha",),
    "profit": ("prob_threshold", "threshold_direction"),
}
_RECIPE_KEYS = {
    "lam": "cuset_lambda",
    "use_confidence_mask": "cuset_confidence_mask",
    "use_cuda_mask": "cuset_cuda_mask",
    "use_region_weight": "cuset_region_weight",
    "tau": "cuset_tau",
    "window": "cuset_window",
    "region_scope": "cuset_region_scope",
    "normalization": "cuset_normalization",
}


def hyper_parameters(objective: ObjectiveSettings, finetuning_args: Any) -> dict[str, str]:
    """The recipe keys that define the objective, with their values as a recipe writes them."""

    def written(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)

    values = asdict(objective)
    table = {"cuset_objective": objective.objective}
    table.update({_RECIPE_KEYS.get(key, key): written(values[key]) for key in _KEYS[objective.objective]})
    if objective.objective == "cuset":
        table["cuset_sensitive_kinds"] = ",".join(sensitive_kinds(finetuning_args))
    return table


def method_section(objective: ObjectiveSettings, finetuning_args: Any) -> str:
    """The section as Markdown."""
    rows = "\n".join(f"| `{key}` | {value} |" for key, value in hyper_parameters(objective, finetuning_args).items())
    section = (
        f"{HEADING}\n\nFine-tuned with `stage: cuset` of cuset-stage on LLaMA-Factory; objective: "
        f"{OBJECTIVES[objective.objective]}.\n\n| key | value |\n|---|---|\n{rows}\n"
    )
    if objective.objective == "cuset":
        section += (
            "\nCuSeT weighs each token by a hybrid mask, 1[c > tau] + lambda * 1[CUDA span], with c the model's own probability of the "
            "token, and each sample by one minus the mean confidence of its least confident window ([arXiv 2606.16231]"
            "(https://arxiv.org/abs/2606.16231), Eq. 2 to 9).\n"
        )
    return section


def describe_method(output_dir: str, objective: ObjectiveSettings, finetuning_args: Any) -> None:
    """Add the section and the tag to the README.md that the Trainer wrote; a second call changes nothing."""
    path = Path(output_dir) / "README.md"
    if not path.exists() or HEADING in path.read_text(encoding="utf-8"):
        return

    card = ModelCard.load(path, ignore_metadata_errors=True)
    tags = list(card.data.tags or [])
    card.data.tags = tags + [tag for tag in ("cuset-stage", objective.objective) if tag not in tags]
    section = method_section(objective, finetuning_args)
    marker = "\n## Training procedure"  # the Trainer's own section on optimizer settings
    head, found, tail = card.text.partition(marker)
    card.text = f"{head}\n{section}{found}{tail}" if found else f"{card.text}\n\n{section}"
    path.write_text(str(card), encoding="utf-8")
