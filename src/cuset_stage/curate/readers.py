"""Rows of data files: JSON lines, JSON lists, Parquet and Arrow, one row at a time.

A reader never raises on what is in a file: a broken row is an `Item` with a reason, and the rest is read. pyarrow is imported
when a file needs it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from ..text import one_line
from .stage_rows import CurationError, Item, broken, item_of, plain, read_lines


BATCH_ROWS = 256  # what is held of a Parquet or Arrow file at a time
READ_BYTES = 1 << 20  # of a Parquet column that are read at a time; by default the columns of a row group are, whole
LIST_LIMIT = 1 << 30  # bytes of a JSON list, which is read as a whole
_BETWEEN = re.compile(r"[\s,]*")
# Formats that a folder may be full of. Its JSON files are more often about the data.
SHARDED = ("parquet", "arrow", "jsonl")
_KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet", ".arrow": "arrow"}


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
        raise CurationError(f"{path}: its name says no format; say format= one of {', '.join(READERS)}.")
    return kind


def read(path: Path, kind: str) -> Iterator[Item]:
    """Every row of a file, or of a folder of shards, numbered from 1 in each file.

    Raises:
        CurationError: a folder without such a file.
    """
    if not path.is_dir():
        return READERS[kind](path, path.name)
    shards = [file for file, its in _data_files(path) if its == kind]
    if not shards:
        raise CurationError(f"{path}: there is no {kind} file in this folder; format={kind} says there is.")
    return chain.from_iterable(READERS[kind](shard, shard.relative_to(path).as_posix()) for shard in shards)


def _data_files(root: Path) -> Iterator[tuple[Path, str]]:
    """The files below a folder whose names say a format, with it, as the Hub's data sets come, in the order of their paths."""
    for path in sorted(root.rglob("*")):
        kind = _KINDS.get(path.suffix.lower())
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if kind is not None and path.is_file() and not hidden:
            yield path, kind


def read_list(path: Path, name: str) -> Iterator[Item]:
    """The objects of a JSON list up to the first that is broken; a file of JSON lines under another name is read as such."""
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
    decoder = json.JSONDecoder(parse_constant=lambda _: None)
    position, number = text.index("[") + 1, 1
    while True:
        start = _BETWEEN.match(text, position).end()
        if text[start : start + 1] == "]":
            if rest := text[start + 1 :].strip():
                yield broken(
                    name, number, "trailing_content", f"what follows the end of the list is not read: {rest[:40]!r}"
                )
            return
        if start == len(text):
            yield broken(
                name, number, "cut_off", "the list has no closing ]: the file was cut off, and rows may be missing"
            )
            return
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            rest = text[start : start + 65536].encode("utf-8", errors="surrogateescape")
            yield broken(name, number, "not_json", f"not JSON: {error}; what follows in the list is not read", rest)
            return
        yield item_of(name, number, value, text[start:position].encode("utf-8", errors="surrogateescape"))
        number += 1


def read_parquet(path: Path, name: str) -> Iterator[Item]:
    """The rows of a Parquet file; a row group that cannot be decoded is counted row by row, and the next one is read."""
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path, buffer_size=READ_BYTES, pre_buffer=False)
    except (arrow.ArrowException, OSError) as error:
        detail = f"no Parquet file, or one that was cut off (its index stands at the end): {one_line(error)}"
        yield broken(name, 1, "unreadable_file", detail)
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
                    yield broken(name, number, "unreadable_row", f"row group {group}: {one_line(error)}")


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
        detail = f"the stream breaks off after row {number}: {one_line(error)}"
        yield broken(name, number + 1, "unreadable_file", detail)


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


def _from_columns(name: str, number: int, row: dict[str, Any]) -> Item:
    row = plain(row)
    return item_of(name, number, row, json.dumps(row).encode())


READERS: dict[str, Callable[[Path, str], Iterator[Item]]] = {
    "jsonl": read_lines,
    "json": read_list,
    "parquet": read_parquet,
    "arrow": read_arrow,
}
