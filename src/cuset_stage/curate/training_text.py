"""The two texts of a training row: what a model is asked, and what it should answer; which rows answer the same task, and on which
side of the split each task is; how long the rows are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..answers import extract_code
from .adapt import language_of, program_of, task_identity
from .prints import module_exact, own_prompt, prose_exact
from .settings import ExportSettings, SelectSettings
from .stage_rows import CurationError, Row, StageRows, digest


BYTES_A_TOKEN = 3.0  # of CUDA C++ under the vocabularies of today's code models; only used without a tokenizer
TEMPLATE_TOKENS = 32  # what a chat template adds to a row, generously
QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95, 0.99]
_BACKTICKS = re.compile(r"`{3,}")
_THINK_TAG = re.compile(r"</?think>", re.IGNORECASE)


def prompt_text(row: Row) -> str:
    """The user's message."""
    return str((row.get("task") or {}).get("prompt") or row.get("prompt") or "")


def task_keys(row: Row) -> tuple[str, ...]:
    """What a row shares with other answers to its task, the surest first; any of them in common is enough.

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
        first, *others = (int(key[:16], 16) for key in task_keys(row))
        root = self.of(first)
        for each in others:
            # The smaller key stands for the group, so that the order of the rows decides nothing.
            root, child = sorted((root, self.of(each)))
            self._parent[child] = root
        return first

    def of(self, key: int) -> int:
        """The group of a key, equal for all answers to one task once every row is added."""
        while (parent := self._parent.setdefault(key, key)) != key:
            self._parent[key] = self._parent[parent]  # shorter for the next one
            key = parent
        return parent

    def of_row(self, row: Row) -> int:
        return self.of(int(task_keys(row)[0][:16], 16))


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
    """Whether the judge, given this answer, would judge the program that was verified and nothing else of the text."""
    code = extract_code(answer, language=language_of(row))
    return (code or "").strip() == (program_of(row) or "").replace("\r\n", "\n").strip()


# What people call the two sides.
_SIDES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("eval", "evaluation", "validation", "valid", "val", "dev", "test"), "eval"),
}


@dataclass(frozen=True)
class Split:
    """Which side each task is on: group -> "train" or "eval"; `notes` for people."""

    sides: Mapping[int, str]
    groups: Groups
    notes: tuple[str, ...] = ()


def split_tasks(rows: StageRows, validation: float, seed: int) -> Split:
    """A task that says its split keeps it (`test` and `validation` are held out, too); of the others a share is drawn, the same every
    time. One is always left to train on."""
    groups = Groups()
    said: dict[int, str] = {}  # key of a row -> what it says
    unknown: Counter[str] = Counter()
    rank = ("", "train", "eval").index  # held out by one source is held out altogether
    for row in (item.row for item in rows if item.row is not None):
        word = str((row.get("task") or {}).get("split") or "")
        split = _SIDES.get(word.strip().lower(), "")
        unknown[word] += bool(word and not split)
        key = groups.add(row)
        said[key] = max(split, said.get(key, ""), key=rank)
    sides: dict[int, str] = {}  # group -> side, empty where none is said
    for key, split in said.items():
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


def token_counter(tokenizer: str | None) -> Callable[[str], int]:
    """Counts the tokens of a text; without a tokenizer an estimate from its bytes.

    Raises:
        CurationError: the tokenizer cannot be loaded.
    """
    if tokenizer is None:
        return lambda text: round(len(text.encode("utf-8", errors="replace")) / BYTES_A_TOKEN)
    from transformers import AutoTokenizer

    try:
        loaded = AutoTokenizer.from_pretrained(tokenizer)
    except (OSError, ValueError) as error:
        raise CurationError(f"tokenizer={tokenizer}: cannot be loaded ({str(error).splitlines()[0]}).") from None
    return lambda text: len(loaded(text, add_special_tokens=False)["input_ids"])


def row_length(count: Callable[[str], int], prompt: str, answer: str) -> int:
    """Tokens of a row with its chat template."""
    return count(prompt) + count(answer) + TEMPLATE_TOKENS


def length_report(tokens: Sequence[int] | pd.Series, settings: SelectSettings | ExportSettings) -> dict[str, Any]:
    """Counts and quantiles of row lengths in tokens; `over` is what training would cut."""
    lengths, most = pd.Series(tokens, dtype="int64"), settings.cutoff_len
    report: dict[str, Any] = {
        "counted_by": settings.tokenizer or f"estimate: {BYTES_A_TOKEN:g} bytes a token",
        "cutoff_len": most,
        "rows": len(lengths),
        "over": int((lengths > most).sum()),
        "tokens": int(lengths.sum()),
        "tokens_lost": int((lengths - most).clip(lower=0).sum()),
    }
    if len(lengths):
        quantiles = lengths.quantile(QUANTILES, interpolation="lower")
        report |= {
            "quantiles": {f"{q:g}": int(length) for q, length in quantiles.items()},
            "longest": int(lengths.max()),
        }
    return report
