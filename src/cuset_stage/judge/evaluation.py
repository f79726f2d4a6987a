"""Judge the answers of a file: choose, keep what an earlier run judged, judge the rest, write results as they come."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..answers import ExtractRule
from ..sandbox import Verdict
from ..tasks import Task, TaskError, TaskSet
from ..tasks.answers_file import Answer, AnswersError
from .judgement import Judgement
from .pipeline import Job, Pipeline
from .results import ResultsError, ResultsWriter, as_record, code_sha256, read_results


Key = tuple[str, int, int]  # task id, number of the sample, level: an answers file holds each once


@dataclass(frozen=True)
class Sample:
    """One answer with the code to judge; `code` is None when the answer holds none."""

    answer: Answer
    task: Task
    code: str | None
    sha256: str

    @property
    def key(self) -> Key:
        return self.answer.key


@dataclass
class Summary:
    """Counts of a run in progress; what an earlier run judged is included. message: of the last infra_error."""

    verdicts: Counter[Verdict]
    resumed: int
    judged: int = 0
    seconds: float = 0.0
    overheads: list[float] = field(default_factory=list)  # the judge's own time, a judged program
    message: str = ""

    @property
    def infra(self) -> int:
        return self.verdicts[Verdict.INFRA_ERROR]


def make_samples(
    answers: Iterable[Answer], tasks: TaskSet, *, rule: ExtractRule | str = ExtractRule.FIRST
) -> list[Sample]:
    """Every answer with its task and the code in it, in the file's order.

    Raises TaskError for an answer to a task that the set does not have, and without any; AnswersError when the samples of a level are
    not numbered from 0.
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
    if not samples:
        raise TaskError(f"{tasks.path}: no answers to judge.")
    for level, answer in sorted(first.items()):
        if answer.sample > 0:  # pass@1 is of sample 0: without any, every task would count as failed
            of, each = (f" of level {level}", ", for each level") if len(first) > 1 else ("", "")
            raise AnswersError(
                f"{answer.source}: the first sample{of} is number {answer.sample}; number the samples of a task 0, 1, 2, ...{each}."
            )
    return samples


def choose_samples(
    samples: Iterable[Sample], tasks: TaskSet, *, split: str | None = None, level: int | None = None
) -> list[Sample]:
    """Those of tasks of this split, and to prompts of this level, in their order. Raises TaskError when nothing is left."""
    samples = list(samples)
    chosen = [sample for sample in samples if split in (None, sample.task.split) and level in (None, sample.key[2])]
    if not chosen:
        wanted = [f"{name}={value}" for name, value in (("split", split), ("level", level)) if value is not None]
        there = ", ".join(sorted({f"split={sample.task.split} level={sample.key[2]}" for sample in samples}))
        raise TaskError(
            f"{tasks.path}: no answers to judge with {' '.join(wanted)}; the answers are to tasks of {there}."
        )
    return chosen


def resume_key(sample: Sample, settings: Mapping[str, Any]) -> str:
    """SHA-256 over all that a verdict depends on: a line with another one is judged again."""
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
    """Judge samples and write the results file; what it holds already, judged in the same way, is kept.

    Args:
        samples: What to judge. Equal code for one task is judged once, and written for every sample that has it.
        header: The run's line; `results.describe_run` makes it.
        settings: What verdicts depend on (`Judge.settings`).
        everything: All samples of the answers file: earlier results for those not in `samples` (another split or limit)
            stay in the file when they were judged in the same way, since the header speaks for all lines. Other
            results go to `<output>.replaced`.
        progress: Called after every sample.

    Raises:
        LinesError: The file holds results of another model or method (ResultsError), or cannot be written.
    """
    keys = {one.key: resume_key(one, settings) for one in (*everything, *samples)}
    wanted = {sample.key for sample in samples}
    kept = _take_up(output, header, keys, wanted)
    verdicts = Counter(Verdict(line["verdict"]) for key, line in kept.items() if key in wanted)
    summary = Summary(verdicts, resumed=verdicts.total())
    left = [sample for sample in samples if sample.key not in kept]
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
        for sample in left:
            if sample.code is None:
                record(sample, Judgement(Verdict.NO_CODE, message="the answer holds no code"))
        for job, judgement in backend.run(make_jobs(sample for sample in left if sample.code is not None)):
            if not judgement.infra:
                summary.overheads.append(judgement.overhead_s)
            first, *same = job.samples
            record(first, judgement)
            for sample in same:
                record(sample, judgement, first)
    return summary


def make_jobs(samples: Iterable[Sample]) -> list[Job]:
    """One job for all samples of a task with the same code, in the order of the first of them."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.task.id, sample.sha256), []).append(sample)
    return [Job(group[0].task, group[0].code or "", tuple(group)) for group in groups.values()]


def sample_record(sample: Sample, judgement: Judgement, key: str, first: Sample | None = None) -> dict[str, Any]:
    """The sample's line in the results file; `first` is the sample with the same code that was judged for it."""
    answer, task = sample.answer, sample.task
    return {
        "type": "sample",
        "task": task.id,
        "name": task.name,
        "family": task.family,
        "sample": answer.sample,
        "level": sample.key[2],
        "code_sha256": sample.sha256,
        **as_record(judgement),
        "passed": judgement.passed,
        "tokens": answer.tokens,
        "prompt_tokens": answer.prompt_tokens,
        "finish_reason": answer.finish_reason,
        "same_as_sample": first.answer.sample if first else None,
        "key": key,
        "code": sample.code,
    }


def _take_up(
    output: Path, header: Mapping[str, Any], keys: Mapping[Key, str], wanted: Set[Key]
) -> dict[Key, dict[str, Any]]:
    """The lines of an earlier run that stay. A wanted one that the judge itself failed on is judged again."""
    if not output.exists() or not output.stat().st_size:
        return {}
    earlier = read_results(output)
    for name in ("method", "generation"):
        before, now = earlier.run.get(name), header.get(name)
        if earlier.samples and not _continues(before, now):
            raise ResultsError(
                f"{output}: holds results with {name} {json.dumps(before)}; this run has {json.dumps(now)}. Give another "
                "output, or remove the file."
            )
    kept = {}
    for line in earlier.samples:
        place = (line["task"], line["sample"], line.get("level") or 1)
        again = place in wanted and line["verdict"] == Verdict.INFRA_ERROR
        if not again and place in keys and line.get("key") == keys[place]:
            kept[place] = line
    return kept


def _continues(before: Any, now: Any) -> bool:
    """True if answers described by `now` can be those described by `before` and further ones: a file that grows may hold
    more seeds than it did, where every sample has its own."""
    if isinstance(before, dict) and isinstance(now, dict):
        return before.keys() == now.keys() and all(_continues(before[name], now[name]) for name in before)
    earlier, present = (value if isinstance(value, list) else [value] for value in (before, now))
    return all(value in present for value in earlier)
