"""Stage `export`: write LLaMA-Factory alpaca files, their entries in dataset_info.json, and a data card.

The train/eval split is by task and never by row: all answers to a task, and all rows with the same prompt, are on the
same side. The stage's own rows contain the final texts. The data files are built from them and replaced as a whole.
Other entries of dataset_info.json stay as they are.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import __version__
from ..files import write_atomically
from ..jsonl import read_objects
from ..pages import template
from ..text import shown
from .adapt import program_of
from .funnel import counted, pass_rates, read_funnel, sentences
from .rows import CurationError, Row, RowError, is_utf8
from .settings import ExportSettings
from .stage import Summary, input_rows, run_stage
from .training_rows import answer_text, is_read_back, length_report, prompt_text, row_length, split_tasks, task_groups


_COLUMNS = {"prompt": "instruction", "query": "input", "response": "output", "system": "system"}


def run_export(settings: ExportSettings) -> Summary:
    """Write the rows of `select` as a LLaMA-Factory data set. The stage's rows and summary go to `folder`/export/.

    Raises:
        CurationError: what is in the data set's folder is not ours, or broken (`check_target`).
    """
    check_target(settings)
    rows, target = list(input_rows(settings, "select")), settings.target
    groups = task_groups(rows)
    sides, notes = split_tasks(rows, groups, settings.validation, settings.seed)
    remaining, exported = iter(groups), list[Row]()

    def work(row: Row) -> list[Row]:
        task = next(remaining)
        exported.append(_exported(row, settings, task, sides[task]))
        return exported[-1:]

    keys = settings.model_dump(mode="json", exclude={"folder", "input"})
    summary = run_stage(settings.folder, "export", rows, work, settings=keys, notes=notes)
    if not exported:  # the command fails, and an earlier data set stays
        return summary
    files = {
        path: [_record(row) for row in exported if row["split"] == side] for side, path in _files(settings).items()
    }
    entries = {path.stem: _entry(path) for path, records in files.items() if records}
    info = check_target(settings)  # again, because another export may have added its entry meanwhile
    others = {name: entry for name, entry in info.items() if name not in {path.stem for path in files}}
    # The entries come first, because they say to a later run that these files are ours.
    write_atomically(target / "dataset_info.json", json.dumps(others | entries, indent=2, ensure_ascii=False) + "\n")
    for path, records in files.items():
        if records:
            write_atomically(path, "[\n" + ",\n".join(records) + "\n]\n")
        else:  # an earlier run may have had rows on this side of the split
            path.unlink(missing_ok=True)
    write_atomically(target / f"{settings.name}.md", data_card(settings, exported, entries))
    return summary


def _files(settings: ExportSettings) -> dict[str, Path]:
    """Return the file of each side of the split."""
    return {side: settings.target / f"{settings.name}{end}.json" for side, end in (("train", ""), ("eval", "_eval"))}


def _entry(path: Path) -> dict[str, Any]:
    return {"file_name": path.name, "columns": _COLUMNS}


def check_target(settings: ExportSettings, sources: Iterable[Path] = ()) -> dict[str, Any]:
    """Return the content of dataset_info.json, and check that the export overwrites neither a source nor another's file.

    Raises:
        CurationError: dataset_info.json is broken, or has an entry of this name that is not ours, or a file of this
            name is there without an entry, or is one of the `sources`.
    """
    info_path, files = settings.target / "dataset_info.json", _files(settings).values()
    if settings.target.is_file():
        raise CurationError(f"output={settings.target}: this is a file; give a folder.")
    try:
        info = json.loads(info_path.read_text(encoding="utf-8")) if info_path.is_file() else {}
    except ValueError as error:
        raise CurationError(f"{info_path}: not JSON ({error}); correct it, or give another output=.") from None
    if not isinstance(info, dict):
        raise CurationError(f"{info_path}: {shown(info)}; expected an object with an entry for each data set.")
    read = {source.resolve() for source in sources}
    for path in files:
        if path.resolve() in read:
            raise CurationError(f"{path}: the data set would overwrite this source; give another name= or output=.")
        if path.stem in info and info[path.stem] != _entry(path):
            what = f"{path.stem} is another data set ({info[path.stem]})"
            raise CurationError(f"{info_path}: {what}; give another name=, or take the entry and its file away.")
    is_ours = {path: path.stem in info for path in files}
    is_ours[settings.target / f"{settings.name}.md"] = any(is_ours.values())
    for path in (path for path in is_ours if path.exists() and not is_ours[path]):
        raise CurationError(f"{path}: the data set would overwrite this file; give another name= or output=.")
    return info


def _exported(row: Row, settings: ExportSettings, task: int, side: str) -> Row:
    """Return a row with the final texts (`side` is "train" or "eval") and the values that the data card counts.

    Raises:
        RowError: the row has no prompt or program or is not UTF-8, or the judge would extract another program.
    """
    prompt, answer = prompt_text(row).strip(), answer_text(row, reasoning=settings.reasoning)
    if not prompt:
        raise RowError("no_prompt", "nothing to ask a model")
    if not program_of(row):
        raise RowError("no_answer", "no program; rows get theirs in `adapt` and `answer`")
    if not is_read_back(row, answer):
        fix = "look for fences and tags in `intro` and `reasoning`"
        raise RowError("not_read_back", f"the judge would read another program from the answer; {fix}")
    verified = row.get("verified") or {}
    made = {
        "id": row["id"],
        "source": row["source"],
        "split": side,
        "task": task,
        "name": str(row.get("name") or row["id"]),
        "family": str(row.get("family") or "other"),
        "system": (row.get("task") or {}).get("system") or "",
        "prompt": prompt,
        "answer": answer,
        "tokens": row_length(prompt, answer),
        "verdict": str(verified.get("verdict") or "not verified"),
        "mutant": (verified.get("mutants") or {}).get("found"),
        "answered_by": _author(row),
    }
    if not is_utf8(made):
        raise RowError("not_utf8", "there is half a character in it (a lone surrogate), which UTF-8 cannot encode")
    return made


def _author(row: Row) -> str | None:
    """Return the model that wrote the answer, or None if the answer comes from the source."""
    if sample := row.get("sample"):
        return sample["model"]
    return f"{row['written']['model']}, around a kernel of the source" if row.get("written") else None


def _record(row: Row) -> str:
    """Return an alpaca record as JSON, with further keys that say what the row is and where it comes from."""
    record = {"instruction": row["prompt"], "input": "", "output": row["answer"]}
    record |= {key: row[key] for key in ("system", "name", "family", "id")}
    record |= {"licence": str(row["source"].get("licence")), "source": str(row["source"].get("name"))}
    return json.dumps(record, indent=2, ensure_ascii=False)


def data_card(settings: ExportSettings, rows: Sequence[Row], entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the data card in Markdown.

    It says what is in the data set, where it comes from, what was left out and why, and how it was
    verified. `entries` are those of this data set in dataset_info.json.
    """
    steps = {step["stage"]: step for step in read_funnel(settings.folder) if step["stage"] != "export"}
    contaminated = settings.folder / "deduplicate" / "contamination.jsonl"
    contaminations = read_objects(contaminated) if contaminated.is_file() else ()
    sources = [row["source"] for row in rows]
    origins = [f"{source.get('name')} @ {source.get('revision') or 'no revision'}" for source in sources]
    page = template("curate/card.md.jinja", is_html=False, n="{:,}".format, counts=counted)
    return page.render(
        name=settings.name,
        version=__version__,
        today=f"{datetime.now(UTC):%Y-%m-%d}",
        rows=rows,
        verdicts=Counter(row["verdict"] for row in rows),
        lengths=length_report([row["tokens"] for row in rows], settings.cutoff_len),
        entries=entries,
        steps=steps,
        rates=sentences(pass_rates(settings.folder / "prove")),
        tables=[
            ("Families", "family", Counter(row["family"] for row in rows)),
            ("Answers", "written by", Counter(row["answered_by"] or "the source" for row in rows)),
            ("Licences", "licence", Counter(str(source.get("licence")) for source in sources)),
            ("Sources", "source and revision", Counter(origins)),
        ],
        found=Counter(f"{row['benchmark']}: {row['method']}" for _, row in contaminations),
    )
