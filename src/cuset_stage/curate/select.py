"""Stage `select`: no row from a benchmark, no row twice, the best answers, in balance.

The rows are read twice: once for fingerprints and lengths, once to write what was decided. In between, memory holds numbers alone,
and fingerprints lie in temporary files. The stage is quick and depends on all rows together, so it is always done afresh. Beside the
usual files it writes selection.json, with the length report, and contamination.jsonl, with every row that was found in a benchmark.

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
from .contamination import Benchmarks, Contamination
from .folders import input_rows
from .ranking import beyond_balance, concur, is_judged, is_single_operator, worse_answers
from .settings import SelectSettings
from .similarity import NearIndex, OnDisk, is_near, jaccard, row_print
from .stage import Dropped, Kept, Outcome, Summary, run_stage
from .stage_rows import Row, StageRows, digest
from .training_text import Groups, answer_text, length_report, prompt_text, row_length, token_counter


_SCHEMA = 4
# The columns that ranking.py describes, and digests of the program; codes of `array`.
_COLUMNS = {
    "order": "Q", "group": "Q", "family": "q", "tokens": "q", "reasoning": "d", "speedup": "d", "run_s": "d", "bench": "Q",
    "single": "q", "exact": "Q", "normalised": "Q",
}  # fmt: skip


def run_select(settings: SelectSettings) -> Summary:
    """Select among what `prove` left into `folder`/select/.

    Raises:
        CurationError: a benchmark or the tokenizer cannot be read.
    """
    rows = input_rows(settings, "prove")
    benchmarks = Benchmarks(settings.against, code_threshold=settings.near_code, prompt_threshold=settings.near_prompt)
    decided = _decide(rows, settings, benchmarks)
    numbers = count()

    def work(row: Row) -> Outcome:
        reason = decided.dropped.get(next(numbers))
        return Kept(row) if reason is None else Dropped(*reason)

    folder = settings.folder / "select"
    keys = settings.model_dump(exclude={"folder", "input", "against"})
    summary = run_stage(
        folder,
        "select",
        rows,
        work,
        settings={"schema": _SCHEMA, **keys, "against": benchmarks.record},
        fresh=True,
        notes=decided.notes,
    )
    left, found = decided.left(), decided.contaminated
    families = left["family"].map(dict(enumerate(decided.families)))
    over = left.index[left["tokens"] > settings.cutoff_len][:1000]
    report = {
        "against": benchmarks.record,
        "found_in_benchmarks": dict(Counter(f"{each.benchmark}: {each.method}" for each in found.values())),
        "families": dict(Counter(families).most_common()),
        "tasks": left["group"].nunique(),
        "lengths": length_report(left["tokens"], settings),
        "over_cutoff": [decided.name(number) for number in over],
    }
    write_atomically(folder / "selection.json", json.dumps(report, indent=2) + "\n")
    records = ({"id": decided.name(number), **vars(each)} for number, each in found.items())
    write_atomically(folder / "contamination.jsonl", (f"{json.dumps(record)}\n" for record in records))
    return summary


@dataclass
class _Decided:
    """What is known of the rows by their numbers, and why some are dropped: (reason, detail). about: id and fingerprint of each."""

    table: pd.DataFrame
    about: OnDisk
    families: list[str]
    dropped: dict[int, tuple[str, str]] = field(default_factory=dict)
    contaminated: dict[int, Contamination] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def left(self) -> pd.DataFrame:
        return self.table.drop(index=list(self.dropped))

    def drop(self, reason: str, details: Mapping[int, str]) -> None:
        self.dropped.update({number: (reason, detail) for number, detail in details.items()})

    def name(self, number: int) -> str:
        return self.about[number][0]


def _decide(rows: StageRows, settings: SelectSettings, benchmarks: Benchmarks) -> _Decided:
    tokens = token_counter(settings.tokenizer)
    columns = {name: array(kind) for name, kind in _COLUMNS.items()}
    about, groups = OnDisk(settings.folder), Groups()
    families: dict[str, int] = {}
    found: dict[int, Contamination] = {}
    seen: set[bytes] = set()
    for item in rows:
        if item.row is None or (key := bytes.fromhex(item.key)) in seen:
            continue  # run_stage reports the one, and counts the other as repeated
        seen.add(key)
        row, fingerprint = item.row, row_print(item.row)
        contamination = benchmarks.find(row)
        if contamination is not None:
            found[len(about)] = contamination
        line = {
            "order": _number(item.key),
            "group": groups.add(row),
            "family": families.setdefault(str(row.get("family") or "other"), len(families)),
            "exact": _number(fingerprint.exact) if fingerprint else 0,
            "normalised": _number(fingerprint.normalised) if fingerprint else 0,
            **_measured(row, tokens, settings.reasoning),
        }
        for name, column in columns.items():
            column.append(line[name])
        about.append((row["id"], fingerprint))
    columns["group"] = array("Q", map(groups.of, columns["group"]))  # now that all keys are joined
    table = pd.DataFrame({name: np.frombuffer(column, column.typecode) for name, column in columns.items()})
    decided = _Decided(table, about, list(families), contaminated=found)
    decided.drop("contaminated", {number: str(each) for number, each in found.items()})
    if settings.drop_long:
        left = decided.left()
        long = left.loc[left["tokens"] > settings.cutoff_len, "tokens"]
        details = {number: f"{tokens} tokens; cutoff_len is {settings.cutoff_len}" for number, tokens in long.items()}
        decided.drop("too_long", details)
    _drop_duplicates(decided, settings)
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


def _drop_duplicates(decided: _Decided, settings: SelectSettings) -> None:
    """Of programs that are alike the fastest stays, then the shortest. near: 1: only equal ones are alike."""
    left = decided.left()
    left = left[left["exact"] != 0]  # the others have nothing to compare them by
    # Processes differ by tenths of a second.
    ranked = left.assign(slowness=-left["speedup"].fillna(0.0), seconds=left["run_s"].round(1).fillna(inf))
    ranked = ranked.sort_values(["slowness", "seconds", "tokens", "order"])
    for column, same_but_for in (("exact", "comments and spaces"), ("normalised", "names")):
        numbers = ranked.index.to_series()
        first = numbers.groupby(ranked[column]).transform("first")
        details = {
            number: f"the same as {decided.name(other)} but for {same_but_for}"
            for number, other in first[first != numbers].items()
        }
        decided.drop(f"duplicate_{column}", details)
        ranked = ranked[first == numbers]
    if settings.near == 1:
        return
    index, kept = NearIndex(settings.near, len(ranked)), array("q")
    for number in ranked.index:
        found = decided.about[number][1]
        if found.near is None:
            continue
        for name, other in (decided.about[kept[place]] for place in index.candidates(found)):
            if is_near(found, other, settings.near):
                similarity = jaccard(found.near, other.near)
                decided.drop("duplicate_near", {number: f"like {name} (similarity {similarity:.2f})"})
                break
        else:
            index.add(found)
            kept.append(number)


def _number(key: str) -> int:
    """The first 64 bits of a digest."""
    return int(key[:16], 16)


def _measured(row: Row, count: Callable[[str], int], reasoning: bool) -> dict[str, float]:
    verified, task = row.get("verified") or {}, row.get("task") or {}
    measured = verified if verified.get("per_gpu", 1) == 1 else {}  # rows of old have no such field
    speedup = None if measured.get("module_flags") else measured.get("speedup")  # what may be a trick is not rewarded
    # The least disturbed run of each case.
    seconds = sum(min(case["run_s"]) for case in measured.get("cases") or ())
    return {
        "tokens": row_length(count, prompt_text(row), answer_text(row, reasoning=reasoning)),
        "reasoning": count(row["reasoning"]) if row.get("reasoning") else nan,
        "speedup": nan if speedup is None else float(speedup),
        "run_s": seconds or nan,
        "bench": _number(digest(json.dumps([task.get("cases"), verified.get("gpu")]))),  # other sizes take other times
        "single": row.get("kind") == "module" and is_single_operator(row),
    }
