"""The two texts of a training row: what a model is asked, and what it should answer. Standard library only."""

from __future__ import annotations

from .rows import Row, digest
from .tasks import program_of


def prompt_text(row: Row) -> str:
    """The user's message."""
    return str((row.get("task") or {}).get("prompt") or row.get("prompt") or "")


def own_prompt(row: Row) -> str:
    """What its source asks, without what `cases` says of the files; else the user's message."""
    return str(row.get("prompt") or prompt_text(row))


def group_of(row: Row) -> str:
    """Equal for answers to one task: rows with the same module, else with the same prompt."""
    if row.get("kind") == "module":
        return digest("module", " ".join(str(row.get("module_code")).split()))
    return digest("prompt", " ".join(own_prompt(row).lower().split()) or row["id"])


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
