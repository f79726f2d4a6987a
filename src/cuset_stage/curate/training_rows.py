"""What a training row is made of: its two texts, how long they are, and the task that it answers, which decides the side of the split."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..answers import extract_code
from .adapt import language_of, program_of, task_identity
from .fingerprints import module_exact, own_prompt, prose_exact
from .rows import Row, digest, number_of


# -------------------------------------------------------------------------------------------------- texts and lengths

BYTES_A_TOKEN = 3.0  # of CUDA C++ under the vocabularies of today's code models
TEMPLATE_TOKENS = 32  # what a chat template adds to a row, generously
_BACKTICKS = re.compile(r"`{3,}")
_THINK_TAG = re.compile(r"</?think>", re.IGNORECASE)


def prompt_text(row: Row) -> str:
    """The user's message."""
    return str((row.get("task") or {}).get("prompt") or row.get("prompt") or "")


def answer_text(row: Row, *, reasoning: bool = False) -> str:
    """The assistant's message: an introduction where the row has one, and the program that was verified in a fenced block.

    The fence is longer than any run of backticks in the program, so that none of them closes it.

    reasoning: put the row's reasoning before it, between the tags that reasoning models use; tags that it brings are left out.
    """
    code = (program_of(row) or "").strip()
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(code)), default=0))
    block = f"{fence}{'python' if language_of(row) == 'python' else 'cpp'}\n{code}\n{fence}"
    text = f"{row['intro'].strip()}\n\n{block}" if row.get("intro") else block
    if reasoning and row.get("reasoning"):
        text = f"<think>\n{_THINK_TAG.sub('', row['reasoning']).strip()}\n</think>\n\n{text}"
    return text


def is_read_back(row: Row, answer: str) -> bool:
    """True if the judge, given this answer, would judge the program that was verified and nothing else of the text."""
    code = extract_code(answer, language=language_of(row), whole_program=row.get("kind") != "module")
    return (code or "").strip() == (program_of(row) or "").replace("\r\n", "\n").strip()


def token_count(text: str) -> int:
    """The tokens of a text, estimated from its bytes: no tokenizer is loaded for it."""
    return round(len(text.encode("utf-8", errors="replace")) / BYTES_A_TOKEN)


def row_length(prompt: str, answer: str) -> int:
    """Tokens of a row with its chat template."""
    return token_count(prompt) + token_count(answer) + TEMPLATE_TOKENS


def length_report(tokens: Sequence[int], cutoff_len: int) -> dict[str, Any]:
    """Counts and quantiles of row lengths in tokens; `over` is what training would cut."""
    lengths = pd.Series(tokens, dtype="int64")
    quantiles = lengths.quantile([0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1], interpolation="lower").dropna()
    return {
        "cutoff_len": cutoff_len,
        "over": int((lengths > cutoff_len).sum()),
        "tokens": int(lengths.sum()),
        "tokens_lost": int((lengths - cutoff_len).clip(lower=0).sum()),
        "quantiles": {f"{q:.0%}": int(length) for q, length in quantiles.items()},  # of no rows there are none
    }


# -------------------------------------------------------------------------------------------------------------- tasks

# What people call the two sides.
_SIDES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("eval", "evaluation", "validation", "valid", "val", "dev", "test"), "eval"),
}


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


def task_groups(rows: Sequence[Row]) -> list[int]:
    """The group of each row, equal for all answers to one task. A prompt may come under two task ids, and a task in two wordings."""
    all_keys = [[number_of(key) for key in task_keys(row)] for row in rows]
    members_of: dict[int, list[int]] = {}  # key -> the sorted keys of its group
    for keys in all_keys:
        members = sorted({member for key in keys for member in members_of.get(key, [key])})
        members_of.update(dict.fromkeys(members, members))
    # The smallest key stands for the group, so that the order of the rows decides nothing.
    return [members_of[first][0] for first, *_ in all_keys]


def split_tasks(
    rows: Sequence[Row], groups: Sequence[int], validation: float, seed: int
) -> tuple[dict[int, str], list[str]]:
    """The side of each group, "train" or "eval", and notes for people.

    A task that says its split keeps it (`test` and `validation` are held out, too); of the others a share is drawn, the same every
    time. One is always left to train on.
    """
    words = (str((row.get("task") or {}).get("split") or "") for row in rows)
    stated = [_SIDES.get(word.strip().lower(), "") for word in words]
    rank = ("", "train", "eval").index  # held out by one row is held out altogether
    sides: dict[int, str] = {}
    for group, side in zip(groups, stated, strict=True):
        sides[group] = max(side, sides.get(group, ""), key=rank)
    declared = Counter(sides.values())
    undecided = (group for group, side in sides.items() if not side)
    free = sorted(undecided, key=lambda group: digest(str(seed), str(group)))
    held_out = round(validation * len(free))
    if validation > 0 and not held_out and len(free) > 1 and not declared["eval"]:
        held_out = 1
    notes = []
    if free and held_out == len(free) and not declared["train"]:
        held_out = len(free) - 1
        rest = f"one of {len(free)} is left to train on, {held_out} are held out"
        notes.append(f"validation={validation:g} would hold every task out; {rest}.")
    return sides | {group: "eval" if index < held_out else "train" for index, group in enumerate(free)}, notes
