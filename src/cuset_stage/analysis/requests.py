"""What `cuset label` and `cuset heatmap` can be told. Imports pydantic alone, so that `cuset --help` stays fast."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from ..settings import Names, OutputFile, Settings
from ..stage.pretrained import Adapter, Model, trained_keys


def _spans_check(name: str) -> AfterValidator:
    """A check of `spans.kinds`, which is imported when a value is there."""
    return AfterValidator(lambda value: getattr(import_module("cuset_stage.spans.kinds"), name)(value))


Kinds = Annotated[Names, _spans_check("check_kinds")]
DEFAULT_KINDS = ("kernel_body", "launch_config")
MASK_KEYS = {
    "tau": "cuset_tau",
    "lam": "cuset_lambda",
    "window": "cuset_window",
    "kinds": "cuset_sensitive_kinds",
}


class RowSettings(Settings):
    """Which rows, and how a run would label them."""

    model: str = Field(description="a model's folder or its name on the Hub; only its tokenizer is loaded")
    dataset: Names = Field(description="names in dataset_info.json", min_length=1)
    dataset_dir: str = Field("data", description="the folder with dataset_info.json")
    template: str = Field("qwen", description="LLaMA-Factory's chat template, as in the recipe")
    cutoff_len: int = Field(4096, description="tokens a row is cut to, as in the recipe", ge=2)
    kinds: Kinds = Field(DEFAULT_KINDS, description="kinds of span the CUDA mask covers, as cuset_sensitive_kinds")
    aliases: Annotated[Names, _spans_check("check_aliases")] = Field((), description="as cuset_kernel_aliases")
    trust_remote_code: bool = Field(False, description="run code that comes with the model")

    def options(self) -> dict[str, Any]:
        """LLaMA-Factory's data arguments but `dataset`."""
        return self.model_dump(include={"dataset_dir", "template", "cutoff_len"})


class LabelSettings(RowSettings):
    output: OutputFile | None = Field(None, description="an HTML page to write")
    numbers: Path | None = Field(None, description="a JSON file to write; - is standard output")
    max_samples: int | None = Field(None, description="only so many rows of each data set", ge=1)
    examples: int = Field(5, description="rows that the page shows with their spans", ge=0)
    workers: int | None = Field(None, description="processes; without it one a CPU", ge=1)


class HeatmapSettings(RowSettings):
    model: Model = Field(description="the trained model, or with an adapter its base: a folder or a name on the Hub")
    output: OutputFile = Field(description="the HTML page to write")
    adapter: Adapter | None = Field(None, description="a LoRA adapter on the model")
    before: Model | None = Field(
        None, description="the model before training; with an adapter it is the base unless given"
    )
    compare: bool = Field(True, description="show the model before training beside it, when it is known")
    samples: int = Field(3, description="rows to take from the head of each data set", ge=1)
    kinds: Kinds = Field(
        DEFAULT_KINDS, description="kinds of span the CUDA mask covers; not given: as the model trained"
    )
    window: int = Field(256, description="window length l in tokens; not given: as the model trained", ge=1)
    tau: float = Field(0.1, description="confidence threshold; not given: as the model trained", ge=0, lt=1)
    lam: float = Field(1.0, description="weight lambda of CUDA tokens; not given: as the model trained", ge=0)
    device: str = Field("auto", description="auto, cpu, cuda:0, ...")
    numbers: bool = Field(False, description="write the numbers as JSON beside the page")

    def trained_mask(self) -> dict[str, str]:
        """tau, lam, window and kinds that the model trained with, by its card; empty where that names no mask."""
        card = trained_keys(self.adapter or self.model)
        if card.get("cuset_objective") != "cuset":
            return {}
        if card.get("cuset_confidence_mask") == "false":
            card["cuset_tau"] = "0"  # every token is confident
        if card.get("cuset_cuda_mask") == "false":
            card["cuset_lambda"] = "0"
        return {name: card[key] for name, key in MASK_KEYS.items() if key in card}

    def as_trained(self) -> Self:
        """With the mask that the model trained with where no other is given."""
        return self.checked(self.trained_mask() | self.model_dump(exclude_unset=True))

    @property
    def compared(self) -> str | None:
        """The model before training, where it is known and wanted."""
        return (self.before or (self.model if self.adapter else None)) if self.compare else None

    @model_validator(mode="after")
    def _one_meaning(self) -> Self:
        if self.before is not None and not self.compare:
            raise ValueError("before=... and compare=false contradict each other: leave one out.")
        return self
