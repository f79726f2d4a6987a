"""What `cuset pairs` and `cuset pairs make` can be told. Light: --help is made from it."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from ..analysis.requests import ModelsSettings
from ..judge.judge_spec import JudgeSpec
from ..settings import Names, OutputFile


class MakeSettings(JudgeSpec):
    """`cuset pairs make`."""

    positional: ClassVar[tuple[str, ...]] = ("tasks",)
    retired: ClassVar[Mapping[str, str]] = {
        **JudgeSpec.retired,
        "evidence": "what the judge said stands beside the output, as NAME.evidence.jsonl",
        "prompts": "rows have their prompts",
        "seed": "the choice is the same each time",
        "jobs": "one compilation a CPU",
    }

    tasks: Path = Field(description="the task set; each task needs its right program (solution)")
    output: OutputFile = Field(
        description="the pair file (JSONL); beside it what the judge said, where an interrupted run resumes"
    )
    split: str | None = Field(None, description="only the tasks of this split")
    only: Names = Field((), description="only these tasks, ids or names")
    pairs: PositiveInt = Field(600, description="pairs with a wrong program, at most")
    floor: NonNegativeInt = Field(120, description="pairs of two right programs, at most")

    @model_validator(mode="after")
    def _check_runs(self) -> Self:
        if self.compile_only:
            raise ValueError("compile_only says nothing of what a program computes: leave it out")
        return self


class PairsSettings(ModelsSettings):
    """`cuset pairs`."""

    positional: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: str = Field("cuset_mini", description="a pair file (JSONL), or cuset_mini: the bundled one")
    tasks: Path | None = Field(None, description="the task set with the prompts of pairs that bring none")
    samples: PositiveInt | None = Field(None, description="only so many pairs, evenly over tasks")
    output: OutputFile = Field(Path("pairs.json"), description="the results (JSON)")
    seed: NonNegativeInt = Field(0, description="of the bootstrap over tasks and of the test")
