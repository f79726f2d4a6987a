"""The language of a kernel: CUDA, Triton, or spans found by a function of the user's own.

`check_language` reads the setting, `triton_spans` and `own_spans` do the work for everything but CUDA, which spans.py
handles. Standard library only.
"""

import re
from itertools import pairwise
from typing import Any

from ..named_functions import is_function_name, load_function
from ..text import InputError, nearest, one_line
from .kinds import KINDS, Span, merged, spans_at
from .regions import add_quoted, python_regions, triton_regions
from .triton import triton


KEY = "cuset_language"
CUDA = ("cuda", "hip")  # both are read by the same lexer
NAMES = (*CUDA, "triton", "auto")
# A text without a match of `_HINT` cannot hold Triton, so it is not read at all. `_SIGN` matches what only Triton has,
# and `auto` reads a text as Triton only where it matches.
_HINT = re.compile(r"jit\b|\[")
_SIGN = re.compile(r"\btriton\b|\bgluon\b")


def check_language(language: object, key: str = KEY) -> tuple[str, ...]:
    """Return the languages that a setting names.

    Args:
        language: one language, several separated by commas, `auto`, or a function of the user's own. The function is
            not loaded.
        key: name of the setting, for error messages.

    Returns:
        The names without duplicates, or the function's name alone.

    Raises:
        InputError: an unknown language, or `auto` beside others. The message names the key and the fix.
    """
    if not isinstance(language, str) or not language.strip():
        more = "several separated by commas, or my_module:find_spans"
        raise InputError(f"{key}={language!r}: expected one of {', '.join(NAMES)}, {more}.")
    if is_function_name(language):
        return (language.strip(),)
    names = tuple(dict.fromkeys(name.strip() for name in language.split(",") if name.strip()))
    for name in names:
        if name not in NAMES:
            what = f"{name!r} is no language, nor a function (my_module:find_spans)"
            raise InputError(f"{key}={language!r}: {what}; {nearest(name, NAMES)}")
    if "auto" in names and len(names) > 1:
        raise InputError(f"{key}={language!r}: auto reads every language by itself; name it alone.")
    return names


def load_language(language: object, key: str = KEY) -> None:
    """Check a language setting before anything else is loaded, and load the user's function if it names one.

    Args:
        language: as in `check_language`.
        key: name of the setting, in a recipe or of a command, for error messages.

    Raises:
        InputError: as `check_language`, or a function that cannot be imported.
    """
    if is_function_name(check_language(language, key)[0]):
        load_function(language, key)


def triton_spans(text: str, kinds: tuple[str, ...], *, sure: bool) -> set[Span]:
    """Return the spans of Triton in an answer.

    Args:
        text: the whole answer.
        kinds: the kinds of span to return.
        sure: read the text even if nothing in it is specific to Triton. False is for `auto`.
    """

    def has_code(stretch: str) -> bool:
        return _HINT.search(stretch) is not None

    if not has_code(text) or not (sure or _SIGN.search(text)):
        return set()
    spans: set[Span] = set()
    for regions in triton_regions(text, has_code):
        for region in regions:
            literals = python_regions(0, region.text, lambda literal: "jit" in literal)  # Inductor writes kernels so
            spans |= spans_at(add_quoted(triton(region.text), literals, triton), kinds, region.start)
        if spans:  # text outside of blocks counts only if no block has a span
            break
    return spans


def own_spans(text: str, name: str, kinds: tuple[str, ...]) -> list[Span]:
    """Return the spans that the user's own function finds.

    The function is called as `find_spans(text)`. It returns (start, end) or (start, end, kind) entries, sorted by
    start and end. An entry without a kind is a `kernel_body`.

    Raises:
        InputError: the function is not found, fails, or returns something else. The message tells what is wrong and
            what is expected.
    """
    function = load_function(name, KEY)
    try:
        returned = list(function(text))
    except Exception as error:  # the user's code may raise anything
        what = one_line(f"{type(error).__name__}: {error}")
        raise InputError(f"{KEY}={name!r} failed with {what} on the text that begins {text[:60]!r}.") from error
    spans = [_own_span(text, name, item) for item in returned]
    for previous, current in pairwise(spans):
        if current < previous:
            order = f"{tuple(current)} after {tuple(previous)}. Return the spans sorted by start and end"
            raise InputError(f"{KEY}={name!r} returned {order}.")
    return sorted(
        Span(start, end, kind)
        for kind in kinds
        for start, end in merged(((span.start, span.end) for span in spans if span.kind == kind), False)
    )


def _own_span(text: str, name: str, item: Any) -> Span:
    """Check one entry that the user's function returned, and convert it to a `Span`."""
    try:
        start, end, kind = (*item, "kernel_body") if len(item) == 2 else item
        start, end = int(start.__index__()), int(end.__index__())
    except (TypeError, ValueError, AttributeError):
        expected = "expected (start, end) or (start, end, kind)"
        raise InputError(f"{KEY}={name!r} returned {one_line(repr(item))}; {expected}.") from None
    if not 0 <= start < end <= len(text):
        raise InputError(
            f"{KEY}={name!r} returned {(start, end)} for a text of {len(text)} characters. Return 0 <= start < end <= len(text): str indices, "
            "half-open."
        )
    if kind not in KINDS:
        raise InputError(f"{KEY}={name!r} returned the kind {kind!r}; {nearest(str(kind), KINDS)}")
    return Span(start, end, kind)
