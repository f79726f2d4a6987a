"""Read and write results files, and run the evaluation that judges the answers of a file into one.

A results file is JSONL. Its first line is a header that describes the run (`"type": "run"`). Every other line is one
judged sample (`"type": "sample"`). A line is appended and flushed to the disk as soon as its sample is judged. So a
killed run loses only the samples that were being judged, and a later run resumes from the file.
"""

import datetime
import functools
import hashlib
import json
import logging
import platform
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError, create_model

from .. import __version__
from ..answers import ExtractRule
from ..files import file_sha256, write_atomically
from ..jsonl import Appender, LinesError, read_objects, to_line
from ..row_checks import Count, Object, RowModel, SampleNumber, Text, Texts, Truth, wrong_value
from ..sandbox import Verdict
from ..tasks import Task, TaskError, TaskSet, choose_tasks
from ..tasks.answers_file import Answer, AnswersError
from ..tasks.messages import EDITIONS, prompts_of
from .judgement import Judgement
from .pipeline import Job, Pipeline


logger = logging.getLogger(__name__)
FORMAT = 1
# Keys of a header on which verdicts depend.
_JUDGED = ("flags", "compile_only", "thorough", "require_gpu", "extract", "isolation", "limits")
GENERATION_KEYS = ("model", "adapter", "temperature", "top_p", "seed", "max_tokens")


class ResultsError(LinesError):
    """A results file cannot be read or written. The message names the file, the line and the fix."""


TaskCount = Annotated[int, Field(strict=True, ge=0, lt=1_000_000, description="an integer from 0 below 1,000,000")]
Levels = Annotated[
    dict[Annotated[str, Field(pattern="^[0-9]{1,5}$")], Count],
    Field(description='an object of level -> count, such as {"1": 500}'),
]


def _object(**kinds: Any) -> type[RowModel]:
    """Make a model of an object in which each of these keys may be missing or null. Other keys may hold anything."""
    return create_model("Object", __base__=RowModel, **{key: (kind | None, None) for key, kind in kinds.items()})


class SampleLine(RowModel):
    """The keys of a sample's line beside those of its `Judgement`.

    `sample_record` writes them. Other keys may hold anything.
    """

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


Families = Annotated[dict[str, str], Field(description="an object of task -> text")]
Sizes = {"count": TaskCount, "set_size": TaskCount, "level": SampleNumber}
Tasks = _object(path=Text, format=Text, sha256=Text, split=Text, ids=Texts, families=Families, **Sizes)
Answers = _object(path=Text, sha256=Text, count=Count, chosen=Count, levels=Levels)
Gpus = Annotated[list[dict[str, Any]], Field(description="a list of objects")]
Findings = Annotated[dict[str, list[str]], Field(description="an object of task -> list of texts")]
Judging = {"gpus": Gpus, "flags": Texts, "limits": Object, "compile_only": Truth, "thorough": Truth, "seed": Count}
Audited = {"findings": Findings, "audited": Count}
# The header line, which `describe_run` makes.
RunLine = _object(run=Text, method=Text, tasks=Tasks, answers=Answers, generation=Object, **Judging, **Audited)


@dataclass(frozen=True)
class Results:
    """The content of a results file.

    Attributes:
        run: The run's header.
        samples: The lines of the samples, ordered by task, level and sample number. A sample that was judged several
            times is in the list once, with its last judgement.
    """

    run: dict[str, Any]
    samples: list[dict[str, Any]]


def code_sha256(code: str | None) -> str:
    """Return the SHA-256 of a sample's code, in hexadecimal. An answer without code has that of the empty text."""
    return hashlib.sha256((code or "").encode("utf-8", errors="surrogatepass")).hexdigest()


