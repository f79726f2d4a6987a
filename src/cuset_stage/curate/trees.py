"""Rows of folders: trees of CUDA sources with the headers that they include, and tasks in our own format, a folder each."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from .licences import UNKNOWN, FolderLicences, Stated, of_source
from .readers import SHARDED
from .stage_rows import CurationError, Item, Problem, broken, digest, dumps, plain


FOLDERS = ("tree", "tasks")
FILE_LIMIT = 4 << 20  # bytes of a source file; a longer one is data and not a program
HEADERS_LIMIT = 1 << 20  # characters of a source with its headers
STATED = "__stated__"  # of a row: (licence, where) of its file and of each header in it; no field of the row
_CUDA = {".cu", ".cuh"}
_SKIPPED_FOLDERS = {".git", ".hg", ".svn", "node_modules", "__pycache__"}
_TASK_FILES = {"prompt": "prompt.md", "intro": "intro.md", "reference": "reference.py", "solution": "kernel.cu"}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*$', re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[^\n]*\n?", re.MULTILINE)


def read_folder(path: Path, kind: str, suffixes: tuple[str, ...] = (".cu",)) -> Iterator[Item]:
    """Every row of a tree (with `code`, `path`, and what lies beside the file) or of a folder of tasks, numbered from 1.

    Raises:
        CurationError: there is nothing to read in it.
    """
    items = read_tree(path, suffixes) if kind == "tree" else read_tasks(path)
    first = next(items, None)
    if first is not None:
        return chain([first], items)
    counts = Counter("".join(file.suffixes[-2:]) or file.name for file in path.rglob("*") if file.is_file())
    there = ", ".join(f"{count} {name}" for name, count in counts.most_common(5)) or "no file"
    wanted = "*/task.json" if kind == "tasks" else ", ".join(suffixes)
    raise CurationError(
        f"{path}: nothing in this folder can be read: expected {wanted}, or data as {', '.join(SHARDED)}; there is {there}. "
        "Unpack what is compressed, or give format= and another folder."
    )


def read_tree(root: Path, suffixes: tuple[str, ...]) -> Iterator[Item]:
    """Every source file below a folder, in the order of their paths; links are not followed.

    A CUDA file comes with the headers of its tree written out, and with what lies beside it: kernel.json with further fields of the
    row, kernel.ref.py with the reference.
    """
    number = 0
    licences = FolderLicences(root)
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for file in sorted(files):
            path = Path(folder, file)
            if path.suffix.lower() not in suffixes or path.is_symlink() or not path.is_file():
                continue
            number += 1
            name = path.relative_to(root).as_posix()
            try:
                size = path.stat().st_size
                data = path.read_bytes() if size <= FILE_LIMIT else b""
            except OSError as error:
                yield broken(name, number, "unreadable_file", str(error.strerror))
                continue
            if size > FILE_LIMIT:
                yield broken(name, number, "too_long", f"{size:,} bytes; at most {FILE_LIMIT:,} are read as a program")
                continue
            try:
                code = data.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                problem = Problem("not_utf8", f"byte {error.start} is not UTF-8")
                yield Item(name, number, digest(name, data), None, problem, data)
                continue
            beside, problem, declared = _read_beside(path)
            stated, headers = [_stated(path, code, "file", licences)], {}
            if path.suffix.lower() in _CUDA:
                code, headers = with_local_headers(path, code, root)
            for header, text in headers.items():
                stated.append(_stated(header, text, header.relative_to(root.resolve()).as_posix(), licences))
            # The path and the content, not the number: a file that is added does not move the others. With all that the row
            # depends on: what lies beside the file, as bytes because a broken declaration has no fields, and the licences.
            key = digest(name, code, *declared, dumps(stated))
            if problem is not None:
                yield Item(name, number, key, None, problem, data)
                continue
            yield Item(
                name, number, key, {**beside, "code": code, "path": name, STATED: [each[:2] for each in stated]}
            )


def _stated(path: Path, text: str, where: str, licences: FolderLicences) -> Stated:
    """The licence of one file: what it says of itself, else what its folder says."""
    found = of_source(text)
    return licences.of(path.parent) if found == UNKNOWN else Stated(found, where)


def _read_beside(source: Path) -> tuple[dict[str, Any], Problem | None, list[bytes]]:
    """What files of the same name declare for a source file: fields of the row (inputs, outputs and cases, a prompt, a reference),
    what is wrong with them, and the files' names and bytes."""
    fields: dict[str, Any] = {}
    read: list[bytes] = []
    problem = None
    for path in (source.with_suffix(".json"), source.with_suffix(".ref.py")):
        if not path.is_file() or path.is_symlink():
            continue
        read.append(path.name.encode("utf-8", errors="surrogateescape"))
        try:
            read.append(path.read_bytes())
            text = read[-1].decode("utf-8-sig")
            record = plain(json.loads(text)) if path.suffix == ".json" else {"reference": text}
            if not isinstance(record, dict):
                raise ValueError("an object with fields of the row was expected")
            fields.update(record)
        except (OSError, ValueError, RecursionError) as error:
            problem = problem or Problem("bad_declaration", f"{path.name}: {error}")
    return fields, problem, read


def read_tasks(root: Path) -> Iterator[Item]:
    """Tasks in our own format that lie in folders: <task>/task.json with its prompt, reference and program."""
    licences = FolderLicences(root)
    for number, file in enumerate(sorted(root.glob("*/task.json")), start=1):
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
            yield broken(name, number, "bad_task", str(error))
            continue
        stated = _stated(file, str(row.get("solution") or ""), "file", licences)
        yield Item(name, number, digest(name, dumps(row), dumps(stated)), {**row, STATED: [stated[:2]]})


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


def with_local_headers(path: Path, code: str, root: Path) -> tuple[str, dict[Path, str]]:
    """`code` of the file at `path` with every header that lies beside it or above it in `root` written out, each once; the headers.

    A header that is not found (the toolkit's, another library's) keeps its line. Where the whole would pass HEADERS_LIMIT, `code` comes back.
    """
    seen = {path.resolve()}
    headers: dict[Path, str] = {}
    ends = root.resolve()

    def expand(file: Path, text: str, depth: int) -> str:
        def put(match: re.Match[str]) -> str:
            found = _find(match[1], file, ends)
            if found is None:
                return match[0]
            if found in seen:
                return ""
            seen.add(found)
            try:
                header = found.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError):
                return match[0]
            if depth >= 16:
                return match[0]
            headers[found] = header
            return expand(found, _ONCE.sub("", header), depth + 1).strip("\n")

        return _INCLUDE.sub(put, text)

    whole = expand(path, code, 0)
    return (whole, headers) if len(whole) <= HEADERS_LIMIT else (code, {})


def _find(name: str, file: Path, root: Path) -> Path | None:
    """The header beside the file, or in a folder above it, or in such a folder's `include`, within the tree."""
    folder = file.resolve().parent
    while True:
        for candidate in (folder / name, folder / "include" / name):
            found = candidate.resolve()
            if found.is_file() and found.is_relative_to(root):
                return found
        if folder == root or not folder.is_relative_to(root):
            return None
        folder = folder.parent
