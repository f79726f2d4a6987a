"""How answers are judged, as one value: options of `cuset evaluate` and of `cuset curate`.

Imports pydantic alone, so that `cuset --help` stays fast.
"""

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, NonNegativeInt, PositiveInt, model_validator

from ..settings import Settings, split_names


if TYPE_CHECKING:
    from ..sandbox import Limits


GIB = 2**30


def _splittable(flags: str) -> str:
    shlex.split(flags)
    return flags


# The upper bounds, a day and a pebibyte, are beyond any use. They also exclude values that are not finite, which no
# record can hold. No program starts with less than a mebibyte.
Seconds = Annotated[float, Field(ge=0.001, le=86400)]
Gibibytes = Annotated[float, Field(ge=1 / 1024, le=2**20)]


class JudgeSpec(Settings):
    """How answers are judged."""

    needs_gpus: ClassVar[tuple[str, ...]] = ("gpus", "thorough")

    arch: str | None = Field(None, description="nvcc's -arch; without it that of the GPUs, else sm_90")
    flags: Annotated[str, AfterValidator(_splittable)] = Field("-O3 -std=c++17", description="nvcc's further options")
    compile_only: bool = Field(False, description="only say what compiles; needs no GPU")
    no_gpu: bool = Field(False, description="run programs without a GPU: host code only")
    gpus: Annotated[tuple[NonNegativeInt, ...], BeforeValidator(split_names), Field(min_length=1)] | None = Field(
        None, description="GPUs to use, as nvidia-smi numbers them, such as 0,1; without it all"
    )
    per_gpu: PositiveInt = Field(
        1,
        description="programs at a time on a GPU; with more than 1, times say nothing, and what others may have made fail is run again alone",
    )
    confirm_alone: bool = Field(
        True,
        description="with per_gpu above 1, run again alone what was too slow, or failed while the GPU was short of memory; false: a failure beside others counts",
    )
    thorough: bool = Field(
        False,
        description="run what passes again under compute-sanitizer and in an adverse form; verdicts race, memory_error, undefined",
    )
    isolation: Literal["auto", "bubblewrap", "landlock", "none"] = Field(
        "auto", description="the sandbox that answers run in; none: without one, said loudly here and in the report"
    )
    time_limit: Seconds | None = Field(
        None, description="seconds a run of a program may take; without it 60 (modules: 300)"
    )
    memory_limit: Gibibytes | None = Field(
        None, description="GiB of host memory for a program, or twice its task's data; without it 8 (modules: 64)"
    )
    gpu_memory: Gibibytes | None = Field(
        None, description="GiB of GPU memory for a program, watched each second; without it no limit"
    )

    @model_validator(mode="after")
    def _check_gpus(self) -> Self:
        for name in self.needs_gpus:
            if getattr(self, name) and not self.runs_on_gpus:
                excluding = "no_gpu" if self.no_gpu else "compile_only"
                raise ValueError(f"{name} and {excluding} contradict each other: leave one out")
        return self

    @property
    def runs_on_gpus(self) -> bool:
        """Whether programs are run on GPUs."""
        return not (self.no_gpu or self.compile_only)

    def limited(self, limits: "Limits") -> "Limits":
        """Return a judge's own limits, replaced by those that this spec sets."""
        requested = {
            "wall_s": self.time_limit,
            "memory_bytes": None if self.memory_limit is None else int(self.memory_limit * GIB),
            "gpu_memory_bytes": None if self.gpu_memory is None else int(self.gpu_memory * GIB),
        }
        return replace(limits, **{name: value for name, value in requested.items() if value is not None})


class EvaluationSpec(JudgeSpec):
    """How answers are judged, and on which inputs."""

    needs_gpus: ClassVar[tuple[str, ...]] = (*JudgeSpec.needs_gpus, "require_gpu")

    require_gpu: bool = Field(False, description="programs whose work the GPU did not do fail: no_gpu_work")
    record_gpu: bool = Field(
        True,
        description="record what programs do on the GPU, for speed-ups and flags; false: programs that pass run once less",
    )
    seed: NonNegativeInt | None = Field(
        None,
        description="what inputs are drawn from, where tasks bring their generator; without it drawn for each results file",
    )

    @model_validator(mode="after")
    def _check_record(self) -> Self:
        if self.require_gpu and not self.record_gpu:
            raise ValueError("require_gpu needs the record that record_gpu=false leaves out: leave one out")
        return self
