"""The settings of `cuset pairs`. This file imports nothing heavy, because `--help` is made from it."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field, NonNegativeInt, PositiveInt

from ..analysis.requests import ModelsSettings
from ..settings import OutputFile


class PairsSettings(ModelsSettings):
    positional: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: str = Field("cuset_mini", description="a pair file (JSONL), or cuset_mini: the bundled one")
    tasks: Path | None = Field(None, description="the task set with the prompts of pairs that bring none")
    samples: PositiveInt | None = Field(None, description="only so many pairs, evenly over tasks")
    output: OutputFile = Field(Path("pairs.json"), description="the results (JSON)")
    seed: NonNegativeInt = Field(0, description="of the bootstrap, and of tests")
