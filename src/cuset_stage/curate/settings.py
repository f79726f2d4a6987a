"""The settings of `cuset curate`: one class per stage, and one class for all stages together.

Each stage's function takes an instance of its class. The class's docstring is the help text of the command.
`RunSettings` has the keys of all stages, and `RunSettings.of` makes the settings of one stage from it.

The command line imports this module for every --help, so it must not import anything large.
"""

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, FilePath, PositiveFloat, PositiveInt, model_validator

from .. import bundled
from ..generate import BackendSettings
from ..generate.settings import ExtraBody
from ..judge.judge_spec import JudgeSpec
from ..settings import Names, Settings, split_names


T = TypeVar("T", bound=Settings)


def _pairs(value: Any) -> Any:
    """Return `a=b,c=d` as a mapping. An entry without `=` is a path, whose key is its file name without suffix."""
    parts = split_names(value)
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        return value
    pairs: dict[str, str] = {}
    for part in parts:
        name, sign, rest = part.partition("=")
        name, rest = (name.strip(), rest.strip()) if sign else (Path(part).stem, part)
        if name in pairs:
            raise ValueError(f"{name} is given twice; give each its own name, as in second={rest}")
        pairs[name] = rest
    return pairs


def _columns(value: Any) -> Any:
    if isinstance(value, str) and any("=" not in part for part in split_names(value)):
        raise ValueError("write ours=theirs, such as code=cuda_code")
    return _pairs(value)


def _existing(benchmarks: dict[str, Path]) -> dict[str, Path]:
    for name, path in benchmarks.items():
        if not path.exists():
            raise ValueError(f"{name}: there is nothing at {path}; give name=path of your copy of the benchmark")
    return benchmarks


def _not_taken(name: str) -> str:
    if name.lower() == "dataset_info":
        raise ValueError("dataset_info.json is the list of all data sets; give another name")
    if name.endswith("_eval"):
        raise ValueError(f"this is what {name.removesuffix('_eval')} holds out; give another name")
    return name


class _SourceKeys(Settings):
    preset: str | None = Field(
        None,
        description="columns of a known data set: the-stack, the-stack-v2, cass, babeltower, regrapht, kernelbook, drkernel, "
        "ai-cuda-engineer, cuda-l1, concur, cudabench, kernelbench; messages, sharegpt, alpaca: conversations, whose last answer's code is "
        "taken; cuset: a file of our own tasks",
    )
    columns: Annotated[dict[str, str], BeforeValidator(_columns)] = Field(
        {}, description="columns as ours=theirs, such as code=cuda_code,prompt=question; over the preset's"
    )
    format: str | None = Field(None, description="jsonl, json, parquet, arrow, tree, tasks or robust-kbench")
    revision: str | None = Field(None, description="version of the source; without it the checkout's commit")
    licence: str | None = Field(None, description="what applies where a row and its source state no licence")
    allow: Names = Field((), description="licences to take, SPDX identifiers; without it every known one")
    allow_unknown: bool = Field(False, description="take rows whose licence is not known, too")
    suffixes: Names = Field((".cu",), description="endings of a tree's source files")


class Source(_SourceKeys):
    """A source on this machine."""

    path: Annotated[Path, AfterValidator(bundled.found)] = Field(
        description="a file (JSONL, JSON, Parquet, Arrow), or a folder with .cu files, tasks or shards"
    )
    name: str | None = Field(
        None, pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$", description="of its rows; without it the path's name"
    )

    @property
    def label(self) -> str:
        """The source's name, as it is used in folder names and row ids."""
        name = self.preset if self.preset not in (None, "cuset") else self.path.resolve().name
        return self.name or re.sub(r"[^a-z0-9_.-]+", "-", name.lower()).strip("-.")[:64] or "source"


class _Stage(Settings):
    positional: ClassVar[tuple[str, ...]] = ("folder",)

    folder: Path = Field(description="the folder of this curation; each stage has a folder in it")


class StageSettings(_Stage):
    """The settings of a stage that reads the rows of the previous stage."""

    input: Annotated[tuple[FilePath, ...], BeforeValidator(split_names)] = Field(
        (), description="rows to take (JSONL that a stage wrote) in place of the stage before"
    )


class _Workers(Settings):
    workers: PositiveInt | None = Field(None, description="rows at a time; without it as many as there are CPUs")


class ImportSettings(_Stage, Source, _Workers):
    """Read a source on this machine; nothing is downloaded. May be run for several sources."""

    positional: ClassVar[tuple[str, ...]] = ("folder", "path")


