"""The two texts of a training row: what a model is asked, and what it should answer. Standard library only."""

from __future__ import annotations

from .rows import Row
from .tasks import program_of


def prompt_text(row: Row) -> str:
    """The user's message."""
    return str((row.get("task") or {}).get("prompt") or row.get("prompt") or "")


def answer_text(row: Row, *, reasoning: bool = False) -> str:
    """The assistant's message: an introduction where the row has one, and the program that was verified in a fenced block.

    reasoning: put the row's reasoning before it, between the tags that reasoning models use.
    """
    module = row.get("kind") == "module"
    fence = f"```{'python' if module else 'cpp'}\n{(program_of(row) or '').strip()}\n```"
    text = f"{row['intro'].strip()}\n\n{fence}" if row.get("intro") else fence
    if reasoning and row.get("reasoning"):
        text = f"<think>\n{row['reasoning'].strip()}\n</think>\n\n{text}"
    return text
