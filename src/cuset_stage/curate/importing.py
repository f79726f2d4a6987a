"""Stage `import`: rows of any source in our fields, with where they come from and under which licence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from . import licence_names, readers, trees
from .columns import ColumnMap, apply_map, choose_map, licence_of
from .licence_names import UNKNOWN
from .licences import of_source
from .settings import ImportSettings
from .stage import Dropped, Kept, Outcome, Summary, run_stage
from .stage_rows import CurationError, Item, Row, RowError, row_sha256


_SCHEMA = 7
# Fields that may state a licence in a comment.
_CODE = ("code", "wrapper", "cpu_code", "module_code", "functional_code")


def run_import(settings: ImportSettings) -> Summary:
    """Read a source into `folder`/import/<name>/.

    Raises:
        CurationError: nothing at the path, an unknown format, preset or field.
    """
    path = settings.path
    kind = settings.format or readers.guess_format(path)
    fitting = [*trees.FOLDERS, *readers.SHARDED] if path.is_dir() else list(readers.READERS)
    if kind not in fitting:
        what = "a folder" if path.is_dir() else "a file"
        raise CurationError(f"{path}: format={kind} does not fit {what}: expected {', '.join(fitting)}.")
    preset = settings.preset or ("cuset" if kind == "tasks" else None)
    suffixes = tuple(settings.suffixes)
    if preset == "kernelbench" and kind == "tree":
        column_map = ColumnMap({"module_code": "code", "name": "path"}, licence="MIT", needs=("module_code",))
        suffixes = (".py",)
    else:
        column_map = choose_map(preset, settings.columns)
    label, revision = settings.label, settings.revision or trees.git_revision(path)
    items = trees.read_folder(path, kind, suffixes) if kind in trees.FOLDERS else readers.read(path, kind)
    return run_stage(
        settings.folder / "import" / label,
        "import",
        _placed(items),
        _Importer(settings, preset, kind, column_map, label, revision),
        name=label,
        settings={
            "schema": _SCHEMA,
            "path": str(path.resolve()),
            "format": kind,
            "preset": preset,
            "columns": dict(column_map.columns),
            "revision": revision,
            "licence": settings.licence,
            "licences": sorted(licence_names.spdx(name) for name in settings.allow),
            "allow_unknown": settings.allow_unknown,
        },
        fresh=settings.fresh,
    )


def _placed(items: Iterator[Item]) -> Iterator[Item]:
    """Rows that know their place, and what their folder states; the importer's work is a function of the row alone."""
    for item in items:
        if item.row is not None:
            given = dict(item.row)
            stated = given.pop(trees.STATED, (UNKNOWN, None))
            item = replace(item, row={"given": given, "file": item.file, "number": item.number, "stated": stated})
        yield item


@dataclass(frozen=True)
class _Importer:
    settings: ImportSettings
    preset: str | None
    kind: str
    column_map: ColumnMap
    label: str
    revision: str | None

    def __call__(self, placed: Row) -> Outcome:
        given, file, number = placed["given"], placed["file"], placed["number"]
        settings = self.settings
        try:
            row = apply_map(self.column_map, given)
        except RowError as error:
            return Dropped(error.reason, str(error), given)
        if self.preset in ("cuset", "cudabench"):
            row["task"] = given
        licence, stated_by = self._licence(row, placed["stated"])
        if not licence_names.is_allowed(licence, settings.allow, allow_unknown=settings.allow_unknown):
            if licence_names.is_known(licence):
                return Dropped("licence_not_allowed", licence, given)
            by_name = "" if licence == UNKNOWN else "allow= with this name or "
            return Dropped("licence_unknown", f"{licence} ({by_name}allow_unknown=true keeps such rows)", given)
        place = f"{number:06d}"
        if self.kind in trees.FOLDERS:
            place = file
        elif settings.path.is_dir():  # each shard counts from 1
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
        return Kept({"id": f"{self.label}:{place}", **row, "source": source})

    def _licence(self, row: Row, folder: tuple[str, str | None]) -> tuple[str, str | None]:
        """The licence of a row and where it is stated: by the row or the data set and by its code, which both apply; else by its
        folder; else by the user."""
        stated = licence_of(row, self.column_map)
        in_code = {of_source(str(row.get(key) or "")) for key in _CODE} - {UNKNOWN}
        if stated != UNKNOWN:
            by = "row" if "licence" in row else "data set"
            return licence_names.all_of([stated, *in_code]), by if in_code <= {stated} else f"{by}, code"
        if in_code:
            return licence_names.all_of(in_code), "code"
        if folder[0] != UNKNOWN or not self.settings.licence:
            return folder
        return licence_names.spdx(self.settings.licence), "user"
