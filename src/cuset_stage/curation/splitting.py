"""Training or validation, by task: all answers to a task, and all rows with the same prompt, are on one side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .response import Groups
from .rows import digest, read_stage_rows


# What people call the two sides.
_SIDES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("eval", "evaluation", "validation", "valid", "val", "dev", "test"), "eval"),
}


@dataclass(frozen=True)
class Split:
    """Which side each task is on: group -> "train" or "eval"; `notes` for people."""

    sides: dict[str, str]
    groups: Groups
    notes: tuple[str, ...] = ()


def split_tasks(files: Sequence[Path], validation: float, seed: int) -> Split:
    """A task that says its split keeps it (`test` and `validation` are held out, too); of the others a share is drawn, the same every
    time. One is always left to train on."""
    groups = Groups()
    said: dict[str, str] = {}
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
    declared: dict[str, str] = {}
    for key, split in said.items():
        group = groups.of(key)
        declared[group] = max(split, declared.get(group, ""), key=("", "train", "eval").index)
    free = sorted(
        (group for group, split in declared.items() if not split), key=lambda group: digest(str(seed), group)
    )
    held_out = round(validation * len(free))
    if validation > 0 and not held_out and len(free) > 1 and "eval" not in declared.values():
        held_out = 1
    notes = []
    if free and held_out == len(free) and "train" not in declared.values():
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
    drawn = {group: "eval" if index < held_out else "train" for index, group in enumerate(free)}
    return Split({**declared, **drawn}, groups, tuple(notes))
