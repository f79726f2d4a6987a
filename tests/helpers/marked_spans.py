"""Texts that say themselves where their spans are: `__global__ void k() «{ f(); }»`."""

import re


def unmarked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without « and », and the places between them, sorted."""
    plain, open_marks, places = "", [], []
    for piece in re.split("([«»])", text):
        if piece == "«":
            open_marks.append(len(plain))
        elif piece == "»":
            places.append((open_marks.pop(), len(plain)))
        else:
            plain += piece
    return plain, sorted(places)


def check_marks(text: str, find_spans, **options) -> None:
    """`find_spans` finds the marked places and no others. options: its own, such as kinds and language."""
    plain, places = unmarked(text)
    found = [(start, end) for start, end, _ in find_spans(plain, **options)]
    assert found == places, [plain[start:end] for start, end in found]
