"""The results file of a judged run: one header, then a line a sample.

A line is appended and flushed to the disk as soon as its sample is judged, so a killed run loses what was running and
nothing else. The first line describes the run (`"type": "run"`), every other a sample (`"type": "sample"`).
"""

import datetime
import functools
import hashlib
import platform
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError, create_model

from .. import __version__
from ..files import file_sha256, write_atomically
from ..jsonl import Appender, LinesError, read_objects, to_line
from ..row_checks import Count, Object, RowModel, SampleNumber, Text, Texts, Truth, wrong_value
from ..tasks import Task, TaskSet
from ..tasks.answers_file import Answer
from ..tasks.messages import EDITIONS, prompts_of
from .judgement import Judgement


FORMAT = 1
GENERATION_KEYS = ("model", "adapter", "temperature", "top_p", "seed", "max_tokens")


class ResultsError(LinesError):
    """A results file that cannot be read or written; the message names the file, the line and the fix."""


TaskCount = Annotated[int, Field(strict=True, ge=0, lt=1_000_000, description="an integer from 0 below 1,000,000")]
Levels = Annotated[
    dict[Annotated[str, Field(pattern="^[0-9]{1,5}$")], Count],
    Field(description='an object of level -> count, such as {"1": 500}'),
]


def _object(**kinds: Any) -> type[RowModel]:
    """An object in which each of these keys may be missing or null. Further keys may hold anything."""
    return create_model("Object", __base__=RowModel, **{key: (kind | None, None) for key, kind in kinds.items()})


class SampleLine(RowModel):
    """The keys of a sample's line beside those of its `Judgement`, written by `evaluation.sample_record`. Further keys may hold anything."""

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


Tasks = _object(path=Text, format=Text, sha256=Text, split=Text, count=TaskCount, level=SampleNumber, ids=Texts)
Answers = _object(path=Text, sha256=Text, count=Count, chosen=Count, levels=Levels)
Gpus = Annotated[list[dict[str, Any]], Field(description="a list of objects")]
Findings = Annotated[dict[str, list[str]], Field(description="an object of task -> list of texts")]
Notes = Annotated[dict[str, dict[str, str]], Field(description="an object of code -> task -> text")]
Judging = {"gpus": Gpus, "flags": Texts, "limits": Object, "compile_only": Truth, "thorough": Truth, "seed": Count}
Audited = {"findings": Findings, "notes": Notes, "audited": Count}
RunLine = _object(run=Text, method=Text, tasks=Tasks, answers=Answers, generation=Object, **Judging, **Audited)
"""The header: `describe_run` makes it."""


