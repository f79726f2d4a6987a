"""Test texts in which the expected spans are marked with « and », as in `__global__ void k() «{ f(); }»`."""

import re

from cuset_stage.spans import DEFAULT_KINDS, find_spans


def unmarked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without the marks, and the (start, end) of each marked span, sorted."""
    plain, open_marks, places = "", [], []
    for piece in re.split("([«»])", text):
        if piece == "«":
            open_marks.append(len(plain))
        elif piece == "»":
            places.append((open_marks.pop(), len(plain)))
        else:
            plain += piece
    return plain, sorted(places)


def labelled(text: str, *kinds: str, **options) -> list[str]:
    """Return the text of each span of these kinds, by default of those that `find_spans` finds by default."""
    return [text[start:end] for start, end, _ in find_spans(text, kinds or DEFAULT_KINDS, **options)]


def check_marks(text: str, **options) -> None:
    """Check that `find_spans` finds exactly the marked spans.

    `options` go to `find_spans`, such as kinds and language.
    """
    plain, places = unmarked(text)
    spans = [(start, end) for start, end, _ in find_spans(plain, **options)]
    assert spans == places, [plain[start:end] for start, end in spans]
