"""Answers of a model to tasks: the file format, and reading it. Standard library only.

`answers.jsonl` holds one object a line, one line a sample:

    {"task": "tiled_sgemm", "sample": 0, "answer": "...", "tokens": 812, "finish_reason": "stop", ...}

| key | meaning |
|---|---|
| task | id of the task |
| sample | number of the sample, from 0 for each task (and level) |
| answer | the whole text, reasoning included |
| code | optional: the code itself; then nothing is extracted from the answer |
| reasoning | reasoning that an endpoint gave apart from the answer, or null |
| tokens | tokens generated, reasoning and end token included, padding not; null when unknown |
| prompt_tokens | tokens of the prompt, chat template included; null when unknown |
| finish_reason | stop, length (the token limit cut it off), what an endpoint said, or null |
| model, adapter, level, temperature, top_p, seed, max_tokens | how it was made |
| seconds | wall time of the batch or the request |

Other keys are kept in `Answer.extra`. A folder works as well: `<task>/<sample>.cu` (or .cpp, .py) holds code,
`<task>/<sample>.md` (or .txt) a whole answer.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..answers import ExtractRule, extract_code
from ..jsonl import Appender, LinesError, read_objects
from ..judge.result_fields import SAMPLE_FIELDS, wrong_field


class AnswersError(ValueError):
    """An answers file breaks its format; the message names the file and the line, and what was expected."""


@dataclass(frozen=True)
class Answer:
    """One sample; see the module's description for the fields."""

    task: str
    sample: int
    answer: str
    code: str | None = None
    reasoning: str | None = None
    tokens: int | None = None
    prompt_tokens: int | None = None
    finish_reason: str | None = None
    model: str | None = None
    adapter: str | None = None
    level: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    seconds: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""  # "answers.jsonl:12"

    @property
    def key(self) -> tuple[str, int, int]:
        """Task, sample and level of the prompt: a file holds each once. An answer that does not say has level 1."""
        return self.task, self.sample, self.level or 1

    def program(self, *, language: str, rule: ExtractRule | str = ExtractRule.FIRST) -> str | None:
        """The code to judge: `code` as it is, or what `extract_code` finds in the answer; None when there is none."""
        return self.code if self.code is not None else extract_code(self.answer, rule=rule, language=language)

    def to_record(self) -> dict[str, Any]:
        """The line of the file; `code` and `reasoning` only when there are any."""
        names = (item.name for item in fields(self) if item.name not in ("extra", "source"))
        record = {name: vars(self)[name] for name in names}
        for key in ("code", "reasoning"):
            if record[key] is None:
                del record[key]
        return {**record, **self.extra}


_NUMBER = (int, float)
_KINDS: dict[str, tuple[type, ...]] = {
    "task": (str,), "sample": (int,), "answer": (str,), "code": (str,), "reasoning": (str,), "tokens": (int,),
    "prompt_tokens": (int,), "finish_reason": (str,), "model": (str,), "adapter": (str,), "level": (int,),
    "temperature": _NUMBER, "top_p": _NUMBER, "seed": (int,), "max_tokens": (int,), "seconds": _NUMBER,
}  # fmt: skip
_NUMBERS_OF_RESULTS = ("sample", "level", "tokens", "prompt_tokens")
CODE_SUFFIXES = (".cu", ".cpp", ".cc", ".py")
TEXT_SUFFIXES = (".md", ".txt")


def read_answers(path: Path) -> list[Answer]:
    """All answers of a file or a folder, in its order.

    Raises:
        AnswersError: a line is no answer, or holds a number that no results file does, or two lines are the same sample of
            one task and level.
    """
    path = Path(path)
    found = _read_folder(path) if path.is_dir() else _read_file(path)
    places: dict[tuple[str, int, int], str] = {}
    for answer in found:
        if problem := wrong_field({name: vars(answer)[name] for name in _NUMBERS_OF_RESULTS}, SAMPLE_FIELDS):
            raise AnswersError(f"{answer.source}: {problem}.")
        first = places.setdefault(answer.key, answer.source)
        if first is not answer.source:
            raise AnswersError(
                f"{answer.source}: sample {answer.sample} of task {answer.task!r} is already at {first}; number the "
                "samples of a task 0, 1, 2, ..., and keep the answers of different models in different files."
            )
    return found


def append_answer(appender: Appender, answer: Answer) -> None:
    """Write one line, whole or not at all."""
    appender.append(answer.to_record())


def parse_answer(record: Mapping[str, Any], source: str) -> Answer:
    """An answer from a line's object; `source` stands in messages.

    Raises:
        AnswersError: a key is missing or its value is of another type.
    """
    record = dict(record)
    if isinstance(record.get("task"), int) and not isinstance(record["task"], bool):
        record["task"] = str(record["task"])  # CUDABench numbers its tasks
    values: dict[str, Any] = {}
    for key, kinds in _KINDS.items():
        value = record.pop(key, None)
        required = key in ("task", "sample") or (key == "answer" and values.get("code", record.get("code")) is None)
        expected = " or ".join(kind.__name__ for kind in kinds)
        if value is None:
            if required:
                raise AnswersError(f"{source}: key {key!r} is missing; expected {expected}.")
            continue
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise AnswersError(f"{source}: {key} is {type(value).__name__} ({value!r:.60}); expected {expected}.")
        if isinstance(value, float) and not math.isfinite(value):
            raise AnswersError(f"{source}: {key} is {value}; expected a finite number, or null when it is not known.")
        values[key] = value
    if values["sample"] < 0:
        raise AnswersError(f"{source}: sample={values['sample']}: samples are numbered from 0.")
    for key, least, what in (
        ("tokens", 0, "a count"),
        ("prompt_tokens", 0, "a count"),
        ("level", 1, "a level, 1 to 3"),
    ):
        if values.get(key, least) < least:
            raise AnswersError(f"{source}: {key}={values[key]}: expected {what}, {least} or more, or null.")
    values.setdefault("answer", values.get("code"))
    return Answer(**values, extra=record, source=source)


def _read_file(path: Path) -> list[Answer]:
    try:
        return [parse_answer(record, f"{path}:{number}") for number, record in read_objects(path)]
    except LinesError as error:
        raise AnswersError(str(error)) from None


def _read_folder(path: Path) -> list[Answer]:
    found = []
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
        found.append(
            Answer(
                task=file.parent.relative_to(path).as_posix(),
                sample=int(file.stem),
                answer=text,
                code=text if file.suffix in CODE_SUFFIXES else None,
                source=str(file),
            )
        )
    if not found:
        raise AnswersError(
            f"{path}: no answers in this folder; expected <task>/<sample>{CODE_SUFFIXES[0]} (code) or "
            f"<task>/<sample>{TEXT_SUFFIXES[0]} (a whole answer)."
        )
    return sorted(found, key=lambda answer: (answer.task, answer.sample, answer.source))
