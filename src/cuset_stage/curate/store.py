"""Store for results that are expensive to make, such as a model's replies and the judge's findings, one file each.

The file of a result is <first two digits>/<SHA-256>.json in the store's folder, where the SHA-256 is that of a JSON
value which says what the result is about. A run that was stopped can therefore be resumed, and results of one machine
can be used on another.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..files import write_atomically
from .rows import RowError


def key_of(about: Any) -> str:
    """Return the SHA-256 of a JSON value, in hexadecimal digits. The order of keys does not matter."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def stored(path: Path) -> dict[str, Any] | None:
    """Return the result in a file; None if there is none, or only a part of it, as a copy that was stopped leaves."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def find_once(folder: Path, about: Any, find: Callable[[], dict[str, Any] | None] | None) -> dict[str, Any]:
    """Return the stored result for `about`, or call `find` and store its result.

    A RowError is a result, too. It is stored, and raised again each time. Any other error of `find` is a failure of
    ours and is not stored.

    Args:
        folder: the store's folder.
        about: JSON value that says what the result is about.
        find: function that makes the result. None: only stored results are used.

    Returns:
        The result; {} if it is not stored and `find` is None, or if `find` returned None.

    Raises:
        RowError: the result is an error.
    """
    key = key_of(about)
    path = folder / key[:2] / f"{key}.json"
    finding = stored(path)
    if finding is None and find is None:
        return {}
    if finding is None:
        try:
            finding = find() or {}
        except RowError as error:
            finding = {"reason": error.reason, "message": str(error)}
        write_atomically(path, json.dumps(finding, default=str) + "\n")
    if "reason" in finding:
        raise RowError(finding["reason"], finding["message"])
    return finding
