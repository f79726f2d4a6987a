"""Find the samples that are missing from an answers file, and generate them.

A run can be interrupted at any time and resumed. Answers in the file stay, and only missing samples are generated. The
seed of a sample depends only on the run's seed, the task's id and the sample's number. A sample that is made later, or
in another order, is therefore the same that an uninterrupted run would have made.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..jsonl import Appender
from ..tasks import Task
from ..tasks.answers_file import Answer, read_answers
from ..tasks.messages import EDITIONS, chat_messages
from ..tasks.prompt_file import PromptFile
from ..text import shown
from .settings import GenerationError, RecordedSettings


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """One sample to generate.

    Attributes:
        task: the task's id.
        sample: number of the sample, from 0 for each task.
        messages: the messages with role and content.
        seed: the sample's own seed, in [0, 2^31).
        prompt_sha256: SHA-256 of the messages.
    """

    task: str
    sample: int
    messages: tuple[Mapping[str, str], ...]
    seed: int
    prompt_sha256: str


@dataclass(frozen=True)
class Failure:
    """One sample that could not be generated. It is not written to the file, so the next run tries it again."""

    request: Request
    message: str


class Summary(NamedTuple):
    """The result of a run.

    Attributes:
        kept: number of samples that were in the file before.
        made: number of samples generated.
        cut: number of these that were cut off at max_tokens.
        failures: samples that failed.
    """

    kept: int
    made: int
    cut: int
    failures: tuple[Failure, ...]


def sample_seed(seed: int, task: str, sample: int) -> int:
    """Return a sample's own seed, in [0, 2^31). This is the largest range that every endpoint accepts."""
    digest = hashlib.sha256(json.dumps([seed, task, sample]).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def make_plan(
    tasks: Iterable[Task], settings: RecordedSettings, samples: int, prompts: PromptFile | None = None
) -> list[Request]:
    """Return a request for every sample of every task, in this package's wording where there are no `prompts`.

    Raises:
        TaskError: see `chat_messages`.
    """
    plan = []
    for task in tasks:
        messages = chat_messages(task, level=settings.level, prompts=prompts, system=settings.system)
        digest = hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()
        for sample in range(samples):
            seed = sample_seed(settings.seed, task.id, sample)
            plan.append(Request(task.id, sample, tuple(messages), seed, digest))
    return plan


def missing(plan: Sequence[Request], settings: RecordedSettings, existing: Sequence[Answer]) -> list[Request]:
    """Return the requests of the plan for which no answer is among the `existing` ones.

    Raises:
        GenerationError: an answer was made with other settings or for another prompt. The message names the first
            difference and the line.
    """
    prompts = {request.task: request.prompt_sha256 for request in plan}
    wanted = settings.model_dump(mode="json")
    unnamed = {"prompts": EDITIONS[0]} if settings.prompts else {}  # the first edition was not recorded
    for answer in existing:
        record = unnamed | answer.to_record()
        for name, value in wanted.items():
            if (recorded := record.get(name)) != value:
                was = "(not recorded)" if recorded is None else shown(recorded)
                raise GenerationError(
                    f"{answer.source} was made with {name}={was}, this run has {name}={shown(value)}. Answers of different "
                    "settings do not belong in one file: give another output, or the settings of the file."
                )
        if record.get("prompt_sha256") != prompts.get(answer.task, record.get("prompt_sha256")):
            raise GenerationError(
                f"{answer.source} answers another prompt of task {answer.task!r} than the task set has now: give another "
                "output, or the task set that the file was made with."
            )
    done = {(answer.task, answer.sample) for answer in existing}
    return [request for request in plan if (request.task, request.sample) not in done]


def generate(
    tasks: Iterable[Task],
    settings: RecordedSettings,
    *,
    samples: int,
    output: Path,
    open_backend: Callable[[], Any],
    prompts: PromptFile | None = None,
    chosen: Mapping[str, Any] | None = None,
    progress: Callable[[int], object] = lambda more: None,
) -> Summary:
    """Generate the answers that are missing from a file, and write each one as soon as it is there.

    Args:
        tasks: the tasks.
        settings: the settings of the answers, recorded in each line.
        samples: samples per task.
        output: the answers file.
        open_backend: opens the back end (`hf.HFBackend` or `endpoint.EndpointBackend`). It is called only if samples
            are missing.
        prompts: CUDABench's own prompts, for a task set of its rows. None: this package's wording.
        chosen: how the tasks were chosen from their set (`tasks.choose_tasks`), recorded in each line. None: all
            tasks.
        progress: called with the number of samples that are there from the beginning, then with 1 for each new one.

    Raises:
        GenerationError: see `missing` and the back ends. Answers written so far stay in the file.
        LinesError, AnswersError: the file is in use, broken, or cannot be written.
        TaskError: see `make_plan`.
    """
    plan = make_plan(tasks, settings, samples, prompts)
    record = settings.model_dump(mode="json")
    answer_fields = {name: record.pop(name) for name in list(record) if name in Answer.__dataclass_fields__}
    made, cut, failures = 0, 0, []
    with Appender(output) as appender:
        todo = missing(plan, settings, read_answers(output))
        requests = {(request.task, request.sample): request for request in todo}
        kept = len(plan) - len(todo)
        progress(kept)
        for outcome in open_backend().replies(todo) if todo else ():
            if isinstance(outcome, Failure):
                failures.append(outcome)
                logger.warning("%s, sample %d: %s", outcome.request.task, outcome.request.sample, outcome.message)
                continue
            request = requests[outcome.task, outcome.sample]
            extra = {**record, "sample_seed": request.seed, "prompt_sha256": request.prompt_sha256, **outcome.extra}
            appender.append(replace(outcome, **answer_fields, chosen_tasks=chosen, extra=extra).to_record())
            made, cut = made + 1, cut + (outcome.finish_reason == "length")
            progress(1)
    return Summary(kept, made, cut, tuple(failures))
