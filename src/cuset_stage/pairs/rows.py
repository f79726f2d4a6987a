"""Read pair files: JSONL with `task`, `right`, `wrong`, `kind`, and the prompt where the task set does not have it."""

import functools
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field, ValidationError

from .. import bundled
from ..jsonl import read_objects
from ..row_checks import RowModel, Text, wrong_value
from ..tasks import ProgramTask, TaskError, TaskSet, load_tasks
from ..tasks.messages import chat_messages
from ..text import InputError


BUNDLED = {"cuset_mini": "cuset_pairs.jsonl"}
"""The bundled pair files in data/, by name."""
TASKS = "cuset_mini.jsonl"  # the file in data/ with the prompts of the bundled pairs
ALTERNATIVE = "alternative"  # the kind of a pair that consists of a task's two right programs
FLOOR = frozenset({"equivalent", ALTERNATIVE})
"""The kinds of pairs of two right programs."""


class PairsError(InputError):
    """A pair file or its tasks cannot be used. The message names the file, the line and the key."""


class Pair(RowModel):
    """Two answers to one task.

    Attributes:
        task: the task's id. Tasks are the unit over which every interval is computed.
        right: the whole right response, as a model would write it.
        wrong: the whole wrong response.
        kind: the kind of error in `wrong`. For the kinds in `FLOOR`, both responses are right.
        prompt: the question, or None where the task set has it.
        system: the system prompt of `prompt`.
        change: a description of what was changed, for human readers.
        verdict: the judge's verdict on `wrong`.
        messages: the prompt as chat messages, which `read_pairs` fills in.
    """

    task: Text
    right: Text
    wrong: Text
    kind: Text
    prompt: Text | None = None
    system: Text | None = None
    change: Text | None = None
    verdict: Text | None = None
    messages: list[dict[str, str]] = Field(default=[], exclude=True)

    @property
    def is_floor(self) -> bool:
        return self.kind in FLOOR


def read_pairs(name: str, tasks: Path | None = None) -> list[Pair]:
    """Return the pairs of a file or of a bundled set, each with the `messages` that ask for its answer.

    Args:
        name: a file, which may be one that comes with the package, or a key of `BUNDLED`.
        tasks: the task set with the prompts of rows that have none. If it is None, such prompts are looked up in the
            bundled tasks, but only where `right` is the task's own program. In this way a copy of the bundled file
            works too, and no other file gets the prompt of a task that only happens to have the same name.

    Raises:
        InputError: if there is no such file, if a line is not a pair, if its answers are equal or one of them is
            empty, if a prompt is missing, or if the task set cannot be read.
    """
    path = bundled.data() / BUNDLED[name] if name in BUNDLED else bundled.found(Path(name))
    if not path.is_file():
        fix = f"give a JSONL file with task, right, wrong and kind, or {', '.join(BUNDLED)}"
        raise PairsError(f"pairs={name}: no such file; {fix}.")
    task_set = load_tasks(tasks) if tasks else None
    pairs = [_read_pair(record, f"{path}:{line}", task_set) for line, record in read_objects(path, torn=False)]
    if not pairs:
        raise PairsError(f"{path}: no pairs in this file; expected an object with task, right, wrong and kind a line.")
    return pairs


@functools.cache
def _bundled_tasks() -> dict[str, ProgramTask]:
    return {task.id: task for task in load_tasks(bundled.data() / TASKS)}


def _read_pair(record: Mapping[str, Any], source: str, tasks: TaskSet | None) -> Pair:
    """Check a line of a pair file and add its messages. `source` is the file and the line, for messages of errors."""
    try:
        pair = Pair(**{key: record[key] for key in Pair.model_fields if key in record and key != "messages"})
    except ValidationError as error:
        raise PairsError(f"{source}: {wrong_value(error, Pair, record)}.") from None
    for key in ("right", "wrong"):
        if not getattr(pair, key).strip():
            raise PairsError(f"{source}: {key} is empty; expected a whole response.")
    if pair.right == pair.wrong:
        raise PairsError(f"{source}: right and wrong are the same text: no model can prefer one of them.")
    if pair.prompt is not None:
        system = [{"role": "system", "content": pair.system}] if pair.system else []
        messages = [*system, {"role": "user", "content": pair.prompt}]
    elif tasks is not None:
        try:
            messages = chat_messages(tasks.by_id(pair.task))
        except TaskError as error:
            raise PairsError(f"{source}: task: {error}") from None
    else:
        task = _bundled_tasks().get(pair.task)
        # The bundled training set has a task's own programs in exactly this form.
        programs = [task.solution, task.alternative] if task else []
        if pair.right not in [f"```cpp\n{code.rstrip()}\n```" for code in programs if code]:
            fix = "add it to the row, or name the task set that has it: tasks=FILE"
            raise PairsError(f"{source}: prompt is missing; {fix}.")
        messages = chat_messages(task)
    return pair.model_copy(update={"messages": messages})


def evenly(pairs: Sequence[Pair], count: int | None) -> list[Pair]:
    """Return `count` of the pairs in their order, with the same number of pairs from each task as far as possible.

    The choice is random with a fixed seed, so it is the same each time. All pairs are returned if `count` is None or
    not less than their number.
    """
    if count is None or count >= len(pairs):
        return list(pairs)
    order = list(range(len(pairs)))
    random.Random(0).shuffle(order)
    tasks = pd.Series([pairs[at].task for at in order], index=order)
    turns = tasks.groupby(tasks).cumcount().sort_values(kind="stable")
    return [pairs[at] for at in sorted(turns.index[:count])]