@dataclass(frozen=True)
class Results:
    """A results file: the run's header, and the samples in the order of task, level and sample.

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
        lines = list(read_objects(path))
    except LinesError as error:
        raise ResultsError(f"{error} Take the line out to have its sample judged again.") from None
    for number, record in lines:
        if record.get("type") == "run":
            _check(record, f"{path}:{number}: the header's ", "or judge again into another file", RunLine)
            run = record
            if (prompts := prompts_of(run)) is not None:
                run["generation"] = (run.get("generation") or {}) | {"prompts": prompts}
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
    if run is None:
        raise ResultsError(f'{path}: no header ("type": "run" in line 1): not a file that `cuset evaluate` wrote.')
    if run.get("format") != FORMAT:
        raise ResultsError(
            f"{path}: results format {run.get('format')!r}; this version of cuset-stage reads {FORMAT}."
        )
    return Results(run, sorted(samples.values(), key=lambda s: (s["task"], s.get("level") or 1, s["sample"])))


def inputs_seed(output: Path) -> int:
    """Returns the seed for a run's inputs: that of the results file which it resumes, else a new one that nobody could know before.

    Raises ResultsError as `read_results` does.
    """
    earlier = read_results(output).run.get("seed") if output.exists() and output.stat().st_size else None
    return secrets.randbits(32) if earlier is None else earlier


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


def describe_run(
    *,
    answers_path: Path,
    answers: Sequence[Answer],
    chosen: int,
    tasks: TaskSet,
    spec: Mapping[str, Any],
    method: str | None = None,
    level: int | None = None,
    split: str | None = None,
    extract: str | None = None,
) -> dict[str, Any]:
    """The header of a run.

    chosen: how many of the answers a finished run judges. spec: how it is judged (`Bench.describe`). extract: the rule that found the
    code in answers.
    """
    asked = [task for task in tasks if split is None or task.split == split]
    levels = Counter(str(one.level or 1) for one in answers if split is None or tasks.by_id(one.task).split == split)
    generation = {name: list(dict.fromkeys(vars(answer)[name] for answer in answers)) for name in GENERATION_KEYS}
    if tasks.format == "cudabench":
        generation["prompts"] = list(dict.fromkeys(answer.prompts or EDITIONS[0] for answer in answers))
    return {
        "run": answers_path.stem if answers_path.is_file() else answers_path.name,
        "method": method,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cuset_stage": __version__,
        "python": platform.python_version(),
        "tasks": {
            "path": str(tasks.path),
            "format": tasks.format,
            "sha256": tasks.sha256,
            "count": len(asked),
            # By these a report tells lines of this split from those that an earlier part left in the file.
            "ids": [task.id for task in asked],
            "level": level,
            "split": split,
        },
        "answers": {
            "path": str(answers_path),
            "sha256": content_sha256(answers_path),
            "count": len(answers),
            "chosen": chosen,
            "levels": dict(levels),  # how many answers to these tasks each level has, chosen or not
        },
        "extract": extract,
        **spec,
        "generation": {name: found[0] if len(found) == 1 else found for name, found in generation.items()},
        **_audits(asked),
    }


def _audits(tasks: Iterable[Task]) -> dict[str, Any]:
    """Returns the findings of `cuset audit-tasks` (task -> texts), its notes (code -> task -> text), and how many tasks were audited."""
    from .audit import load_audit  # with all that an audit needs: reports read results without it

    audits = [audit for task in tasks if (audit := load_audit(task)) is not None]
    notes: dict[str, dict[str, str]] = {}
    for audit in audits:
        for note in audit.notes:
            notes.setdefault(note.code, {})[audit.task] = note.message
    findings = {audit.task: [finding.message for finding in audit.flagged] for audit in audits if audit.flagged}
    return {"findings": findings, "notes": notes, "audited": len(audits)}


def content_sha256(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of a folder's files."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        if file is not path:
            digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
        digest.update(bytes.fromhex(file_sha256(file)))
    return digest.hexdigest()


class ResultsWriter(Appender):
    """Appends samples to a results file, one flushed and synchronised line each, under an exclusive lock.

    Opening it rewrites the file in one step: the header of this run, then the samples to keep. Samples that the file held
    before and that are not kept are added to `<name>.replaced` beside it.

    Raises:
        LinesError: Another process writes the file, or it cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], keep: Iterable[Mapping[str, Any]] = ()) -> None:
        lines = [to_line({"type": "run", "format": FORMAT, **header}), *map(to_line, keep)]
        # Held to the end: whoever opened the old file in the moment before the renaming finds it locked.
        self._old = Appender(path)
        staying = set(lines)
        before = (to_line(record) for _, record in read_objects(path) if record.get("type") != "run")
        gone = [line for line in before if line not in staying]
        try:
            if gone:
                with path.with_name(path.name + ".replaced").open("a", encoding="utf-8") as file:
                    file.writelines(gone)
            write_atomically(path, lines)
        except OSError as error:
            raise ResultsError(f"cannot write {path}: {error.strerror}.") from None
        super().__init__(path)

    def append(self, sample: Mapping[str, Any]) -> None:
        """Write one sample's line and wait until it is on the disk."""
        try:
            super().append({"type": "sample", **sample})
        except LinesError as error:
            raise ResultsError(
                f"{error} What was judged before is in the file; start again when there is room."
            ) from None

    def close(self) -> None:
        super().close()
        self._old.close()
