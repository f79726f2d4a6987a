"""Stage `export`: LLaMA-Factory's alpaca or sharegpt files, their entry in dataset_info.json, and a data card.

Rows are split by task, never by row: all answers to a task, and all rows with the same prompt, are on one side. The stage's rows are
the texts; the files are made of them and replaced as a whole. Other entries of dataset_info.json stay as they are. One process at a
time writes into a dataset folder.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from .. import __version__
from ..files import write_atomically
from ..jsonl import read_objects
from .folders import STAGES, input_rows, locked, stale_stages
from .funnel import pass_rates, read_funnel, sentences
from .settings import ExportSettings
from .stage import Kept, Summary, run_stage
from .stage_rows import CurationError, Row, RowError, read_lines
from .task_groups import Split, split_tasks
from .training_text import answer_text, is_read_back, length_report, prompt_text, row_length, token_counter


_SPLITS = ("train", "eval")
_COUNTED = ("split", "family", "licence", "source", "verdict", "answered_by")  # by the data card
_ABOUT = ("name", "family", "id", "licence", "source")  # of each record, for people
_ENTRIES: dict[str, dict[str, Any]] = {
    "alpaca": {"columns": {"prompt": "instruction", "query": "input", "response": "output", "system": "system"}},
    "sharegpt": {
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "system": "system"},
        "tags": {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt"},
    },
}


def run_export(settings: ExportSettings) -> Summary:
    """Write what `select` left; the summary goes to `folder`/export/.

    Raises:
        CurationError: dataset_info.json is broken, or has an entry of the name that is not ours; another process writes there.
    """
    rows, target = input_rows(settings, "select"), settings.target
    target.mkdir(parents=True, exist_ok=True)
    with locked(target):
        for left in target.glob(f".{settings.name}*.part"):  # of a process that was killed
            left.unlink()
        files = {
            (form, split): target
            / f"{settings.name}{'_sharegpt' * (form == 'sharegpt')}{'_eval' * (split == 'eval')}.json"
            for form in settings.formats
            for split in _SPLITS
        }
        info = _read_info(target / "dataset_info.json", files)
        splits, facts = split_tasks(rows, settings.validation, settings.seed), Facts()
        count = token_counter(settings.tokenizer)

        def work(row: Row) -> Kept:
            exported = _exported(row, settings, splits, count)
            facts.add(exported)
            return Kept(exported)

        summary = run_stage(
            settings.folder / "export",
            "export",
            rows,
            work,
            settings=settings.model_dump(mode="json", exclude={"folder", "input"}),
            notes=[*splits.notes, *stale_stages(settings.folder, STAGES[:-1]).values()],
        )
        written = settings.folder / "export" / "rows.jsonl"
        entries = {}
        for (form, split), path in files.items():
            if facts.counts["split"][split]:
                write_atomically(path, _list_of(form, split, written))
                entries[path.stem] = _entry(form, path)
            elif info.pop(path.stem, None):  # of an earlier run: its rows are now on the other side of the split
                path.unlink(missing_ok=True)
        write_atomically(target / "dataset_info.json", json.dumps(info | entries, indent=2, ensure_ascii=False) + "\n")
        write_atomically(target / f"{settings.name}.md", data_card(settings, facts, entries))
    return summary


def _entry(form: str, path: Path) -> dict[str, Any]:
    return {"file_name": path.name, **_ENTRIES[form]}


def _read_info(info_path: Path, files: dict[tuple[str, str], Path]) -> dict[str, Any]:
    """dataset_info.json as it is, in which the names of our files mean nothing else."""
    try:
        info = json.loads(info_path.read_text(encoding="utf-8")) if info_path.is_file() else {}
    except (OSError, ValueError) as error:
        raise CurationError(f"{info_path}: not JSON ({error}); correct it, or give another output=.") from None
    if not isinstance(info, dict):
        raise CurationError(f"{info_path}: an object with an entry a data set was expected.")
    for (form, _), path in files.items():
        old = info.get(path.stem)
        if path.stem in info and old != _entry(form, path):
            where = old.get("file_name") if isinstance(old, dict) else old
            raise CurationError(
                f"{info_path}: {path.stem} is another data set ({where}, with an entry that this stage does not write); give "
                "another name=, or take the entry and its file away."
            )
    return info


def _exported(row: Row, settings: ExportSettings, splits: Split, count: Callable[[str], int]) -> Row:
    """The texts of a row, the side of the split that its task is on, and what the card counts. count: tokens of a text."""
    prompt, answer = prompt_text(row).strip(), answer_text(row, reasoning=settings.reasoning)
    if not prompt:
        raise RowError("no_prompt", "nothing to ask a model")
    if not is_read_back(row, answer):
        detail = (
            "the judge would read another program from the answer; look for fences and tags in `intro` and `reasoning`"
        )
        raise RowError("not_read_back", detail)
    group = splits.groups.of_row(row)
    verified = row.get("verified") or {}
    return {
        "id": row["id"],
        "source": row["source"],
        "split": splits.sides[group],
        "task": group,
        "name": str(row.get("name") or row["id"]),
        "family": str(row.get("family") or "other"),
        "system": (row.get("task") or {}).get("system") or "",
        "prompt": prompt,
        "answer": answer,
        "tokens": row_length(count, prompt, answer),
        "verdict": str(verified.get("verdict") or "not verified"),
        "mutant": (verified.get("mutants") or {}).get("found"),
        "answered_by": _author(row),
        "provenance": row.get("provenance", []),
    }


def _author(row: Row) -> str | None:
    """The model that wrote the answer; None: the source did."""
    if sample := row.get("sample"):
        return sample["model"]
    return f"{row['written']['model']}, around a kernel of the source" if row.get("written") else None


def _list_of(form: str, split: str, written: Path) -> Iterator[str]:
    """The JSON list of a file, in parts."""
    start = "[\n"
    for row in (item.row for item in read_lines(written, written.name)):
        if row["split"] == split:
            source = {"licence": str(row["source"].get("licence")), "source": str(row["source"].get("name"))}
            about = {"system": row["system"], **{key: (row | source)[key] for key in _ABOUT}}
            turns = [{"from": "human", "value": row["prompt"]}, {"from": "gpt", "value": row["answer"]}]
            alpaca = {"instruction": row["prompt"], "input": "", "output": row["answer"]}
            record = (alpaca if form == "alpaca" else {"conversations": turns}) | about
            text = json.dumps(record, indent=2, ensure_ascii=False)
            yield start + text.encode("utf-8", errors="replace").decode("utf-8")  # a lone surrogate has no bytes
            start = ",\n"
    yield "\n]\n"


@dataclass
class Facts:
    """Counts over the exported rows, for the data card."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: {key: Counter() for key in _COUNTED})  # of rows
    tasks: dict[int, str] = field(default_factory=dict)  # task -> split
    without_mutants: int = 0  # rows whose cases found no wrong version of the program out, because there was none
    tokens: array[int] = field(default_factory=lambda: array("q"))

    def add(self, row: Row) -> None:
        """Count a row that `_exported` made."""
        source = row["source"]
        counted = row | {
            "licence": str(source.get("licence")),
            "source": f"{source.get('name')} @ {source.get('revision') or 'no revision'}",
            "answered_by": row["answered_by"] or "the source",
        }
        for key, count in self.counts.items():
            count[counted[key]] += 1
        self.tasks[row["task"]] = row["split"]
        self.without_mutants += not row["mutant"]
        self.tokens.append(row["tokens"])


