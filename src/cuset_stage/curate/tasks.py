"""From a row to a task the judge knows, and back: the record a row carries under `task`.

A program's record is a line of our own task format; a module's has `kind: module` and the PyTorch source. The solution is not
in it: it stands in the row.
"""

from __future__ import annotations

import re
from typing import Any

from ..tasks import ModuleTask, ProgramTask, TaskError
from ..tasks.native import read_task
from ..tasks.task_rows import Row as TaskRow
from ..tasks.wording import MODULE_SYSTEM, module_prompt
from .stage_rows import Row, digest


def task_identity(row: Row) -> str:
    """A name that may be a part of a path, unique as the row's identity is: readable, and eight digits of its digest."""
    readable = re.sub(r"[^A-Za-z0-9_.+-]+", "_", row["id"]).strip("_.-+")[-80:] or "row"
    return f"{readable}-{digest(row['id'])[:8]}"


def load_task(row: Row) -> ProgramTask | ModuleTask:
    """The task of a row that went through `cases`.

    Raises:
        TaskError: the record breaks the format; the message names the row and the key.
    """
    record = row.get("task")
    if not isinstance(record, dict):
        raise TaskError(f"{row.get('id')}: task: missing; run `cuset curate cases` first")
    if row.get("kind") == "module":
        return ModuleTask(
            id=record["id"],
            name=record["name"],
            family=record["family"],
            prompts={1: record["prompt"]},
            system=record["system"],
            reference=record["reference"],
            source=row["id"],
        )
    return read_task(TaskRow(row["id"], record))


def module_record(row: Row, family: str) -> dict[str, Any]:
    """The task of a PyTorch module; its cases are what get_inputs draws from the judge's seeds."""
    source = row["module_code"]
    return {
        "kind": "module",
        "id": task_identity(row),
        "name": row.get("name") or row["id"],
        "family": family,
        "prompt": row.get("prompt") or module_prompt(source),
        "system": MODULE_SYSTEM,
        "reference": source,
    }


def program_of(row: Row) -> str | None:
    """The source that answers the row's task: a CUDA program, or Python with ModelNew; None when it has none."""
    return row.get("answer_code") if row.get("kind") == "module" else row.get("program")