class SplitSettings(StageSettings, _Workers):
    """Make a row of each kernel with what it needs. Rows that come as tasks stay whole."""


class _Near(Settings):
    near: float = Field(0.85, gt=0, le=1, description="similarity from which kernels are duplicates; 1: equal ones")


class _Against(Settings):
    against: Annotated[dict[str, Path], BeforeValidator(_pairs), AfterValidator(_existing)] = Field(
        {}, description="benchmarks that no row may come from, name=path of your own copy"
    )


class DeduplicateSettings(StageSettings, _Near, _Against):
    """Remove duplicate kernels, and rows from benchmarks."""


class AdaptSettings(StageSettings):
    """Make tasks of the rows that define the right result, by cases and a reference or as a PyTorch module."""


class Answering(BackendSettings):
    """The model that answers tasks, and how it is asked."""

    model: str | None = Field(
        None,
        description="a model's folder or Hub name, or what the endpoint calls it; without it tasks without an answer are dropped",
    )
    samples: PositiveInt = Field(4, description="answers to each task")
    temperature: float = Field(0.8, ge=0, description="sampling temperature; 0 is greedy")
    answered: Literal["keep", "add", "replace"] = Field(
        "keep",
        description="tasks that come with an answer: keep: they are not asked; add: the samples stand beside it; replace: in its place",
    )


class AnswerSettings(StageSettings, Answering):
    """Have a model answer tasks, several times each: a model of yours with its adapter, or an endpoint.
    If interrupted, resume."""


class ProofSettings(JudgeSpec):
    """How programs are proved."""

    times: int = Field(2, ge=1, description="runs of every case")
    mutants: int = Field(6, ge=0, description="most wrong versions of a program to try, on a GPU")


class Writing(Settings):
    """The model that writes tasks from kernels, and how it is asked."""

    model: str | None = Field(None, description="the name it is served by; without it no tasks are written of kernels")
    endpoint: str | None = Field(None, description="an OpenAI-compatible server; without it kept replies are used")
    temperature: float = Field(0.0, ge=0, description="sampling temperature; 0 is greedy")
    max_tokens: PositiveInt = Field(16384, description="most tokens of a reply, reasoning included")
    extra_body: ExtraBody = Field(None, description="further keys of requests to the endpoint, such as {top_k: -1}")
    tries: PositiveInt = Field(3, description="replies to a question before a kernel is given up")
    concurrency: PositiveInt = Field(32, description="kernels at a time, each with one request in flight")
    timeout: PositiveFloat = Field(600.0, description="seconds a request may take")
    api_key_env: str = Field("OPENAI_API_KEY", description="the environment variable with the endpoint's API key")
    most_tokens: PositiveInt | None = Field(None, description="tokens, both ways, after which nothing is asked")

    @model_validator(mode="after")
    def _check_model(self) -> Self:
        if self.endpoint and not self.model:
            raise ValueError("endpoint needs model=, the name that the server knows the model by")
        return self

    @property
    def sampling(self) -> dict[str, Any]:
        """The settings that a reply depends on, apart from its question."""
        return self.model_dump(include={"model", "temperature", "max_tokens", "extra_body"})

    @property
    def backend(self) -> BackendSettings:
        """The same settings in the form that `cuset generate` uses for an endpoint."""
        keys = self.sampling | self.model_dump(include={"endpoint", "timeout", "api_key_env"})
        return BackendSettings(**keys, batch_size=1)


class WriteSettings(StageSettings, Writing, _Against, ProofSettings):
    """Have a model make tasks of kernels, and prove them: two references agree, and on a GPU the program is right.
    Replies and proofs are stored, so a repeated run resumes, and nothing is asked or proved twice."""

    @property
    def proof(self) -> ProofSettings:
        """The settings by which the written tasks are proved."""
        return ProofSettings(**self.model_dump(include=set(ProofSettings.model_fields)))


class ProveSettings(StageSettings, ProofSettings, _Workers):
    """Compile every program, run every case twice in the judge's sandbox, and keep what passes.
    If interrupted, resume."""


class _Select(_Near):
    per_task: PositiveInt | None = Field(
        None,
        description="most answers to one task, the best by the speed-up that prove measured: of a module over PyTorch, of a program over the "
        "median time of the answers to its task",
    )


class SelectSettings(StageSettings, _Select):
    """Keep the fastest of similar answers to a task, and only the best answers to each task."""


