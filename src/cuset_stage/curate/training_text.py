"""The two texts of a training row, what a model is asked and what it should answer, and how long they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from ..answers import extract_code
from .adapt import language_of, program_of
from .settings import ExportSettings, SelectSettings
from .stage_rows import CurationError, Row


BYTES_A_TOKEN = 3.0  # of CUDA C++ under the vocabularies of today's code models; only used without a tokenizer
TEMPLATE_TOKENS = 32  # what a chat template adds to a row, generously
QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95, 0.99]
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