def read_results(path: Path) -> Results:
    """Read a results file. An incomplete last line is left out with a notice.

    Raises:
        ResultsError: The file does not exist, is not a results file, or has a line that is not JSON or holds values
            that no run writes.
    """
    headers: list[tuple[dict[str, Any], str]] = []
    samples: dict[tuple[str, int, str, int], dict[str, Any]] = {}
    try:
        lines = list(read_objects(Path(path)))
    except LinesError as error:
        fix = "Give a file that `cuset evaluate` wrote. Remove a broken line, and its sample is judged again."
        raise ResultsError(f"{error} {fix}") from None
    for number, record in lines:
        if record.get("type") == "run":
            _check(record, f"{path}:{number}: the header's ", "or judge again into another file", RunLine)
            if (prompts := prompts_of(record)) is not None:
                record["generation"] = (record.get("generation") or {}) | {"prompts": prompts}
            headers.append((record, f"{path}:{number}"))
        elif record.get("type") == "sample":
            which = f"sample {str(record.get('sample'))[:20]} of task {str(record.get('task'))[:40]}"
            way_out = "or take it out to have the sample judged again"
            _check(record, f"{path}:{number}: {which}: ", way_out, SampleLine, Judgement)
            key = (record["task"], record["sample"], record["code_sha256"], record.get("level") or 1)
            samples.pop(key, None)  # so that the line that was written last also comes last
            samples[key] = record
        else:
            raise ResultsError(
                f'{path}:{number}: not a line of a file that `cuset evaluate` wrote; expected "type": "run", or "type": "sample".'
            )
    apart = len(lines) == len(headers) + len(samples)  # no line is in two parts
    run = headers[0][0] if headers else None
    for part, where in headers[1:]:
        run = _joined(run, part, where, apart=apart)
    if run is None or run.get("format") != FORMAT:
        has = "no header" if run is None else f"results format {run.get('format')!r}"
        raise ResultsError(
            f'{path}: {has}; expected "type": "run", "format": {FORMAT} in line 1, by `cuset evaluate`.'
        )
    return Results(run, sorted(samples.values(), key=lambda s: (s["task"], s.get("level") or 1, s["sample"])))


def _joined(run: Mapping[str, Any], part: Mapping[str, Any], where: str, *, apart: bool) -> dict[str, Any]:
    """Return the header of a file that was joined from two: what the parts ask for counts together.

    Parts that ask for the same tasks are of one answers file, which may have grown, and have lines in common; or, if
    their lines are `apart`, of two files into which the answers were divided.

    Raises:
        ResultsError: They are not parts of the same run, or both have some of the tasks.
    """
    tasks, answers = ((run.get(key) or {}, part.get(key) or {}) for key in ("tasks", "answers"))
    pairs = {name: (run.get(name), part.get(name)) for name in ("method", "generation", *_JUDGED)}
    pairs["task set"] = tasks[0].get("sha256"), tasks[1].get("sha256")
    for name, (first, second) in pairs.items():
        if not (_continues(first, second) or _continues(second, first)):
            raise ResultsError(
                f"{where}: a second header, with {name} {json.dumps(second)}; the first one has {json.dumps(first)}. Keep results that differ in "
                "it in separate files."
            )
    ids = [dict.fromkeys(of.get("ids") or ()) for of in tasks]
    levels = [Counter(of.get("levels") or {}) for of in answers]
    if ids[0].keys() == ids[1].keys():
        divided = apart and answers[0].get("sha256") != answers[1].get("sha256")
        together = levels[0] + levels[1] if divided else levels[0] | levels[1]
        return {**part, "answers": {**answers[1], "levels": dict(together)}}
    if both := ids[0].keys() & ids[1].keys():
        raise ResultsError(
            f"{where}: a second header; task {min(both)} and {len(both) - 1} more belong to both parts, others to one. Judge all answers into "
            "one file, or join parts that have no task in common."
        )
    every = [*ids[0], *ids[1]]
    return {
        **part,
        "tasks": {
            **tasks[1],
            "ids": every,
            "families": {task: family for of in tasks for task, family in (of.get("families") or {}).items()},
            "count": len(every),
        },
        "answers": {**answers[1], "levels": dict(levels[0] + levels[1])},
        "findings": (run.get("findings") or {}) | (part.get("findings") or {}),
        "audited": (run.get("audited") or 0) + (part.get("audited") or 0),
    }


def inputs_seed(output: Path) -> int:
    """Return the seed for the inputs of a run.

    This is the seed in the results file `output` if the run resumes one. Otherwise it is a new one that nobody could
    know before.

    Raises:
        ResultsError: The results file cannot be read (`read_results`).
    """
    earlier = read_results(output).run.get("seed") if output.exists() and output.stat().st_size else None
    return secrets.randbits(32) if earlier is None else earlier


_adapter = functools.cache(TypeAdapter)


