"""From spans of text to a 0/1 mask of tokens. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def token_mask(
    offsets: Sequence[tuple[int, int]], spans: Iterable[tuple[int, int, str]], *, text_length: int | None = None
) -> list[int]:
    """1 for each token that shares at least one character with a span, else 0.

    offsets: (start, end) of each token in the text that the spans are of, as a fast tokenizer gives them. Tokens may
        repeat an extent (the bytes of one character) or overlap their neighbour; a token without characters
        (start == end, as special tokens have) is 0.
    spans: in any order; they may overlap.
    text_length: the length of the text, to check the offsets against.

    Raises:
        ValueError: an offset lies outside the text, ends before it starts, or starts before an earlier token's start,
            which means that the offsets belong to another text or to several texts in a row.
    """
    merged: list[list[int]] = []
    for start, end, _ in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif start < end:
            merged.append([start, end])
    merged.append([1 << 62, 1 << 62])
    following = iter(merged)
    span_start, span_end = next(following)
    limit = 1 << 62 if text_length is None else text_length
    mask: list[int] = []
    append = mask.append
    last = 0
    for start, end in offsets:
        if last <= start < end <= limit:
            last = start
            while span_end <= start:
                span_start, span_end = next(following)
            append(1 if span_start < end else 0)
        elif 0 <= start == end <= limit:
            append(0)
        else:
            raise _bad_offset(len(mask), start, end, text_length)
    return mask


def _bad_offset(index: int, start: int, end: int, text_length: int | None) -> ValueError:
    size = "" if text_length is None else f" of {text_length} characters"
    return ValueError(
        f"offsets[{index}]=({start}, {end}): offsets must rise and stay inside the text{size}; "
        "pass the offsets of one tokenizer call on exactly the text that the spans were found in"
    )
