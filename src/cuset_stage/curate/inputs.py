"""Which files a stage read, and whether they are still what it read: `inputs` of summary.json.

A stage knows nothing of what happens to the stage before it later on. So each keeps the SHA-256 of the files it read, and who reports
on the folder compares. Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ..files import file_sha256
from .journal import Journal
from .stage_rows import CurationError


STAGES = ("import", "adapt", "cases", "verify", "select", "write")


def stage_files(folder: Path, stage: str) -> list[Path]:
    """The files of rows that a stage left in a curation folder.

    Raises:
        CurationError: the stage has not run.
    """
    found = _rows_of(folder, stage)
    if not found:
        raise CurationError(f"{folder}: the stage `{stage}` has not run there; run `cuset curate {stage}` first.")
    return found


def _rows_of(folder: Path, stage: str) -> list[Path]:
    found = sorted((folder / "import").glob("*/rows.jsonl")) if stage == "import" else [folder / stage / "rows.jsonl"]
    return [path for path in found if path.is_file()]


def only_sources(folder: Path, labels: Collection[str], *, fresh: bool) -> None:
    """See that no rows but those of `labels` go from `import` on; `fresh` removes the other sources that were imported.

    Raises:
        CurationError: there are others, or a process is reading one of them.
    """
    others = [path.parent for path in _rows_of(folder, "import") if path.parent.name not in labels]
    if others and not fresh:
        names = ", ".join(path.name for path in others)
        raise CurationError(
            f"{folder / 'import'}: {names}: imported by an earlier command and no --source of this one, its rows would go into the "
            "set with what was allowed then. Name it with --source as well, give --fresh to remove it, or another folder."
        )
    for path in others:
        with Journal(path, fresh=True):  # under its lock; the folder stays, with the lock and no rows
            pass
        for name in ("rows.jsonl", "dropped.jsonl"):
            (path / name).unlink(missing_ok=True)


def is_part(root: Path, stage: str, files: Sequence[Path]) -> bool:
    """Whether `files` are others than all those of the stage before: the user gave --input, and there are more rows."""
    if stage not in STAGES[1:]:
        return False
    before = _rows_of(root, STAGES[STAGES.index(stage) - 1])
    return {path.resolve() for path in files} != {path.resolve() for path in before}


def hashes(root: Path, files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 by path; a path in the curation folder is relative to it, so that the folder can be moved."""
    return {_label(root, path): file_sha256(path) for path in files if path.is_file()}


def _label(root: Path, path: Path) -> str:
    path, root = path.resolve(), root.resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def read_state(path: Path, needed: Sequence[str] = ()) -> dict[str, Any]:
    """summary.json or settings.json of a stage.

    Raises:
        CurationError: it cannot be read, is no JSON object, or lacks a key.
    """
    way_out = "run the stage again, with --fresh where it has that, or move its folder away"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CurationError(f"{path}: cannot be read ({error}); {way_out}.") from None
    if not isinstance(record, dict):
        raise CurationError(f"{path}: a JSON object was expected, this is a {type(record).__name__}; {way_out}.")
    if missing := [key for key in needed if key not in record]:
        raise CurationError(f"{path}: {', '.join(missing)}: missing, a stage writes them; {way_out}.")
    return record


def inputs_before(summary: Path) -> dict[str, str]:
    """What earlier runs of a stage read; empty where nothing is known of them."""
    try:
        found = read_state(summary).get("inputs")
    except CurationError:
        return {}
    return dict(found) if isinstance(found, dict) else {}


def stale(root: Path, stage: str) -> str | None:
    """Why the results of a stage are not those of what now lies before it; None: they are, or nothing is known."""
    recorded = inputs_before(root / stage / "summary.json")
    before = STAGES[STAGES.index(stage) - 1] if stage in STAGES[1:] else None
    changed = []
    for name, digest in recorded.items():
        path = root / name  # an absolute name stays as it is
        if path.is_file():
            changed += [name] if file_sha256(path) != digest else []
        elif not Path(name).is_absolute():
            changed.append(f"{name} (gone)")
    if before is not None and any(name.split("/")[0] == before for name in recorded):
        changed += [name for name in (_label(root, path) for path in _rows_of(root, before)) if name not in recorded]
    if not changed:
        return None
    return (
        f"{stage} was made from other rows than there are now in {', '.join(changed)}; run it and what follows again."
    )


def stale_stages(root: Path, stages: Sequence[str] = STAGES[1:]) -> dict[str, str]:
    """stage -> `stale`, of those that are."""
    found = {stage: stale(root, stage) for stage in stages}
    return {stage: why for stage, why in found.items() if why is not None}
