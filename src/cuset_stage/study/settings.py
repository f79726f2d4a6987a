"""The settings of `cuset study`."""

import math
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, field_validator

from ..settings import Keys, Names, Numbers, PositiveNumbers, Settings


Kind = Literal["train", "generate", "evaluate", "pairs", "analyze"]
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.+=-]*$"
SHARES = 4  # shares of a GPU: jobs take GPUs in quarters


class StudyModel(Keys):
    """A model of a study, and what its runs need."""

    model: str = Field(description="a folder or a Hub name")
    recipe: Path = Field(description="a recipe of llamafactory-cli; the study sets its model, seed, output and method")
    keys: dict[str, Any] = Field({}, description="keys of this model's training runs, over the study's")
    gpus: dict[Kind, NonNegativeFloat] = Field(
        {}, description="GPUs of a job: quarters of one, or whole ones; other numbers are rounded up; without it 1"
    )
    hours: dict[Kind, NonNegativeFloat] = Field({}, description="hours of a job, for a forecast until some are done")
    disk_gib: NonNegativeFloat | None = Field(None, description="disk that a trained model takes")

    @field_validator("gpus")
    @classmethod
    def _rounded_up(cls, value: dict[str, float]) -> dict[str, float]:
        return {kind: math.ceil(n) if n > 1 else math.ceil(n * SHARES) / SHARES for kind, n in value.items()}


class Variations(Keys):
    """Runs that change a method: ablations (a name and its keys) or sweeps (a key and its values)."""

    of: str = Field("cuset", description="the method that is varied")
    models: Names | None = Field(None, min_length=1, description="only these models")
    seeds: Numbers | None = Field(None, min_length=1, description="only these seeds")
    runs: dict[str, dict[str, Any] | list[Any]] = Field(description="name: {key: value, ...}, or key: [value, ...]")

    def method_of(self, key: str, value: Any) -> str:
        """Return the name of the method with this value of a key."""
        return f"{self.of}_{key}={value}"

    def values(self, *, named: bool = False) -> list[str]:
        """Return the names of the methods that have a listed value of a key.

        Args:
            named: whether to return also the methods that have a name and keys.
        """
        names: list[str] = []
        for key, values in self.runs.items():
            if isinstance(values, list):
                names += (self.method_of(key, value) for value in values)
            elif named:
                names.append(key)
        return names


class StudySettings(Settings):
    """What a study consists of."""

    positional: ClassVar[tuple[str, ...]] = ("output",)

    output: Path = Field(description="the folder of the study; a study that was stopped is taken up in it")
    models: dict[str, StudyModel] = Field(description="name: {model, recipe, ...}", min_length=1)
    keys: dict[str, Any] = Field({}, description="keys of all trainings, over the recipes'")
    methods: dict[str, dict[str, Any] | None] = Field(
        min_length=1, description="name: keys of the recipe, such as {stage: cuset}; nothing: the model as it is"
    )
    seeds: Numbers = Field((0,), description="of training and of sampling", min_length=1)
    ablations: Variations | None = Field(None, description="{of: METHOD, models, seeds, runs: {NAME: {key: value}}}")
    sweeps: Variations | None = Field(None, description="{of: METHOD, models, seeds, runs: {KEY: [value, ...]}}")
    tasks: Path = Field(description="the task set that is sampled and judged")
    prompts: Path | None = Field(
        None, description="CUDABench's own prompts: your clone, or its Generate/prompt.py; else this package's wording"
    )
    generate: dict[str, Any] = Field({}, description="keys of `cuset generate`, such as {temperature: 0.2}")
    evaluate: dict[str, Any] = Field({}, description="keys of `cuset evaluate`, such as {per_gpu: 8}")
    pairs: dict[str, Any] | None = Field(None, description="keys of `cuset pairs`, or {}; without it there are none")
    analyze: dict[str, Any] | None = Field(None, description="keys of `cuset analyze`; without it there is none")
    k: PositiveNumbers = Field((1, 3), description="the k of pass@k", min_length=1)
    gpus: NonNegativeInt | None = Field(None, description="GPUs to use; without it all of this machine")
    cores: PositiveInt | None = Field(
        None, description="processors to use; without it all. Under another executor: the most that a job asks for"
    )
    executor: str = Field("local", description="Snakemake's executor: local, or a plugin's, such as slurm")
    snakemake: tuple[str, ...] = Field((), description="further arguments of snakemake, such as [--jobs, '20']")
    only: Names | None = Field(
        None, min_length=1, description="run now what matches one of these patterns, such as MODEL/*/seed0"
    )
    dry_run: bool = Field(False, description="only say what is left: jobs, GPU hours and disk")
    title: str | None = Field(None, description="the report's title")
