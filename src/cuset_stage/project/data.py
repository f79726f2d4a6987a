"""The form of a data file: alpaca, sharegpt or openai, and the dataset_info.json entry that says so to LLaMA-Factory."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..jsonl import LinesError, read_objects
from ..text import shown


# LLaMA-Factory's column of an alpaca row -> the names that files give it, the commonest first.
ALPACA = {
    "prompt": ("instruction", "prompt", "question"),
    "query": ("input", "query"),
    "response": ("output", "response", "completion", "answer"),
    "history": ("history",),
}
MESSAGES = ("messages", "conversations", "conversation")
# Keys of a message: role and content, then the names of roles as LLaMA-Factory's tags.
TAGS = {
    "openai": {"role_tag": "role", "content_tag": "content"},
    "sharegpt": {"role_tag": "from", "content_tag": "value"},
}
ROLES = {
    "user_tag": ("human", "user"),
    "assistant_tag": ("gpt", "assistant"),
    "observation_tag": ("observation", "tool"),
    "function_tag": ("function_call",),
    "system_tag": ("system",),
}
EXPECTED = "expected alpaca (instruction, input, output), sharegpt (conversations of from and value) or openai (messages of role and content)"


class DataError(ValueError):
    """A file that cannot be trained on; the message names the file, the row and what was expected."""


@dataclass(frozen=True)
class DataFile:
    """name: in dataset_info.json. form: alpaca, sharegpt or openai. entry: what dataset_info.json says of it."""

    name: str
    form: str
    rows: int
    entry: dict[str, Any]


def read_form(path: Path) -> DataFile:
    """Find out the form of a JSON or JSONL file by its first row, and check that every row has what it needs.

    Raises:
        DataError: not such a file, no rows, another form, or a row unlike the first.
    """
    rows = _rows(path)
    if not rows:
        raise DataError(f"{path}: holds no rows; {EXPECTED}.")
    form, columns, tags = _form(path, rows)
    needed = [columns[key] for key in ("messages", "prompt", "response") if key in columns]
    for number, row in enumerate(rows, 1):
        for column in needed:
            if not isinstance(row.get(column), list if form != "alpaca" else str):
                raise DataError(
                    f"{path}, row {number}: {column} is {shown(row.get(column))}; row 1 makes the file {form}."
                )
    # LLaMA-Factory's own `openai` adds "detailed thinking off" to every system prompt; its `sharegpt` reads the same messages
    # unchanged, but knows no tool_calls.
    calls = form == "openai" and any("tool_calls" in message for row in rows for message in row[columns["messages"]])
    formatting = "sharegpt" if form == "openai" and not calls else form
    entry: dict[str, Any] = {"file_name": str(path.resolve()), "formatting": formatting, "columns": columns}
    if tags:
        entry["tags"] = tags
    return DataFile(re.sub(r"\W+", "_", path.stem), form, len(rows), entry)


def _rows(path: Path) -> list[Mapping[str, Any]]:
    if path.suffix not in (".json", ".jsonl"):
        raise DataError(
            f"{path}: expected a .json or .jsonl file, or `bundled` for the kernels that come with cuset-stage."
        )
    try:
        if path.suffix == ".jsonl":
            return [row for _, row in read_objects(path)]
        rows = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}.") from None
    except LinesError as error:
        raise DataError(str(error)) from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}.") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{path}: expected a list of objects.")
    return rows


def _form(path: Path, rows: list[Mapping[str, Any]]) -> tuple[str, dict[str, str], dict[str, str]]:
    """(form, LLaMA-Factory's column -> the file's, LLaMA-Factory's tag -> the file's)"""
    there = list(dict.fromkeys(key for row in rows for key in row))
    extra = {name: name for name in ("system", "tools") if name in there}
    for column in (name for name in MESSAGES if isinstance(rows[0].get(name), list)):
        messages = [message for row in rows for message in row.get(column) or [] if isinstance(message, dict)]
        for form, keys in TAGS.items():
            if messages and all(set(keys.values()) <= message.keys() for message in messages):
                used = {message[keys["role_tag"]] for message in messages}
                tags = {tag: next((name for name in names if name in used), names[0]) for tag, names in ROLES.items()}
                if unknown := used - set(tags.values()):
                    raise DataError(
                        f"{path}: messages of {', '.join(map(str, sorted(unknown)))}; known are {', '.join(tags.values())}."
                    )
                return form, {"messages": column, **extra}, {**keys, **tags}
        raise DataError(f"{path}: not every message in {column} has role and content, or from and value.")
    found = {key: next((name for name in names if name in there), None) for key, names in ALPACA.items()}
    columns = {key: name for key, name in found.items() if name is not None}
    if not {"prompt", "response"} <= columns.keys():
        raise DataError(
            f"{path}: its columns are {', '.join(there)}; {EXPECTED}. Rename them, or write dataset_info.json yourself."
        )
    return "alpaca", columns | extra, {}
