"""Says what is wrong with a data file, after LLaMA-Factory has failed on it.

Its own message for a broken file is "An error occurred while generating the dataset", and for a missing column a bare KeyError. Only
when it has failed are the files read once more, to name the file, the line or row, and the key.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from llamafactory.data.parser import get_dataset_list


class DataError(ValueError):
    """A data file cannot be used as it is."""


def explain(data_args: Any) -> DataError | None:
    """Look for a fault in the local JSON files of a run's data sets; None when there is nothing to see."""
    names = [*(data_args.dataset or []), *(data_args.eval_dataset or [])]
    for name, attributes in zip(names, get_dataset_list(names, data_args.dataset_dir), strict=True):
        if attributes.load_from != "file":
            continue
        path = Path(data_args.dataset_dir) / attributes.dataset_name
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if file.suffix in (".json", ".jsonl"):
                fault = _find_fault(file, name, attributes)
                if fault:
                    return DataError(f"{file}: {fault}")
    return None


def _find_fault(file: Path, name: str, attributes: Any) -> str | None:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is not UTF-8 ({error.reason}); save the file as UTF-8."
    if text.startswith("\ufeff"):
        return "the file begins with a byte order mark, which JSON does not allow; save it as UTF-8 without one."
    if not text.strip():
        return "the file is empty; expected a list of objects, or one object a line."
    try:
        rows = list(_rows(text))
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno} is not JSON ({error.msg}); expected a list of objects, or one object a line."
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            return (
                f"row {number} is {json.dumps(row)[:60]}; expected an object with the columns of the data set {name}."
            )

    found = {key for row in rows for key in row}
    roles = ("messages",) if attributes.formatting != "alpaca" else ("prompt", "query", "response")
    for role in (*roles, "system", "tools", "history"):
        column = getattr(attributes, role, None)
        if column and column not in found:
            return (
                f"no row has the key {column!r}, which is the {role} column of the data set {name}; the rows have "
                f"{', '.join(sorted(found))}. Name the right key under `columns` in dataset_info.json."
            )
    return _find_wrong_type(rows, attributes)


def _find_wrong_type(rows: list[dict[str, Any]], attributes: Any) -> str | None:
    """The first value that is neither missing nor what LLaMA-Factory's formats hold at its place."""
    if attributes.formatting == "alpaca":
        columns, expected, kind = ("prompt", "query", "response", "system"), str, "text"
    else:
        columns, expected, kind = ("messages",), list, "a list of messages"
    for number, row in enumerate(rows, start=1):
        for role in columns:
            column = getattr(attributes, role, None)
            value = row.get(column) if column else None
            if value is not None and not isinstance(value, expected):
                return f"row {number}: {column!r}, the {role} column, is {json.dumps(value)[:60]}; expected {kind}."
    return None


def _rows(text: str) -> Iterator[Any]:
    """The rows of a JSON list, or of a file with one object a line."""
    if text.lstrip().startswith("["):
        yield from json.loads(text)
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                # Count from the file's first line, not the row's.
                raise json.JSONDecodeError(error.msg, "\n" * (number - 1) + line, error.pos + number - 1) from None
