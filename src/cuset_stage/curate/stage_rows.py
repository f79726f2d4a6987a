"""Rows: what the stages hand on, one JSON object a line, and how they are read when some of them are broken.

A row has an `id`, a `source` (name, file, row, revision, licence, sha256 of what was read) and a `provenance`: one entry a stage
with the SHA-256 of the row as the stage left it. Standard library only.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from .. import __version__
from ..text import InputError


Row = dict[str, Any]
JOURNAL_KEYS = ("key", "of", "provenance")  # of a line and not of the row; `of` in files that version 0.1 wrote
LINE_LIMIT = 64 << 20  # bytes; a longer line is no row, and memory must not grow with it
_SORTED = json.JSONEncoder(sort_keys=True, allow_nan=False)


class CurationError(InputError):
    """Something the user gave cannot be used; the message names it and says what to give instead."""


class RowError(Exception):
    """A row that ends here, as it cannot be used.

    reason: what is counted; the message is for people. row: the row, where more is known of it by now.
    """

    def __init__(self, reason: str, message: str, row: Row | None = None) -> None:
        super().__init__(message)
        self.reason, self.row = reason, row


class NotSettled(Exception):
    """Nothing can be said about a row yet, and the row is not to blame; the next run tries again. reason: what is counted."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Item:
    """One row of a file as it was read.

    number: counted from 1; for JSON lines the line's number. key: 32 hexadecimal digits that stand for file, number and content.
    row: None when there is a problem; then `reason` and `detail` name it and `raw` keeps the bytes.
    """

    file: str
    number: int
    key: str
    row: Row | None
    reason: str = ""
    detail: str = ""
    raw: bytes = b""

    def saved(self) -> Any:
        """The content of the item, to be kept when it is dropped, so that nothing is lost."""
        return self.row if self.row is not None else {"text": self.raw.decode("utf-8", errors="surrogateescape")}


def broken(file: str, number: int, reason: str, detail: str, raw: bytes = b"") -> Item:
    """A row that cannot be read."""
    return Item(file, number, digest(file, str(number), reason, detail, raw), None, reason, detail, raw[:65536])


def digest(*parts: bytes | str) -> str:
    """A 128-bit key of the parts, 32 hexadecimal digits."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", errors="surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def number_of(key: str) -> int:
    """The first 64 bits of a digest."""
    return int(key[:16], 16)


def sha256_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def plain(value: Any) -> Any:
    """A value as JSON can hold it: a number that is not finite is missing, what is neither number nor list nor text is text.

    A Decimal (of Parquet and Arrow) is a number, with the digits that a float has where it is not whole. Bytes are text in UTF-8; those
    that are not become surrogates.
    """
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (float, Decimal)) and not math.isfinite(value):
        return None
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="surrogateescape")
    return value if isinstance(value, (str, int, float, type(None))) else str(value)


def as_json(write: Callable[[Any], str], value: Any) -> str:
    """The JSON that `write` makes of a value, which is made `plain` only where JSON cannot hold it: nearly every one was read from JSON."""
    try:
        return write(value)
    except (TypeError, ValueError):
        return write(plain(value))


def is_utf8(text: str) -> bool:
    """True if a text has no lone surrogates, which stand for bytes that are not UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def row_sha256(row: Row) -> str:
    """SHA-256 of a row without its provenance and key, its keys sorted: equal contents have equal hashes."""
    content = {key: value for key, value in row.items() if key not in JOURNAL_KEYS}
    return sha256_text(as_json(_SORTED.encode, content))


def with_provenance(row: Row, stage: str, **details: Any) -> Row:
    """The row with one entry more in its provenance."""
    entry = {"stage": stage, "cuset_stage": __version__, **details, "sha256": row_sha256(row)}
    return {**row, "provenance": [*row.get("provenance", ()), entry]}


def item_of(file: str, number: int, value: Any, body: bytes | None = None) -> Item:
    """The item of a JSON value, which should be an object. body: its bytes."""
    body = json.dumps(value).encode() if body is None else body
    if isinstance(value, dict):
        return Item(file, number, digest(file, str(number), body), value)
    detail = f"a JSON object was expected, this is a {type(value).__name__}"
    return broken(file, number, "not_an_object", detail, body)


def _stage_item(file: str, number: int, value: Any, body: bytes) -> Item:
    """The item of a row that a stage left; its key says nothing of its place."""
    if not isinstance(value, dict):
        return item_of(file, number, value, body)
    if isinstance(value.get("id"), str) and isinstance(value.get("source"), dict):
        return Item(file, number, digest(value["id"], row_sha256(value)), value)
    detail = "the row has no `id` and `source`; give a file that `cuset curate import` or a later stage wrote"
    return broken(file, number, "wrong_type", detail, json.dumps(value).encode())


def read_lines(
    path: Path, name: str, size: int | None = None, make: Callable[[str, int, Any, bytes], Item] = item_of
) -> Iterator[Item]:
    """Every line of a JSON-lines file, in binary: a broken line costs that line only. Empty lines are skipped and counted.

    size: how many bytes are read, of a file that grows. make: the item of a line's value.

    Raises:
        CurationError: the file cannot be opened.
    """
    try:
        stream = path.open("rb")
    except OSError as error:
        raise CurationError(f"{path}: cannot be read ({error.strerror}).") from None
    with stream:
        number = 0
        while (size is None or stream.tell() < size) and (line := stream.readline(LINE_LIMIT)):
            number += 1
            if len(line) == LINE_LIMIT and not line.endswith(b"\n"):
                yield broken(name, number, "too_long", f"the line has more than {LINE_LIMIT >> 20} MiB", line)
                while (rest := stream.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
                    pass
                continue
            body = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
            if body:
                yield _parsed(name, number, body, make)


def _parsed(file: str, number: int, body: bytes, make: Callable[[str, int, Any, bytes], Item]) -> Item:
    try:
        return make(file, number, json.loads(body.decode("utf-8"), parse_constant=lambda _: None), body)
    except UnicodeDecodeError as error:
        return broken(file, number, "not_utf8", f"byte {error.start} of the row is not UTF-8", body)
    except (ValueError, RecursionError) as error:
        return broken(file, number, "not_json", f"not JSON: {error}", body)


class StageRows:
    """The rows that a stage left in `files`, read anew each time they are asked for, and each time the same: what is appended
    later is not read. part: there are others beside them. total: how many they are, where that is known."""

    def __init__(self, files: Sequence[Path], part: bool = False, total: int | None = None) -> None:
        self.total = total
        self.files, self.part = {path: path.stat().st_size for path in files}, part

    def __iter__(self) -> Iterator[Item]:
        for path, size in self.files.items():
            yield from read_lines(path, path.name, size, _stage_item)

    def distinct(self) -> Iterator[Item]:
        """The items that `run_stage` gives to a stage's work, in its order: broken rows and repeated ones are left out."""
        seen: set[int] = set()
        for item in self:
            key = int(item.key, 16)
            if item.row is not None and key not in seen:
                seen.add(key)
                yield item
