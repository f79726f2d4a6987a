"""Stage `write`: LLaMA-Factory's alpaca or sharegpt files, their entry in dataset_info.json, and a data card.

Rows are split by task, never by row: all answers to a task, and all rows with the same prompt, are on one side. Files are streamed
and replaced as a whole; other entries of dataset_info.json stay as they are. One process at a time writes into a dataset folder.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ..files import write_atomically
from .card import data_card
from .folders import STAGES, input_rows, locked, stale_stages
from .settings import WriteSettings
from .stage import Dropped, Kept, Outcome, Summary, Unsettled, run_stage
from .stage_rows import CurationError, Row
from .training_text import (
    TEMPLATE_TOKENS,
    Split,
    answer_text,
    is_read_back,
    length_report,
    prompt_text,
    split_tasks,
    token_counter,
)


_SCHEMA = 2
_ENTRIES: dict[str, dict[str, Any]] = {
    "alpaca": {"columns": {"prompt": "instruction", "query": "input", "response": "output", "system": "system"}},
    "sharegpt": {
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "system": "system"},
        "tags": {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt"},
    },
}


def run_write(settings: WriteSettings) -> Summary:
    """Write what `select` left; the summary goes to `folder`/write/.

    Raises:
        CurationError: dataset_info.json is broken, or has an entry of the name that is not ours; another process writes there.
    """
    rows, target = input_rows(settings, "select"), settings.target
    target.mkdir(parents=True, exist_ok=True)
    with locked(target):
        info = _read_info(target / "dataset_info.json")
        formats = dict.fromkeys(settings.formats)
        possible = {settings.file(form, split): _ENTRIES[form] for form in formats for split in ("train", "eval")}
        for path, entry in possible.items():
            _check_entry(target, path, entry, info)
        splits = split_tasks(rows, settings.validation, settings.seed)
        old = stale_stages(settings.folder, STAGES[:-1])
        with _Writer(settings, splits) as writer:
            summary = run_stage(
                settings.folder / "write",
                "write",
                rows,
                writer,
                settings={"schema": _SCHEMA, **settings.model_dump(mode="json", exclude={"folder", "input"})},
                fresh=True,
                notes=[*splits.notes, *old.values()],
            )
            entries = writer.finish()
        for path in possible:  # of an earlier run: its rows may now be on the other side of the split
            if path.stem not in entries and path.stem in info:
                path.unlink(missing_ok=True)
                del info[path.stem]
        info.update(entries)
        write_atomically(target / "dataset_info.json", json.dumps(info, indent=2, ensure_ascii=False) + "\n")
        card = data_card(settings.folder, settings.name, writer.facts, entries)
        write_atomically(target / f"{settings.name}.md", card)
    return summary


def _check_entry(folder: Path, path: Path, entry: dict[str, Any], info: dict[str, Any]) -> None:
    old = info.get(path.stem)
    if path.stem in info and old != {"file_name": path.name, **entry}:
        where = old.get("file_name") if isinstance(old, dict) else old
        raise CurationError(
            f"{folder / 'dataset_info.json'}: {path.stem} is another data set ({where}, with an entry that this stage does not "
            "write); give another name=, or take the entry and its file away."
        )


@dataclass
class _Facts:
    """What the data card says of the rows."""

    rows: Counter[str] = field(default_factory=Counter)
    tasks: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)
    licences: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    without_mutants: int = 0  # rows whose cases found no wrong version of the program out, because there was none
    lengths: Counter[int] = field(default_factory=Counter)  # length -> rows
    length_report: dict[str, Any] = field(default_factory=dict)


class _Writer:
    """Appends each row to the JSON lists of its split; the files appear when `finish` is called."""

    def __init__(self, settings: WriteSettings, splits: Split) -> None:
        self._settings, self._splits = settings, splits
        self._streams: dict[tuple[str, str], IO[str]] = {}
        self._count = token_counter(settings.tokenizer)
        self.facts = _Facts()
        self._groups: set[int] = set()  # those that have a row in the set

    def __enter__(self) -> _Writer:
        for form in _ENTRIES:  # what a process that was killed has left
            for split in ("train", "eval"):
                self._part(form, split).unlink(missing_ok=True)
        return self

    def __exit__(self, *_error: object) -> None:
        for key, stream in self._streams.items():
            stream.close()
            self._part(*key).unlink(missing_ok=True)

    def _part(self, form: str, split: str) -> Path:
        path = self._settings.file(form, split)
        return path.with_name(f".{path.name}.part")

    def __call__(self, row: Row) -> Outcome:
        prompt, answer = prompt_text(row).strip(), answer_text(row, reasoning=self._settings.reasoning)
        if not prompt:
            return Dropped("no_prompt", "nothing to ask a model")
        if not is_read_back(row, answer):
            detail = "the judge would read another program from the answer; look for fences and tags in `intro` and `reasoning`"
            return Dropped("not_read_back", detail)
        group = self._splits.groups.of_row(row)
        split = self._splits.sides.get(group)
        if split is None:
            return Unsettled("came_later", "the row came while the tasks were split; run `cuset curate write` again")
        system = (row.get("task") or {}).get("system") or ""
        about = {
            "name": str(row.get("name") or row["id"]),
            "family": str(row.get("family") or "other"),
            "id": row["id"],
        }
        about |= {"licence": str(row["source"].get("licence")), "source": str(row["source"].get("name"))}
        records = {
            "alpaca": {"instruction": prompt, "input": "", "output": answer, "system": system, **about},
            "sharegpt": {
                "conversations": [{"from": "human", "value": prompt}, {"from": "gpt", "value": answer}],
                "system": system,
                **about,
            },
        }
        for form in dict.fromkeys(self._settings.formats):
            self._append(form, split, records[form])
        self.facts.tasks[split] += group not in self._groups
        self._groups.add(group)
        self._note(split, about, prompt, answer, row)
        return Kept(
            {"id": row["id"], "source": row["source"], "split": split, "provenance": row.get("provenance", [])}
        )

    def _append(self, form: str, split: str, record: dict[str, Any]) -> None:
        stream = self._streams.get((form, split))
        if stream is None:
            stream = self._streams[form, split] = self._part(form, split).open("w", encoding="utf-8", newline="\n")
            stream.write("[\n")
        else:
            stream.write(",\n")
        text = json.dumps(record, indent=2, ensure_ascii=False)
        stream.write(text.encode("utf-8", errors="replace").decode("utf-8"))  # a lone surrogate has no bytes

    def _note(self, split: str, about: dict[str, str], prompt: str, answer: str, row: Row) -> None:
        facts = self.facts
        facts.rows[split] += 1
        facts.families[about["family"]] += 1
        facts.licences[about["licence"]] += 1
        facts.sources[f"{about['source']} @ {row['source'].get('revision') or 'no revision'}"] += 1
        verified = row.get("verified") or {}
        facts.verdicts[str(verified.get("verdict") or "not verified")] += 1
        facts.without_mutants += not (verified.get("mutants") or {}).get("found")
        facts.lengths[self._count(prompt) + self._count(answer) + TEMPLATE_TOKENS] += 1

    def finish(self) -> dict[str, dict[str, Any]]:
        """Put the files in place; the entries of dataset_info.json for them."""
        settings = self._settings
        self.facts.length_report = length_report(
            self.facts.lengths, cutoff_len=settings.cutoff_len, tokenizer=settings.tokenizer
        )
        entries: dict[str, dict[str, Any]] = {}
        for (form, split), stream in sorted(self._streams.items(), key=lambda each: each[0]):
            stream.write("\n]\n")
            stream.flush()
            os.fsync(stream.fileno())
            path = settings.file(form, split)
            self._part(form, split).replace(path)
            entries[path.stem] = {"file_name": path.name, **_ENTRIES[form]}
        return entries


def _read_info(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CurationError(f"{path}: not JSON ({error}); correct it, or give another output=.") from None
    if not isinstance(info, dict):
        raise CurationError(f"{path}: an object with an entry a data set was expected.")
    return info
