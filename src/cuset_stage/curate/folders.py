"""A curation's folder: what each stage left there, who works in it, and whether it still fits what lies before it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..files import file_sha256, write_atomically
from .settings import STAGE_SETTINGS, StageSettings
from .stage_rows import CurationError, Row, StageRows, read_lines


logger = logging.getLogger(__name__)
STAGES = tuple(STAGE_SETTINGS)
JOURNAL = ("rows.jsonl", "dropped.jsonl")
_START = re.compile(rb'\{"key": "([0-9a-f]{32})"(?:, "reason": "([a-z0-9_]{1,60})")?')


def input_rows(settings: StageSettings, before: str) -> StageRows:
    """The rows that a stage reads: those of its `input`, else those that the stage before it left.

    Raises:
        CurationError: the stage before has not run.
    """
    if settings.input:
        return StageRows(settings.input, part=True)
    files = rows_of(settings.folder, before)
    if not files:
        raise CurationError(
            f"{settings.folder}: the stage `{before}` has not run there; run `cuset curate {before}` first."
        )
    ended = [path.with_name("summary.json") for path in files]
    if not all(path.is_file() for path in ended):
        message = (
            "%s: the stage `%s` was stopped, and these are not all of its rows; `cuset curate %s` makes the others."
        )
        logger.warning(message, settings.folder, before, before)
    with suppress(CurationError):
        return StageRows(files, total=sum(read_state(path, ("kept",))["kept"] for path in ended))
    return StageRows(files)  # it was stopped


def stage_folders(folder: Path, stage: str) -> list[Path]:
    """The folders of a stage that has begun: `import` has one a source."""
    folders = sorted((folder / "import").glob("*")) if stage == "import" else [folder / stage]
    return [path for path in folders if path.is_dir()]


def rows_of(folder: Path, stage: str) -> list[Path]:
    """The files of rows that a stage left."""
    return [path / "rows.jsonl" for path in stage_folders(folder, stage) if (path / "rows.jsonl").is_file()]


def only_sources(folder: Path, labels: Collection[str], *, fresh: bool) -> None:
    """See that no rows but those of `labels` go from `import` on; `fresh` removes the other sources that were imported.

    Raises:
        CurationError: there are others, or a process is reading one of them.
    """
    others = [path.parent for path in rows_of(folder, "import") if path.parent.name not in labels]
    if others and not fresh:
        names = ", ".join(path.name for path in others)
        raise CurationError(
            f"{folder / 'import'}: {names}: imported by an earlier command and not in sources= of this one, its rows would go into "
            "the set with what was allowed then. Name it in sources as well, say fresh=true to remove it, or give another folder."
        )
    for path in others:
        with locked(path):
            empty(path)


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """The folder to ourselves, and to a process that is given the descriptor. The lock is on the folder and leaves no file behind.

    Raises:
        CurationError: another process has it.
    """
    place = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise CurationError(f"{folder}: another process is working in it; wait for it, or stop it.") from None
        yield place
    finally:
        os.close(place)


def keyed_file(folder: Path, about: Any) -> Path:
    """The file with what is kept about a JSON value: <first two digits of its SHA-256>/<SHA-256>.json."""
    key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    return folder / key[:2] / f"{key}.json"


def empty(folder: Path) -> None:
    """Remove what lies in a folder that is locked."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


@dataclass
class Journal:
    """The keys of items that have a result (as numbers), the number of rows that go on, and of dropped items by reason."""

    keys: set[int] = field(default_factory=set)
    kept: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


def read_journal(folder: Path) -> Journal:
    """Read rows.jsonl and dropped.jsonl, without a last line that was cut off.

    Raises:
        CurationError: a file was edited.
    """
    journal = Journal()
    for name in JOURNAL:
        for key, reason, _ in _entries(folder / name):
            journal.keys.add(key)
            journal.kept += not reason
            if reason:
                journal.reasons[reason] += 1
    return journal


def settled_rows(folder: Path) -> Iterator[tuple[Row, str]]:
    """Every row that a stage has settled, and why it was dropped; empty for one that goes on."""
    for path in (folder / name for name in JOURNAL if (folder / name).is_file()):
        for line in (item.row for item in read_lines(path, path.name) if item.row):
            yield (line.get("data") or {}, line["reason"]) if path.name == JOURNAL[1] else (line, "")


def forget(folder: Path, without: Set[int]) -> None:
    """Take out the results of all items but those; each file is replaced at once."""
    for path in (folder / name for name in JOURNAL):
        write_atomically(path, (line.decode("utf-8") for key, _, line in _entries(path) if key in without))


def _entries(path: Path) -> Iterator[tuple[int, str, bytes]]:
    """The key of a line's item, why it was dropped (empty for one that goes on), and the line."""
    if not path.is_file():
        return
    with path.open("rb") as stream:
        for line in stream:
            if not line.endswith(b"\n"):
                return
            match = _START.match(line)
            if not match or (path.name == JOURNAL[1]) != bool(match[2]):
                raise CurationError(
                    f"{path}: a line does not begin with the key, or the reason, that this stage writes; the file was edited. "
                    "Move the folder away, or run the stage with fresh=true."
                )
            yield int(match[1], 16), (match[2] or b"").decode(), line


def hashes(root: Path, files: Iterable[Path]) -> dict[str, str]:
    """SHA-256 by path relative to the curation folder, which can be moved."""
    return {os.path.relpath(path, root): file_sha256(path) for path in files}


def read_state(path: Path, needed: Sequence[str] = ()) -> dict[str, Any]:
    """summary.json or settings.json of a stage.

    Raises:
        CurationError: it cannot be read, is no JSON object, or lacks a key.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        missing = [key for key in needed if key not in record]
        problem = f"lacks {', '.join(missing)}" if missing else "" if isinstance(record, dict) else "no JSON object"
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {error}"
    if problem:
        raise CurationError(
            f"{path}: {problem}; run the stage again, with fresh=true where it has that, or move its folder away."
        )
    return record


def stale_stages(root: Path, stages: Sequence[str] = STAGES) -> dict[str, str]:
    """Stage -> why its results are not those of what now lies before it; without those of which nothing is known."""
    stale = {}
    for before, stage in pairwise(stages):
        recorded: dict[str, str] = {}
        with suppress(CurationError):
            recorded = read_state(root / stage / "summary.json", ("inputs",))["inputs"]
        now = hashes(root, rows_of(root, before))
        if recorded and recorded != now:
            where = ", ".join(sorted({name for name, _ in recorded.items() ^ now.items()}))
            stale[stage] = (
                f"{stage} was made from other rows than there are now in {where}; run it and what follows again."
            )
    return stale
