"""Rows of a source: JSON lines, JSON lists, Parquet and Arrow, trees of source files, and folders of tasks; one row at a time.

A reader never raises on what is in a file: a broken row is an `Item` with a reason, and the rest is read. pyarrow is imported
when a file needs it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from ..tasks import robust_kbench
from ..text import one_line
from .licences import UNKNOWN, of_folder
from .stage_rows import CurationError, Item, Row, RowError, broken, digest, item_of, plain, read_lines


BATCH_ROWS = 256  # what is held of a Parquet or Arrow file at a time
READ_BYTES = 1 << 20  # of a Parquet column that are read at a time; by default the columns of a row group are, whole
LIST_LIMIT = 1 << 30  # bytes of a JSON list, which is read as a whole
FILE_LIMIT = 4 << 20  # bytes of a source file; a longer one is data and not a program
STATED = "__stated__"  # of a row: (licence, where) of its folder; no field of the row
FOLDERS = ("tree", "tasks", "robust-kbench")
# Formats that a folder may be full of. Its JSON files are more often about the data.
SHARDED = ("parquet", "arrow", "jsonl")
_KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet", ".arrow": "arrow"}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*\n', re.MULTILINE)
_TASK_FILES = {"prompt": "prompt.md", "intro": "intro.md", "reference": "reference.py", "solution": "kernel.cu"}


def guess_format(path: Path) -> str:
    """The format of a file by its name, of a folder by what lies in it.

    Raises:
        CurationError: there is nothing at `path`, or its name says nothing.
    """
    if path.is_dir():
        if next(path.glob("*/task.json"), None):
            return "tasks"
        suffixes = {file.suffix.lower() for file in _files(path, [])}
        kinds = {_KINDS.get(suffix) for suffix in suffixes}
        return "tree" if ".cu" in suffixes else next((kind for kind in SHARDED if kind in kinds), "tree")
    if not path.is_file():
        raise CurationError(f"{path}: there is no such file or folder; nothing is downloaded, so give a local copy.")
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise CurationError(f"{path}: its name says no format; say format= one of {', '.join(READERS)}.")
    return kind


def read(path: Path, kind: str, suffixes: tuple[str, ...] = (".cu",)) -> Iterator[Item]:
    """Every row of a file, of a folder of shards (numbered from 1 in each), or of a tree or tasks. suffixes: of a tree's sources.

    Raises:
        CurationError: a format that does not fit the path, or nothing to read in a folder.
    """
    fitting = [*FOLDERS, *SHARDED] if path.is_dir() else list(READERS)
    if kind not in fitting:
        what = "a folder" if path.is_dir() else "a file"
        raise CurationError(f"{path}: format={kind} does not fit {what}: expected {', '.join(fitting)}.")
    if not path.is_dir():
        return READERS[kind](path, path.name)
    closed: list[OSError] = []
    if kind == "robust-kbench":
        return _modules(path)
    if kind == "tasks":
        files = iter(sorted(path.glob("*/task.json")))
    else:
        wanted = [suffix for suffix, its in _KINDS.items() if its == kind] or suffixes
        files = (file for file in _files(path, closed) if file.suffix.lower() in wanted)
    first = next(files, None)
    if first is None:
        counts = Counter("".join(file.suffixes[-2:]) or file.name for file in path.rglob("*") if file.is_file())
        there = ", ".join(f"{count} {name}" for name, count in counts.most_common(5)) or "no file"
        wanted = "*/task.json" if kind == "tasks" else ", ".join(wanted)
        raise CurationError(
            f"{path}: nothing in this folder can be read: expected {wanted}, or data as {', '.join(SHARDED)}; there is {there}. "
            "Unpack what is compressed, or give format= and another folder."
        )
    files = chain([first], files)
    if kind in SHARDED:
        rows = chain.from_iterable(READERS[kind](file, file.relative_to(path).as_posix()) for file in files)
    else:
        rows = _read_folder(path, files, partial(_source, root=path) if kind == "tree" else _task)
    unreadable = (  # once all others are read
        broken(
            Path(error.filename).relative_to(path).as_posix(),
            0,
            "unreadable_folder",
            f"{error.strerror}; make it readable (chmod u+rx), or leave it out",
        )
        for error in closed
    )
    return chain(rows, unreadable)


def _files(root: Path, closed: list[OSError]) -> Iterator[Path]:
    """Every file below a folder, in a fixed order; links are not followed, and what is hidden is left out.

    closed: gets an error of each folder that cannot be read.
    """
    for folder, folders, files in os.walk(root, onerror=closed.append):
        hidden = (".", "node_modules", "__pycache__")
        folders[:] = sorted(name for name in folders if not name.startswith(hidden))
        for path in (Path(folder, file) for file in sorted(files) if not file.startswith(".")):
            if path.is_file() and not path.is_symlink():
                yield path


# ------------------------------------------------------------------------------------------------------- data files


def read_list(path: Path, name: str) -> Iterator[Item]:
    """The objects of a JSON list; a file of JSON lines under another name is read as such."""
    with path.open("rb") as stream:
        is_list = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    if not is_list:
        yield from read_lines(path, name)
        return
    if path.stat().st_size > LIST_LIMIT:
        detail = f"a list of more than {LIST_LIMIT >> 30} GiB; write it as JSON lines, which are read one by one"
        yield broken(name, 1, "unreadable_file", detail)
        return
    text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    try:
        values = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        detail = f"not a JSON list, and nothing of it is read: {error}; correct the file, or write it as JSON lines"
        yield broken(name, 1, "not_json", detail)
        return
    for number, value in enumerate(values, start=1):
        yield item_of(name, number, value)


def read_columns(path: Path, name: str) -> Iterator[Item]:
    """The rows of a Parquet or Arrow file (an Arrow stream as well, as `datasets` keeps them), up to where it is damaged."""
    import pyarrow as arrow

    number = 0
    try:
        for batch in _batches(path):
            names, columns = batch.schema.names, map(_values, batch.columns)
            for values in zip(*columns, strict=True):
                number += 1
                yield item_of(name, number, plain(dict(zip(names, values, strict=True))))
    except (arrow.ArrowException, OSError) as error:
        detail = f"cannot be read after row {number}: {one_line(error)}; it was cut off or damaged, so fetch it again"
        yield broken(name, number + 1, "unreadable_file", detail)


def _batches(path: Path) -> Iterator[Any]:
    import pyarrow as arrow
    from pyarrow import parquet

    with arrow.memory_map(str(path)) as source:
        start = source.read(6)
        source.seek(0)
        if start.startswith(b"PAR1"):
            file = parquet.ParquetFile(path, buffer_size=READ_BYTES, pre_buffer=False)
            groups = range(file.num_row_groups)
            batches = chain.from_iterable(file.iter_batches(BATCH_ROWS, row_groups=[group]) for group in groups)
        elif start == b"ARROW1":
            file = arrow.ipc.open_file(source)
            batches = (file.get_batch(index) for index in range(file.num_record_batches))
        else:
            batches = iter(arrow.ipc.open_stream(source))
        for batch in batches:
            yield from (batch.slice(at, BATCH_ROWS) for at in range(0, batch.num_rows, BATCH_ROWS))


def _values(column: Any) -> list[Any]:
    """A column's values. Text is taken as bytes: one that is not UTF-8 costs its row alone (`plain`, `columns.apply_map`)."""
    import pyarrow as arrow

    if arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
        column = column.cast(arrow.large_binary() if arrow.types.is_large_string(column.type) else arrow.binary())
    try:
        return column.to_pylist()
    except (ValueError, OverflowError):  # a date beyond the years that Python knows, and the like
        return [None] * len(column)


