"""Stage `adapt`: turn complete rows into tasks that the judge can run, and drop every other row with a reason.

| input row | becomes |
|---|---|
| a task in our own format, or columns for inputs, outputs, cases and reference, with a program or without | a program |
| a row of CUDABench, with gen.py and compare.py | a program |
| a torch extension with its functional module | a module: Python with ModelNew |
| a PyTorch module, with or without a ModelNew; a task of robust-kbench | a module |

A program row has `program`, its source code. A module row has `module_code` and `answer_code`. If the source has no
answer, `program` or `answer_code` is None, and the stage `answer` can ask a model to write one.

Both kinds of row have `kind` and `task`. `task` is a record of the task without its solution. For a program it is a
line of our own format or of CUDABench's format. For a module it has the fields that `load_task` reads.
"""

import re
from dataclasses import fields
from typing import Any

from ..answers import extract_code
from ..tasks import ModuleTask, ProgramTask, TaskError, cudabench, native
from ..tasks.messages import MODULE_SYSTEM, module_prompt
from ..tasks.task_rows import Row as TaskRow
from .modules import check_module, is_extension, kernelbench_form, model_new
from .rows import Row, RowError, digest
from .settings import AdaptSettings
from .split import TASK_COLUMNS
from .stage import Summary, input_rows, run_stage


_IN_RECORD = (*TASK_COLUMNS, "cases", "system", "split")  # keys that move from the row into its task record
_SOLUTIONS = ("solution", "bench.cu", "intro", "alternative")
_MODULE = {field.name for field in fields(ModuleTask) if field.init} - {"prompts", "notes", "source"}
_NO_CALLER = "no task: a torch extension needs functional_code, which calls it"
_NO_TASK = (
    "no task: nothing says on which inputs the program runs and what is right; have a model write a task of it, as in "
    "write={endpoint: URL, model: NAME}, or give the row inputs, outputs and a reference (data/README.md has the format)"
)


def run_adapt(settings: AdaptSettings) -> Summary:
    """Adapt the rows that `write` produced, and write the results to `folder`/adapt/."""
    return run_stage(settings.folder, "adapt", input_rows(settings, "write"), adapt_row)


def adapt_row(row: Row) -> list[Row]:
    """Return a list with the row in the form that the judge takes.

    Raises:
        RowError: the row cannot be judged.
    """
    if (row.get("task") or {}).get("kind") == "module":
        adapted = _set_module(row)
    else:
        is_module = row.get("module_code") or row.get("functional_code")
        adapted = _module(row) if is_module else _program(row)
    adapted = {**{key: value for key, value in row.items() if key not in _IN_RECORD}, **adapted}
    load_task(adapted)
    return [adapted]


def _program(row: Row) -> Row:
    code = row.get("code")
    if not code and row.get("answer"):
        code = extract_code(row["answer"], language="cuda")
        if code is None:
            raise RowError("no_code", "the answer holds no code")
    record = row.get("task")
    if record is None and all(column in row for column in TASK_COLUMNS):
        record = {key: row[key] for key in (*TASK_COLUMNS, "cases", "system") if key in row}
    if record is None:
        raise RowError("no_task", _NO_CALLER if code and is_extension(code) else _NO_TASK)
    code = code or next((record[key] for key in _SOLUTIONS[:2] if record.get(key)), None)
    identity = str(record.get("id", task_identity(row)))
    record = {
        **{key: value for key, value in record.items() if key not in _SOLUTIONS},
        "id": identity,
        "family": record.get("family") or row.get("family"),
        "split": record.get("split") or row.get("split"),
    }
    if not is_cudabench(record):
        record["prompt"] = record.get("prompt") or row.get("prompt") or row.get("description")
    else:
        task = load_task({"id": row["id"], "task": record})
        record |= {"prompt": task.prompts[1], "system": task.system}
    name = row.get("name") or record.get("name") or record.get("task_name") or identity
    family = record["family"] or record.get("task_name") or "other"
    return {
        "kind": "program", "form": "task", "name": name, "family": family, "code": code, "program": code, "task": record,
    }  # fmt: skip


def _module(row: Row) -> Row:
    code, functional = row.get("code"), row.get("functional_code")
    reference = kernelbench_form(row.get("module_code") or functional, row.get("entry"))
    check_module(reference, "Model", "get_inputs")
    answer = row.get("answer")
    is_python = bool(code and "class ModelNew" in code)  # Python may contain an extension's source as a string
    if code and not is_python and is_extension(code):
        if not functional:
            raise RowError("no_task", _NO_CALLER)
        form, answer_code = "extension", model_new(code, functional)
    elif answer is None and not is_python:
        form, answer_code = "module without an answer", None
    else:
        form, answer_code = "ModelNew", extract_code(answer if answer is not None else code, language="python")
        if answer_code is None:
            raise RowError("no_code", "the answer holds no Python with ModelNew")
        check_module(answer_code, "ModelNew")
    identity, family = task_identity(row), str(row.get("level") or row.get("family") or "other")
    name = row.get("name") or row["id"].rsplit(":", 1)[-1]
    record = {
        "kind": "module",
        "id": identity,
        "name": name,
        "family": family,
        "prompt": row.get("prompt") or module_prompt(reference),
        "system": MODULE_SYSTEM,
        "reference": reference,
    }
    return {
        "kind": "module", "form": form, "name": name, "family": family, "module_code": reference, "answer_code": answer_code,
        "task": record,
    }  # fmt: skip


def _set_module(row: Row) -> Row:
    """Return the row of a module that is a task of a task set. The set's own frame makes ModelNew of the answer."""
    record = {key: value for key, value in row["task"].items() if key != "solution"}
    return {
        "kind": "module", "form": "task", "name": record["name"], "family": record["family"],
        "module_code": row["module_code"], "answer_code": row.get("code"), "task": record,
    }  # fmt: skip


def task_identity(row: Row) -> str:
    """Return a readable task id that can be part of a path.

    It ends in eight digits of the digest of the row's `id`, so it is as unique as that `id`.
    """
    readable = re.sub(r"[^A-Za-z0-9_.+-]+", "_", row["id"])[-80:].strip("_.-+") or "row"
    return f"{readable}-{digest(row['id'])[:8]}"


def is_cudabench(record: dict[str, Any]) -> bool:
    """Return True if a task record is in CUDABench's format, which is recognised by its keys."""
    return record.keys() >= cudabench.SIGN


def load_task(row: Row) -> ProgramTask | ModuleTask:
    """Return the task of a row that went through `adapt`.

    Raises:
        RowError: the task record breaks the format (reason `bad_task`). The message names the row and the key.
    """
    record = row.get("task")
    if not isinstance(record, dict):
        raise RowError("bad_task", f"{row.get('id')}: task: missing; run `cuset curate adapt` first")
    try:
        if row.get("kind") == "module":
            module_fields = {key: record[key] for key in _MODULE & record.keys()}
            notes = tuple(record.get("notes", ()))
            return ModuleTask(**module_fields, prompts={1: record["prompt"]}, notes=notes, source=row["id"])
        return (cudabench if is_cudabench(record) else native).read_task(TaskRow(row["id"], record))
    except TaskError as error:
        raise RowError("bad_task", str(error)) from None


def language_of(row: Row) -> str:
    """Return the language of the row's answer, "cuda" or "python"."""
    return (row.get("task") or {}).get("language", "python") if row.get("kind") == "module" else "cuda"


def program_of(row: Row) -> str | None:
    """Return the code that answers the row's task: a CUDA program, or Python with ModelNew. None without an answer."""
    return row.get("answer_code") if row.get("kind") == "module" else row.get("program")
