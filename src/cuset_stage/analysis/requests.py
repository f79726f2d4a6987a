"""The settings of `cuset label`, `cuset heatmap` and `cuset analyze`.

This module imports nothing heavier than pydantic, so that `cuset --help` stays fast.
"""

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeInt, model_validator

from ..settings import Names, OutputFile, QuantizationBit, Settings, split_names
from ..spans import DEFAULT_KINDS
from ..spans.kinds import check_aliases, check_kinds
from ..spans.languages import load_language
from ..stage.pretrained import Adapter, Model, Tokenizer, trained_keys, trained_template


def _checked_language(value: str) -> str:
    load_language(value, "language")
    return value


Kinds = Annotated[Names, AfterValidator(check_kinds)]
Aliases = Annotated[Names, AfterValidator(check_aliases), Field(description="as cuset_kernel_aliases")]
Language = Annotated[
    str, AfterValidator(_checked_language), Field(description="the kernels' language, as cuset_language")
]
DatasetDir = Annotated[str, Field(description="the folder with dataset_info.json")]
Template = Annotated[
    str,
    Field(
        description="LLaMA-Factory's chat template, as in the recipe; not given: the run's, where its training_args.yaml has it"
    ),
]
Device = Annotated[str, Field(description="auto, cpu, cuda, cuda:1, ...")]
MASK_KEYS = {
    "tau": "cuset_tau",
    "lam": "cuset_lambda",
    "window": "cuset_window",
    "kinds": "cuset_sensitive_kinds",
    "aliases": "cuset_kernel_aliases",
    "language": "cuset_language",
}


class RowSettings(Settings):
    """The rows to read, and how a run would label them."""

    model: Tokenizer = Field(description="a model's folder or its name on the Hub; only its tokenizer is loaded")
    adapter: Adapter | None = Field(
        None, description="an adapter on the model, whose run may have a tokenizer of its own"
    )
    dataset: Names = Field(description="names in dataset_info.json", min_length=1)
    dataset_dir: DatasetDir = "data"
    template: Template = "qwen"
    cutoff_len: int = Field(4096, description="tokens a row or file is cut to, as in the recipe", ge=2)
    kinds: Kinds = Field(DEFAULT_KINDS, description="kinds of span the CUDA mask covers, as cuset_sensitive_kinds")
    aliases: Aliases = ()
    language: Language = "cuda"
    trust_remote_code: bool = Field(False, description="run code that comes with the model")

    @model_validator(mode="before")
    @classmethod
    def _as_the_run(cls, values: Any) -> Any:
        """Take the template of the run that trained the model, where none is given."""
        if not isinstance(values, dict) or not values.get("model") or "template" in values:
            return values
        template = trained_template(str(values["model"]), values.get("adapter") and str(values["adapter"]))
        return {**values, "template": template} if template else values

    def options(self) -> dict[str, Any]:
        """Return LLaMA-Factory's data arguments, except `dataset`."""
        return self.model_dump(include={"dataset_dir", "template", "cutoff_len"})


class LabelSettings(RowSettings):
    output: OutputFile | None = Field(None, description="an HTML page to write")
    numbers: Path | None = Field(None, description="a JSON file to write; - is standard output")
    max_samples: int | None = Field(None, description="only so many rows of each data set", ge=1)
    workers: int | None = Field(None, description="processes; without it one a CPU", ge=1)


class HeatmapSettings(RowSettings):
    model: Model = Field(description="the trained model, or with an adapter its base: a folder or a name on the Hub")
    output: OutputFile = Field(description="the HTML page to write")
    before: Model | None = Field(
        None, description="the model before training; with an adapter it is the base unless given"
    )
    samples: int = Field(3, description="rows to take from the head of each data set", ge=1)
    kinds: Kinds = Field(
        DEFAULT_KINDS, description="kinds of span the CUDA mask covers; not given: as the model trained"
    )
    window: int = Field(256, description="window length l in tokens; not given: as the model trained", ge=1)
    tau: float = Field(0.1, description="confidence threshold; not given: as the model trained", ge=0, lt=1)
    lam: float = Field(1.0, description="weight lambda of CUDA tokens; not given: as the model trained", ge=0)
    quantization_bit: QuantizationBit = None
    device: Device = "auto"
    numbers: bool = Field(False, description="write the numbers as JSON beside the page")

    def trained_mask(self) -> dict[str, str]:
        """Return those of `MASK_KEYS` that the trained model's card states; none if it names no mask."""
        card = trained_keys(self.adapter or self.model)
        if card.get("cuset_objective") != "cuset":
            return {}
        if card.get("cuset_confidence_mask") == "false":
            card["cuset_tau"] = "0"  # then every token counts as confident
        if card.get("cuset_cuda_mask") == "false":
            card["cuset_lambda"] = "0"
        return {name: card[key] for name, key in MASK_KEYS.items() if key in card}

    def as_trained(self) -> Self:
        """Return these settings, with the mask that the model trained with where none is given."""
        return self.checked(self.trained_mask() | self.model_dump(exclude_unset=True))

    @property
    def compared(self) -> str | None:
        """The model before training, or None if it is not known."""
        return self.before or (self.model if self.adapter else None)


