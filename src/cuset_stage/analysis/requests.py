"""What `cuset label` and `cuset heatmap` can be told. Imports pydantic alone, so that `cuset --help` stays fast."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from ..settings import Names, OutputFile, Settings
from ..stage.pretrained import Adapter, Model


def _spans_check(name: str) -> AfterValidator:
    """A check of `spans.kinds`, which is imported when a value is there."""
    return AfterValidator(lambda value: getattr(import_module("cuset_stage.spans.kinds"), name)(value))


class RowSettings(Settings):
    """Which rows, and how a run would label them."""

    model: str = Field(description="a model's folder or its name on the Hub; only its tokenizer is loaded")
    dataset: Names = Field(description="names in dataset_info.json", min_length=1)
    dataset_dir: str = Field("data", description="the folder with dataset_info.json")
    template: str = Field("qwen", description="LLaMA-Factory's chat template, as in the recipe")
    cutoff_len: int = Field(4096, description="tokens a row is cut to, as in the recipe", ge=2)
    kinds: Annotated[Names, _spans_check("check_kinds")] = Field(
        ("kernel_body", "launch_config"), description="kinds of span the CUDA mask covers, as cuset_sensitive_kinds"
    )
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
    window: int = Field(256, description="window length l in tokens, as cuset_window", ge=1)
    tau: float = Field(0.1, description="confidence threshold, as cuset_tau", ge=0, lt=1)
    device: str = Field("auto", description="auto, cpu, cuda:0, ...")
    numbers: bool = Field(False, description="write the numbers as JSON beside the page")

    @property
    def compared(self) -> str | None:
        """The model before training, where it is known and wanted."""
        return (self.before or (self.model if self.adapter else None)) if self.compare else None

    @model_validator(mode="after")
    def _one_meaning(self) -> Self:
        if self.before is not None and not self.compare:
            raise ValueError("before=... and compare=false contradict each other: leave one out.")
        return self
