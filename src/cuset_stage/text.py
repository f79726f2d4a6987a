"""Text in messages: one line, not too long, with the nearest known name. Standard library only."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class InputError(ValueError):
    """Something given cannot be used; the message says what, and what to do instead. Commands print it and end."""


def shorten(text: str, most: int = 2000) -> str:
    """The text, or its beginning and its end (where compilers and tracebacks report errors), in at most `most` characters."""
    text = text.strip()
    if len(text) <= most:
        return text
    mark = " [...] "
    head = (most - len(mark)) // 3
    return text[:head] + mark + text[len(text) - (most - len(mark) - head) :]


def one_line(text: object, most: int = 200) -> str:
    """The text on one line, shortened."""
    return shorten(" ".join(str(text).split()), most)


def shown(value: Any, most: int = 60) -> str:
    """repr(value) for a message, shortened."""
    return one_line(repr(value), most)


def nearest(wanted: str, known: Iterable[str]) -> str:
    """ "did you mean `per_gpu`?", or the known names when none is near."""
    names = sorted(known)
    close = get_close_matches(wanted, names, n=3)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"known are {', '.join(names[:30])}{', ...' if len(names) > 30 else ''}"
