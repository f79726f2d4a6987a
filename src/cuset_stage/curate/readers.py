"""Read the rows of a source one at a time: JSON lines, JSON lists, Parquet, Arrow, source trees, folders of tasks.

A reader yields dictionaries with `file`, `row` (a number) and `given`, the row's content. Broken content does not
raise an error: a broken row has the key `problem`, and the other rows are still read.

pyarrow is imported only when a file needs it. `datasets` is not used, as it takes thirty times as long per row.
"""

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

from ..files import is_regular
from ..tasks import robust_kbench
from ..tasks.task_rows import read_text
from ..text import one_line
from .licences import UNKNOWN, of_folder
from .rows import CurationError, Row, RowError, parse_json, plain


BATCH_ROWS = 256  # rows of a Parquet or Arrow file in memory at a time
READ_BYTES = 1 << 20  # bytes of a Parquet column read at a time; by default pyarrow reads whole row groups
FILE_LIMIT = 4 << 20  # bytes of a source file; a longer file is data and not a program
FOLDERS = ("tree", "tasks", "robust-kbench")
# Formats that the shards in a folder may have. JSON is not among them, as a folder's JSON files are mostly metadata.
SHARDED = ("parquet", "arrow", "jsonl")
_KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet", ".arrow": "arrow"}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[^\n]*\n', re.MULTILINE)
_TASK_FILES = {"prompt": "prompt.md", "intro": "intro.md", "reference": "reference.py", "solution": "kernel.cu"}


def guess_format(path: Path, without: Path | None = None) -> str:
    """Return the format of a file by its name, or of a folder by the files in it, except those in `without`.

    Raises:
        CurationError: there is nothing at `path`, or the file's suffix is unknown.
    """
    if path.is_dir():
        if next(path.glob("*/task.json"), None):
            return "tasks"
        suffixes = {file.suffix.lower() for file in _files(path, without)}
        kinds = {_KINDS.get(suffix) for suffix in suffixes}
        return "tree" if ".cu" in suffixes else next((kind for kind in SHARDED if kind in kinds), "tree")
    if not path.is_file():
        raise CurationError(f"{path}: there is no such file or folder; nothing is downloaded, so give a local copy.")
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise CurationError(f"{path}: its name says no format; say format= one of {', '.join(READERS)}.")
    return kind


def read(path: Path, kind: str, suffixes: tuple[str, ...] = (".cu",), without: Path | None = None) -> Iterator[Row]:
    """Return an iterator over the rows of a source.

    Args:
        path: a data file, a folder of shards (rows are numbered from 1 in each), a source tree or a folder of tasks.
        kind: the format: a key of READERS or an entry of FOLDERS.
        suffixes: suffixes of the source files in a tree.
        without: a folder that is left out, namely the curation's own.

    Raises:
        CurationError: the format does not fit the path, or there is nothing to read in the folder.
    """
    fitting = [*FOLDERS, *SHARDED] if path.is_dir() else list(READERS)
    if kind not in fitting:
        what = "a folder" if path.is_dir() else "a file"
        raise CurationError(f"{path}: format={kind} does not fit {what}: expected {', '.join(fitting)}.")
    if not path.is_dir():
        return READERS[kind](path, path.name)
    if kind == "robust-kbench":
        return _modules(path)
    if kind == "tasks":
        task_files = sorted(file for file in path.glob("*/task.json") if not file.parent.is_symlink())
        wanted, files = ["*/task.json"], filter(is_regular, task_files)
    else:
        wanted = [suffix for suffix, suffix_kind in _KINDS.items() if suffix_kind == kind] or suffixes
        files = (file for file in _files(path, without) if file.suffix.lower() in wanted)
    first = next(files, None)
    if first is None:
        counts = Counter("".join(file.suffixes[-2:]) or file.name for file in path.rglob("*") if file.is_file())
        there = ", ".join(f"{count} {name}" for name, count in counts.most_common(5)) or "no file"
        raise CurationError(
            f"{path}: nothing in this folder can be read: expected {', '.join(wanted)}, or data as {', '.join(SHARDED)}; there is {there}. "
            "Unpack what is compressed, or give format= and another folder."
        )
    files = chain([first], files)
    if kind in SHARDED:
        return chain.from_iterable(READERS[kind](file, file.relative_to(path).as_posix()) for file in files)
    return _read_folder(path, files, partial(_source, root=path) if kind == "tree" else _task)


