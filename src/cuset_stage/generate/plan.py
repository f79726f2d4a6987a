"""Which samples are missing from an answers file, and the loop that fills it.

A run can be interrupted at any moment and resumed: what is in the file stays, and only missing samples are made. The seed of a sample
depends on the run's seed, the task's id and the sample's number alone, so what is made later, or in another order, is what would
have been made at first.
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
    """One sample to make. `seed` is the sample's own, in [0, 2^31)."""

    task: str
    sample: int
    messages: tuple[Mapping[str, str], ...]  # role and content
    seed: int
    prompt_sha256: str


@dataclass(frozen=True)
class Failure:
    """One sample that could not be made; it is not written, and the next run tries it again."""

    request: Request
    message: str


class Summary(NamedTuple):
    """What a run did: samples that were in the file before, that were made, of which some were cut at max_tokens, and that failed."""

    kept: int
    made: int
    cut: int
    failures: tuple[Failure, ...]


def sample_seed(seed: int, task: str, sample: int) -> int:
    """A sample's own seed in [0, 2^31): the largest range that every endpoint takes."""
    digest = hashlib.sha256(json.dumps([seed, task, sample]).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def make_plan(
    tasks: Iterable[Task], settings: RecordedSettings, samples: int, prompts: PromptFile | None = None
) -> list[Request]:
    """All samples of all tasks.

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
    """The requests of the plan that no existing answer fills.

    Raises:
        GenerationError: an answer was made with other settings or for another prompt; the message names the first
            difference and the line.
    """
    prompts = {request.task: request.prompt_sha256 for request in plan}
    wanted = settings.model_dump(mode="json")
    unnamed = {"prompts": EDITIONS[0]} if settings.prompts else {}
    for answer in existing:
        record = unnamed | answer.to_record()
        for name, value in wanted.items():
            if (found := record.get(name)) != value:
                was = "(not recorded)" if found is None else shown(found)
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
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Summary:
    """Write the answers that are missing from `output`, each as soon as it is there.

    Args:
        prompts: CUDABench's own, for a task set of its rows.
        chosen: how the tasks were chosen from their set (`tasks.choose_tasks`), for lines of an answers file; None: all of them.
        open_backend: `hf.HFBackend` or `endpoint.EndpointBackend`, called when there is something to make.
        progress: called with the samples in the file and the samples wanted.

    Raises:
        GenerationError: see `missing` and the back ends; what was written stays.
        LinesError, AnswersError: the file is in use, broken, or cannot be written.
        TaskError: see `make_plan`.
    """
    plan = make_plan(tasks, settings, samples, prompts)
    record = settings.model_dump(mode="json")
    known = {name: record.pop(name) for name in list(record) if name in Answer.__dataclass_fields__}
    made, cut, failures = 0, 0, []
    with Appender(output) as appender:
        todo = missing(plan, settings, read_answers(output))
        requests = {(request.task, request.sample): request for request in todo}
        kept = len(plan) - len(todo)
        progress(kept, len(plan))
        for outcome in open_backend().replies(todo) if todo else ():
            if isinstance(outcome, Failure):
                failures.append(outcome)
                logger.warning("%s, sample %d: %s", outcome.request.task, outcome.request.sample, outcome.message)
                continue
            request = requests[outcome.task, outcome.sample]
            extra = {**record, "sample_seed": request.seed, "prompt_sha256": request.prompt_sha256, **outcome.extra}
            appender.append(replace(outcome, **known, chosen_tasks=chosen, extra=extra).to_record())
            made, cut = made + 1, cut + (outcome.finish_reason == "length")
            progress(kept + made, len(plan))
    return Summary(kept, made, cut, tuple(failures))
