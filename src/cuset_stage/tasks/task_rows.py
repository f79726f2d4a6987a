"""Rows of a task file, each with the place it came from, and checks of their keys that name that place."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from .base import TaskError, Tensor


NAME = re.compile(r"[A-Za-z0-9_][\w.+-]*", re.ASCII)  # one part of a path, and nothing a shell would read
TOO_DEEP = "lists or objects within each other so deep that Python gives up; expected a few levels"
ROW_FILES = (".jsonl", ".json", ".parquet")


@dataclass(frozen=True)
class Row:
    """One record of a task file. `where` is "tasks.jsonl:12"."""

    where: str
    values: Mapping[str, Any]

    def fail(self, key: str, problem: str) -> NoReturn:
        raise TaskError(f"{self.where}: {key}: {problem}")

    def value(self, key: str) -> Any:
        if key not in self.values:
            self.fail(key, f"missing; the row has {', '.join(map(str, self.values)) or 'no keys'}")
        return self.values[key]

    def text(self, key: str) -> str:
        """A string that is not blank."""
        value = self.value(key)
        if not isinstance(value, str):
            self.fail(key, f"expected text, found {_kind(value)}")
        if not value.strip():
            self.fail(key, "is empty")
        return value

    def optional_text(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            self.fail(key, f"expected text or null, found {_kind(value)}")
        return value

    def records(self, key: str) -> list[dict[str, Any]]:
        """A list of objects; Parquet gives arrays, which are lists to us."""
        value = self.value(key)
        if not isinstance(value, list) or not all(isinstance(record, dict) for record in value):
            self.fail(key, f"expected a list of objects, found {_kind(value)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; none when the key is not there."""
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            self.fail(key, f"expected a list of texts, found {_kind(value)}")
        return tuple(value)

    def name(self, key: str) -> str:
        """A name that may become a part of a path."""
        value = self.text(key)
        if not NAME.fullmatch(value):
            self.fail(key, f"{value!r}: expected letters, digits and _ . + - only")
        return value


def check_names(row: Row, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]) -> None:
    """Raise TaskError when a name is used twice or cannot be a file's."""
    seen = set()
    for key, tensors in (("inputs", inputs), ("outputs", outputs)):
        for tensor in tensors:
            if not NAME.fullmatch(tensor.name):
                row.fail(key, f"name {tensor.name!r}: expected letters, digits and _ . + - only")
            if tensor.name in seen:
                row.fail(key, f"name {tensor.name!r} is used twice; inputs and outputs are files of one folder")
            seen.add(tensor.name)


def check_text(where: str, record: Mapping[str, Any]) -> None:
    """Raise TaskError for a text that is no Unicode, which JSON can write ("\\ud800"): no file can hold it."""
    for key, value in record.items():
        try:
            json.dumps([key, value], ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            raise TaskError(
                f"{where}: {key!a}: holds half of a surrogate pair (\\u{code:04x}); expected Unicode text, with both "
                "halves or the character itself"
            ) from None
        except RecursionError:
            raise TaskError(f"{where}: {key!a}: {TOO_DEEP}") from None


def read_rows(path: Path) -> tuple[list[Row], str]:
    """The rows of a JSONL, JSON (a list of objects) or Parquet file, and the SHA-256 of the file.

    Unlike a file that grows during a run, a task set with a torn line is refused: a shorter set would go unnoticed.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TaskError(f"{path}: cannot be read: {error.strerror}") from None
    if not data.strip():
        raise TaskError(f"{path}: is empty")
    if path.suffix == ".parquet":
        records = _read_parquet(path)
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise TaskError(f"{path}: not UTF-8 text: {error}") from None
        records = _read_list(path, text) if path.suffix == ".json" else _read_lines(path, text)
    rows = []
    for number, record in records:
        where = f"{path.name}:{number}"
        if not isinstance(record, dict):
            raise TaskError(f"{path}:{number}: expected an object, found {_kind(record)}")
        check_text(f"{path}:{number}", record)
        rows.append(Row(where, record))
    if not rows:
        raise TaskError(f"{path}: holds no rows")
    return rows, hashlib.sha256(data).hexdigest()


def _read_lines(path: Path, text: str) -> list[tuple[int, Any]]:
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append((number, json.loads(line)))
        except ValueError as error:
            raise TaskError(f"{path}:{number}: not JSON ({error}); expected one object a line") from None
        except RecursionError:
            raise TaskError(f"{path}:{number}: {TOO_DEEP}") from None
    return records


def _read_list(path: Path, text: str) -> list[tuple[int, Any]]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise TaskError(f"{path}: not JSON ({error}); for one object a line name the file .jsonl") from None
    except RecursionError:
        raise TaskError(f"{path}: {TOO_DEEP}") from None
    if not isinstance(value, list):
        raise TaskError(f"{path}: expected a list of objects, found {_kind(value)}")
    return list(enumerate(value, start=1))


def _read_parquet(path: Path) -> list[tuple[int, Any]]:
    import pyarrow
    import pyarrow.parquet

    try:
        return list(enumerate(pyarrow.parquet.read_table(path).to_pylist(), start=1))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise TaskError(f"{path}: not a Parquet file: {error}") from None


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    kind = names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)
    return f"{kind} ({value!r:.60})" if isinstance(value, str | int | float) else kind
