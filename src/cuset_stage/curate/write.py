"""Stage `write`: LLaMA-Factory's alpaca or sharegpt files, their entry in dataset_info.json, and a data card.

Rows are split by task, never by row: all answers to a task, and all rows with the same prompt, are on one side. Files are streamed
and replaced as a whole; other entries of dataset_info.json stay as they are. One process at a time writes into a dataset folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from ..files import write_atomically
from .card import data_card
from .inputs import stale_stages
from .lengths import TEMPLATE_TOKENS, length_report, token_counter
from .response import answer_text, is_read_back, prompt_text
from .splitting import Split, split_tasks
from .stage import STAGES, Dropped, Kept, Outcome, Summary, Unsettled, run_stage
from .stage_rows import CurationError, Row, read_stage_rows
from .store import DiskMap


_SCHEMA = 2
FORMATS = ("alpaca", "sharegpt")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
_ENTRIES: dict[str, dict[str, Any]] = {
    "alpaca": {"columns": {"prompt": "instruction", "query": "input", "response": "output", "system": "system"}},
    "sharegpt": {
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "system": "system"},
        "tags": {"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt"},
    },
}


@dataclass(frozen=True)
class Output:
    """What is written.

    Args:
        folder: LLaMA-Factory's dataset_dir.
        name: of the training set in dataset_info.json; the validation set is called <name>_eval, sharegpt's <name>_sharegpt.
        formats: of FORMATS; one that is given twice is written once.
        validation: share of the tasks that go to validation, [0, 1).
        seed: another seed chooses other tasks.
        reasoning: put a row's reasoning into its answer.

    Raises:
        CurationError: a value that cannot be used.
    """

    folder: Path
    name: str = "curated"
    formats: tuple[str, ...] = FORMATS
    validation: float = 0.05
    seed: int = 0
    reasoning: bool = False
    cutoff_len: int = 4096
    tokenizer: str | None = None

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise CurationError(f"--name {self.name}: letters, digits, `_`, `.` and `-`; it becomes a file's name.")
        if unknown := [each for each in self.formats if each not in FORMATS] or not self.formats:
            raise CurationError(f"--formats {unknown}: some of {', '.join(FORMATS)}.")
        object.__setattr__(self, "formats", tuple(dict.fromkeys(self.formats)))
        if self.name.lower() == "dataset_info":
            raise CurationError(
                f"--name {self.name}: dataset_info.json is the list of all data sets; give another name."
            )
        if not 0 <= self.validation < 1:
            raise CurationError(f"--validation {self.validation}: a share in [0, 1).")

    def file(self, form: str, split: str) -> Path:
        form_part = "" if form == "alpaca" else f"_{form}"
        return self.folder / f"{self.name}{form_part}{'_eval' if split == 'eval' else ''}.json"


def run_write(folder: Path, files: Sequence[Path], output: Output) -> Summary:
    """Write the rows of `files`; the summary goes to `folder`/write/.

    Raises:
        CurationError: dataset_info.json is broken, or has an entry of the name that is not ours; another process writes there.
    """
    output.folder.mkdir(parents=True, exist_ok=True)
    with _locked(output.folder):
        info = _read_info(output.folder / "dataset_info.json")
        possible = {output.file(form, split): _ENTRIES[form] for form in output.formats for split in ("train", "eval")}
        for path, entry in possible.items():
            _check_entry(output.folder, path, entry, info)
        splits = split_tasks(files, output.validation, output.seed)
        old = stale_stages(folder, STAGES[1:-1])
        with _Writer(output, splits) as writer:
            summary = run_stage(
                folder / "write",
                "write",
                read_stage_rows(files),
                writer,
                settings={"schema": _SCHEMA, **asdict(output), "folder": str(output.folder.resolve())},
                fresh=True,
                notes=[*splits.notes, *old.values()],
            )
            entries = writer.finish()
        for path in possible:  # of an earlier run: its rows may now be on the other side of the split
            if path.stem not in entries and path.stem in info:
                path.unlink(missing_ok=True)
                del info[path.stem]
        info.update(entries)
        write_atomically(output.folder / "dataset_info.json", json.dumps(info, indent=2, ensure_ascii=False) + "\n")
        card = data_card(folder, output.name, writer.facts, entries)
        write_atomically(output.folder / f"{output.name}.md", card)
    return summary


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """The folder to ourselves: its list is read and written, and the names of unfinished files are fixed. Leaves no file behind."""
    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(place)
        raise CurationError(f"{folder}: another process is writing there; wait for it, or stop it.") from None
    try:
        yield
    finally:
        os.close(place)


def _check_entry(folder: Path, path: Path, entry: dict[str, Any], info: dict[str, Any]) -> None:
    old = info.get(path.stem)
    if path.stem in info and old != {"file_name": path.name, **entry}:
        where = old.get("file_name") if isinstance(old, dict) else old
        raise CurationError(
            f"{folder / 'dataset_info.json'}: {path.stem} is another data set ({where}, with an entry that this stage does not "
            "write); give another --name, or take the entry and its file away."
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

    def __init__(self, output: Output, splits: Split) -> None:
        self._output, self._splits = output, splits
        self._streams: dict[tuple[str, str], IO[str]] = {}
        self._count = token_counter(output.tokenizer)
        self.facts = _Facts()
        self._groups = DiskMap()  # those that have a row in the set

    def __enter__(self) -> _Writer:
        for form in FORMATS:  # what a process that was killed has left
            for split in ("train", "eval"):
                self._part(form, split).unlink(missing_ok=True)
        return self

    def __exit__(self, *_error: object) -> None:
        for key, stream in self._streams.items():
            stream.close()
            self._part(*key).unlink(missing_ok=True)

    def _part(self, form: str, split: str) -> Path:
        path = self._output.file(form, split)
        return path.with_name(f".{path.name}.part")

    def __call__(self, row: Row) -> Outcome:
        prompt, answer = prompt_text(row).strip(), answer_text(row, reasoning=self._output.reasoning)
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
        for form in self._output.formats:
            self._append(form, split, records[form])
        self.facts.tasks[split] += group not in self._groups
        self._groups[group] = split
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
        output = self._output
        self.facts.length_report = length_report(
            self.facts.lengths, cutoff_len=output.cutoff_len, tokenizer=output.tokenizer
        )
        entries: dict[str, dict[str, Any]] = {}
        for (form, split), stream in sorted(self._streams.items(), key=lambda each: each[0]):
            stream.write("\n]\n")
            stream.flush()
            os.fsync(stream.fileno())
            path = output.file(form, split)
            self._part(form, split).replace(path)
            entries[path.stem] = {"file_name": path.name, **_ENTRIES[form]}
        return entries


def _read_info(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CurationError(f"{path}: not JSON ({error}); correct it, or give another --output.") from None
    if not isinstance(info, dict):
        raise CurationError(f"{path}: an object with an entry a data set was expected.")
    return info