def _check(record: Mapping[str, Any], where: str, way_out: str, *models: type) -> None:
    """Raise ResultsError if the line does not fit one of the models."""
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
    set_size: int | None = None,
    level: int | None = None,
    split: str | None = None,
    extract: str | None = None,
) -> dict[str, Any]:
    """Make the header of a run.

    Args:
        answers_path: The answers file. Its name without extension becomes the run's name.
        answers: All answers in the file.
        chosen: Number of answers that the finished run will have judged.
        tasks: The tasks that the run is asked for.
        spec: How the answers are judged (`Bench.describe`).
        method: Name of the method in reports.
        set_size: Number of tasks in the whole task set. None means that `tasks` is the whole set.
        level: The prompt level that was chosen, or None.
        split: The split that was chosen, or None.
        extract: The rule that extracts the code from answers.
    """
    from .audit import load_audit  # imported here because it needs much that reports, which only read results, do not

    audits = [audit for task in tasks if (audit := load_audit(task)) is not None]
    ids = dict.fromkeys(task.id for task in tasks)
    levels = Counter(str(one.level or 1) for one in answers if one.task in ids)
    generation = {name: list(dict.fromkeys(vars(answer)[name] for answer in answers)) for name in GENERATION_KEYS}
    if tasks.format == "cudabench":
        generation["prompts"] = list(dict.fromkeys(answer.prompts or EDITIONS[0] for answer in answers))
    return {
        "run": answers_path.stem,
        "method": method,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cuset_stage": __version__,
        "python": platform.python_version(),
        "tasks": {
            "path": str(tasks.path),
            "format": tasks.format,
            "sha256": tasks.sha256,
            "count": len(tasks),
            "set_size": set_size or len(tasks),
            # With these, a report separates lines of these tasks from lines that an earlier run left in the file.
            "ids": list(ids),
            "families": {task.id: task.family for task in tasks},
            "level": level,
            "split": split,
        },
        "answers": {
            "path": str(answers_path),
            "sha256": file_sha256(answers_path),
            "count": len(answers),
            "chosen": chosen,
            "levels": dict(levels),  # level -> number of answers to these tasks, chosen or not
        },
        "extract": extract,
        **spec,
        "generation": {name: values[0] if len(values) == 1 else values for name, values in generation.items()},
        # from `cuset audit-tasks`: task -> messages
        "findings": {audit.task: [finding.message for finding in audit.flagged] for audit in audits if audit.flagged},
        "audited": len(audits),
    }


