"""What is dear to make, replies of models and findings of the judge, each in a file of its own.

It is found by the SHA-256 of what it is about: <first two digits>/<SHA-256>.json in a folder. So a run that was stopped goes on, and what one
machine found holds on another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..files import write_atomically
from .rows import RowError


def key_of(about: Any) -> str:
    """SHA-256 of a JSON value."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def find_once(folder: Path, about: Any, find: Callable[[], dict[str, Any] | None] | None) -> dict[str, Any]:
    """What `folder` keeps of `about`, else what `find` finds out now; nothing without `find`. A RowError is a finding, too, and raised again.

    What else `find` raises is our own failure, and not kept.
    """
    key = key_of(about)
    path = folder / key[:2] / f"{key}.json"
    if path.is_file():
        finding = json.loads(path.read_text(encoding="utf-8"))
    elif find is None:
        return {}
    else:
        try:
            finding = find() or {}
        except RowError as error:
            finding = {"reason": error.reason, "message": str(error)}
        write_atomically(path, json.dumps(finding, default=str) + "\n")
    if "reason" in finding:
        raise RowError(finding["reason"], finding["message"])
    return finding
