"""Stage `select`: of answers to a task that are alike the fastest, the best answers, in balance.

The rows are read twice: once for lengths and MinHashes, once to write what was decided. In between, memory holds numbers alone.
The stage is quick and depends on all rows together, so it is always done afresh. Beside the usual files it writes selection.json, with
the length report.

Rows are ranked by what `prove` measured, whatever their source claims: a module by its speed-up over PyTorch, a program by its run
time against the other answers to its task (`ranking.speeds`), unless per_gpu had it share its GPU. A speed-up under one of the
judge's flags counts as not measured.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import inf, nan

import numpy as np
import pandas as pd

from ..files import write_atomically
from .fingerprints import device_sketch, fingerprints_of
from .folders import input_rows
from .near import Sketches, Texts
from .ranking import beyond_balance, concur, is_judged, is_single_operator, worse_answers
from .settings import SelectSettings
from .stage import Kept, Summary, run_stage
from .stage_rows import Row, RowError, StageRows, digest, number_of
from .task_groups import Groups
from .training_text import answer_text, length_report, prompt_text, row_length, token_counter


# The columns that ranking.py describes; codes of `array`.
_COLUMNS = {
    "order": "Q", "group": "Q", "family": "q", "tokens": "q", "reasoning": "d", "speedup": "d", "run_s": "d", "bench": "Q",
    "single": "q",
}  # fmt: skip


def run_select(settings: SelectSettings) -> Summary:
    """Select among what `prove` left into `folder`/select/.

    Raises:
        CurationError: the tokenizer cannot be read.
    """
    rows = input_rows(settings, "prove")
    decided = _decide(rows, settings)
    numbers = count()

    def work(row: Row) -> Kept:
        if reason := decided.dropped.get(next(numbers)):
            raise RowError(*reason)
        return Kept(row)

    folder = settings.folder / "select"
    keys = settings.model_dump(exclude={"folder", "input"})
    summary = run_stage(
        folder,
        "select",
        rows,
        work,
        settings=keys,
        notes=decided.notes,
    )
    left = decided.left()
    families = left["family"].map(dict(enumerate(decided.families)))
    over = left.index[left["tokens"] > settings.cutoff_len][:1000]
    report = {
        "families": dict(Counter(families).most_common()),
        "tasks": left["group"].nunique(),
        "lengths": length_report(left["tokens"], settings),
        "over_cutoff": [decided.names[number] for number in over],
    }
    write_atomically(folder / "selection.json", json.dumps(report, indent=2) + "\n")
    return summary


@dataclass
class _Decided:
    """What is known of the rows by their numbers, and why some are dropped: (reason, detail)."""

    table: pd.DataFrame
    names: Texts
    families: list[str]
    dropped: dict[int, tuple[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def left(self) -> pd.DataFrame:
        return self.table.drop(index=list(self.dropped))

    def drop(self, reason: str, details: Mapping[int, str]) -> None:
        self.dropped.update({number: (reason, detail) for number, detail in details.items()})


def _decide(rows: StageRows, settings: SelectSettings) -> _Decided:
    tokens = token_counter(settings.tokenizer)
    columns = {name: array(kind) for name, kind in _COLUMNS.items()}
    names, sketches, groups = Texts(settings.folder), Sketches(settings.near, settings.folder), Groups()
    families: dict[str, int] = {}
    for item in rows.distinct():
        row = item.row
        line = {
            "order": number_of(item.key),
            "group": groups.add(row),
            "family": families.setdefault(str(row.get("family") or "other"), len(families)),
            **_measured(row, tokens, settings.reasoning),
        }
        for name, column in columns.items():
            column.append(line[name])
        names.append(row["id"])
        sketches.append(device_sketch(fingerprints_of(row)))
    columns["group"] = array("Q", map(groups.of, columns["group"]))  # now that all keys are joined
    table = pd.DataFrame({name: np.frombuffer(column, column.typecode) for name, column in columns.items()})
    decided = _Decided(table, names, list(families))
    if settings.drop_long:
        left = decided.left()
        long = left.loc[left["tokens"] > settings.cutoff_len, "tokens"]
        details = {number: f"{tokens} tokens; cutoff_len is {settings.cutoff_len}" for number, tokens in long.items()}
        decided.drop("too_long", details)
    if settings.near < 1:
        _drop_near(decided, sketches)
    if settings.concur:
        left = decided.left()
        alone = int((left["reasoning"].notna() & ~is_judged(left)).sum())
        if alone:
            decided.notes.append(
                f"concur leaves {alone} rows with reasoning alone: `prove` measured no speed-up of theirs, or one under a flag. It "
                "does of modules, on a GPU; programs have no baseline, and per_task ranks them by their run times."
            )
        decided.drop("concur_rule", concur(left))
    if settings.per_task is not None:
        decided.drop("not_among_best", worse_answers(decided.left(), settings.per_task, settings.reward))
    if settings.per_family is not None:
        decided.drop("family_full", beyond_balance(decided.left(), settings.per_family, decided.families))
    return decided


def _drop_near(decided: _Decided, sketches: Sketches) -> None:
    """Of answers to one task whose kernels are alike the fastest stays, then the shortest."""
    left = decided.left()
    # Processes differ by tenths of a second.
    ranked = left.assign(slowness=-left["speedup"].fillna(0.0), seconds=left["run_s"].round(1).fillna(inf))
    ranked = ranked.sort_values(["slowness", "seconds", "tokens", "order"])
    like, how = sketches.duplicates(ranked.index.to_numpy(), decided.table["group"].to_numpy())
    for number in np.flatnonzero(like >= 0).tolist():
        detail = f"its kernels are like those of {decided.names[like[number]]} (similarity {how[number]:.2f})"
        decided.drop("duplicate_near", {number: detail})


def _measured(row: Row, count: Callable[[str], int], reasoning: bool) -> dict[str, float]:
    verified, task = row.get("verified") or {}, row.get("task") or {}
    measured = verified if verified.get("per_gpu", 1) == 1 else {}  # what was only compiled has no such field
    speedup = None if measured.get("module_flags") else measured.get("speedup")  # what may be a trick is not rewarded
    # The least disturbed run of each case.
    seconds = sum(min(case["run_s"]) for case in measured.get("cases") or ())
    return {
        "tokens": row_length(count, prompt_text(row), answer_text(row, reasoning=reasoning)),
        "reasoning": count(row["reasoning"]) if row.get("reasoning") else nan,
        "speedup": nan if speedup is None else float(speedup),
        "run_s": seconds or nan,
        # Other sizes take other times.
        "bench": number_of(digest(json.dumps([task.get("cases"), verified.get("gpu")]))),
        "single": row.get("kind") == "module" and is_single_operator(row),
    }
