"""What `import` reads: JSON lines, JSON lists, Parquet, Arrow streams, trees of source files and folders of tasks, one row at a time.

A reader never raises on what is in a file: a broken row is an `Item` with a problem, and the rest goes on. pyarrow is imported
when a file needs it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

from .ctext import functions
from .includes import with_local_headers
from .licences import UNKNOWN, FolderLicences, Stated, of_source
from .stage_rows import LINE_LIMIT, CurationError, Item, Problem, digest, dumps, parse_item, plain, read_lines


BATCH_ROWS = 256  # what is held of a Parquet or Arrow file at a time
READ_BYTES = 1 << 20  # of a Parquet column that are read at a time; by default the columns of a row group are, whole
FILE_LIMIT = 4 << 20  # bytes of a source file; a longer one is data and not a program
STATED = (
    "__stated__"  # of a row of a folder: (licence, where) of its file and of each header in it; no field of the row
)
_CUDA = {".cu", ".cuh"}
_CONTRACT = re.compile(r'"(?:\./)?data/\w+\.bin"')
_MARK = re.compile(rb'[\\"\[\]{},]')
_SKIPPED_FOLDERS = {".git", ".hg", ".svn", "node_modules", "__pycache__"}
FORMATS = ("jsonl", "json", "parquet", "arrow", "tree", "tasks")
FOLDERS = ("tree", "tasks")  # formats that are a folder
# Formats that a folder may be full of. Its JSON files are more often about the data.
SHARDED = ("parquet", "arrow", "jsonl")
_KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet", ".arrow": "arrow"}
# Beside kernel.cu: kernel.json with further fields of the row, kernel.ref.py or kernel.ref.cpp with a reference.
_BESIDE = {".ref.py": "numpy_code", ".ref.cpp": "cpu_code", ".ref.c": "cpu_code"}
_TASK_FILES = {"prompt": "prompt.md", "intro": "intro.md", "reference": "reference.py", "solution": "kernel.cu"}


def guess_format(path: Path) -> str:
    """The format of a file by its name, of a folder by what lies in it.

    Raises:
        CurationError: there is nothing at `path`, or its name says nothing.
    """
    if path.is_dir():
        if next(path.glob("*/task.json"), None):
            return "tasks"
        if next(path.rglob("*.cu"), None):
            return "tree"
        kinds = {kind for _, kind in _data_files(path)}
        return next((kind for kind in SHARDED if kind in kinds), "tree")
    if not path.is_file():
        raise CurationError(f"{path}: there is no such file or folder; nothing is downloaded, so give a local copy.")
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise CurationError(f"{path}: its name says no format; give --format {', '.join(FORMATS)}.")
    return kind


def read(path: Path, kind: str, suffixes: tuple[str, ...] = (".cu",)) -> Iterator[Item]:
    """Every row of a source, numbered from 1 in each of its files. Rows of a tree have `code` and `path`, and what lies beside the file.

    Raises:
        CurationError: a folder in which there is nothing to read.
    """
    if kind in FOLDERS:
        items = read_tree(path, suffixes) if kind == "tree" else read_task_folders(path)
        return chain([_first(items, path, "*/task.json" if kind == "tasks" else ", ".join(suffixes))], items)
    readers = {"jsonl": read_lines, "json": read_list, "parquet": read_parquet, "arrow": read_arrow}
    if not path.is_dir():
        return readers[kind](path, path.name)
    shards = [file for file, its in _data_files(path) if its == kind]
    if not shards:
        raise CurationError(f"{path}: there is no {kind} file in this folder; --format says there is.")
    return chain.from_iterable(readers[kind](shard, shard.relative_to(path).as_posix()) for shard in shards)


def _first(items: Iterator[Item], path: Path, wanted: str) -> Item:
    first = next(items, None)
    if first is not None:
        return first
    counts = Counter("".join(file.suffixes[-2:]) or file.name for file in path.rglob("*") if file.is_file())
    there = ", ".join(f"{count} {name}" for name, count in counts.most_common(5)) or "no file"
    raise CurationError(
        f"{path}: nothing in this folder can be read: expected {wanted}, or data as {', '.join(SHARDED)}; there is {there}. "
        "Unpack what is compressed, or give --format and another folder."
    )


def _data_files(root: Path) -> Iterator[tuple[Path, str]]:
    """The files below a folder whose names say a format, with it, as the Hub's data sets come, in the order of their paths."""
    for path in sorted(root.rglob("*")):
        kind = _KINDS.get(path.suffix.lower())
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if kind is not None and path.is_file() and not hidden:
            yield path, kind


