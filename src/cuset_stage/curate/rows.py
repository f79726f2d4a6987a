"""Rows: what the stages hand on, one JSON object a line. Standard library only.

A row has an `id` and a `source`: name, file, row, key, revision, licence and where that is stated.
"""

from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal
from typing import Any

from ..jsonl import to_line
from ..text import InputError


Row = dict[str, Any]


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


def digest(*parts: str) -> str:
    """A 128-bit key of the parts, 32 hexadecimal digits."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", errors="surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def number_of(key: str) -> int:
    """The first 64 bits of a digest."""
    return int(key[:16], 16)


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


def line_of(row: Row) -> str:
    """A row as a line of JSON; it is made `plain` only where JSON cannot hold it, as nearly every row was read from JSON."""
    try:
        return to_line(row)
    except (TypeError, ValueError):
        return to_line(plain(row))


def parse_json(text: str) -> Any:
    """A JSON value, in which NaN and infinity are missing. Raises ValueError or RecursionError."""
    return json.loads(text, parse_constant=lambda _: None)
