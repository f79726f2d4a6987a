"""Answers of a model to tasks: `answers.jsonl` holds one object a line, one line a sample; `Answer` says what its keys mean.

    {"task": "tiled_sgemm", "sample": 0, "answer": "...", "tokens": 812, "finish_reason": "stop", ...}

A folder works as well: `<task>/<sample>.cu` (or .cpp, .cc, .py) holds code, `<task>/<sample>.md` (or .txt) a whole answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from ..answers import ExtractRule, extract_code
from ..jsonl import LinesError, read_objects
from ..row_checks import Count, Finite, SampleNumber, Text, wrong_value
from ..text import InputError


Level = Annotated[int, Field(strict=True, ge=1, lt=100_000, description="a level, 1 to 3")]
Whole = Annotated[int, Field(strict=True, description="an integer")]
CODE_SUFFIXES = (".cu", ".cpp", ".cc", ".py")
TEXT_SUFFIXES = (".md", ".txt")


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
        """The line of the file; `code`, `reasoning` and `prompts` only when there are any."""
        optional = ("code", "reasoning", "prompts")
        record = {name: vars(self)[name] for name in KEYS if name not in optional or vars(self)[name] is not None}
        return {**record, **self.extra}


KEYS = tuple(item.name for item in fields(Answer) if item.name not in ("extra", "source"))
_CHECKED = TypeAdapter(Answer)


def read_answers(path: Path) -> list[Answer]:
    """All answers of a file or a folder, in its order.

    Raises:
        AnswersError: a line is no answer, or two lines are the same sample of one task and level.
    """
    path = Path(path)
    try:
        records = _folder_records(path) if path.is_dir() else read_objects(path)
        answers = [parse_answer(record, f"{path}:{at}" if isinstance(at, int) else at) for at, record in records]
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
    try:
        return _CHECKED.validate_python({**values, "extra": extra, "source": source})
    except ValidationError as error:
        raise AnswersError(f"{source}: {wrong_value(error, Answer, values)}.") from None


def _folder_records(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The path of each file and its record, by task and sample."""
    records = []
    for file in sorted(path.rglob("*")):
        if file.suffix not in CODE_SUFFIXES + TEXT_SUFFIXES or not file.is_file() or file.parent == path:
            continue
        if not file.stem.isdecimal() or not file.stem.isascii():
            raise AnswersError(
                f"{file}: the name of an answer is its sample's number, such as {file.with_stem('0').name}, in a "
                "folder with the task's id."
            )
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise AnswersError(f"cannot read {file}: {error.strerror}.") from None
        record = {"task": file.parent.relative_to(path).as_posix(), "sample": int(file.stem), "answer": text}
        records.append((str(file), {**record, "code": text} if file.suffix in CODE_SUFFIXES else record))
    if not records:
        raise AnswersError(
            f"{path}: no answers in this folder; expected <task>/<sample>{CODE_SUFFIXES[0]} (code) or "
            f"<task>/<sample>{TEXT_SUFFIXES[0]} (a whole answer)."
        )
    return sorted(records, key=lambda one: (one[1]["task"], one[1]["sample"], one[0]))
