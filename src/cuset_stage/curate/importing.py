"""Stage `import`: read rows from any source, rename columns to our fields, and record their origin and licence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr, ValidationError

from ..answers import extract_code
from ..row_checks import Object, RowModel, Text, Truth, wrong_value
from ..settings import read_yaml
from ..text import nearest, shown
from . import licences, readers
from .licences import UNKNOWN
from .rows import CurationError, Row, RowError, is_utf8
from .settings import ImportSettings
from .stage import Summary, run_stage
from .store import stored


# -------------------------------------------------------------------------------------------- the columns of a source

_Key = Annotated[StrictStr | StrictInt, Field(description="text or a whole number")]
_Number = Annotated[float, Field(strict=True, description="a number")]
_List = Annotated[list[Any], Field(strict=True, description="a list")]
_Licence = Annotated[StrictStr | list[Any], Field(description="text or a list")]


class SourceRow(RowModel):
    """The fields that an imported row can have."""

    name: Text | None = None  # a readable name of the task
    family: Text | None = None
    prompt: Text | None = None
    description: Text | None = None  # one or two sentences
    code: Text | None = None  # CUDA C++: a program, a kernel, or a torch extension
    intro: Text | None = None  # text before the program in a training response
    answer: Text | None = None  # a model's whole answer; `split` or `adapt` extracts its code
    reasoning: Text | None = None
    module_code: Text | None = None  # PyTorch: Model, get_inputs, get_init_inputs
    functional_code: Text | None = None  # PyTorch: Model.forward(..., fn=module_fn), as in AI CUDA Engineer
    entry: Text | None = None  # the name of the module's class, if it is not Model
    licence: _Licence | None = None
    url: Text | None = None
    revision: Text | None = None
    speedup: _Number | None = None  # the source's claim; it is kept but never used for ranking, as `prove` measures
    correct: Truth | None = None
    task: Object | None = None  # a whole task in the `cuset` format; the following fields are parts of one
    inputs: _List | None = None
    outputs: _List | None = None
    cases: _List | None = None
    reference: Text | None = None
    system: Text | None = None
    split: Text | None = None
    level: _Key | None = None
    key: _Key | None = None  # the source's own identifier


_EMPTY = (None, "", [])


@dataclass(frozen=True)
class ColumnMap:
    """Maps a data set's columns to our fields. It comes from presets.yaml, or from the user.

    Attributes:
        columns: our field -> the data set's column.
        licence: the licence that the data set states for all its rows. None: it states none.
        needs: fields without which a row is dropped.
        note: a note for the user, such as what is left out of the data set and why.
        prepare: the name of a function in `_PREPARE` that first adds columns to a row. None: no function.
    """

    columns: Mapping[str, str]
    licence: str | None = None
    needs: Sequence[str] = ("code",)
    note: str = ""
    prepare: str | None = None


def _text_of(content: Any) -> str:
    """Return the text of a turn. Its content is text, or a list of parts ([{type: text, text: ...}])."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and part.get("text"))
    return str(content or "")