def read_list(path: Path, name: str) -> Iterator[Item]:
    """The objects of a JSON list, each decoded by itself; a file of JSON lines under another name is read as such."""
    with path.open("rb") as stream:
        start = stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
        if start.startswith(b"["):
            stream.seek(0)
            for number, body in enumerate(_elements(stream), start=1):
                if isinstance(body, Problem):
                    yield _broken(name, number, body.reason, body.detail)
                elif len(body) < LINE_LIMIT:
                    yield parse_item(name, number, body)
                else:
                    detail = (
                        f"more than {LINE_LIMIT >> 20} MiB without an end; what follows it in the list is not read"
                    )
                    yield Item(
                        name, number, digest(name, str(number), body), None, Problem("too_long", detail), body[:65536]
                    )
            return
    yield from read_lines(path, name)


def _elements(stream: IO[bytes]) -> Iterator[bytes | Problem]:
    """The bytes of each element of a JSON list, found by its brackets, commas and strings alone; a problem for how the list ends."""
    element = bytearray()
    depth, quoted, escaped, offset = 0, False, -1, 0
    while chunk := stream.read(1 << 20):
        start = 0
        for match in _MARK.finditer(chunk):
            mark, at = match[0], match.start()
            if offset + at == escaped:
                continue
            if mark == b"\\":
                escaped = offset + at + 1 if quoted else -1
            elif mark == b'"':
                quoted = not quoted
            elif quoted:
                continue
            elif mark in b"[{":
                depth += 1
                start = at + 1 if depth == 1 else start
            elif mark in b"]}":
                depth -= 1
            if depth == 0 or (depth == 1 and mark == b","):
                if body := bytes(element + chunk[start:at]).strip():
                    yield body
                element.clear()
                start = at + 1
                if depth == 0:
                    rest = (chunk[start:] + stream.read(4096)).strip()
                    if rest or any(part.strip() for part in iter(lambda: stream.read(1 << 20), b"")):
                        begins = rest[:40].decode("utf-8", errors="replace")
                        yield Problem("trailing_content", f"what follows the end of the list is not read: {begins!r}")
                    return
        element += chunk[start:]
        offset += len(chunk)
        if len(element) >= LINE_LIMIT:
            break
    body = bytes(element).strip()
    if body:
        yield body
    # What was cut off within an element is a broken row by itself, and so is one that is too long.
    if not body or (depth == 1 and not quoted and len(body) < LINE_LIMIT):
        yield Problem("cut_off", "the list has no closing ]: the file was cut off, and rows after this may be missing")


def read_parquet(path: Path, name: str) -> Iterator[Item]:
    """The rows of a Parquet file; a row group that cannot be decoded is counted row by row, and the next one is read."""
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path, buffer_size=READ_BYTES, pre_buffer=False)
    except (arrow.ArrowException, OSError) as error:
        detail = f"no Parquet file, or one that was cut off (its index stands at the end): {_first_line(error)}"
        yield _broken(name, 1, "unreadable_file", detail)
        return
    number = 0
    with file:
        for group in range(file.num_row_groups):
            expected = number + file.metadata.row_group(group).num_rows
            try:
                for batch in file.iter_batches(batch_size=BATCH_ROWS, row_groups=[group]):
                    for row in _rows(batch):
                        number += 1
                        yield _from_columns(name, number, row)
            except (arrow.ArrowException, OSError) as error:
                while number < expected:
                    number += 1
                    yield _broken(name, number, "unreadable_row", f"row group {group}: {_first_line(error)}")


def read_arrow(path: Path, name: str) -> Iterator[Item]:
    """The rows of an Arrow stream or file, as `datasets` keeps them; a stream that breaks off is read up to there."""
    import pyarrow as arrow

    number = 0
    try:
        with arrow.memory_map(str(path)) as source:
            is_file = source.read(6) == b"ARROW1"
            source.seek(0)
            if is_file:
                reader = arrow.ipc.open_file(source)
                batches = (reader.get_batch(index) for index in range(reader.num_record_batches))
            else:
                batches = iter(arrow.ipc.open_stream(source))
            for batch in batches:
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    for row in _rows(batch.slice(start, BATCH_ROWS)):
                        number += 1
                        yield _from_columns(name, number, row)
    except (arrow.ArrowException, OSError) as error:
        detail = f"the stream breaks off after row {number}: {_first_line(error)}"
        yield _broken(name, number + 1, "unreadable_file", detail)


