"""Rows of a task file. Each knows where it came from, so that error messages name the file, the row and the key."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BeforeValidator, Field, ValidationError

from .. import jsonl
from ..files import file_sha256
from ..row_checks import RowModel, wrong_value
from ..text import shown
from .base import TaskError, Tensor


NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")  # safe as one part of a path, and in a shell
ROW_FILES = (".jsonl", ".json", ".parquet")
M = TypeVar("M", bound=RowModel)

Filled = Annotated[str, Field(strict=True, pattern=r"\S", description="text that is not empty")]
Name = Annotated[str, Field(strict=True, pattern=rf"^{NAME.pattern}$", description="letters, digits and _ . + - only")]
MaybeText = Annotated[
    str | None,
    Field(strict=True, description="text, or null"),
    BeforeValidator(lambda value: None if value == "" else value),
]


@dataclass(frozen=True)
class Row:
    """One record of a task file.

    Attributes:
        where: The place of the record, such as "tasks.jsonl:12".
        values: The record itself.
    """

    where: str
    values: Mapping[str, Any]

    def read(self, model: type[M]) -> M:
        """Check the values by a pydantic model and return its instance.

        Raises:
            TaskError: The values do not fit. The message names the row and the key at fault.
        """
        try:
            return model.model_validate(self.values)
        except ValidationError as error:
            raise TaskError(f"{self.where}: {wrong_value(error, model, self.values)}") from None

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise TaskError with the row, the key and a problem."""
        raise TaskError(f"{self.where}: {key}: {problem}")


def check_names(row: Row, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]) -> None:
    """Raise TaskError if two inputs or outputs have the same name, since they are files of one folder."""
    names = Counter(tensor.name for tensor in (*inputs, *outputs))
    if repeated := [name for name, count in names.items() if count > 1]:
        row.fail("inputs and outputs", f"name {repeated[0]!r} is used twice; they are files of one folder")


def read_rows(path: Path) -> tuple[list[Row], str]:
    """Return the rows of a JSONL, JSON (a list of objects) or Parquet file, and the SHA-256 of the file.

    An incomplete line is an error, unlike in a file that grows during a run. Otherwise nobody would notice that the
    task set is shorter.

    Raises:
        TaskError: The file cannot be read, breaks its format, or has no rows.
    """
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet

            records = pyarrow.parquet.read_table(path).to_pylist()
        else:
            records = jsonl.read_rows(path)
    except jsonl.LinesError as error:
        raise TaskError(str(error)) from None
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise TaskError(f"{path}: not a Parquet file: {error}") from None
    if not records:
        raise TaskError(f"{path}: no rows")
    return [Row(f"{path.name}:{number}", record) for number, record in enumerate(records, 1)], file_sha256(path)


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8. Raises TaskError if it is missing or cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise TaskError(f"{path}: missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: cannot be read: {error}") from None


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file. Raises TaskError if the file cannot be read or holds anything else."""
    try:
        value = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise TaskError(f"{path}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise TaskError(f"{path}: found {shown(value)}, expected an object")
    return value