def data_card(settings: ExportSettings, facts: Facts, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """The data card in Markdown: what is in the set, where it comes from, what was left out and why, and how it was verified.

    entries: of dataset_info.json.
    """
    steps = []
    with suppress(CurationError):
        steps = [step for step in read_funnel(settings.folder) if step.stage != "export"]
    by_stage = {step.stage: step for step in steps}
    contaminated = settings.folder / "deduplicate" / "contamination.jsonl"
    rows = read_objects(contaminated) if contaminated.is_file() else ()
    found = Counter(f"{row['benchmark']}: {row['method']}" for _, row in rows)
    page = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        keep_trailing_newline=True,
    )
    page.filters["n"] = "{:,}".format
    page.filters["counts"] = lambda counts, sign: ", ".join(f"{what}{sign}{n:,}" for what, n in counts.items())
    return page.get_template("card.md.jinja").render(
        name=settings.name,
        version=__version__,
        today=f"{datetime.now(UTC):%Y-%m-%d}",
        facts=facts,
        lengths=length_report(facts.tokens, settings),
        entries=entries,
        steps=steps,
        prove=by_stage.get("prove"),
        rates=sentences(pass_rates(settings.folder / "prove")),
        tables=[
            ("Families", "family", facts.counts["family"]),
            ("Answers", "written by", facts.counts["answered_by"]),
            ("Licences", "licence", facts.counts["licence"]),
            ("Sources", "source and revision", facts.counts["source"]),
        ],
        against=by_stage["deduplicate"].settings.get("against", {}) if "deduplicate" in by_stage else {},
        found=found,
    )
