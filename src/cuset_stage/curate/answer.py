"""Stage `answer`: sample several answers to each task from a model. `prove` later judges them like any other answer.

Rows that have an answer of their own pass through unchanged, unless `answered` says otherwise. Without a model nothing
is sampled.

Samples are stored in the format of `cuset generate`, in samples-*.jsonl in the curation's folder, with one file for
each combination of sampling settings. A run that was stopped therefore asks only for the missing samples, and a
repeated run asks for none. The stage's rows are built from these files anew each time.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from ..answers import REASONING_TAGS, read_answer
from ..generate.backend import choose_backend
from ..generate.plan import generate
from ..progress import Progress
from ..tasks import Task
from ..tasks.answers_file import Answer, read_answers
from ..tasks.messages import chat_messages
from .adapt import load_task, program_of
from .rows import NotSettled, Row, RowError, digest
from .settings import AnswerSettings
from .stage import StageRows, Summary, input_rows, run_stage


_OWN = ("code", "answer", "intro", "reasoning", "fingerprints", "speedup")  # keys that describe a row's own answer
_RECORDED = ("sample", "model", "adapter", "temperature", "tokens", "finish_reason")  # fields of a sample


def run_answer(settings: AnswerSettings) -> Summary:
    """Sample answers to the tasks that `adapt` produced, and write one row per sample to `folder`/answer/.

    Raises:
        CurationError: the previous stage has not run.
        GenerationError: the model or the endpoint cannot be used. Samples made so far are kept.
    """
    rows = input_rows(settings, "adapt")
    samples, notes = _sample(rows, settings) if settings.model else ({}, [])
    keys = {key: getattr(settings, key) for key in ("model", "adapter", "samples", "answered")}
    work = partial(_answered, settings=settings, samples=samples)
    return run_stage(settings.folder, "answer", rows, work, settings=keys, notes=notes)


def _sample(rows: StageRows, settings: AnswerSettings) -> tuple[dict[str, list[Answer]], list[str]]:
    """Return the samples of each task by task id, in the order of sample numbers, and notes for the user."""
    recorded, open_backend = choose_backend(settings)
    path = settings.folder / f"samples-{digest(recorded.model_dump_json())[:12]}.jsonl"
    tasks = {}
    for row in rows:
        if _is_asked(row, settings):
            with suppress(RowError):  # `_answered` reports it
                task = _task(row)
                tasks[task.id] = task
    with Progress(total=len(tasks) * settings.samples, unit="sample", desc="answer") as bar:
        result = generate(
            tasks.values(),
            recorded,
            samples=settings.samples,
            output=path,
            open_backend=open_backend,
            progress=bar.update,
        )
    if recorded.backend == "hf":  # the judged programs and a round's training need the GPU memory
        from accelerate.utils.memory import clear_device_cache

        clear_device_cache(garbage_collection=True)
    by_task: dict[str, list[Answer]] = {}
    for answer in sorted(read_answers(path), key=lambda answer: answer.sample):
        if answer.sample < settings.samples:
            by_task.setdefault(answer.task, []).append(answer)
    notes = [f"samples: {path} ({result.made} made, {result.kept} there before)"]
    if result.failures:
        request, why = result.failures[0].request, result.failures[0].message
        what = f"{len(result.failures)} samples are missing; the first, {request.task} sample {request.sample}: {why}"
        notes.append(f"{what}. Run the same command again for them.")
    return by_task, notes


def _is_asked(row: Row, settings: AnswerSettings) -> bool:
    """Return True if the model is asked to answer the row's task."""
    return bool(settings.model) and (settings.answered != "keep" or not program_of(row))


def _task(row: Row) -> Task:
    """Return the row's task. Its id is made of the row's id and the messages, so a changed prompt is sampled anew."""
    task = load_task(row)
    return replace(task, id=f"{row['id']}@{digest(json.dumps(chat_messages(task)))[:8]}")


def _answered(row: Row, settings: AnswerSettings, samples: Mapping[str, list[Answer]]) -> list[Row]:
    """Return a row per sample, or the row unchanged if the model is not asked. `samples` maps task ids to samples."""
    own_program = program_of(row)
    if not _is_asked(row, settings):
        if not own_program:
            raise RowError("no_answer", "a task without an answer, and no model to ask")
        return [row]
    task = _task(row)
    rows = [row] if settings.answered == "add" and own_program else []
    rows += [_sampled(row, task, answer) for answer in samples.get(task.id, ())]
    if not rows:
        raise NotSettled("not_sampled", "it has no sample yet")
    return rows


def _sampled(row: Row, task: Task, answer: Answer) -> Row:
    """Return the row with a sample in place of its own answer. Its code is None if the sample contains no code."""
    code = answer.program(language=task.language, whole_program=task.asks_whole_program)
    reasoning = "\n".join(answer.answer[start:end] for start, end in read_answer(answer.answer).reasoning)
    for tag in (tag for pair in REASONING_TAGS for tag in pair):
        reasoning = reasoning.replace(tag, "")
    return {
        **{key: value for key, value in row.items() if key not in _OWN},
        "id": f"{row['id']}#{answer.sample}",
        "answer_code" if row["kind"] == "module" else "program": code,
        "reasoning": answer.reasoning or reasoning.strip(),
        "sample": {"of": row["id"], **{key: getattr(answer, key) for key in _RECORDED}},
    }
