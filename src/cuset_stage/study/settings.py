"""The settings of `cuset study`."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, NonNegativeFloat, NonNegativeInt, PositiveInt, field_validator

from ..settings import Keys, Names, Numbers, Settings, split_names


Kind = Literal["train", "generate", "evaluate", "pairs", "analyze"]
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.+=-]*$"
SHARES = 4  # a GPU is given out in quarters


class StudyModel(Keys):
    """A model of a study, and what its runs need."""

    retired: ClassVar[Mapping[str, str]] = {
        "at": "the report draws Pass@1 over the values of a sweep alone; rates.csv has the numbers of every model",
        "published": "the report has this study's numbers; the paper's are in its Tables 2 to 5",
    }

    model: str = Field(
        description="a folder or a Hub name; {seed} in it is the run's seed, for models that were pretrained with several"
    )
    recipe: Path = Field(
        description="a recipe of llamafactory-cli; the study sets model, objective, seed and output folder in it"
    )
    keys: dict[str, Any] = Field({}, description="keys of this model's training runs, over the study's")
    methods: Names | None = Field(None, min_length=1, description="only these methods and ablations")
    seeds: Numbers | None = Field(None, min_length=1, description="only these seeds")
    generate: dict[str, Any] = Field({}, description="keys of `cuset generate`, over the study's")
    gpus: dict[Kind, NonNegativeFloat] = Field(
        {},
        description="GPUs that a job takes: quarters of one, or whole ones; other numbers are rounded up; without it 1",
    )
    hours: dict[Kind, NonNegativeFloat] = Field(
        {}, description="hours that a job takes, for the forecast; measured ones count once there are some"
    )
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


class StudySettings(Settings):
    """What a study consists of."""

    positional: ClassVar[tuple[str, ...]] = ("output",)
    retired: ClassVar[Mapping[str, str]] = {
        "judge_gpus": "give judging a whole GPU with `gpus: {evaluate: 1}` of the models",
        "baseline": "methods are compared with the one named sft, or with the first",
    }

    output: Path = Field(description="the folder of the study; a study that was stopped is taken up in it")
    models: dict[str, StudyModel] = Field(description="name: {model, recipe, ...}", min_length=1)
    keys: dict[str, Any] = Field(
        {}, description="keys of all training runs, over the recipes', such as {learning_rate: 1.0e-4}"
    )
    methods: dict[str, dict[str, Any] | None] = Field(
        description="name: keys of the recipe, such as {stage: cuset, cuset_objective: dft}; nothing: the model as it is",
        min_length=1,
    )
    seeds: Numbers = Field((0,), description="of training and of sampling", min_length=1)
    ablations: Variations | None = Field(
        None, description="{of: METHOD, runs: {NAME: {key: value}}}, with models and seeds where not all"
    )
    sweeps: Variations | None = Field(
        None, description="{of: METHOD, runs: {KEY: [value, ...]}}, with models and seeds where not all"
    )
    tasks: Path = Field(description="the task set that is sampled and judged")
    prompts: Path | None = Field(
        None,
        description="CUDABench's own prompts: your clone, or its Generate/prompt.py; without it this package's wording",
    )
    generate: dict[str, Any] = Field(
        {}, description="keys of `cuset generate`, such as {samples: 3, temperature: 0.2}"
    )
    evaluate: dict[str, Any] = Field({}, description="keys of `cuset evaluate`, such as {per_gpu: 8}")
    pairs: dict[str, Any] | None = Field(
        None, description="keys of `cuset pairs`; without it pairs are left out, {} takes all as it is"
    )
    analyze: dict[str, Any] | None = Field(
        None, description="keys of `cuset analyze`; without it the analysis is left out"
    )
    k: Annotated[tuple[PositiveInt, ...], BeforeValidator(split_names)] = Field(
        (1, 3), description="the k of pass@k", min_length=1
    )
    gpus: NonNegativeInt | None = Field(None, description="GPUs to use; without it all of this machine")
    cores: PositiveInt | None = Field(
        None,
        description="processors to use; without it all. With another executor than local: the most that a job asks for",
    )
    executor: str = Field("local", description="Snakemake's executor: local, or a plugin's, such as slurm")
    snakemake: tuple[str, ...] = Field(
        (),
        description="further arguments of snakemake, such as [--jobs, '20', --default-resources, slurm_partition=a]",
    )
    only: Names | None = Field(
        None,
        min_length=1,
        description="run now what matches one of these patterns of MODEL/METHOD/seedN, such as base/*/seed0",
    )
    dry_run: bool = Field(False, description="only say what is left: jobs, GPU hours and disk")
    title: str | None = Field(None, description="the report's title")
