"""Read KernelBench's tasks (MIT licence), each a PyTorch Model to replace with ModelNew. judge/modules/ judges them.

They come from the repository's folder tree (level1/1_Name.py, ...) or from the rows of its data set, which have code,
level, name and problem_id.
"""

import ast
import hashlib
from pathlib import Path

from ..row_checks import Count, RowModel
from .base import ModuleTask
from .messages import MODULE_SYSTEM, module_prompt
from .task_rows import NAME, Filled, MaybeText, Row, read_rows, read_text


SIGN = {"code", "level", "problem_id"}
LAYOUT = "level1/*.py or *.parquet"


def read_folder(path: Path) -> tuple[list[ModuleTask], str]:
    """Read the tasks of level*/*.py under `path`, or of its Parquet files if there are none.

    Returns:
        The tasks (those of .py files by level and number), and a SHA-256 of their content. There are no tasks if the
        folder has another layout.

    Raises:
        TaskError: A file breaks the format.
    """
    digest = hashlib.sha256()
    tasks = []
    files = [*path.rglob("level*/*.py"), *(path.glob("*.py") if path.name.startswith("level") else ())]
    for file in sorted((file for file in files if file.stem != "__init__"), key=_order):
        where = f"{file.parent.name}/{file.name}"
        code = read_text(file)
        digest.update(f"{where}\0{code}\0".encode())
        tasks.append(model_task(Row(where, {}), code, file.parent.name, file.stem))
    if tasks:
        return tasks, digest.hexdigest()
    for file in sorted(path.rglob("*.parquet")):
        rows, sha256 = read_rows(file)
        digest.update(sha256.encode())
        tasks += [read_task(row) for row in rows]
    return tasks, digest.hexdigest()


class _TaskRow(RowModel):
    code: Filled
    level: Count
    problem_id: Count
    name: MaybeText = None


def read_task(row: Row) -> ModuleTask:
    """Return the task of a row. Raises TaskError with the row and the key at fault."""
    task_row = row.read(_TaskRow)
    number = str(task_row.problem_id)
    name = task_row.name or number
    if not name.startswith(f"{number}_") and name != number:
        name = f"{number}_{name}"
    return model_task(row, task_row.code, f"level{task_row.level}", name)


def check_defines(row: Row, code: str, parts: tuple[str, ...]) -> None:
    """Raise TaskError if the source is not Python, or lacks one of these classes and functions at its top level."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:  # the last two if it is nested too deep
        row.fail("code", f"not Python: {error or type(error).__name__}")
    defined = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    if missing := [part for part in parts if part not in defined]:
        row.fail("code", f"does not define {', '.join(missing)}")


def model_task(row: Row, code: str, level: str, name: str) -> ModuleTask:
    """Return the task of a module, such as 1_Name of level1. Raises TaskError with the row and the key at fault."""
    check_defines(row, code, ("Model", "get_inputs", "get_init_inputs"))
    if not NAME.fullmatch(name):
        row.fail("name", f"{name!r}: expected letters, digits and _ . + - only")
    return ModuleTask(
        id=f"{level}_{name}",
        name=name,
        family=level,
        prompts={1: module_prompt(code)},
        system=MODULE_SYSTEM,
        reference=code,
        source=row.where,
    )


def _order(file: Path) -> tuple[str, int, str]:
    """Return the sort key of a file: its level, then its number, with files that have no number last."""
    number = file.stem.split("_")[0]
    return file.parent.name, int(number) if number.isdigit() else 10**9, file.name
