"""Stage `import`: rows of any source in our fields, with where they come from and under which licence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import licences, readers
from .columns import ColumnMap, apply_map, choose_map, licence_of
from .stage import Dropped, Kept, Outcome, Summary, run_stage
from .stage_rows import CurationError, Item, Row, row_sha256


_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}\Z")
_SCHEMA = 5
# Fields that may state a licence in a comment.
_CODE = ("code", "wrapper", "cpu_code", "module_code", "functional_code")


@dataclass(frozen=True)
class Source:
    """A source on this machine.

    Args:
        path: a file, a folder with source files, or one with the shards of a data set.
        name: what its rows are called after; None: the path's name.
        format: one of `readers.FORMATS`; None: by the path's name.
        preset: a data set whose columns are known (`columns.MAPS`).
        columns: our field -> its column, over the preset's.
        revision: a commit, a tag, a date; None: the commit of the checkout the path lies in.
        licence: what applies where a row and its data set say nothing.
        allowed: SPDX identifiers; empty: every known licence.
        suffixes: of a tree's source files.
    """

    path: Path
    name: str | None = None
    format: str | None = None
    preset: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    revision: str | None = None
    licence: str | None = None
    allowed: tuple[str, ...] = ()
    allow_unknown: bool = False
    suffixes: tuple[str, ...] = (".cu",)

    @property
    def label(self) -> str:
        """The source's name, as it stands in folders and row identifiers."""
        label = self.name or re.sub(r"[^a-z0-9_.-]+", "-", (self.preset or self.path.resolve().name).lower()).strip(
            "-."
        )
        if not _NAME.match(label):
            raise CurationError(
                f"--name {label}: lower-case letters, digits, `_`, `.` and `-`, at most 64 characters."
            )
        return label


def run_import(folder: Path, source: Source, *, fresh: bool = False) -> Summary:
    """Read a source into `folder`/import/<name>/.

    Raises:
        CurationError: nothing at the path, an unknown format, preset or field.
    """
    kind = source.format or readers.guess_format(source.path)
    if kind not in readers.FORMATS:
        raise CurationError(f"--format {kind}: there are {', '.join(readers.FORMATS)}.")
    single = [each for each in readers.FORMATS if each not in readers.FOLDERS]
    fitting = [*readers.FOLDERS, *readers.SHARDED] if source.path.is_dir() else single
    if kind not in fitting:
        what = "a folder" if source.path.is_dir() else "a file"
        raise CurationError(f"{source.path}: --format {kind} does not fit {what}: expected {', '.join(fitting)}.")
    if kind == "tasks" and source.preset is None:
        source = replace(source, preset="cuset", name=source.name or source.path.resolve().name.lower())
    if source.preset == "kernelbench" and kind == "tree":
        column_map = ColumnMap({"module_code": "code", "name": "path"}, licence="MIT", needs=("module_code",))
    else:
        column_map = choose_map(source.preset, source.columns)
    suffixes = (".py",) if source.preset == "kernelbench" and kind == "tree" else source.suffixes
    importer = _Importer(source, kind, column_map, source.revision or readers.git_revision(source.path))
    return run_stage(
        folder / "import" / source.label,
        "import",
        _placed(readers.read(source.path, kind, suffixes)),
        importer,
        name=source.label,
        settings={
            "schema": _SCHEMA,
            "path": str(source.path.resolve()),
            "format": kind,
            "preset": source.preset,
            "columns": dict(column_map.columns),
            "revision": importer.revision,
            "licence": source.licence,
            "licences": sorted(licences.spdx(name) for name in source.allowed),
            "allow_unknown": source.allow_unknown,
        },
        fresh=fresh,
    )


def _placed(items: Iterator[Item]) -> Iterator[Item]:
    """Rows that know their place, and what their files state; the importer's work is a function of the row alone."""
    for item in items:
        if item.row is None:
            yield item
            continue
        given = dict(item.row)
        stated = given.pop(readers.STATED, [])
        placed = {"given": given, "file": item.file, "number": item.number, "stated": stated}
        yield Item(item.file, item.number, item.key, placed)


@dataclass(frozen=True)
class _Importer:
    source: Source
    kind: str
    column_map: ColumnMap
    revision: str | None

    def __call__(self, placed: Row) -> Outcome:
        given, file, number = placed["given"], placed["file"], placed["number"]
        row, problem = apply_map(self.column_map, given)
        if problem:
            return Dropped(problem.reason, problem.detail, given)
        if self.source.preset == "cuset":
            row["task"] = given
        licence, stated_by = self._licence(row, placed["stated"])
        if not licences.is_allowed(licence, self.source.allowed, allow_unknown=self.source.allow_unknown):
            if licences.is_known(licence):
                return Dropped("licence_not_allowed", licence, given)
            by_name = "" if licence == licences.UNKNOWN else "--allow with this name or "
            way_out = f" ({by_name}--allow-unknown keeps such rows)"
            return Dropped("licence_unknown", f"{licence}{way_out}", given)
        place = f"{number:06d}"
        if self.kind in readers.FOLDERS:
            place = file
        elif self.source.path.is_dir():  # each shard counts from 1
            place = f"{file}#{place}"
        if self.kind == "tree" and "function" in given:
            place = f"{file}#{given['function']}"
        row.pop("licence", None)
        own_key = row.pop("key", None)  # a row's `key` is the journal's
        kept = {
            "id": f"{self.source.label}:{place}",
            **row,
            "source": {
                "name": self.source.label,
                "file": file,
                "row": number,
                "key": own_key,
                "revision": row.pop("revision", None) or self.revision,
                "licence": licence,
                "licence_from": stated_by,
                "url": row.get("url"),
                "sha256": row_sha256(given),
            },
        }
        return Kept(kept)

    def _licence(self, row: Row, files: list[tuple[str, str | None]]) -> tuple[str, str | None]:
        """The licence of a row and where it is stated: the row or the data set, its code, its files and their folders, the user.

        Args:
            files: (licence, where) of the row's own file and of every header that was written out in it; all of them apply. Empty
                for a row that is no file: then what its code says of itself applies, with what the row or the data set states.
        """
        stated = licence_of(row, self.column_map)
        in_code = (
            set() if files else {licences.of_source(str(row.get(key) or "")) for key in _CODE} - {licences.UNKNOWN}
        )
        if stated != licences.UNKNOWN:
            by = "row" if "licence" in row else "data set"
            return licences.all_of([stated, *in_code]), by if in_code <= {stated} else f"{by}, code"
        if in_code:
            return licences.all_of(in_code), "code"
        user = (licences.spdx(self.source.licence), "user") if self.source.licence else (licences.UNKNOWN, None)
        found = [each if each[0] != licences.UNKNOWN else user for each in files] or [user]
        sources = dict.fromkeys(where for _, where in found if where)
        return licences.all_of(licence for licence, _ in found), ", ".join(sources) or None
