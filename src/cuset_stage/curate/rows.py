"""Rows, which stages read and write as JSON, one object per line. Uses the standard library only.

Every row has an `id` and a `source` with the keys name, file, row, key, revision, licence, licence_from and url.
"""

import hashlib
import json
import math
from decimal import Decimal
from typing import Any

from ..jsonl import to_line
from ..text import InputError


Row = dict[str, Any]
Dropped = dict[int, tuple[str, str]]  # number of a row that is dropped, from 0 -> reason and detail


class CurationError(InputError):
    """Something that the user gave cannot be used. The message names it and says what to give instead."""


class RowError(Exception):
    """The row cannot be used and is dropped. The message is for people.

    Attributes:
        reason: short reason, by which dropped rows are counted.
        row: the row with what has been added to it meanwhile. None: the row that the stage read.
    """

    def __init__(self, reason: str, message: str, row: Row | None = None) -> None:
        super().__init__(message)
        self.reason, self.row = reason, row


class NotSettled(Exception):
    """The row could not be decided, through no fault of its own. The next run tries again.

    Attributes:
        reason: short reason, for reports.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def digest(*parts: str) -> str:
    """Return a 128-bit hash of the parts, as 32 hexadecimal digits. The order and the limits of the parts matter."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", errors="surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def number_of(key: str) -> int:
    """Return the first 64 bits of a digest as an int."""
    return int(key[:16], 16)


def plain(value: Any) -> Any:
    """Return a value in a form that JSON can represent.

    - Numbers that are not finite become None.
    - A Decimal (from Parquet or Arrow) becomes an int if it is whole, and a float otherwise.
    - Bytes are decoded as UTF-8. Bytes that are not UTF-8 become surrogates.
    - Tuples become lists, keys become text, and values of any other type become text.
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


def is_utf8(row: Row) -> bool:
    """Return whether UTF-8 can encode the texts of a row. It cannot encode lone surrogates, which JSON can escape."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def line_of(row: Row) -> str:
    """Return a row as a line of JSON.

    Nearly every row was read from JSON, so `plain` is applied only if the row cannot be written as it is.
    """
    try:
        return to_line(row)
    except (TypeError, ValueError):
        return to_line(plain(row))


def parse_json(text: str) -> Any:
    """Parse a JSON text, with None in place of NaN and infinity. Raises ValueError or RecursionError."""
    return json.loads(text, parse_constant=lambda _: None)