def _files(root: Path, without: Path | None) -> Iterator[Path]:
    """Yield every regular file below a folder in a fixed order, except those in the folder `without`.

    Links are not followed, and hidden files are left out.

    Raises:
        OSError: a folder cannot be read.
    """

    def stop(error: OSError) -> None:
        raise error

    for folder, folders, files in os.walk(root, onerror=stop):
        if without and without.exists() and without.samefile(folder):
            folders.clear()
            continue
        hidden = (".", "node_modules", "__pycache__")
        folders[:] = sorted(name for name in folders if not name.startswith(hidden))
        for path in (Path(folder, file) for file in sorted(files) if not file.startswith(".")):
            if is_regular(path):
                yield path


def _row(file: str, number: int, given: Any) -> Row:
    """Return a row as readers yield it; a broken one if its content is not a JSON object."""
    if isinstance(given, dict):
        return {"file": file, "row": number, "given": given}
    detail = f"a JSON object was expected, this is a {type(given).__name__}"
    return _broken(file, number, "not_an_object", detail, json.dumps(given))


def _broken(file: str, number: int, reason: str, detail: str, text: str = "") -> Row:
    """Return a row with a `problem`. Its content `text` is kept for the record of dropped rows."""
    return {"file": file, "row": number, "given": {"text": text}, "problem": (reason, detail)}


# ------------------------------------------------------------------------------------------------------- data files


def read_lines(path: Path, name: str) -> Iterator[Row]:
    """Yield every line of a JSON-lines file.

    The file is read in binary mode, so a line that is not UTF-8 affects only its own row. Empty lines are skipped, but
    they count in the row numbers.
    """
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            body = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
            if not body:
                continue
            try:
                yield _row(name, number, parse_json(body.decode("utf-8")))
            except (ValueError, RecursionError) as error:
                reason, what = ("not_utf8", "UTF-8") if isinstance(error, UnicodeDecodeError) else ("not_json", "JSON")
                text = body.decode("utf-8", errors="surrogateescape")
                detail = f"not {what}: {error}; expected a JSON object a line, in UTF-8"
                yield _broken(name, number, reason, detail, text)


def read_list(path: Path, name: str) -> Iterator[Row]:
    """Yield the objects of a JSON list. A file that does not begin with a list is read as JSON lines."""
    with path.open("rb") as stream:
        is_list = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    if not is_list:
        yield from read_lines(path, name)
        return
    try:
        values = parse_json(path.read_text(encoding="utf-8-sig", errors="surrogateescape"))
    except (ValueError, RecursionError) as error:
        detail = f"not a JSON list, and nothing of it is read: {error}; correct the file, or write it as JSON lines"
        yield _broken(name, 1, "not_json", detail)
        return
    for number, value in enumerate(values, start=1):
        yield _row(name, number, value)


def read_columns(path: Path, name: str) -> Iterator[Row]:
    """Yield the rows of a Parquet file, an Arrow file or an Arrow stream (which `datasets` writes).

    A damaged file is read up to the damage, which is reported as a broken row. A value that Python cannot hold (text
    that is not UTF-8, a date after the year 9999) breaks its own row alone.
    """
    import pyarrow as arrow
    from pyarrow import parquet

    number = 0
    try:
        with arrow.memory_map(str(path)) as source:
            start = source.read(6)
            source.seek(0)
            if start.startswith(b"PAR1"):
                batches = parquet.ParquetFile(path, buffer_size=READ_BYTES, pre_buffer=False).iter_batches(BATCH_ROWS)
            elif start == b"ARROW1":
                file = arrow.ipc.open_file(source)
                batches = map(file.get_batch, range(file.num_record_batches))
            else:
                batches = arrow.ipc.open_stream(source)
            for batch in batches:
                try:
                    found = batch.to_pylist()
                except (ValueError, ArithmeticError, LookupError):
                    found = (_values(batch.slice(row, 1)) for row in range(len(batch)))
                for values in found:
                    number += 1
                    if isinstance(values, str):
                        yield _broken(name, number, "unreadable_value", values)
                    else:
                        yield _row(name, number, plain(values))
    except (arrow.ArrowException, OSError, ValueError) as error:
        detail = f"cannot be read after row {number}: {one_line(error)}; it was cut off or damaged, so fetch it again"
        yield _broken(name, number + 1, "unreadable_file", detail)


def _values(row: Any) -> dict[str, Any] | str:
    """Return the values of a record batch of one row, or what is wrong with the first column that cannot be read."""
    values = {}
    for column, value in zip(row.schema.names, row.columns, strict=True):
        try:
            values[column] = value[0].as_py()
        except (ValueError, ArithmeticError, LookupError) as error:
            return f"column {column!r} cannot be read: {one_line(error)}; correct it, or take the column out"
    return values


