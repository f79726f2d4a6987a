"""The results file of a judged run: one header, then a line a sample.

A line is appended and flushed to the disk as soon as its sample is judged, so a killed run loses what was running and
nothing else. The first line describes the run (`"type": "run"`), every other a sample (`"type": "sample"`).
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, TypeAdapter, ValidationError

from ..files import write_atomically
from ..jsonl import Appender, LinesError, read_objects, to_line
from ..row_checks import Count, Object, RowModel, SampleNumber, Text, Texts, Truth, wrong_value
from ..text import InputError
from .judgement import Judgement


FORMAT = 1


class ResultsError(InputError):
    """A results file that cannot be read or written; the message names the file, the line and the fix."""


TaskCount = Annotated[int, Field(strict=True, ge=0, lt=1_000_000, description="an integer from 0 below 1,000,000")]
Levels = Annotated[
    dict[Annotated[str, Field(pattern="^[0-9]{1,5}$")], Count],
    Field(description='an object of level -> count, such as {"1": 500}'),
]


class SampleLine(RowModel):
    """What a sample's line says beside its `Judgement`: `runner.sample_record` writes them. Further keys may hold anything."""

    task: Text
    sample: SampleNumber
    code_sha256: Text
    compiled: Truth
    passed: Truth
    name: Text | None = None
    family: Text | None = None
    level: SampleNumber | None = None
    tokens: Count | None = None
    prompt_tokens: Count | None = None
    finish_reason: Text | None = None
    same_as_sample: SampleNumber | None = None
    key: Text | None = None
    code: Text | None = None


class TasksOfRun(RowModel):
    path: Text | None = None
    format: Text | None = None
    sha256: Text | None = None
    split: Text | None = None
    count: TaskCount | None = None
    level: SampleNumber | None = None
    ids: Texts | None = None


class AnswersOfRun(RowModel):
    path: Text | None = None
    sha256: Text | None = None
    count: Count | None = None
    chosen: Count | None = None
    levels: Levels | None = None


class RunLine(RowModel):
    """The header: `run_header.describe_run` writes it. Further keys may hold anything."""

    run: Text | None = None
    method: Text | None = None
    compile_only: Truth | None = None
    tasks: TasksOfRun | None = None
    answers: AnswersOfRun | None = None
    generation: Object | None = None
    limits: Object | None = None
    gpus: Annotated[list[dict[str, Any]], Field(description="a list of objects")] | None = None
    flags: Texts | None = None
    findings: Annotated[dict[str, list[str]], Field(description="an object of task -> list of texts")] | None = None
    notes: Annotated[dict[str, dict[str, str]], Field(description="an object of code -> task -> text")] | None = None
    audited: Count | None = None


@dataclass(frozen=True)
class Results:
    """What a results file says: the run's header, and the samples in the order of task, level and sample.

    A sample that was judged several times stands here once, as it was judged last.
    """

    run: dict[str, Any]
    samples: list[dict[str, Any]]

    @property
    def charged(self) -> list[dict[str, Any]]:
        """The samples without those the judge itself failed on (infra_error): what a share is a share of."""
        return [sample for sample in self.samples if sample["verdict"] != "infra_error"]


def code_sha256(code: str | None) -> str:
    """The SHA-256 of a sample's code, in hexadecimal; of the empty text where an answer holds no code."""
    return hashlib.sha256((code or "").encode("utf-8", errors="surrogatepass")).hexdigest()


def read_results(path: Path) -> Results:
    """Read a results file; a torn last line is left out with a notice.

    Raises:
        ResultsError: The file is not there, is not one of ours, or has a line that is not JSON or holds what no run gives.
    """
    path = Path(path)
    if path.is_dir():
        raise ResultsError(f"{path}: this is a folder; give the results file that `cuset evaluate` wrote.")
    if not path.is_file():
        raise ResultsError(f"{path}: no such file. `cuset evaluate` writes results.")
    run: dict[str, Any] | None = None
    samples: dict[tuple[str, int, str, int], dict[str, Any]] = {}
    try:
        for number, record in read_objects(path):
            if record.get("type") == "run":
                _check(record, f"{path}:{number}: the header's ", "or judge again into another file", RunLine)
                run = record
            elif record.get("type") == "sample":
                which = f"sample {str(record.get('sample'))[:20]} of task {str(record.get('task'))[:40]}"
                way_out = "or take it out to have the sample judged again"
                _check(record, f"{path}:{number}: {which}: ", way_out, SampleLine, Judgement)
                key = (record["task"], record["sample"], record["code_sha256"], record.get("level") or 1)
                samples.pop(key, None)  # what was written last also stands last
                samples[key] = record
            else:
                raise ResultsError(
                    f'{path}:{number}: not a line of a results file; expected "type": "run", or "type": "sample". '
                    "`cuset evaluate` writes such a file."
                )
    except LinesError as error:
        raise ResultsError(f"{error} Take the line out to have its sample judged again.") from None
    if run is None:
        raise ResultsError(f'{path}: no header ("type": "run" in line 1): not a file that `cuset evaluate` wrote.')
    if run.get("format") != FORMAT:
        raise ResultsError(
            f"{path}: results format {run.get('format')!r}; this version of cuset-stage reads {FORMAT}."
        )
    return Results(run, sorted(samples.values(), key=lambda s: (s["task"], s.get("level") or 1, s["sample"])))


_adapter = functools.cache(TypeAdapter)


def as_record(judgement: Judgement) -> dict[str, Any]:
    """A judgement as JSON holds it."""
    return _adapter(Judgement).dump_python(judgement, mode="json", warnings=False)


def _check(record: Mapping[str, Any], where: str, way_out: str, *models: type) -> None:
    for model in models:
        try:
            _adapter(model).validate_python(record)
        except ValidationError as error:
            raise ResultsError(f"{where}{wrong_value(error, model, record)}. Correct the line, {way_out}.") from None


class ResultsWriter:
    """Appends samples to a results file, one flushed and synchronised line each, under an exclusive lock.

    Opening it rewrites the file in one step: the header of this run, then the samples to keep. Samples that the file held
    before and that are not kept are added to `<name>.replaced` beside it.

    Raises:
        ResultsError: Another process writes the file, or it cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], keep: Iterable[Mapping[str, Any]] = ()) -> None:
        self.path = Path(path)
        self.replaced_path = self.path.with_name(self.path.name + ".replaced")
        lines = [to_line({"type": "run", "format": FORMAT, **header}), *map(to_line, keep)]
        try:
            # Held to the end: whoever opened the old file in the moment before the renaming finds it locked.
            self._old = Appender(self.path)
            staying = set(lines)
            before = (to_line(record) for _, record in read_objects(self.path) if record.get("type") != "run")
            if gone := [line for line in before if line not in staying]:
                with self.replaced_path.open("a", encoding="utf-8") as file:
                    file.writelines(gone)
            write_atomically(self.path, lines)
            self._appender = Appender(self.path)
        except LinesError as error:
            raise ResultsError(str(error)) from None
        except OSError as error:
            raise ResultsError(f"cannot write {self.path}: {error.strerror}.") from None

    def append(self, sample: Mapping[str, Any]) -> None:
        """Write one sample's line and wait until it is on the disk."""
        try:
            self._appender.append({"type": "sample", **sample})
        except LinesError as error:
            raise ResultsError(
                f"{error} What was judged before is in the file; start again when there is room."
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._appender.close()
        self._old.close()
