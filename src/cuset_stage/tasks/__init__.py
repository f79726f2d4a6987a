"""Task sets. A task says what a model is asked, on which inputs its answer runs, and which outputs are right.

`load_tasks` reads five formats: CUDABench's JSONL as it is published, this package's own format ("cuset": JSONL, or a
folder such as data/kernels), KernelBench (a folder tree, JSONL or Parquet), ComputeEval (problems.jsonl), and clones
of robust-kbench. Nothing is downloaded. The path is that of the user's copy.

Each format has a module with `read_task` for rows, `read_folder` for folders, or both.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import bundled
from ..text import nearest
from . import computeeval, cudabench, kernelbench, native, robust_kbench
from .base import Case, ModuleTask, ProgramTask, ReferenceOracle, ScriptOracle, Task, TaskError, TaskSet, Tensor  # noqa: F401
from .task_rows import ROW_FILES, read_rows


ROWS = {"cudabench": cudabench, "cuset": native, "kernelbench": kernelbench, "computeeval": computeeval}
FOLDERS = {"cuset": native, "robust-kbench": robust_kbench, "kernelbench": kernelbench}  # tried in this order
FORMATS = tuple({**ROWS, **FOLDERS})


def load_tasks(path: Path, *, format: str = "auto", **chosen: Any) -> TaskSet:
    """Read a task set.

    Args:
        path: A JSONL, JSON or Parquet file, or a folder. If it does not exist, it may be one that comes with the
            package, such as data/cuset_mini_2.jsonl.
        format: A name of `FORMATS`. "auto" decides by the keys of the first row, or by what the folder holds.
        **chosen: Which of the tasks to return, as keyword arguments of `choose_tasks`.

    Raises:
        TaskError: The set breaks its format, or `chosen` names what it does not have. The message names the file, the
            row and the key at fault.
    """
    path = bundled.found(Path(path))
    if format not in ("auto", *FORMATS):
        raise TaskError(f"format {format!r}: expected auto, {', '.join(FORMATS)}")
    if not path.exists():
        fix = "give the path of your copy of the task set, or data/cuset_mini_2.jsonl for the package's 200 tasks"
        raise TaskError(f"{path}: no such file or folder; {fix}")
    if path.is_dir():
        for form, reader in FOLDERS.items():
            read, sha256 = reader.read_folder(path) if format in ("auto", form) else ([], "")
            if read:
                break
        else:
            layouts = "; or ".join(f"{reader.LAYOUT} ({name})" for name, reader in FOLDERS.items())
            raise TaskError(f"{path}: a folder; expected {layouts} in it")
    else:
        if path.suffix not in ROW_FILES:
            raise TaskError(f"{path}: expected a folder or a file that ends in {', '.join(ROW_FILES)}")
        rows, sha256 = read_rows(path)
        keys = rows[0].values.keys()
        form = next((name for name, reader in ROWS.items() if keys >= reader.SIGN), "") if format == "auto" else format
        if form not in ROWS:
            signs = "; ".join(f"{name} has {', '.join(sorted(reader.SIGN))}" for name, reader in ROWS.items())
            there = ", ".join(sorted(keys))
            raise TaskError(f"{path}: the first row has the keys {there}; expected those of a file's format ({signs})")
        reader = ROWS[form]
        read = [reader.read_task(row) for row in rows]
    tasks = [task for task in read if task is not None]
    left_out = f"{len(read) - len(tasks)} {reader.LEFT_OUT}" if len(tasks) < len(read) else ""
    if not tasks:
        raise TaskError(f"{path}: holds no tasks that can be judged; left out are {left_out}")
    seen: dict[str, str] = {}
    for task in tasks:
        if task.id in seen:
            raise TaskError(f"{path}: {task.source}: id: {task.id!r} is already the id of {seen[task.id]}")
        seen[task.id] = task.source
    whole = TaskSet(path=path, format=form, tasks=tuple(tasks), sha256=sha256, left_out=left_out)
    return choose_tasks(whole, **chosen)


def choose_tasks(
    whole: TaskSet, *, split: str | None = None, only: Sequence[str] = (), limit: int | None = None
) -> TaskSet:
    """Return a task set with some of the tasks of `whole`, in its order.

    Args:
        whole: The task set to choose from.
        split: Only tasks of this split. None means all.
        only: Only tasks with these ids or names. Empty means all.
        limit: At most so many tasks, the first ones. None means all.

    Raises:
        TaskError: There is no task of the split, or none with a name of `only`.
    """
    tasks = whole.tasks
    if split is not None:
        tasks = tuple(task for task in tasks if task.split == split)
        if not tasks:
            splits = sorted({task.split for task in whole.tasks if task.split is not None})
            raise TaskError(f"{whole.path}: no task of split {split!r}; splits: {', '.join(splits) or 'none'}")
    if only:
        names = {task.id for task in tasks} | {task.name for task in tasks}
        for wanted in only:
            if wanted not in names:
                raise TaskError(f"{whole.path}: no task {wanted!r}; {nearest(wanted, names)}")
        tasks = tuple(task for task in tasks if task.id in only or task.name in only)
    return replace(whole, tasks=tasks[:limit])
