"""Prepare text for messages: shorten it, put it on one line, and suggest the nearest known name.

Standard library only.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and line ends


class InputError(ValueError):
    """The user's input cannot be used. The message says why, and what to do instead. Commands print it and end."""


def shorten(text: str, most: int = 2000) -> str:
    """Return the stripped text in at most `most` characters, with escapes in place of control characters.

    A longer text keeps its beginning and its end, where compilers and tracebacks report errors. Control characters in
    what a program prints could erase lines of the user's terminal, or write over them.
    """
    text = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text.strip().replace("\r\n", "\n"))
    if len(text) <= most:
        return text
    mark = " [...] "
    head = (most - len(mark)) // 3
    return text[:head] + mark + text[len(text) - (most - len(mark) - head) :]


def one_line(text: object, most: int = 200) -> str:
    """Return the text on one line, shortened to at most `most` characters."""
    return shorten(" ".join(str(text).split()), most)


def shown(value: Any, most: int = 60) -> str:
    """Return repr(value) on one line for a message, shortened to at most `most` characters."""
    return one_line(repr(value), most)


def nearest(wanted: str, known: Iterable[str]) -> str:
    """Return "did you mean per_gpu?" with the nearest known names, or "known are ..." when none is near."""
    names = sorted(known)
    close = get_close_matches(wanted, names, n=3)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"known are {', '.join(names[:30])}{', ...' if len(names) > 30 else ''}"
