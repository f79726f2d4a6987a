"""Stage `select`: keep the fastest of similar answers to a task, and only the best answers to each task.

All rows are held in memory. They are few, since each had to be proved, which is expensive.

Rows are ranked by what `prove` measured, and never by what their source claims. A module is ranked by its speed-up
over PyTorch, and a program by its run time relative to the other answers to its task (`speeds`). Measurements made
with several programs per GPU (per_gpu above 1) are not used. A speed-up that the judge has flagged counts as not
measured.
"""

import json
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd

from .fingerprints import Sketches, device_sketch, fingerprints_of
from .rows import Dropped, Row, digest, number_of
from .settings import SelectSettings
from .stage import Summary, all_but, input_rows, run_stage
from .training_rows import answer_text, prompt_text, row_length, task_groups


def run_select(settings: SelectSettings) -> Summary:
    """Select among the rows of `prove`, and write the selected rows to `folder`/select/."""
    rows = list(input_rows(settings, "prove"))
    table = pd.DataFrame(
        [{**_measured(row), "order": number_of(digest(row["id"]))} for row in rows],
        columns=["id", "tokens", "speedup", "run_s", "bench", "order"],
    ).astype({"tokens": int, "speedup": float, "run_s": float})  # sets the types for an empty table, too
    table["group"] = np.array(task_groups(rows), np.uint64)
    dropped: Dropped = {}
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
    """Return a row's line in the table that the rules below read."""
    verified, task = row.get("verified") or {}, row.get("task") or {}
    measured = verified if verified.get("per_gpu", 1) == 1 else {}  # rows that were only compiled have no per_gpu
    speedup = None if measured.get("module_flags") else measured.get("speedup")  # possible tricks are not rewarded
    # The fastest run of each case is the least disturbed one.
    seconds = sum(min(case["run_s"]) for case in measured.get("cases") or ())
    return {
        "id": row["id"],
        "tokens": row_length(prompt_text(row), answer_text(row)),
        "speedup": nan if speedup is None else float(speedup),
        "run_s": seconds or nan,
        # Times are comparable only for the same cases on the same GPU.
        "bench": number_of(digest(json.dumps([task.get("cases"), verified.get("gpu")]))),
    }


# ---------------------------------------------------------------------------------------------------------- the rules
#
# Each rule takes a table with a line per row, and returns the lines to drop with reason and detail. The columns are:
#   order    pseudo-random but repeatable number, for breaking ties
#   group    number of the task, equal for all answers to it
#   tokens   length of prompt and answer together
#   speedup  speed-up of a module over its reference, NaN if not measured
#   run_s    seconds that a program takes for all its cases, NaN if not measured
#   bench    number that is equal for programs whose times can be compared


def alike(table: pd.DataFrame, sketches: Sketches) -> Dropped:
    """Drop answers to a task whose kernels are similar to those of a better answer.

    Of similar answers the fastest stays. Of equally fast ones the shortest stays.
    """
    # Rounded, because the start of a process alone varies by tenths of a second.
    ranked = table.assign(slowness=-table["speedup"].fillna(0.0), seconds=table["run_s"].round(1).fillna(inf))
    ranked = ranked.sort_values(["slowness", "seconds", "tokens", "order"])
    return sketches.near(ranked.index.to_numpy(), table["id"].to_list(), table["group"].to_numpy())


def speeds(table: pd.DataFrame) -> pd.Series:
    """Return the speed-up of each answer for ranking, float64; NaN if nothing was measured for its task.

    A module's speed-up is relative to its reference. A program has no such baseline. Its speed-up is the median time
    of the task's programs that ran the same cases on the same GPU, divided by its own time. It is rounded to one
    decimal, because the times include the start of a process, and smaller differences are noise.

    A program without a time counts as a median one (1.0) if other answers to its task have times. Such programs exist
    because per_gpu may be changed before a stopped run is resumed.
    """
    medians = table.groupby(["group", "bench"])["run_s"].transform("median")
    speed = table["speedup"].fillna((medians / table["run_s"]).round(1))
    timed = table.groupby("group")["run_s"].transform("count") > 0
    return speed.mask(speed.isna() & timed, 1.0)


def worse_answers(table: pd.DataFrame, count: int) -> Dropped:
    """Drop all but the `count` answers to each task with the highest `speeds`. Of equal ones the shorter stay."""
    ranked = table.assign(speed=speeds(table).fillna(0.0))
    ranked = ranked.sort_values(["speed", "tokens", "order"], ascending=[False, True, True])
    groups = ranked.groupby("group")
    ranked = ranked.assign(place=groups.cumcount() + 1, answers=groups["speed"].transform("size"))
    return {
        line.Index: ("not_among_best", f"place {line.place} of {line.answers} answers by speed-up ({line.speed:.3f})")
        for line in ranked[ranked["place"] > count].itertuples()
    }
