"""Stage `answer`: a model answers the tasks, several times each; `prove` judges what it says as it judges any other answer.

Rows with an answer of their own go on as they are, unless `answered` says otherwise; without a model that is all. Samples are kept as
`cuset generate` writes them, in samples-*.jsonl in the curation's folder, a file for each setting of the sampling: a run that was stopped
asks for those that are missing alone, and one that is repeated asks for none. The rows are made of them afresh.
"""

from __future__ import annotations

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


_OWN = ("code", "answer", "intro", "reasoning", "fingerprints", "speedup")  # what a row says of its own answer
_RECORDED = ("sample", "model", "adapter", "temperature", "tokens", "finish_reason")  # of a sample, in its row


def run_answer(settings: AnswerSettings) -> Summary:
    """Have a model answer what `adapt` left, into `folder`/answer/. A row becomes a row for each sample.

    Raises:
        CurationError: the stage before has not run.
        GenerationError: the model or the endpoint cannot be used; what was sampled is kept.
    """
    rows = input_rows(settings, "adapt")
    samples, notes = _sample(rows, settings) if settings.model else ({}, [])
    keys = {key: getattr(settings, key) for key in ("model", "adapter", "samples", "answered")}
    work = partial(_answered, settings=settings, samples=samples)
    return run_stage(settings.folder, "answer", rows, work, settings=keys, notes=notes)


def _sample(rows: StageRows, settings: AnswerSettings) -> tuple[dict[str, list[Answer]], list[str]]:
    """The answers to each task by its id, in order, and what people should know of them."""
    recorded, open_backend = choose_backend(settings)
    path = settings.folder / f"samples-{digest(recorded.model_dump_json())[:12]}.jsonl"
    tasks = {}
    for row in rows:
        if _is_asked(row, settings):
            with suppress(RowError):  # `_answered` reports it
                task = _task(row)
                tasks[task.id] = task
    with Progress(total=len(tasks) * settings.samples, unit="sample", desc="answer") as bar:
        made = generate(
            tasks.values(),
            recorded,
            samples=settings.samples,
            output=path,
            open_backend=open_backend,
            progress=lambda done, total: bar.update(done - bar.n),
        )
    if recorded.backend == "hf":  # programs, and the training of a round, need the GPU's memory
        from accelerate.utils.memory import clear_device_cache

        clear_device_cache(garbage_collection=True)
    by_task: dict[str, list[Answer]] = {}
    for answer in sorted(read_answers(path), key=lambda answer: answer.sample):
        if answer.sample < settings.samples:
            by_task.setdefault(answer.task, []).append(answer)
    notes = [f"samples: {path} ({made.made} made, {made.kept} there before)"]
    if made.failures:
        request, why = made.failures[0].request, made.failures[0].message
        what = f"{len(made.failures)} samples are missing; the first, {request.task} sample {request.sample}: {why}"
        notes.append(f"{what}. Run the same command again for them.")
    return by_task, notes


def _is_asked(row: Row, settings: AnswerSettings) -> bool:
    return bool(settings.model) and (settings.answered != "keep" or not program_of(row))


def _task(row: Row) -> Task:
    """A row's task under an id of the row and of what is asked: with another prompt it is sampled anew."""
    task = load_task(row)
    return replace(task, id=f"{row['id']}@{digest(json.dumps(chat_messages(task)))[:8]}")


def _answered(row: Row, settings: AnswerSettings, samples: Mapping[str, list[Answer]]) -> list[Row]:
    """A row with each of its samples, or as it is where nobody was asked. samples: by the task's id."""
    own = program_of(row)
    if not _is_asked(row, settings):
        if not own:
            raise RowError("no_answer", "a task without an answer, and no model to ask")
        return [row]
    task = _task(row)
    rows = [row] if settings.answered == "add" and own else []
    rows += [_sampled(row, task, answer) for answer in samples.get(task.id, ())]
    if not rows:
        raise NotSettled("not_sampled", "it has no sample yet")
    return rows


def _sampled(row: Row, task: Task, answer: Answer) -> Row:
    """The row with a sample in place of its own answer; the code is None where the sample holds none."""
    code = answer.program(language=task.language, whole_program=task.asks_whole_program)
    thought = "\n".join(answer.answer[start:end] for start, end in read_answer(answer.answer).reasoning)
    for tag in (tag for pair in REASONING_TAGS for tag in pair):
        thought = thought.replace(tag, "")
    return {
        **{key: value for key, value in row.items() if key not in _OWN},
        "id": f"{row['id']}#{answer.sample}",
        "answer_code" if row["kind"] == "module" else "program": code,
        "reasoning": answer.reasoning or thought.strip(),
        "sample": {"of": row["id"], **{key: getattr(answer, key) for key in _RECORDED}},
    }
