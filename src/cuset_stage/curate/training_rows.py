"""The parts of a training row: prompt and answer, their lengths, and the task, which decides the side of the split."""

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

BYTES_A_TOKEN = 3.0  # for CUDA C++ with the vocabularies of today's code models
TEMPLATE_TOKENS = 32  # generous estimate of the tokens that a chat template adds to a row
_BACKTICKS = re.compile(r"`{3,}")
_THINK_TAG = re.compile(r"</?think>", re.IGNORECASE)


def prompt_text(row: Row) -> str:
    """Return the user's message."""
    return str((row.get("task") or {}).get("prompt") or row.get("prompt") or "")


def answer_text(row: Row, *, reasoning: bool = False) -> str:
    """Return the assistant's message: the row's introduction, if any, and the verified program in a fenced block.

    The fence is longer than any run of backticks in the program, so that none of them closes it.

    Args:
        row: a row that went through `adapt`.
        reasoning: put the row's reasoning first, between <think> and </think>. Such tags inside it are removed.
    """
    code = (program_of(row) or "").strip()
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(code)), default=0))
    block = f"{fence}{'python' if language_of(row) == 'python' else 'cpp'}\n{code}\n{fence}"
    text = f"{row['intro'].strip()}\n\n{block}" if row.get("intro") else block
    if reasoning and row.get("reasoning"):
        text = f"<think>\n{_THINK_TAG.sub('', row['reasoning']).strip()}\n</think>\n\n{text}"
    return text


def is_read_back(row: Row, answer: str) -> bool:
    """Return True if the judge would extract from this answer exactly the program that was verified."""
    code = extract_code(answer, language=language_of(row), whole_program=row.get("kind") != "module")
    return (code or "").strip() == (program_of(row) or "").replace("\r\n", "\n").strip()


def token_count(text: str) -> int:
    """Return the number of tokens of a text, estimated from its bytes. No tokenizer is loaded."""
    return round(len(text.encode("utf-8", errors="replace")) / BYTES_A_TOKEN)


def row_length(prompt: str, answer: str) -> int:
    """Return the estimated tokens of a row, including its chat template."""
    return token_count(prompt) + token_count(answer) + TEMPLATE_TOKENS


def length_report(tokens: Sequence[int], cutoff_len: int) -> dict[str, Any]:
    """Return counts and quantiles of the rows' lengths in tokens.

    Args:
        tokens: the length of each row.
        cutoff_len: the length at which training cuts rows.

    Returns:
        `cutoff_len`, `over` (number of rows that training would cut), `tokens` (total), `tokens_lost` (tokens that
        would be cut off), and `quantiles` (such as "95%" -> tokens; empty if there are no rows).
    """
    lengths = pd.Series(tokens, dtype="int64")
    quantiles = lengths.quantile([0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1], interpolation="lower").dropna()
    return {
        "cutoff_len": cutoff_len,
        "over": int((lengths > cutoff_len).sum()),
        "tokens": int(lengths.sum()),
        "tokens_lost": int((lengths - cutoff_len).clip(lower=0).sum()),
        "quantiles": {f"{q:.0%}": int(length) for q, length in quantiles.items()},
    }


# -------------------------------------------------------------------------------------------------------------- tasks

# Names of splits in data sets -> our side of the split.
_SIDES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("eval", "evaluation", "validation", "valid", "val", "dev", "test"), "eval"),
}


def task_keys(row: Row) -> tuple[str, ...]:
    """Return the keys of a row's task, most reliable first. Two rows with a key in common answer the same task.

    A module is identified by its statements. A program is identified by the words of its prompt, without regard to
    case, spaces and punctuation. A row that came with its own `task` is also identified by that task's `id`.
    """
    if row.get("kind") == "module":
        reference = (row.get("task") or {}).get("reference") or row.get("module_code")
        return (digest("module", module_exact(str(reference))),)
    words = prose_exact(own_prompt(row))
    keys = [digest("prompt", words)] if words else []
    declared = (row.get("task") or {}).get("id") if row.get("form") == "task" else None
    if declared and declared != task_identity(row):  # an id made by `task_identity` is different for each row
        source = row.get("source") or {}
        keys.append(digest("task", str(source.get("name")), str(declared)))
    return tuple(keys) or (digest("row", row["id"]),)


def task_groups(rows: Sequence[Row]) -> list[int]:
    """Return a group number for each row, equal for all answers to one task.

    Rows are connected by any common key (`task_keys`), since a prompt may occur under two task ids, and a task in two
    wordings.
    """
    all_keys = [[number_of(key) for key in task_keys(row)] for row in rows]
    members_of: dict[int, list[int]] = {}  # key -> the sorted keys of its group
    for keys in all_keys:
        members = sorted({member for key in keys for member in members_of.get(key, [key])})
        members_of.update(dict.fromkeys(members, members))
    # The smallest key is the group's number, so that it does not depend on the order of the rows.
    return [members_of[first][0] for first, *_ in all_keys]


def split_tasks(
    rows: Sequence[Row], groups: Sequence[int], validation: float, seed: int
) -> tuple[dict[int, str], list[str]]:
    """Assign each task to the training or the evaluation side.

    A task that states its split keeps it. Names such as `test` and `validation` mean the evaluation side. Of the other
    tasks a share is held out, chosen by hash, so the choice is repeatable. At least one task is left for training,
    unless all tasks state that they are held out.

    Args:
        rows: the rows.
        groups: the group of each row, from `task_groups`.
        validation: share of the tasks without a stated split that are held out.
        seed: another seed holds out other tasks.

    Returns:
        Group -> "train" or "eval", and notes for the user.
    """
    words = (str((row.get("task") or {}).get("split") or "") for row in rows)
    stated = [_SIDES.get(word.strip().lower(), "") for word in words]
    rank = ("", "train", "eval").index  # if one row of a task is held out, the whole task is
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
