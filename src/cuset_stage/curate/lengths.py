"""How long the rows are in tokens, against the cutoff_len of the run they are meant for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any

from .stage_rows import CurationError


BYTES_A_TOKEN = 3.0  # of CUDA C++ under the vocabularies of today's code models; only used without a tokenizer
TEMPLATE_TOKENS = 32  # what a chat template adds to a row, generously
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


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


def length_report(lengths: Mapping[int, int], *, cutoff_len: int, tokenizer: str | None) -> dict[str, Any]:
    """Counts and quantiles of row lengths in tokens; `over` is what training would cut.

    Args:
        lengths: length -> how many rows have it.
    """
    rows = sum(lengths.values())
    report: dict[str, Any] = {
        "counted_by": tokenizer or f"estimate: {BYTES_A_TOKEN:g} bytes a token",
        "cutoff_len": cutoff_len,
        "rows": rows,
        "over": sum(count for length, count in lengths.items() if length > cutoff_len),
        "tokens": sum(length * count for length, count in lengths.items()),
        "tokens_lost": sum(max(0, length - cutoff_len) * count for length, count in lengths.items()),
    }
    if rows:
        ordered = sorted(lengths)
        upto = list(accumulate(lengths[length] for length in ordered))  # rows that are no longer
        report["quantiles"] = {f"{q:g}": ordered[bisect_right(upto, min(rows - 1, int(q * rows)))] for q in QUANTILES}
        report["longest"] = ordered[-1]
    return report
