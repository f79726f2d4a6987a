"""Which of the rows that are left are worth training on: the best answers to a task, ConCuR's rule, and balance between families.

Each rule takes a table, a line a row, and returns the lines to drop, with why. Columns: `order`, which is as good as chance and
repeatable; `group`, equal for answers to one task; `family`; `tokens` of prompt and answer; `reasoning`, its length in tokens;
`speedup` of a module over its reference; `run_s`, seconds a program takes for all its cases; `bench`, equal for programs whose times
can be compared; `single`, whether a module computes one operator. NaN stands for what there is not. Only what `prove` measured
counts: a speed-up that the source claims is not looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import isnan

import numpy as np
import pandas as pd

from ..judge.rewards import REWARDS
from .modules import forward_of
from .stage_rows import Row


LENGTH_BINS = 4
FAST = 5.0  # ConCuR: answers this much faster than the baseline are kept whatever their reasoning


def is_judged(table: pd.DataFrame) -> pd.Series:
    """Whether ConCuR's rule has something to say of a row."""
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
    """What a reward takes for the speed-up of each answer; NaN: nothing was measured of its task.

    A module's is over its reference. A program has no baseline: its own is the median time of the task's programs that ran the
    same cases on the same GPU, over its time. It has one decimal: the start of a process is in these times, and what differs by
    less is noise. One without a time among others that have one counts as a median one: per_gpu may change when a stopped run is
    resumed.
    """
    medians = table.groupby(["group", "bench"])["run_s"].transform("median")
    found = table["speedup"].fillna((medians / table["run_s"]).round(1))
    timed = table.groupby("group")["run_s"].transform("count") > 0
    return found.mask(found.isna() & timed, 1.0)


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
    """What is over `most` rows a family. families: the name of each value of `family`.

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
    """Whether a module's forward computes one operator: KernelBench's level 1, or a body with a single call."""
    if str(row.get("level", "")).lower().removeprefix("level") == "1":
        return True
    try:
        forward = forward_of(ast.parse(row.get("module_code") or ""))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return forward is not None and sum(isinstance(node, (ast.Call, ast.BinOp)) for node in ast.walk(forward)) == 1
