"""Stage `import`: rows of any source in our fields, with where they come from and under which licence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from . import licences, readers
from .columns import ColumnMap, apply_map, choose_map
from .licences import UNKNOWN
from .settings import ImportSettings
from .stage import Kept, Summary, run_stage
from .stage_rows import Item, Row, RowError, row_sha256


# Fields that may state a licence in a comment.
_CODE = ("code", "wrapper", "cpu_code", "module_code", "functional_code")


def run_import(settings: ImportSettings) -> Summary:
    """Read a source into `folder`/import/<name>/.

    Raises:
        CurationError: nothing at the path, an unknown format, preset or field.
    """
    path = settings.path
    kind = settings.format or readers.guess_format(path)
    preset = settings.preset or ("cuset" if kind in ("tasks", "robust-kbench") else None)
    columns, suffixes = settings.columns, settings.suffixes
    if preset == "kernelbench" and kind == "tree":  # a clone of it
        columns, suffixes = {"name": "path", **columns}, (".py",)
    column_map = choose_map(preset, columns)
    label, revision = settings.label, settings.revision or readers.git_revision(path)
    return run_stage(
        settings.folder / "import" / label,
        "import",
        _placed(readers.read(path, kind, suffixes)),
        _Importer(settings, label, preset, kind, column_map, revision),
        name=label,
        settings={**settings.model_dump(mode="json"), "format": kind, "preset": preset, "revision": revision},
        workers=settings.workers,
        processes=True,
        notes=[column_map.note] if column_map.note else (),
    )


def _placed(items: Iterator[Item]) -> Iterator[Item]:
    """Rows that know their place; the importer's work is a function of the row alone."""
    for item in items:
        yield item if item.row is None else replace(item, row={"given": item.row, "at": (item.file, item.number)})


@dataclass(frozen=True)
class _Importer:
    settings: ImportSettings
    label: str
    preset: str | None
    kind: str
    column_map: ColumnMap
    revision: str | None

    def __call__(self, placed: Row) -> Kept:
        given, (file, number) = placed["given"], placed["at"]
        of_folder = given.pop(readers.STATED, (UNKNOWN, None))
        try:
            return Kept(self._row(given, file, number, of_folder))
        except RowError as error:
            raise RowError(error.reason, str(error), given) from None

    def _row(self, given: Row, file: str, number: int, of_folder: tuple[str, str | None]) -> Row:
        """A source's row in our fields. of_folder: the licence of its folder, and the file that states it. Raises RowError."""
        row, settings = apply_map(self.column_map, given), self.settings
        if row.get("correct") is False:
            raise RowError("incorrect", "its source says that it is wrong")
        if self.preset in ("cuset", "cudabench"):
            row["task"] = given
        licence, stated_by = self._licence(row, of_folder)
        if not licences.is_allowed(licence, settings.allow, allow_unknown=settings.allow_unknown):
            if licences.is_known(licence):
                raise RowError("licence_not_allowed", licence)
            by_name = "" if licence == UNKNOWN else "allow= with this name or "
            raise RowError("licence_unknown", f"{licence} ({by_name}allow_unknown=true keeps such rows)")
        place = file if self.kind in readers.FOLDERS else f"{number:06d}"
        if self.kind not in readers.FOLDERS and settings.path.is_dir():  # each shard counts from 1
            place = f"{file}#{place}"
        row.pop("licence", None)
        source = {
            "name": self.label,
            "file": file,
            "row": number,
            "key": row.pop("key", None),  # a row's `key` is the journal's
            "revision": row.pop("revision", None) or self.revision,
            "licence": licence,
            "licence_from": stated_by,
            "url": row.get("url"),
            "sha256": row_sha256(given),
        }
        return {"id": f"{self.label}:{place}", **row, "source": source}

    def _licence(self, row: Row, of_folder: tuple[str, str | None]) -> tuple[str, str | None]:
        """The licence of a row and where it is stated: by the row or the data set and by its code, which both apply; else by its
        folder; else by the user. Several in a list all apply."""
        stated = row.get("licence", self.column_map.licence) or UNKNOWN
        stated = licences.all_of(map(str, stated if isinstance(stated, list) else [stated]))
        in_code = {licences.of_source(str(row[key])) for key in _CODE if row.get(key)} - {UNKNOWN}
        if stated != UNKNOWN:
            by = "row" if "licence" in row else "data set"
            return licences.all_of([stated, *in_code]), by if in_code <= {stated} else f"{by}, code"
        if in_code:
            return licences.all_of(in_code), "code"
        if of_folder[0] != UNKNOWN or not self.settings.licence:
            return of_folder
        return licences.spdx(self.settings.licence), "user"