class _Export(Settings):
    output: Path | None = Field(None, description="LLaMA-Factory's dataset_dir; without it <folder>/dataset")
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$"), AfterValidator(_not_taken)] = Field(
        "curated",
        description="the data set's name in dataset_info.json; what is held out is <name>_eval",
    )
    validation: float = Field(0.05, ge=0, lt=1, description="share of the tasks that are held out")
    seed: int = Field(0, description="another seed holds other tasks out")
    cutoff_len: PositiveInt = Field(4096, description="cutoff_len of the training run, which lengths are held against")
    reasoning: bool = Field(False, description="put a row's reasoning before its answer")


class ExportSettings(StageSettings, _Export):
    """Write LLaMA-Factory data with its dataset_info.json entry and a data card, split by task."""

    @property
    def target(self) -> Path:
        """The folder that the data set is written to."""
        return self.output or self.folder / "dataset"


STAGE_SETTINGS: dict[str, type[Settings]] = {
    "import": ImportSettings, "split": SplitSettings, "deduplicate": DeduplicateSettings, "write": WriteSettings, "adapt": AdaptSettings,
    "answer": AnswerSettings, "prove": ProveSettings, "select": SelectSettings, "export": ExportSettings,
}  # fmt: skip
"""The stages in their order."""
STAGES = tuple(STAGE_SETTINGS)


class FunnelSettings(_Stage):
    format: Literal["table", "json"] = Field("table", description="how it is printed")


class RunSettings(_Stage, _SourceKeys, _Against, ProofSettings, _Workers, _Select, _Export):
    """The keys of every stage, and the sources. Source keys given here apply to sources that do not set them."""

    positional: ClassVar[tuple[str, ...]] = ("folder", "sources")

    write: Writing | None = Field(
        None,
        description="a mapping of the keys of `cuset curate write`, such as {model: my_model, endpoint: URL}; without it no tasks are written "
        "of kernels",
    )
    answer: Answering | None = Field(
        None,
        description="a mapping of the keys of `cuset curate answer`, such as {model: my_model, samples: 8}; without it no model is asked",
    )
    sources: tuple[Source, ...] = Field(
        min_length=1, description=f"paths, name=path, or in YAML mappings of {', '.join(Source.model_fields)}"
    )

    @model_validator(mode="before")
    @classmethod
    def _read_sources(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Turn sources that are text into mappings, and fill in the defaults that are given next to `sources`."""
        sources = split_names(values.get("sources"))
        if not isinstance(sources, list | tuple):
            return values
        defaults = {key: values[key] for key in _SourceKeys.model_fields if values.get(key) is not None}
        completed = []
        for source in sources:
            if isinstance(source, str):
                name, sign, path = source.partition("=")
                source = {"path": path, "name": name} if sign else {"path": source}
            completed.append({**defaults, **source} if isinstance(source, dict) else source)
        return {**values, "sources": completed}

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        labels = [source.label for source in self.sources]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            fix = f"give each its own name, as in second={self.sources[-1].path}"
            raise ValueError(f"sources: {twice} is given twice; {fix}")
        return self

    def of(self, stage: type[T]) -> T:
        """Return the settings of one stage, given its settings class."""
        if stage is AnswerSettings:
            return stage(folder=self.folder, **(self.answer.model_dump() if self.answer else {}))
        keys = {key: getattr(self, key) for key in stage.model_fields if key in type(self).model_fields}
        if stage is WriteSettings and self.write:
            keys |= self.write.model_dump(exclude_unset=True)
        return stage(**keys)


class RoundsSettings(RunSettings):
    """The keys of a curation, and how each round trains."""

    recipe: FilePath = Field(
        description="a recipe of llamafactory-cli; data set, output_dir and what is trained on are set for each round"
    )
    rounds: PositiveInt = Field(1, description="how often the model answers and is trained")
    start: Literal["previous", "base"] = Field(
        "previous",
        description="what a round trains: what the round before it left, or the recipe's own model anew, as STaR does",
    )

    @model_validator(mode="after")
    def _check_rounds(self) -> Self:
        if self.answer is None or self.answer.model is None:
            raise ValueError("rounds: nobody answers; say answer={model: FOLDER, samples: 4}")
        if self.rounds > 1 and self.answer.endpoint:
            fix = "leave it out of answer=, or say rounds=1"
            raise ValueError(f"rounds: an endpoint serves the same model in every round; {fix}")
        if self.output is not None:
            raise ValueError("output: each round has a data set of its own, <folder>/round1/dataset; leave it out")
        return self