class ModelRequest(Settings):
    """A model to read with."""

    model: Model = Field(description="a model's folder or its name on the Hub")
    adapter: Adapter | None = Field(None, description="a LoRA adapter on the model")
    quantization_bit: QuantizationBit = None
    template: str | None = Field(None, description="LLaMA-Factory's chat template, where it is not the others'")

    def template_for(self, settings: Settings) -> str:
        """Return the chat template for this model.

        It is the first of: the template of this request, the one given to the command, the one of the run that wrote
        the weights, the command's default.
        """
        if self.template is None and "template" not in settings.model_fields_set:
            return trained_template(self.model, self.adapter) or settings.template
        return self.template or settings.template


def _named_models(value: Any) -> Any:
    """Normalise the models to a mapping from name to keys.

    `a,b` or a list becomes a mapping by the last part of each path, or by the whole path where the last parts are
    equal. A path in place of a mapping of keys stands for `model: PATH`.
    """
    names = split_names(value)
    if isinstance(names, list):
        parts = [str(name).rstrip("/").rpartition("/")[2] for name in names]
        names = {
            short if parts.count(short) == 1 else str(name): name for short, name in zip(parts, names, strict=True)
        }
    if not isinstance(names, dict):
        mapping = "a mapping from a name to `model: ...` with its keys"
        raise ValueError(f"expected folders or names on the Hub, or {mapping}.")
    return {str(name): {"model": keys} if isinstance(keys, str) else keys for name, keys in names.items()}


class ModelsSettings(Settings):
    """The models to read with, and how their weights are loaded."""

    models: Annotated[dict[str, ModelRequest], BeforeValidator(_named_models), Field(min_length=1)] = Field(
        description="models to read with: folders or Hub names, comma-separated; or in YAML a name for each, with its keys "
        + ", ".join(ModelRequest.model_fields)
    )
    template: Template = "qwen"
    device: Device = "auto"
    trust_remote_code: bool = Field(False, description="run code that comes with the model")
    quantization_bit: QuantizationBit = None

    @model_validator(mode="after")
    def _quantized(self) -> Self:
        """Hand `quantization_bit` to every model that has no such key of its own."""
        for name, request in self.models.items():
            if self.quantization_bit and request.quantization_bit is None:
                self.models[name] = request.model_copy(update={"quantization_bit": self.quantization_bit})
        return self


class AnalyzeSettings(ModelsSettings):
    code: Annotated[tuple[Path, ...], BeforeValidator(split_names)] = Field(
        (), description="files of code, or folders of them; instead of dataset"
    )
    prompt: str | None = Field(
        None,
        description="with code: the user message that it answers, under the template; without one it stands alone",
    )
    dataset: Names = Field((), description="names in dataset_info.json; instead of code")
    dataset_dir: DatasetDir = "data"
    cutoff_len: int = Field(4096, description="tokens a row or file is cut to, as in the recipe", ge=2)
    samples: int | None = Field(None, description="only so many files, or rows of each data set", ge=1)
    kinds: Kinds = Field(DEFAULT_KINDS, description="kinds of span of Eq. 3, as cuset_sensitive_kinds")
    aliases: Aliases = ()
    language: Language = "cuda"
    tau: float = Field(0.1, description="shares of tokens whose confidence is at most this", ge=0, lt=1)
    window: int = Field(64, description="length of the sliding window in tokens", ge=1)
    resamples: int = Field(1000, description="draws of the bootstrap over files", ge=100)
    seed: NonNegativeInt = Field(0, description="of the bootstrap, and of tests")
    output: Path = Field(Path("confidence"), description="the folder for the page, the picture and the JSON")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if bool(self.code) == bool(self.dataset):
            raise ValueError("give either code=... (files or folders) or dataset=... (names in dataset_info.json).")
        if self.prompt is not None and self.dataset:
            raise ValueError("prompt=... belongs to code=...: a data set has its own.")
        if self.output.exists() and not self.output.is_dir():
            raise ValueError(f"output={self.output}: this is a file; give a folder.")
        return self