def _rows(batch: Any) -> list[dict[str, Any]]:
    """The rows of a record batch. A text that is not UTF-8 keeps its bytes as surrogates, which `columns.apply_map` looks for."""
    import pyarrow as arrow

    try:
        return batch.to_pylist()
    except (ValueError, OverflowError):  # of one value as a rule; the others are none the worse for it
        pass

    def value(scalar: Any) -> Any:
        try:
            return scalar.as_py()
        except (ValueError, OverflowError) as error:
            if isinstance(scalar, (arrow.StringScalar, arrow.LargeStringScalar)):
                return scalar.as_buffer().to_pybytes().decode("utf-8", errors="surrogateescape")
            return f"not readable: {error}"  # a date beyond the years that Python knows, and the like

    columns = [[value(scalar) for scalar in column] for column in batch.columns]
    return [dict(zip(batch.schema.names, values, strict=True)) for values in zip(*columns, strict=True)]


def read_tree(root: Path, suffixes: tuple[str, ...]) -> Iterator[Item]:
    """Every source file below a folder, in the order of their paths; links are not followed.

    A CUDA file comes with the headers of its tree written out; one with several kernels and no function that launches them is a
    row a kernel.
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
                yield _broken(name, number, "unreadable_file", str(error.strerror))
                continue
            if size > FILE_LIMIT:
                yield _broken(
                    name, number, "too_long", f"{size:,} bytes; at most {FILE_LIMIT:,} are read as a program"
                )
                continue
            try:
                code = data.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                problem = Problem("not_utf8", f"byte {error.start} is not UTF-8")
                yield Item(name, number, digest(name, data), None, problem, data)
                continue
            beside, problem = _read_beside(path)
            stated, headers = [_stated(path, code, "file", licences)], {}
            if path.suffix.lower() in _CUDA:
                code, headers = with_local_headers(path, code, root)
            for header, text in headers.items():
                stated.append(_stated(header, text, header.relative_to(root.resolve()).as_posix(), licences))
            # The path and the content, not the number: a file that is added does not move the others. With all that the row
            # depends on: what lies beside the file, as bytes because a broken declaration has no fields, and the licences.
            key = digest(name, code, *_bytes_beside(path), dumps(stated))
            if problem is not None:
                yield Item(name, number, key, None, problem, data)
                continue
            row = {**beside, "code": code, "path": name, STATED: [each[:2] for each in stated]}
            kernels = _kernels(row) if path.suffix.lower() in _CUDA else []
            if not kernels:
                yield Item(name, number, key, row)
            for kernel in kernels:
                yield Item(name, number, digest(key, kernel), {**row, "function": kernel})


def _stated(path: Path, text: str, where: str, licences: FolderLicences) -> Stated:
    """The licence of one file: what it says of itself, else what its folder says."""
    found = of_source(text)
    return licences.of(path.parent) if found == UNKNOWN else Stated(found, where)


def _kernels(row: dict[str, Any]) -> list[str]:
    """The kernels of a file that has several and nothing that calls them for the file's user: a row each. Empty: the file is one row."""
    code = row["code"]
    if "function" in row or _CONTRACT.search(code):  # declared; or a program that keeps to the contract as it stands
        return []
    found = functions(code)
    kernels = list(dict.fromkeys(each.name for each in found if each.is_kernel))
    callers = [each for each in found if not each.is_kernel and each.name != "main" and "<<<" in each.body_text(code)]
    return kernels if len(kernels) > 1 and len(callers) != 1 else []


def _beside(source: Path) -> list[Path]:
    paths = (source.with_suffix(".json"), *(source.with_name(source.stem + suffix) for suffix in _BESIDE))
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def _bytes_beside(source: Path) -> Iterator[bytes]:
    for path in _beside(source):
        yield path.name.encode("utf-8", errors="surrogateescape")
        try:
            yield path.read_bytes()
        except OSError as error:
            yield str(error.strerror).encode()


def _read_beside(source: Path) -> tuple[dict[str, Any], Problem | None]:
    """Fields that files of the same name declare for a source file: its specification, a description, a reference."""
    fields: dict[str, Any] = {}
    for path in _beside(source):
        try:
            text = path.read_text(encoding="utf-8-sig")
            if path.suffix != ".json":
                fields[_BESIDE[path.name.removeprefix(source.stem)]] = text
                continue
            record = json.loads(text)
        except (OSError, ValueError, RecursionError) as error:
            return fields, Problem("bad_declaration", f"{path.name}: {error}")
        if not isinstance(record, dict):
            return fields, Problem("bad_declaration", f"{path.name}: an object with fields of the row was expected")
        fields.update(plain(record))
    return fields, None


def read_task_folders(root: Path) -> Iterator[Item]:
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
            yield _broken(name, number, "bad_task", str(error))
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


def _from_columns(name: str, number: int, row: dict[str, Any]) -> Item:
    row = plain(row)
    return Item(name, number, digest(name, str(number), dumps(row)), row)


def _broken(name: str, number: int, reason: str, detail: str) -> Item:
    return Item(name, number, digest(name, str(number), reason, detail), None, Problem(reason, detail))


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
