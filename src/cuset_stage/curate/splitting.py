"""Training or validation, by task: all answers to a task, and all rows with the same prompt, are on one side.

What is known of the tasks lies in files, so that memory does not grow with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .response import Groups
from .stage_rows import digest, read_stage_rows
from .store import DiskMap


# What people call the two sides.
_SIDES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("eval", "evaluation", "validation", "valid", "val", "dev", "test"), "eval"),
}


@dataclass(frozen=True)
class Split:
    """Which side each task is on: group -> "train" or "eval"; `notes` for people."""

    sides: Mapping[str, str]
    groups: Groups
    notes: tuple[str, ...] = ()


def split_tasks(files: Sequence[Path], validation: float, seed: int) -> Split:
    """A task that says its split keeps it (`test` and `validation` are held out, too); of the others a share is drawn, the same every
    time. One is always left to train on."""
    groups = Groups()
    said = DiskMap()  # key of a row -> what it says
    unknown: Counter[str] = Counter()
    for item in read_stage_rows(files):
        if item.row is not None:
            word = str((item.row.get("task") or {}).get("split") or "")
            split = _SIDES.get(word.strip().lower(), "")
            unknown[word] += bool(word and not split)
            key = groups.add(item.row)
            # Held out by one source is held out altogether.
            if split == "eval" or not said.get(key):
                said[key] = split
    sides = DiskMap()  # group -> side, empty where none is said
    for key, split in said.items():
        group = groups.of(key)
        sides[group] = max(split, sides.get(group, ""), key=("", "train", "eval").index)
    free = DiskMap()  # groups without a side, in an order that the seed decides
    declared: Counter[str] = Counter()
    for group, split in sides.items():
        declared[split] += 1
        if not split:
            free[digest(str(seed), group)] = group
    held_out = round(validation * len(free))
    if validation > 0 and not held_out and len(free) > 1 and not declared["eval"]:
        held_out = 1
    notes = []
    if free and held_out == len(free) and not declared["train"]:
        held_out = len(free) - 1
        notes.append(
            f"--validation {validation:g} would hold every task out; one of {len(free)} is left to train on, {held_out} "
            "are held out."
        )
    notes += [
        f"{count} rows say split {word!r}, which is none of {', '.join(_SIDES)}; they are split like rows that say nothing."
        for word, count in unknown.items()
        if count
    ]
    for index, group in enumerate(free.values()):
        sides[group] = "eval" if index < held_out else "train"
    return Split(sides, groups, tuple(notes))
