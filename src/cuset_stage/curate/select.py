"""Stage `select`: of answers to a task that are alike the fastest, the best answers, in balance.

The rows are read twice: once for lengths and MinHashes, once to write what was decided. In between, memory holds numbers alone.
The stage is quick and depends on all rows together, so it is always done afresh. Beside the usual files it writes selection.json, with
the length report.

Rows are ranked by what `prove` measured, whatever their source claims: a module by its speed-up over PyTorch, a program by its run
time against the other answers to its task (`speeds`), unless per_gpu had it share its GPU. A speed-up under one of the
judge's flags counts as not measured.
"""

from __future__ import annotations

import ast
import json
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf, isnan, nan

import numpy as np
import pandas as pd

from ..files import write_atomically
from ..judge.rewards import REWARDS
from .fingerprints import Sketches, device_sketch, fingerprints_of
from .folders import input_rows
from .modules import forward_of
from .settings import SelectSettings
from .stage import Kept, Summary, run_stage
from .stage_rows import Row, RowError, StageRows, digest, number_of
from .task_groups import Groups
from .training_text import answer_text, length_report, prompt_text, row_length, token_counter


LENGTH_BINS = 4
FAST = 5.0  # ConCuR: answers this much faster than the baseline are kept whatever their reasoning
# Columns of the table below; codes of `array`.
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
    summary = run_stage(folder, "select", rows, work, settings=keys, notes=decided.notes)
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
    """A table of the rows by their numbers, and (reason, detail) of those that are dropped."""

    table: pd.DataFrame
    names: list[str]
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
    names, sketches, groups = list[str](), Sketches(settings.near, settings.folder), Groups()
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
    """Drop answers to one task whose kernels are alike: the fastest stays, then the shortest."""
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


# ---------------------------------------------------------------------------------------------------------- the rules
#
# Each takes a table, a line a row, and returns the lines to drop, with why. Columns: `order`, which is as good as chance and
# repeatable; `group`, equal for answers to one task; `family`; `tokens` of prompt and answer; `reasoning`, its length in tokens;
# `speedup` of a module over its reference; `run_s`, seconds a program takes for all its cases; `bench`, equal for programs whose
# times can be compared; `single`, whether a module computes one operator. NaN stands for what there is not.


def is_judged(table: pd.DataFrame) -> pd.Series:
    """True for rows that ConCuR's rule judges."""
    return table["reasoning"].notna() & table["speedup"].notna()


def concur(table: pd.DataFrame) -> dict[int, str]:
    """ConCuR's selection of answers with reasoning.

    Kept of the right answers to a task: (a) the one with the shortest reasoning where it is the fastest kernel as well, (b) those
    more than 5x faster than the baseline, (c) of a task of a single operator, for balance, the one with the shortest reasoning.
    Rows without reasoning are not the rule's business and stay; so do rows without a measured speed-up, such as programs, which
    have no baseline: without (b) and (c) the rule would throw most of their tasks away.
    """
    judged = table[is_judged(table)].sort_values(["reasoning", "order"])
    groups = judged.groupby("group")
    judged = judged.assign(
        is_shortest=groups.cumcount() == 0,
        shortest=groups["reasoning"].transform("min"),
        fastest=groups["speedup"].transform("max"),
    )
    best = judged["is_shortest"] & ((judged["speedup"] == judged["fastest"]) | judged["single"].astype(bool))
    return {
        each.Index: f"speed-up {each.speedup:.2f}, {each.reasoning:.0f} tokens of reasoning; the task's shortest has "
        f"{each.shortest:.0f} and its fastest {each.fastest:.2f}"
        for each in judged[~best & ~(judged["speedup"] > FAST)].itertuples()
    }


def speeds(table: pd.DataFrame) -> pd.Series:
    """The speed-up of each answer as a reward takes it; NaN where nothing was measured of its task.

    A module's is over its reference. A program has no baseline: its own is the median time of the task's programs that ran the
    same cases on the same GPU, over its time. It has one decimal: the start of a process is in these times, and what differs by
    less is noise. One without a time among others that have one counts as a median one: per_gpu may change when a stopped run is
    resumed.
    """
    medians = table.groupby(["group", "bench"])["run_s"].transform("median")
    speed = table["speedup"].fillna((medians / table["run_s"]).round(1))
    timed = table.groupby("group")["run_s"].transform("count") > 0
    return speed.mask(speed.isna() & timed, 1.0)


def worse_answers(table: pd.DataFrame, count: int, reward: str) -> dict[int, str]:
    """All but the `count` answers to each task with the highest reward, of `speeds`; of equal ones the shorter stay."""

    def reward_of(speed: float) -> float:  # of a right answer: rows that were not right did not come this far
        return REWARDS[reward]({"compiled": True, "passed": True, "speedup": None if isnan(speed) else speed})

    ranked = table.assign(reward=speeds(table).map(reward_of).astype(float))
    ranked = ranked.sort_values(["reward", "tokens", "order"], ascending=[False, True, True])
    groups = ranked.groupby("group")
    ranked = ranked.assign(place=groups.cumcount() + 1, answers=groups["reward"].transform("size"))
    return {
        each.Index: f"place {each.place} of {each.answers} answers by the reward {reward} ({each.reward:.3f})"
        for each in ranked[ranked["place"] > count].itertuples()
    }


def beyond_balance(table: pd.DataFrame, most: int, families: Sequence[str]) -> dict[int, str]:
    """The rows over `most` of each family. families: the name of each value of `family`.

    They are taken in turns from the family's length quartiles, so that short programs do not crowd out long ones; within a quartile
    faster ones first.
    """
    ranked = table.assign(slowness=-table["speedup"].fillna(0.0)).sort_values(["tokens", "order"])
    groups = ranked.groupby("family")
    ranked = ranked.assign(members=groups["tokens"].transform("size"), place=groups.cumcount())
    ranked["quartile"] = ranked["place"] // np.ceil(ranked["members"] / LENGTH_BINS)
    ranked = ranked.sort_values(["slowness", "order"])
    ranked["turn"] = ranked.groupby(["family", "quartile"]).cumcount()
    ranked = ranked.sort_values(["turn", "quartile", "order"])
    return {
        each.Index: f"the family {families[each.family]} has {each.members} rows; {most} are taken"
        for each in ranked[ranked.groupby("family").cumcount() >= most].itertuples()
    }


def is_single_operator(row: Row) -> bool:
    """True if a module's forward computes one operator: KernelBench's level 1, or a body with a single call."""
    if str(row.get("level", "")).lower().removeprefix("level") == "1":
        return True
    try:
        forward = forward_of(ast.parse(row.get("module_code") or ""))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return forward is not None and sum(isinstance(node, (ast.Call, ast.BinOp)) for node in ast.walk(forward)) == 1
