"""What is dear to make, replies of models and findings of the judge, each in a file of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..files import write_atomically
from .rows import RowError


class Store:
    """JSON objects by the SHA-256 of what they are about: <first two digits>/<SHA-256>.json in `folder`.

    So a run that was stopped goes on, and what one machine found holds on another.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, about: Any) -> Path:
        key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
        return self.folder / key[:2] / f"{key}.json"

    def load(self, path: Path) -> dict[str, Any] | None:
        """None where there is no file."""
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def save(self, path: Path, value: Mapping[str, Any]) -> None:
        write_atomically(path, json.dumps(value, default=str) + "\n")

    def finding(self, about: Any, find: Callable[[], dict[str, Any] | None] | None) -> dict[str, Any]:
        """What is kept, else what `find` finds out now; nothing without `find`. A RowError is a finding, too, and raised again.

        What else `find` raises is our own failure, and not kept.
        """
        path = self.file(about)
        finding = self.load(path)
        if finding is None and find is None:
            return {}
        if finding is None:
            try:
                finding = find() or {}
            except RowError as error:
                finding = {"reason": error.reason, "message": str(error)}
            self.save(path, finding)
        if "reason" in finding:
            raise RowError(finding["reason"], finding["message"])
        return finding
