"""Answers of a model to tasks: `answers.jsonl` holds one object a line, one line a sample; `Answer` says what its keys mean.

{"task": "tiled_sgemm", "sample": 0, "answer": "...", "tokens": 812, "finish_reason": "stop", ...}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from ..answers import ExtractRule, extract_code
from ..jsonl import LinesError, read_objects
from ..row_checks import Count, Finite, SampleNumber, Text, Texts, wrong_value
from ..text import InputError


Level = Annotated[int, Field(strict=True, ge=1, lt=100_000, description="a level, 1 to 3")]
Whole = Annotated[int, Field(strict=True, description="an integer")]


ChosenTasks = Annotated[
    dict[Literal["split", "only", "limit"], Text | Texts | Count],
    Field(description='an object with split, only or limit, such as {"limit": 10}'),
]
"""Which tasks of their set a model was asked, where these are not all; `tasks.choose_tasks` takes the keys."""


class AnswersError(InputError):
    """An answers file breaks its format; the message names the file and the line, and what was expected."""


@dataclass(frozen=True)
class Answer:
    """One sample. What is read from a file is checked by these types; other keys are kept in `extra`."""

    task: Text  # its id
    sample: SampleNumber  # from 0 for each task (and level)
    answer: Text  # the whole text, reasoning included
    code: Text | None = None  # the code itself; then nothing is extracted from the answer
    reasoning: Text | None = None  # that an endpoint gave apart from the answer
    tokens: Count | None = None  # generated, reasoning and end token included, padding not
    prompt_tokens: Count | None = None  # chat template included
    finish_reason: Text | None = None  # stop, length (the token limit cut it off), or what an endpoint said
    model: Text | None = None
    adapter: Text | None = None
    level: Level | None = None  # of the prompt
    prompts: Text | None = None  # whose wording of CUDABench's tasks it answers
    temperature: Finite | None = None
    top_p: Finite | None = None
    seed: Whole | None = None
    max_tokens: Whole | None = None
    seconds: Finite | None = None  # wall time of the batch or the request
    chosen_tasks: ChosenTasks | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""  # "answers.jsonl:12"

    @property
    def key(self) -> tuple[str, int, int]:
        """Task, sample and level of the prompt: a file holds each once. An answer that does not say has level 1."""
        return self.task, self.sample, self.level or 1

    def program(
        self, *, language: str, rule: ExtractRule | str = ExtractRule.FIRST, whole_program: bool = True
    ) -> str | None:
        """The code to judge: `code` as it is, or what `extract_code` finds in the answer; None when there is none."""
        if self.code is not None:
            return self.code
        return extract_code(self.answer, rule=rule, language=language, whole_program=whole_program)

    def to_record(self) -> dict[str, Any]:
        """The line of the file; `code`, `reasoning`, `prompts` and `chosen_tasks` only when there are any."""
        optional = ("code", "reasoning", "prompts", "chosen_tasks")
        record = {name: vars(self)[name] for name in KEYS if name not in optional or vars(self)[name] is not None}
        return {**record, **self.extra}


KEYS = tuple(item.name for item in fields(Answer) if item.name not in ("extra", "source"))
_CHECKED = TypeAdapter(Answer)


def read_answers(path: Path) -> list[Answer]:
    """All answers of a file, in its order.

    Raises:
        AnswersError: a line is no answer, or two lines are the same sample of one task and level.
    """
    if path.is_dir():
        raise AnswersError(
            f"{path}: a folder; answers are a JSONL file, a line an object with task, sample and answer (or code)."
        )
    try:
        answers = [parse_answer(record, f"{path}:{line}") for line, record in read_objects(path)]
    except LinesError as error:
        raise AnswersError(str(error)) from None
    places: dict[tuple[str, int, int], str] = {}
    for answer in answers:
        first = places.setdefault(answer.key, answer.source)
        if first is not answer.source:
            raise AnswersError(
                f"{answer.source}: sample {answer.sample} of task {answer.task!r} is already at {first}; number the "
                "samples of a task 0, 1, 2, ..., and keep the answers of different models in different files."
            )
    return answers


def parse_answer(record: Mapping[str, Any], source: str) -> Answer:
    """An answer from a line's object; `source` stands in messages.

    Raises:
        AnswersError: a key is missing, or its value is of another type or out of range.
    """
    values = {key: record[key] for key in KEYS if key in record}
    if type(values.get("task")) is int:
        values["task"] = str(values["task"])  # CUDABench numbers its tasks
    if values.get("answer") is None and values.get("code") is not None:
        values["answer"] = values["code"]
    extra = {key: value for key, value in record.items() if key not in KEYS}
    if "task" not in values:
        raise AnswersError(
            f"{source}: not an answer of a model: it has {', '.join(record) or 'nothing'}; expected task, sample and answer (or code), as "
            "`cuset generate` writes them."
        )
    try:
        return _CHECKED.validate_python({**values, "extra": extra, "source": source})
    except ValidationError as error:
        raise AnswersError(f"{source}: {wrong_value(error, Answer, values)}.") from None
