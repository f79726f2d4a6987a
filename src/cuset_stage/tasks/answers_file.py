"""Read `answers.jsonl`, the answers of a model to tasks. Each line holds one sample as a JSON object:

{"task": "tiled_sgemm", "sample": 0, "answer": "...", "tokens": 812, "finish_reason": "stop", ...}

`Answer` says what the keys mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from ..answers import ExtractRule, extract_code
from ..jsonl import read_objects
from ..row_checks import Count, Finite, SampleNumber, Text, Texts, wrong_value
from ..text import InputError


Level = Annotated[int, Field(strict=True, ge=1, lt=100_000, description="a level, 1 to 3")]
Whole = Annotated[int, Field(strict=True, description="an integer")]


ChosenTasks = Annotated[
    dict[Literal["split", "only", "limit"], Text | Texts | Count],
    Field(description='an object with split, only or limit, such as {"limit": 10}'),
]
"""The keys by which `tasks.choose_tasks` chose the tasks that a model was asked, if these are not all tasks of the set."""


class AnswersError(InputError):
    """An answers file breaks its format. The message names the file and the line, and says what was expected."""


@dataclass(frozen=True)
class Answer:
    """One sample. Values from a file are checked against these types. Keys without a field are kept in `extra`."""

    task: Text  # the id of the task
    sample: SampleNumber  # counted from 0 for each task (and level)
    answer: Text  # the whole text, including reasoning
    code: Text | None = None  # the code, if known; nothing is then extracted from the answer
    reasoning: Text | None = None  # reasoning that an endpoint returned separately from the answer
    tokens: Count | None = None  # generated tokens, including reasoning and the end token, without padding
    prompt_tokens: Count | None = None  # including the chat template
    finish_reason: Text | None = None  # "stop", "length" (cut off by the token limit), or what an endpoint returned
    model: Text | None = None
    adapter: Text | None = None
    level: Level | None = None  # the level of the prompt
    prompts: Text | None = None  # the wording of CUDABench's tasks (messages.EDITIONS or a file's label)
    temperature: Finite | None = None
    top_p: Finite | None = None
    seed: Whole | None = None
    max_tokens: Whole | None = None
    seconds: Finite | None = None  # wall time of the batch or the request
    chosen_tasks: ChosenTasks | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""  # where the answer was read, such as "answers.jsonl:12"

    @property
    def key(self) -> tuple[str, int, int]:
        """Task, sample and level of the prompt, unique within a file. The level is 1 if the answer names none."""
        return self.task, self.sample, self.level or 1

    def program(
        self, *, language: str, rule: ExtractRule | str = ExtractRule.FIRST, whole_program: bool = True
    ) -> str | None:
        """Return the code to judge: `code` as it is, or what `extract_code` finds in the answer, or None.

        Args:
            language: The language of the task, "cuda" or "python".
            rule: The rule for choosing the code (see `answers.extract_code`).
            whole_program: True if the answer must define `main`.
        """
        if self.code is not None:
            return self.code
        return extract_code(self.answer, rule=rule, language=language, whole_program=whole_program)

    def to_record(self) -> dict[str, Any]:
        """Return the object for a line of the file.

        `code`, `reasoning`, `prompts` and `chosen_tasks` are in it only if they are not None.
        """
        optional = ("code", "reasoning", "prompts", "chosen_tasks")
        record = {name: vars(self)[name] for name in KEYS if name not in optional or vars(self)[name] is not None}
        return {**record, **self.extra}


KEYS = tuple(item.name for item in fields(Answer) if item.name not in ("extra", "source"))
_CHECKED = TypeAdapter(Answer)


def read_answers(path: Path) -> list[Answer]:
    """Return all answers of a file, in its order.

    Raises:
        AnswersError: A line is no answer, or two lines have the same task, sample and level.
        LinesError: The file cannot be read, or a line is no JSON object.
    """
    if path.is_dir():
        raise AnswersError(
            f"{path}: a folder; answers are a JSONL file, a line an object with task, sample and answer (or code)."
        )
    answers = [parse_answer(record, f"{path}:{line}") for line, record in read_objects(path)]
    earlier: dict[tuple[str, int, int], Answer] = {}
    for answer in answers:
        first = earlier.setdefault(answer.key, answer)
        if first is not answer:
            fix = "number the samples of a task 0, 1, 2, ..., and keep the answers of different models in different files."
            if first == replace(answer, source=first.source):  # with another number it would count twice
                fix = "the two lines are one answer: take one of them out."
            raise AnswersError(
                f"{answer.source}: sample {answer.sample} of task {answer.task!r} is already at {first.source}; {fix}"
            )
    return answers


def parse_answer(record: Mapping[str, Any], source: str) -> Answer:
    """Return the answer in the object of a line, which messages call `source`.

    Raises:
        AnswersError: A key is missing, or its value has another type or is out of range.
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