class ResultsWriter(Appender):
    """Appends samples to a results file under an exclusive lock. Each line is flushed and synchronised to the disk.

    Opening it rewrites the file in one step, with the header of this run and the samples to keep. Other samples that
    were in the file are appended to `<name>.replaced` beside it.

    Raises:
        LinesError: Another process writes the file, or it cannot be written.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], keep: Iterable[Mapping[str, Any]] = ()) -> None:
        lines = [to_line({"type": "run", "format": FORMAT, **header}), *map(to_line, keep)]
        # The lock on the old file is held until `close`, because another process may have opened it just before the
        # new file replaces it.
        self._old = Appender(path)
        staying = set(lines)
        before = (to_line(record) for _, record in read_objects(path) if record.get("type") != "run")
        gone = [line for line in before if line not in staying]
        try:
            if gone:
                aside = path.with_name(path.name + ".replaced")
                with aside.open("a", encoding="utf-8") as file:
                    file.writelines(gone)
                why = "their answer or the way of judging has changed, or they are judged again"
                logger.warning("%d earlier result(s) moved from %s to %s: %s.", len(gone), path.name, aside, why)
            write_atomically(path, lines)
        except OSError as error:
            raise ResultsError(f"cannot write {path}: {error.strerror}.") from None
        super().__init__(path)

    def close(self) -> None:
        super().close()
        self._old.close()


Key = tuple[str, int, int]  # task id, sample number, level; unique in an answers file


@dataclass(frozen=True)
class Sample:
    """An answer with the code to judge. `code` is None if the answer holds no code."""

    answer: Answer
    task: Task
    code: str | None
    sha256: str

    @property
    def key(self) -> Key:
        return self.answer.key


@dataclass
class Summary:
    """Counts of a run in progress.

    Attributes:
        verdicts: Number of samples per verdict, including those that an earlier run judged.
        resumed: Number of samples that an earlier run judged.
        judged: Number of samples that this run has judged.
        seconds: Wall time of this run until its last judgement.
        overheads: The judge's own time in seconds, for each judged program.
        message: Message of the last infra_error.
    """

    verdicts: Counter[Verdict]
    resumed: int
    judged: int = 0
    seconds: float = 0.0
    overheads: list[float] = field(default_factory=list)
    message: str = ""

    @property
    def infra(self) -> int:
        return self.verdicts[Verdict.INFRA_ERROR]


def make_samples(
    answers: Iterable[Answer], tasks: TaskSet, *, rule: ExtractRule | str = ExtractRule.FIRST
) -> list[Sample]:
    """Pair every answer with its task and extract its code, in the order of the file.

    Raises:
        TaskError: An answer is to a task that the set does not have.
        AnswersError: The samples of a level are not numbered from 0.
    """
    samples = []
    first: dict[int, Answer] = {}  # level -> the answer with the lowest number
    for answer in answers:
        try:
            task = tasks.by_id(answer.task)
        except TaskError as error:
            raise TaskError(f"{answer.source}: {error}") from None
        code = answer.program(language=task.language, rule=rule, whole_program=task.asks_whole_program)
        code = code if code and code.strip() else None
        samples.append(Sample(answer, task, code, code_sha256(code)))
        level = answer.key[2]
        first[level] = min(first.get(level, answer), answer, key=lambda one: one.sample)
    for level, answer in sorted(first.items()):
        if answer.sample > 0:  # pass@1 looks at sample 0: without one, every task would count as failed
            of, each = (f" of level {level}", ", for each level") if len(first) > 1 else ("", "")
            raise AnswersError(
                f"{answer.source}: the first sample{of} is number {answer.sample}; number the samples of a task 0, 1, 2, ...{each}."
            )
    return samples


def asked_tasks(whole: TaskSet, answers: Sequence[Answer], **chosen: Any) -> TaskSet:
    """Return the tasks that a run is asked for.

    Args:
        whole: The whole task set.
        answers: The answers to judge.
        **chosen: The user's choice, as arguments of `choose_tasks`. It is made among the tasks that were chosen when
            `cuset generate` made the answers, or among all if an answer does not record such a choice. A task with an
            answer is among them even where the set has changed since, so that a limit chooses others now.
    """
    choices = {json.dumps(answer.chosen_tasks): answer.chosen_tasks or {} for answer in answers}
    ids = {task.id for choice in choices.values() for task in choose_tasks(whole, **choice)}
    ids |= {answer.task for answer in answers}
    named = choose_tasks(whole, **{**chosen, "limit": None})
    return replace(whole, tasks=tuple(task for task in named if task.id in ids)[: chosen.get("limit")])


def choose_samples(samples: Sequence[Sample], asked: TaskSet, *, level: int | None = None) -> list[Sample]:
    """Return the samples of the tasks that are asked for, in order; with `level`, only those of its prompts.

    Raises:
        TaskError: No sample is left.
    """
    ids = {task.id for task in asked}
    chosen = [sample for sample in samples if sample.task.id in ids and level in (None, sample.key[2])]
    if not chosen:
        there = ", ".join(sorted({f"split={sample.task.split} level={sample.key[2]}" for sample in samples}))
        raise TaskError(
            f"{asked.path}: no answers to judge with these split=, only=, limit= and level=; the answers are to tasks of {there}."
        )
    return chosen


def resume_key(sample: Sample, settings: Mapping[str, Any]) -> str:
    """Return a SHA-256 over all that a verdict depends on.

    A sample whose line in the results file has another key is judged again.
    """
    _, number, level = sample.key
    task, code = sample.task.fingerprint, sample.sha256
    parts = {"task": task, "sample": number, "level": level, "code": code, "settings": settings}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def evaluate(
    samples: Sequence[Sample],
    backend: Pipeline,
    output: Path,
    *,
    header: Mapping[str, Any],
    settings: Mapping[str, Any],
    everything: Iterable[Sample] = (),
    progress: Callable[[Summary], None] = lambda _: None,
) -> Summary:
    """Judge samples and write the results file. Results in the file that were judged in the same way are kept.

    Args:
        samples: The samples to judge. Equal code for one task is judged once, and the judgement is written for every
            sample that has it.
        header: The header of the run, made by `describe_run`.
        settings: The settings that verdicts depend on (`Judge.settings`).
        everything: All samples of the answers file. Earlier results of samples not in `samples` (another split or
            limit) stay in the file only if they were judged in the same way, because the header describes all lines.
            Other results go to `<output>.replaced`.
        progress: Called once at the start and after every sample.

    Returns:
        The counts at the end of the run.

    Raises:
        LinesError: The file holds results of another model or method (ResultsError), or cannot be written.
    """
    keys = {one.key: resume_key(one, settings) for one in (*everything, *samples)}
    wanted = {sample.key for sample in samples}
    kept = _take_up(output, header, keys, wanted)
    verdicts = Counter(Verdict(line["verdict"]) for key, line in kept.items() if key in wanted)
    summary = Summary(verdicts, resumed=verdicts.total())
    begin = time.monotonic()

    with ResultsWriter(output, header, kept.values()) as writer:

        def record(sample: Sample, judgement: Judgement, first: Sample | None = None) -> None:
            writer.append(sample_record(sample, judgement, keys[sample.key], first))
            summary.judged += 1
            summary.verdicts[judgement.verdict] += 1
            summary.seconds = time.monotonic() - begin
            if judgement.infra:
                summary.message = judgement.message
            progress(summary)

        progress(summary)
        same_code: dict[tuple[str, str], list[Sample]] = {}
        for sample in samples:
            if sample.key in kept:
                continue
            if sample.code is None:
                record(sample, Judgement(Verdict.NO_CODE, message="the answer holds no code"))
            else:
                same_code.setdefault((sample.task.id, sample.sha256), []).append(sample)
        jobs = [Job(same[0].task, same[0].code or "", tuple(same)) for same in same_code.values()]
        for job, judgement in backend.run(jobs):
            if not judgement.infra:
                summary.overheads.append(judgement.overhead_s)
            first, *same = job.samples
            record(first, judgement)
            for sample in same:
                record(sample, judgement, first)
    return summary


def sample_record(sample: Sample, judgement: Judgement, key: str, first: Sample | None = None) -> dict[str, Any]:
    """Make the line of a sample in the results file. `key` is its `resume_key`.

    `first` is the sample with the same code that was judged in its place, or None if it was judged itself.
    """
    answer, task = sample.answer, sample.task
    return {
        "type": "sample",
        "task": task.id,
        "name": task.name,
        "family": task.family,
        "sample": answer.sample,
        "level": sample.key[2],
        "code_sha256": sample.sha256,
        **_adapter(Judgement).dump_python(judgement, mode="json", warnings=False),
        "passed": judgement.passed,
        "tokens": answer.tokens,
        "prompt_tokens": answer.prompt_tokens,
        "prompt_sha256": answer.extra.get("prompt_sha256"),
        "finish_reason": answer.finish_reason,
        "same_as_sample": first.answer.sample if first else None,
        "key": key,
        "code": sample.code,
    }


def _take_up(
    output: Path, header: Mapping[str, Any], keys: Mapping[Key, str], wanted: Set[Key]
) -> dict[Key, dict[str, Any]]:
    """Return the lines of an earlier run to keep.

    A wanted sample on which the judge itself failed is not among them, so it is judged again.
    """
    if not output.exists() or not output.stat().st_size:
        return {}
    earlier = read_results(output)
    for name in ("method", "generation"):
        before, now = earlier.run.get(name), header.get(name)
        # Results without a method may get one: it is a name alone, and judging them again could take hours.
        is_unnamed = name == "method" and before is None
        if earlier.samples and not is_unnamed and not _continues(before, now):
            raise ResultsError(
                f"{output}: holds results with {name} {json.dumps(before)}; this run has {json.dumps(now)}. Give the same "
                f"{name}, another output=, or remove the file."
            )
    kept = {}
    for line in earlier.samples:
        sample_key = (line["task"], line["sample"], line.get("level") or 1)
        judge_again = sample_key in wanted and line["verdict"] == Verdict.INFRA_ERROR
        if not judge_again and sample_key in keys and line.get("key") == keys[sample_key]:
            kept[sample_key] = line
    return kept


def _continues(before: Any, now: Any) -> bool:
    """Return whether the answers described by `now` can be those described by `before` and further ones.

    An answers file that grows may have more seeds than before, because every sample may have a seed of its own.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        return before.keys() == now.keys() and all(_continues(before[name], now[name]) for name in before)
    earlier, present = (value if isinstance(value, list) else [value] for value in (before, now))
    return all(value in present for value in earlier)
