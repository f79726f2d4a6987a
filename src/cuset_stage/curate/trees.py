"""Rows of folders: trees of sources with what is declared beside them, and tasks in our own format, a folder each."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from .licences import FolderLicences
from .readers import SHARDED
from .stage_rows import CurationError, Item, broken, digest, plain


FOLDERS = ("tree", "tasks")
FILE_LIMIT = 4 << 20  # bytes of a source file; a longer one is data and not a program
STATED = "__stated__"  # of a row: (licence, where) of its folder, where its code states none; no field of the row
_SKIPPED_FOLDERS = {".git", ".hg", ".svn", "node_modules", "__pycache__"}
_TASK_FILES = {"prompt": "prompt.md", "intro": "intro.md", "reference": "reference.py", "solution": "kernel.cu"}


def read_folder(path: Path, kind: str, suffixes: tuple[str, ...] = (".cu",)) -> Iterator[Item]:
    """Every row of a tree (with `code`, `path`, and what lies beside the file) or of a folder of tasks, numbered from 1.

    Raises:
        CurationError: there is nothing to read in it.
    """
    files = _sources(path, suffixes) if kind == "tree" else iter(sorted(path.glob("*/task.json")))
    first = next(files, None)
    if first is None:
        counts = Counter("".join(file.suffixes[-2:]) or file.name for file in path.rglob("*") if file.is_file())
        there = ", ".join(f"{count} {name}" for name, count in counts.most_common(5)) or "no file"
        wanted = "*/task.json" if kind == "tasks" else ", ".join(suffixes)
        raise CurationError(
            f"{path}: nothing in this folder can be read: expected {wanted}, or data as {', '.join(SHARDED)}; there is {there}. "
            "Unpack what is compressed, or give format= and another folder."
        )
    licences = FolderLicences(path)
    return (
        (_source_item if kind == "tree" else _task_item)(path, file, number, licences)
        for number, file in enumerate(chain([first], files), start=1)
    )


def _sources(root: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Every source file below a folder, in the order of their paths; links are not followed."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for path in (Path(folder, file) for file in sorted(files)):
            if path.suffix.lower() in suffixes and path.is_file() and not path.is_symlink():
                yield path


def _source_item(root: Path, path: Path, number: int, licences: FolderLicences) -> Item:
    """A source with what files of its name declare: kernel.json further fields of the row, kernel.ref.py the reference."""
    name = path.relative_to(root).as_posix()
    read: list[bytes] = []  # all that the row depends on
    row: dict[str, Any] = {}
    reason = "unreadable_file"
    try:
        if (size := path.stat().st_size) > FILE_LIMIT:
            return broken(name, number, "too_long", f"{size:,} bytes; at most {FILE_LIMIT:,} are read as a program")
        read.append(path.read_bytes())
        reason = "not_utf8"
        code = read[0].decode("utf-8-sig")
        reason = "bad_declaration"
        for beside in (path.with_suffix(".json"), path.with_suffix(".ref.py")):
            if beside.is_file() and not beside.is_symlink():
                read += [beside.suffix.encode(), beside.read_bytes()]
                text = read[-1].decode("utf-8-sig")
                record = plain(json.loads(text)) if beside.suffix == ".json" else {"reference": text}
                if not isinstance(record, dict):
                    raise ValueError("an object with fields of the row was expected")
                row |= record
    except (OSError, ValueError, RecursionError) as error:
        where = f"{beside.name}: " if reason == "bad_declaration" else ""
        return broken(name, number, reason, f"{where}{error}", b"\n".join(read))
    stated = licences.stated(code, path.parent)
    # The path and the content, not the number: a file that is added does not move the others.
    return Item(
        name, number, digest(name, *read, json.dumps(stated)), {**row, "code": code, "path": name, STATED: stated}
    )


def _task_item(root: Path, file: Path, number: int, licences: FolderLicences) -> Item:
    """A task in our own format: <task>/task.json with its prompt, reference and program."""
    name = file.parent.relative_to(root).as_posix()
    try:
        row = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(row, dict):
            raise ValueError("an object was expected")
        row["id"] = name
        for key, other in _TASK_FILES.items():
            path = file.with_name(other)
            if path.is_file():
                row[key] = path.read_text(encoding="utf-8")
            elif key in ("prompt", "reference"):
                raise ValueError(f"{other} is missing")
    except (OSError, ValueError, RecursionError) as error:
        return broken(name, number, "bad_task", str(error))
    stated = licences.stated(str(row.get("solution") or ""), file.parent)
    return Item(name, number, digest(name, json.dumps([row, stated])), {**row, STATED: stated})


def git_revision(path: Path) -> str | None:
    """The last commit that changed what lies at `path`; None when git does not hold it as it is: no checkout, untracked, edited.

    Later commits elsewhere in the checkout do not change it, so an import is not refused because of them.
    """
    folder, name = (path, ".") if path.is_dir() else (path.parent, path.name)

    def git(*command: str) -> str | None:
        whole = ["git", "--literal-pathspecs", "-C", str(folder), *command, "--", name]
        try:
            done = subprocess.run(whole, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if git("status", "--porcelain") != "":
        return None
    return git("log", "-1", "--format=%H") or None