READERS: dict[str, Callable[[Path, str], Iterator[Item]]] = {
    "jsonl": read_lines,
    "json": read_list,
    "parquet": read_columns,
    "arrow": read_columns,
}


# ---------------------------------------------------------------------------------------------------------- folders


def _read_folder(root: Path, files: Iterator[Path], row_of: Callable[[Path, str], Row]) -> Iterator[Item]:
    """The row of each file, with what the nearest licence file at or above it says; each licence file is read once."""

    @cache
    def stated(folder: Path) -> tuple[str, str | None]:
        return of_folder(folder) or (stated(folder.parent) if folder != root else (UNKNOWN, None))

    for number, file in enumerate(files, start=1):
        name = (file.parent if row_of is _task else file).relative_to(root).as_posix()
        try:
            row = row_of(file, name) | {STATED: stated(file.parent)}
        except RowError as error:
            yield broken(name, number, error.reason, str(error))
        except (OSError, ValueError, RecursionError) as error:
            yield broken(name, number, "unreadable_file", str(error))
        else:
            # The path and the content, not the number: a file that is added does not move the others.
            yield Item(name, number, digest(name, json.dumps(row)), row)


def _source(path: Path, name: str, root: Path) -> Row:
    """A source, with the local headers it includes in their place, and what files of its name declare: kernel.json further fields of
    the row, kernel.ref.py the reference. root: of the tree; nothing outside it is read."""
    if (size := path.stat().st_size) > FILE_LIMIT:
        raise RowError("too_long", f"{size:,} bytes; at most {FILE_LIMIT:,} are read as a program")
    try:
        row = {"code": _expanded(path, root.resolve(), set()), "path": name}
    except UnicodeDecodeError as error:
        raise RowError(
            "not_utf8", f"{error}; convert it or a header that it includes, as with iconv -t utf-8"
        ) from None
    declared, reference = path.with_suffix(".json"), path.with_suffix(".ref.py")
    if reference.is_file():
        row["reference"] = reference.read_text(encoding="utf-8-sig")
    return (_object(declared, "bad_declaration") if declared.is_file() else {}) | row