def _last_turn(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the row with a conversation's last answer and the question before it as columns `answer` and `question`.

    Turns are {role, content} or {from, value}.

    Raises:
        RowError: there is no column with a conversation, it is no list, or it contains no answer.
    """
    if not given.keys() & {"messages", "conversations"}:
        raise RowError("missing_column", f"there is no column messages or conversations; there are: {_names(given)}")
    turns = given.get("messages") or given.get("conversations") or []
    if not isinstance(turns, list):
        raise RowError("wrong_type", f"the conversation is {shown(turns)}; expected a list of turns")
    spoken = [
        (str(turn.get("role") or turn.get("from")), _text_of(turn.get("content") or turn.get("value")))
        for turn in turns
        if isinstance(turn, dict)
    ]
    last = max((number for number, (role, _) in enumerate(spoken) if role in ("assistant", "gpt")), default=None)
    if last is None:
        raise RowError("no_answer", "the conversation has no turn of assistant or gpt")
    question = next((text for role, text in reversed(spoken[:last]) if role in ("user", "human")), "")
    return {**given, "question": question, "answer": spoken[last][1]}


def _with_input(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the row with `instruction` and `input` joined as a column `question`."""
    parts = (given.get("instruction"), given.get("input"))
    return {**given, "question": "\n".join(str(part) for part in parts if part)}


_PREPARE = {"last_turn": _last_turn, "with_input": _with_input}
MAPS = {name: ColumnMap(**entry) for name, entry in read_yaml(Path(__file__).with_name("presets.yaml")).items()}


def choose_map(name: str | None, columns: Mapping[str, str]) -> ColumnMap:
    """Return the column map for a source.

    Args:
        name: a preset of presets.yaml. None: use the user's columns alone.
        columns: the user's columns, our field -> the source's column. They take precedence over those of the preset.
            Without a preset and without columns, the source's columns are expected to have the names of our fields.

    Raises:
        CurationError: there is no such preset, or no such field.
    """
    for ours in columns:
        if ours not in SourceRow.model_fields:
            raise CurationError(f"columns: there is no field {ours!r}; {nearest(ours, SourceRow.model_fields)}")
    if name is None:
        needs = ("code",) if "code" in columns else ()
        return ColumnMap(columns or {name: name for name in SourceRow.model_fields}, needs=needs)
    if name not in MAPS:
        raise CurationError(f"preset={name}: {nearest(name, MAPS)}; or say columns=ours=theirs,...")
    preset = MAPS[name]
    return replace(preset, columns={**preset.columns, **columns})


def _names(given: Mapping[str, Any]) -> str:
    return ", ".join(sorted(map(str, given))[:12]) or "none"


def _says_nothing(value: Any) -> bool:
    """Return True for a missing value, also if it was converted to text, such as "None" in the files of CUDA-L1."""
    return value is None or (isinstance(value, str) and value.strip() in ("", "None", "null", "nan", "NaN"))


def apply_map(column_map: ColumnMap, given: Mapping[str, Any]) -> Row:
    """Return a source's row with our field names. Columns that are missing, empty or null are left out.

    Raises:
        RowError: a column has another type than its field, a needed column is missing, or no column holds code or a
            task.
    """
    if column_map.prepare:
        given = _PREPARE[column_map.prepare](given)
    columns = dict(column_map.columns)
    if given.get(columns.get("licence", "")) in _EMPTY:  # accept other spellings of the column
        spelt = ("licence", "license", "licences", "licenses")
        stated = (key for key, value in given.items() if key.lower() in spelt and value not in _EMPTY)
        columns["licence"] = next(stated, "licence")
    row: Row = {ours: given[theirs] for ours, theirs in columns.items() if not _says_nothing(given.get(theirs))}
    try:
        SourceRow.model_validate(row)
    except ValidationError as error:
        column = columns[str(error.errors()[0]["loc"][0])]
        raise RowError("wrong_type", f"column {column!r}: {wrong_value(error, SourceRow, row)}") from None
    missing = [columns[field] for field in column_map.needs if field not in row and field in columns]
    if missing:
        raise RowError("missing_column", f"column {missing[0]!r} is missing or empty; there are: {_names(given)}")
    if not any(field in row for field in ("code", "answer", "module_code", "task", "reference")):
        raise RowError("missing_column", f"none of the columns holds code or a task; there are: {_names(given)}")
    return row


# ---------------------------------------------------------------------------------------------------------- the stage

# Fields with code, which may state a licence in a comment.
_CODE = ("code", "module_code", "functional_code")


def run_import(settings: ImportSettings) -> Summary:
    """Read a source and write its rows to `folder`/import/<name>/.

    Raises:
        CurationError: there is nothing at the path, it is the curation's own folder, or the format, the preset or a
            field is unknown.
    """
    path = settings.path
    if path.exists() and settings.folder.exists() and path.samefile(settings.folder):
        raise CurationError(f"{path}: the curation would write into its source; give the curation another folder.")
    source_format = settings.format or readers.guess_format(path, settings.folder)
    preset = settings.preset or ("cuset" if source_format in ("tasks", "robust-kbench") else None)
    columns, suffixes = settings.columns, settings.suffixes
    if preset == "kernelbench" and source_format == "tree":  # a clone of KernelBench's repository
        columns, suffixes = {"name": "path", **columns}, (".py",)
    # Settings that the user left open are resolved once for all rows.
    revision = settings.revision or readers.git_revision(path)
    resolved = {"name": settings.label, "format": source_format, "preset": preset, "revision": revision}
    resolved_settings = settings.model_copy(update=resolved)
    column_map = choose_map(preset, columns)
    folder = settings.folder / "import" / settings.label
    before = stored(folder / "summary.json")
    if before and (other := Path(before["settings"]["path"])).resolve() != path.resolve():
        fix = f"give {path} another one, as in name=second, or delete {folder}"
        raise CurationError(f"{other} was imported under the name {settings.label}; {fix}.")
    return run_stage(
        settings.folder,
        "import",
        readers.read(path, source_format, suffixes, settings.folder),
        partial(import_row, settings=resolved_settings, column_map=column_map),
        name=settings.label,
        settings=resolved_settings.model_dump(mode="json"),
        workers=settings.workers,
        processes=True,
        notes=[column_map.note] if column_map.note else (),
    )


def import_row(read: Row, settings: ImportSettings, column_map: ColumnMap) -> list[Row]:
    """Return a list with the imported row.

    Args:
        read: a row as a reader yields it.
        settings: the settings of the stage, with format, preset, name and revision filled in.
        column_map: the map from the source's columns to our fields.

    Raises:
        RowError: the row is broken, not UTF-8 or marked as incorrect by its source, or its licence is not allowed.
    """
    if "problem" in read:
        raise RowError(*read["problem"])
    source_row, file, number = read["given"], read["file"], read["row"]
    row = apply_map(column_map, source_row)
    if row.get("correct") is False:
        raise RowError("incorrect", "its source says that it is wrong")
    if settings.preset in ("cuset", "cudabench"):
        row["task"] = source_row
    if not is_utf8(row):  # the readers represent bytes that are not UTF-8 by lone surrogates
        raise RowError("not_utf8", f"one of the columns {_names(source_row)} is not UTF-8")
    licence, stated_by = _licence(row, column_map, read.get("stated", (UNKNOWN, None)), settings.licence)
    if not licences.is_allowed(licence, settings.allow, allow_unknown=settings.allow_unknown):
        if licences.is_known(licence):
            raise RowError("licence_not_allowed", licence)
        by_name = "" if licence == UNKNOWN else "allow= with this name or "
        raise RowError("licence_unknown", f"{licence} ({by_name}allow_unknown=true keeps such rows)")
    place = file if settings.format in readers.FOLDERS else f"{number:06d}"
    if settings.format not in readers.FOLDERS and settings.path.is_dir():  # rows are numbered from 1 in each shard
        place = f"{file}#{place}"
    row.pop("licence", None)
    source = {
        "name": settings.name,
        "file": file,
        "row": number,
        "key": row.pop("key", None),
        "revision": row.pop("revision", None) or settings.revision,
        "licence": licence,
        "licence_from": stated_by,
        "url": row.get("url"),
    }
    return [{"id": f"{settings.name}:{place}", **row, "source": source}]


def _licence(
    row: Row, column_map: ColumnMap, of_folder: tuple[str, str | None], by_user: str | None
) -> tuple[str, str | None]:
    """Return the licence of a row and where it is stated.

    A licence stated by the row (or else by its data set) and the licences stated in its code all apply together. If
    there are none, the folder's licence applies, and otherwise the user's. All licences of a list apply together.
    """
    stated = row.get("licence", column_map.licence) or UNKNOWN
    stated = licences.all_of(map(str, stated if isinstance(stated, list) else [stated]))
    answer = extract_code(row.get("answer", ""), language="python" if "module_code" in row else "cuda")
    in_code = {licences.of_source(code) for code in (answer, *map(row.get, _CODE)) if code} - {UNKNOWN}
    if stated != UNKNOWN:
        by = "row" if "licence" in row else "data set"
        return licences.all_of([stated, *in_code]), by if in_code <= {stated} else f"{by}, code"
    if in_code:
        return licences.all_of(in_code), "code"
    if of_folder[0] != UNKNOWN or not by_user:
        return of_folder
    return licences.spdx(by_user), "user"
