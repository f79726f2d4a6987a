"""Stage `select`: of answers to a task that are alike the fastest, and the best answers.

All rows are held: each was proved, which is dear, so that they are not many.

Rows are ranked by what `prove` measured, whatever their source claims: a module by its speed-up over PyTorch, a program by its run
time against the other answers to its task (`speeds`), unless per_gpu had it share its GPU. A speed-up under one of the
judge's flags counts as not measured.
"""

from __future__ import annotations

import json
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd

from .fingerprints import Sketches, device_sketch, fingerprints_of
from .rows import Row, digest, number_of
from .settings import SelectSettings
from .stage import Summary, all_but, input_rows, run_stage
from .training_rows import answer_text, prompt_text, row_length, task_groups


def run_select(settings: SelectSettings) -> Summary:
    """Select among what `prove` left into `folder`/select/."""
    rows = list(input_rows(settings, "prove"))
    table = pd.DataFrame(
        [{**_measured(row), "order": number_of(digest(row["id"]))} for row in rows],
        columns=["id", "tokens", "speedup", "run_s", "bench", "order"],
    ).astype({"tokens": int, "speedup": float, "run_s": float})  # also of no rows
    table["group"] = np.array(task_groups(rows), np.uint64)
    dropped: dict[int, tuple[str, str]] = {}
    if settings.near < 1:
        sketches = Sketches(settings.near, settings.folder)
        for row in rows:
            sketches.append(device_sketch(fingerprints_of(row)))
        dropped |= alike(table, sketches)
    if settings.per_task is not None:
        dropped |= worse_answers(table.drop(index=list(dropped)), settings.per_task)
    keys = settings.model_dump(exclude={"folder", "input"})
    return run_stage(settings.folder, "select", rows, all_but(dropped), settings=keys)


def _measured(row: Row) -> dict[str, Any]:
    """A line of the table that the rules read."""
    verified, task = row.get("verified") or {}, row.get("task") or {}
    measured = verified if verified.get("per_gpu", 1) == 1 else {}  # what was only compiled has no such field
    speedup = None if measured.get("module_flags") else measured.get("speedup")  # what may be a trick is not rewarded
    # The least disturbed run of each case.
    seconds = sum(min(case["run_s"]) for case in measured.get("cases") or ())
    return {
        "id": row["id"],
        "tokens": row_length(prompt_text(row), answer_text(row)),
        "speedup": nan if speedup is None else float(speedup),
        "run_s": seconds or nan,
        # Other sizes take other times.
        "bench": number_of(digest(json.dumps([task.get("cases"), verified.get("gpu")]))),
    }


# ---------------------------------------------------------------------------------------------------------- the rules
#
# Each takes a table, a line a row, and returns the lines to drop, with reason and detail. Columns: `order`, which is as good as chance and
# repeatable; `group`, equal for answers to one task; `tokens` of prompt and answer; `speedup` of a module over its reference; `run_s`,
# seconds a program takes for all its cases; `bench`, equal for programs whose times can be compared. NaN stands for what there is not.


def alike(table: pd.DataFrame, sketches: Sketches) -> dict[int, tuple[str, str]]:
    """Answers to one task whose kernels are alike: the fastest stays, then the shortest."""
    # Processes differ by tenths of a second.
    ranked = table.assign(slowness=-table["speedup"].fillna(0.0), seconds=table["run_s"].round(1).fillna(inf))
    ranked = ranked.sort_values(["slowness", "seconds", "tokens", "order"])
    return sketches.near(ranked.index.to_numpy(), table["id"].to_list(), table["group"].to_numpy())


def speeds(table: pd.DataFrame) -> pd.Series:
    """The speed-up of each answer as ranking takes it; NaN where nothing was measured of its task.

    A module's is over its reference. A program has no baseline: its own is the median time of the task's programs that ran the
    same cases on the same GPU, over its time. It has one decimal: the start of a process is in these times, and what differs by
    less is noise. One without a time among others that have one counts as a median one: per_gpu may change when a stopped run is
    resumed.
    """
    medians = table.groupby(["group", "bench"])["run_s"].transform("median")
    speed = table["speedup"].fillna((medians / table["run_s"]).round(1))
    timed = table.groupby("group")["run_s"].transform("count") > 0
    return speed.mask(speed.isna() & timed, 1.0)


def worse_answers(table: pd.DataFrame, count: int) -> dict[int, tuple[str, str]]:
    """All but the `count` answers to each task with the highest `speeds`; of equal ones the shorter stay."""
    ranked = table.assign(speed=speeds(table).fillna(0.0))
    ranked = ranked.sort_values(["speed", "tokens", "order"], ascending=[False, True, True])
    groups = ranked.groupby("group")
    ranked = ranked.assign(place=groups.cumcount() + 1, answers=groups["speed"].transform("size"))
    return {
        each.Index: ("not_among_best", f"place {each.place} of {each.answers} answers by speed-up ({each.speed:.3f})")
        for each in ranked[ranked["place"] > count].itertuples()
    }