def _expanded(path: Path, root: Path, seen: set[Path]) -> str:
    """The text of a file with each local header that lies in the tree in place of its first `#include`; FILE_LIMIT bytes of them."""
    seen.add(path.resolve())

    def header(match: re.Match[str]) -> str:
        for folder in (path.parent, root, root / "include"):
            included = (folder / match[1]).resolve()
            if included in seen:
                return ""
            if included.is_relative_to(root) and included.is_file():
                if sum(each.stat().st_size for each in (*seen, included)) > FILE_LIMIT:
                    return match[0]
                return f"{_expanded(included, root, seen).rstrip()}\n"
        return match[0]

    return _INCLUDE.sub(header, _text(path))


def _text(path: Path) -> str:
    """A source file's text: UTF-8, or Windows-1252 where so few bytes are no ASCII that they can only be a sign or a name in a comment.

    Raises UnicodeDecodeError: neither.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        content = path.read_bytes()
        if b"\0" in content or sum(byte > 127 for byte in content) * 100 > len(content):
            raise
        return path.read_text(encoding="cp1252", errors="replace")


def _modules(root: Path) -> Iterator[Item]:
    """The tasks of a clone of robust-kbench. Raises TaskError with the file and the key at fault."""
    stated = of_folder(root) or (UNKNOWN, None)
    for number, task in enumerate(robust_kbench.read_folder(root)[0], start=1):
        row = {field.name: getattr(task, field.name) for field in fields(task) if field.init}
        row |= {"kind": "module", "prompt": row.pop("prompts")[1], STATED: stated}
        yield Item(task.id, number, digest(task.id, json.dumps(row)), row)


def _task(path: Path, name: str) -> Row:
    """A task in our own format: <task>/task.json with its prompt, reference and program."""
    row = _object(path, "bad_task") | {"id": name}
    for key, other in _TASK_FILES.items():
        if path.with_name(other).is_file():
            row[key] = path.with_name(other).read_text(encoding="utf-8")
        elif key in ("prompt", "reference"):
            raise RowError("bad_task", f"{other} is missing")
    return row


def _object(path: Path, reason: str) -> Row:
    try:
        record = plain(json.loads(path.read_text(encoding="utf-8-sig")))
    except (ValueError, RecursionError) as error:
        raise RowError(reason, f"{path.name}: {error}") from None
    if not isinstance(record, dict):
        raise RowError(reason, f"{path.name}: an object was expected")
    return record


def git_revision(path: Path) -> str | None:
    """The last commit that changed what lies at `path`; None when git does not hold it as it is: no checkout, untracked, edited.

    Later commits elsewhere in the checkout do not change it, so an import is not refused because of them.
    """
    folder, name = (path, ".") if path.is_dir() else (path.parent, path.name)

    def git(*command: str) -> str | None:
        whole = ["git", "--literal-pathspecs", "-C", str(folder), *command, "--", name]
        try:
            return subprocess.run(whole, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return None

    return (git("log", "-1", "--format=%H") or None) if git("status", "--porcelain") == "" else None
