"""Files that a run leaves beside the model: plots of its log, and the model card's section on the method."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from huggingface_hub import ModelCard
from llamafactory.extras.ploting import plot_loss, smooth

from ..objective.settings import ObjectiveSettings
from ..objective.statistics import LOG_PREFIX
from .arguments import hyper_parameters


CUDA_COLOR = "#0b7285"  # color of CUDA tokens in every plot and page
# One panel per question. Each curve is a key of the training log, see `log_key`.
PANELS = {
    "objective": ("loss",),
    "negative log-likelihood (nats per token)": ("nll", "cuda_nll", "other_nll", "eval_loss"),
    "mean confidence": ("cuda_confidence", "other_confidence"),
    "share of supervised tokens": ("confident_share", "cuda_share", "left_out_share"),
    "least confident window": ("region_confidence_mean", "region_confidence_min", "region_confidence_max"),
    "sample weight": ("sample_weight_mean", "sample_weight_min", "sample_weight_max"),
    "share of right programs preferred": ("eval_pairs_accuracy",),
}


def log_key(name: str) -> str:
    """Return the key in the training log of a curve in `PANELS`."""
    return name if name == "loss" or name.startswith("eval_") else LOG_PREFIX + name


def plot_run(output_dir: str, keys: list[str], objective: str) -> None:
    """Draw the plots of a run into its output folder.

    These are training_*.png as LLaMA-Factory draws them, also for the objective's evaluation loss, and
    training_cuset.png with the curves of `PANELS` that were logged.

    Args:
        output_dir: the run's output folder, which holds trainer_state.json.
        keys: the log keys that LLaMA-Factory plots.
        objective: name of the objective, as in the key of its evaluation loss.
    """
    from matplotlib.figure import Figure

    evaluation = [key.removesuffix("_loss") + f"_{objective}_loss" for key in keys if key.endswith("_loss")]
    log = json.loads((Path(output_dir) / "trainer_state.json").read_text(encoding="utf-8"))["log_history"]
    logged = {key for entry in log for key in entry}
    plot_loss(output_dir, keys=keys + [key for key in evaluation if key in logged])

    panels = {title: names for title, names in PANELS.items() if any(log_key(name) in logged for name in names)}
    if not panels:  # the run ended before its first log entry
        return
    figure = Figure(figsize=(8, 3 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
    for axis, (title, names) in zip(axes, panels.items(), strict=True):
        for name in names:
            if points := [(entry["step"], entry[log_key(name)]) for entry in log if log_key(name) in entry]:
                steps, values = zip(*points, strict=True)
                style = {"color": CUDA_COLOR} if "cuda_" in name else {}
                if len(points) == 1:  # a line through a single point is invisible
                    style["marker"] = "o"
                # As in LLaMA-Factory's plots: a smoothed curve with the raw values faint behind it.
                (line,) = axis.plot(steps, smooth(list(values)), label=name.replace("_", " "), **style)
                axis.plot(steps, values, color=line.get_color(), alpha=0.25, linewidth=0.8)
        axis.set_title(title, loc="left", fontsize="medium")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
    axes[-1].set_xlabel("step")
    path = Path(output_dir) / "training_cuset.png"
    figure.savefig(path, dpi=100)
    print("Figure saved at:", path)


def describe_method(
    output_dir: str, finetuning_args: Any, settings: ObjectiveSettings, data_notes: Sequence[str]
) -> None:
    """Add a section and tags on the method to the README.md that the Trainer has just written.

    Args:
        output_dir: the run's output folder.
        finetuning_args: the run's FinetuningArguments.
        settings: the run's objective.
        data_notes: sentences that were logged about the data: edition, share of CUDA.
    """
    path = Path(output_dir) / "README.md"
    rows = "\n".join(f"| `{key}` | {value} |" for key, value in hyper_parameters(finetuning_args, settings).items())
    section = (
        f"## Training objective\n\nFine-tuned with `stage: cuset` of cuset-stage on LLaMA-Factory; objective: {settings.rule.title}.\n\n"
        f"| key | value |\n|---|---|\n{rows}\n"
    )
    if settings.objective == "cuset":
        section += (
            "\nCuSeT weighs each token by a hybrid mask, 1[c > tau] + lambda * 1[CUDA span], with c the model's own probability of the "
            "token, and each sample by one minus the mean confidence of its least confident window ([arXiv 2606.16231]"
            "(https://arxiv.org/abs/2606.16231), Eq. 2 to 9).\n"
        )
    if data_notes:
        section += "\n" + "".join(f"- {note}\n" for note in data_notes)
    card = ModelCard.load(path, ignore_metadata_errors=True)
    _drop_dead_links(card)
    tags = list(card.data.tags or [])
    card.data.tags = tags + [tag for tag in ("cuset-stage", settings.name) if tag not in tags]
    marker = "\n## Training procedure"  # the Trainer's own section on optimizer settings
    head, separator, tail = card.text.partition(marker)
    card.text = f"{head}\n{section}{separator}{tail}" if separator else f"{card.text}\n\n{section}"
    path.write_text(str(card), encoding="utf-8")


def _drop_dead_links(card: ModelCard) -> None:
    """Remove links to the Hub that lead nowhere.

    A base model that is a folder of this machine is named without a link. Data sets that are no repository on the Hub
    are left out.
    """
    base = card.data.base_model
    if isinstance(base, str) and Path(base).exists():
        card.text = card.text.replace(f"[{base}](https://huggingface.co/{base})", f"`{Path(base).name}`")
        card.data.base_model = None
        card.data.tags = [tag for tag in card.data.tags or [] if not tag.startswith("base_model:")]
    card.data.datasets = [name for name in card.data.datasets or [] if "/" in name] or None
