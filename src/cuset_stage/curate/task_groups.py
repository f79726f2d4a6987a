"""Groups rows that answer the same task, and draws the side of the split that each task is on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from .adapt import task_identity
from .fingerprints import module_exact, own_prompt, prose_exact
from .stage_rows import Row, StageRows, digest, number_of


def task_keys(row: Row) -> tuple[str, ...]:
    """Keys that a row shares with other answers to its task, the surest first; any of them in common is enough.

    A module is known by its statements, a program by the words of its prompt (comments, case, spaces and punctuation aside), and a
    row that came with a task of its own, in its `task` column, by that task's `id` as well.
    """
    if row.get("kind") == "module":
        reference = (row.get("task") or {}).get("reference") or row.get("module_code")
        return (digest("module", module_exact(str(reference))),)
    words = prose_exact(own_prompt(row))
    keys = [digest("prompt", words)] if words else []
    declared = (row.get("task") or {}).get("id") if row.get("form") == "task" else None
    if declared and declared != task_identity(row):  # that one is ours, and each row has another
        source = row.get("source") or {}
        keys.append(digest("task", str(source.get("name")), str(declared)))
    return tuple(keys) or (digest("row", row["id"]),)


class Groups:
    """Rows by task. A prompt may come under two task ids, and a task in two wordings, so that keys are joined as rows are added."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}  # 64 bits of a key

    def add(self, row: Row) -> int:
        """Note a row; returns a key of it, for `of`."""
        first, *others = map(number_of, task_keys(row))
        root = self.of(first)
        for other in others:
            # The smaller key stands for the group, so that the order of the rows decides nothing.
            root, child = sorted((root, self.of(other)))
            self._parent[child] = root
        return first

    def of(self, key: int) -> int:
        """The group of a key, equal for all answers to one task once every row is added."""
        while (parent := self._parent.setdefault(key, key)) != key:
            self._parent[key] = self._parent[parent]  # shorter for the next one
            key = parent
        return parent

    def of_row(self, row: Row) -> int:
        return self.of(number_of(task_keys(row)[0]))


# What people call the two sides.
_SIDES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("eval", "evaluation", "validation", "valid", "val", "dev", "test"), "eval"),
}


@dataclass(frozen=True)
class Split:
    """The side that each task is on: group -> "train" or "eval"; `notes` for people."""

    sides: Mapping[int, str]
    groups: Groups
    notes: tuple[str, ...] = ()


def split_tasks(rows: StageRows, validation: float, seed: int) -> Split:
    """A task that says its split keeps it (`test` and `validation` are held out, too); of the others a share is drawn, the same every
    time. One is always left to train on."""
    groups = Groups()
    stated: dict[int, str] = {}  # key of a row -> what it says
    unknown: Counter[str] = Counter()
    rank = ("", "train", "eval").index  # held out by one source is held out altogether
    for row in (item.row for item in rows if item.row is not None):
        word = str((row.get("task") or {}).get("split") or "")
        split = _SIDES.get(word.strip().lower(), "")
        unknown[word] += bool(word and not split)
        key = groups.add(row)
        stated[key] = max(split, stated.get(key, ""), key=rank)
    sides: dict[int, str] = {}  # group -> side, empty where none is stated
    for key, split in stated.items():
        group = groups.of(key)
        sides[group] = max(split, sides.get(group, ""), key=rank)
    declared = Counter(sides.values())
    free = [group for group, split in sides.items() if not split]
    free.sort(key=lambda group: digest(str(seed), str(group)))
    held_out = round(validation * len(free))
    if validation > 0 and not held_out and len(free) > 1 and not declared["eval"]:
        held_out = 1
    notes = []
    if free and held_out == len(free) and not declared["train"]:
        held_out = len(free) - 1
        rest = f"one of {len(free)} is left to train on, {held_out} are held out"
        notes.append(f"validation={validation:g} would hold every task out; {rest}.")
    notes += [
        f"{count} rows say split {word!r}, which is none of {', '.join(_SIDES)}; they are split like rows that say nothing."
        for word, count in unknown.items()
        if count
    ]
    for index, group in enumerate(free):
        sides[group] = "eval" if index < held_out else "train"
    return Split(sides, groups, tuple(notes))