READERS: dict[str, Callable[[Path, str], Iterator[Row]]] = {
    "jsonl": read_lines,
    "json": read_list,
    "parquet": read_columns,
    "arrow": read_columns,
}


# ---------------------------------------------------------------------------------------------------------- folders


def _read_folder(root: Path, files: Iterator[Path], row_of: Callable[[Path, str], Row]) -> Iterator[Row]:
    """Yield the row of each file, with the licence of the nearest folder at or above it that has a licence file.

    `row_of` makes a row of a file and its name. Each licence file is read once.
    """

    @cache
    def stated(folder: Path) -> tuple[str, str | None]:
        return of_folder(folder) or (stated(folder.parent) if folder != root else (UNKNOWN, None))

    for number, file in enumerate(files, start=1):
        name = (file.parent if row_of is _task else file).relative_to(root).as_posix()
        try:
            yield _row(name, number, row_of(file, name)) | {"stated": stated(file.parent)}
        except RowError as error:
            yield _broken(name, number, error.reason, str(error))
        except (OSError, ValueError, RecursionError) as error:
            yield _broken(name, number, "unreadable_file", str(error))


def _source(path: Path, name: str, root: Path) -> Row:
    """Return the row of a source file, with its local headers inlined.

    Nothing outside of `root`, the folder of the tree, is read.
    """
    if (size := path.stat().st_size) > FILE_LIMIT:
        raise RowError("too_long", f"{size:,} bytes; at most {FILE_LIMIT:,} are read as a program")
    try:
        return {"code": _expanded(path, root.resolve(), set()), "path": name}
    except UnicodeDecodeError as error:
        raise RowError("not_utf8", f"{error}; convert it or its headers, as with iconv -t utf-8") from None


def _expanded(path: Path, root: Path, seen: set[Path]) -> str:
    """Return a file's text with the first `#include` of each local header of the tree replaced by the header."""
    seen.add(path.resolve())

    def header(match: re.Match[str]) -> str:
        for folder in (path.parent, root, root / "include"):
            included = (folder / match[1]).resolve()
            if included in seen:
                return ""
            if included.is_relative_to(root) and included.is_file() and included.stat().st_size <= FILE_LIMIT:
                return f"{_expanded(included, root, seen).rstrip()}\n"
        return match[0]

    return _INCLUDE.sub(header, _text(path))


def _text(path: Path) -> str:
    """Return a source file's text, decoded as UTF-8 or else as Windows-1252.

    Windows-1252 is accepted only if at most 1 % of the bytes are not ASCII. These can only be a sign or a name in a
    comment.

    Raises:
        UnicodeDecodeError: the file is neither.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        content = path.read_bytes()
        if b"\0" in content or sum(byte > 127 for byte in content) * 100 > len(content):
            raise
        return path.read_text(encoding="cp1252", errors="replace")


def _modules(root: Path) -> Iterator[Row]:
    """Yield the tasks of a clone of robust-kbench. Raises TaskError with the file and the key at fault."""
    stated = of_folder(root) or (UNKNOWN, None)
    for number, task in enumerate(robust_kbench.read_folder(root)[0], start=1):
        values = {field.name: getattr(task, field.name) for field in fields(task) if field.init}
        values |= {"kind": "module", "prompt": values.pop("prompts")[1]}
        yield _row(task.id, number, values) | {"stated": stated}


def _task(path: Path, name: str) -> Row:
    """Return the row of a task in our own format: <task>/task.json and files for prompt, reference and program."""
    try:
        record = parse_json(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RowError("bad_task", f"{path.name}: {error}") from None
    if not isinstance(record, dict):
        raise RowError("bad_task", f"{path.name}: an object was expected")
    row = record | {"id": name}
    for key, other in _TASK_FILES.items():
        if is_regular(path.with_name(other)):
            row[key] = read_text(path.with_name(other))
        elif key in ("prompt", "reference"):
            raise RowError("bad_task", f"{other} is missing")
    return row


def git_revision(path: Path) -> str | None:
    """Return the last commit that changed the file or folder at `path`.

    None if git does not have it in this state: it is not in a checkout, is untracked, or was edited.
    """
    folder, name = (path, ".") if path.is_dir() else (path.parent, path.name)

    def git(*command: str) -> str | None:
        whole = ["git", "--literal-pathspecs", "-C", str(folder), *command, "--", name]
        try:
            return subprocess.run(whole, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return None

    return (git("log", "-1", "--format=%H") or None) if git("status", "--porcelain") == "" else None
