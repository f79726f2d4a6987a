"""What the keys of a results file hold: a line edited by hand, or made by another program, is named before it is used.

Keys that are not here may hold anything. Standard library only.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


LARGEST = 2**53  # of a number in a sample: what JavaScript and float64 hold exactly
SAMPLES = 100_000  # of a task: arrays are as wide as the largest number of a sample
TASKS = 1_000_000  # of a set: a report has a row for each


@dataclass(frozen=True)
class Kind:
    """What a value has to be, in words and as a test."""

    expected: str
    fits: Callable[[Any], bool]

    @property
    def or_null(self) -> "Kind":
        return Kind(f"{self.expected}, or null", lambda value: value is None or self.fits(value))


def whole(least: int, limit: int, words: str) -> Kind:
    """An integer from `least` below `limit`."""
    return Kind(
        f"an integer from {least} below {words}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value < limit,
    )


def number(limit: float, words: str) -> Kind:
    """A number whose size is at most `limit`."""
    return Kind(
        f"a number up to {words}",
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and -limit <= value <= limit,
    )


def list_of(kind: Kind, words: str) -> Kind:
    return Kind(words, lambda value: isinstance(value, list) and all(map(kind.fits, value)))


def object_of(kind: Kind, words: str) -> Kind:
    """An object all of whose values are of one kind."""
    return Kind(words, lambda value: isinstance(value, dict) and all(map(kind.fits, value.values())))


TEXT = Kind("text", lambda value: isinstance(value, str))
TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
OBJECT = Kind("an object", lambda value: isinstance(value, dict))
TEXTS = list_of(TEXT, "a list of texts")
COUNT = whole(0, LARGEST, "2**53").or_null
SAMPLE = whole(0, SAMPLES, f"{SAMPLES:,}")
LEVEL = SAMPLE.or_null
SECONDS = number(LARGEST, "2**53").or_null
# Right answers to inputs of 1e30 differ by more than 2**53.
ERROR = number(sys.float_info.max, "float64's largest").or_null
CASE = Kind(
    "an object with name, verdict",
    lambda case: (
        isinstance(case, dict)
        and all(TEXT.fits(case.get(key)) for key in ("name", "verdict"))
        and SECONDS.fits(case.get("run_s"))
        and all(ERROR.fits(case.get(key)) for key in ("max_abs_error", "max_rel_error"))
    ),
)
LEVELS = Kind(
    'an object of level -> count, such as {"1": 500}',
    lambda value: (
        isinstance(value, dict)
        and all(key.isascii() and key.isdecimal() and SAMPLE.fits(int(key[:9])) for key in value)
        and all(whole(0, LARGEST, "").fits(count) for count in value.values())
    ),
)

NEEDED = ("task", "sample", "code_sha256", "verdict", "compiled", "passed")  # of a sample
SAMPLE_FIELDS: dict[str, Kind] = {
    **dict.fromkeys(("task", "code_sha256", "verdict"), TEXT),
    "sample": SAMPLE,
    "level": LEVEL,
    **dict.fromkeys(("compiled", "passed"), TRUTH),
    **dict.fromkeys(("name", "family", "message", "case", "finish_reason", "key", "code"), TEXT.or_null),
    "cases": list_of(CASE, "a list of objects with name, verdict and numbers").or_null,
    "flags": TEXTS.or_null,
    "compile_cached": TRUTH.or_null,
    "same_as_sample": SAMPLE.or_null,
    **dict.fromkeys(("tokens", "prompt_tokens"), COUNT),
    **dict.fromkeys(("compile_s", "run_s", "compare_s", "overhead_s", "speedup", "reference_s", "kernel_s"), SECONDS),
}
RUN_FIELDS: dict[str, Kind | dict[str, Kind]] = {
    **dict.fromkeys(("run", "method"), TEXT.or_null),
    "compile_only": TRUTH.or_null,
    "tasks": {
        **dict.fromkeys(("path", "format", "sha256", "split"), TEXT.or_null),
        "count": whole(0, TASKS, f"{TASKS:,}").or_null,
        "level": LEVEL,
        "ids": TEXTS.or_null,
    },
    "answers": {
        **dict.fromkeys(("path", "sha256"), TEXT.or_null),
        **dict.fromkeys(("count", "chosen"), COUNT),
        "levels": LEVELS.or_null,
    },
    **dict.fromkeys(("generation", "limits"), OBJECT.or_null),
    "gpus": list_of(OBJECT, "a list of objects").or_null,
    "flags": TEXTS.or_null,
    "findings": object_of(TEXTS, "an object of task -> list of texts").or_null,
    "notes": object_of(object_of(TEXT, ""), "an object of code -> task -> text").or_null,
    "audited": COUNT,
}


def wrong_field(record: Mapping[str, Any], fields: Mapping[str, Any], within: str = "") -> str | None:
    """ "tasks.count is 'x'; expected an integer ...", of the first key that holds something else; None when all fit."""
    for key, kind in fields.items():
        if key not in record:
            continue
        value = record[key]
        if isinstance(kind, Kind):
            if not kind.fits(value):
                return f"{within}{key} is {_shown(value)}; expected {kind.expected}"
        elif value is not None:
            if not isinstance(value, dict):
                return f"{within}{key} is {_shown(value)}; expected an object, or null"
            if found := wrong_field(value, kind, f"{within}{key}."):
                return found
    return None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:20]}... ({len(text)} characters)"
