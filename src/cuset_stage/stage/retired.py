"""Keys of a recipe that earlier versions read."""

from collections.abc import Mapping
from typing import Any

from ..text import InputError


_FROM_A_FILE = "confidence is no longer read from a file. Set cuset_confidence: base, and remove cuset_confidence_file"
# Keys, and values of keys, that are gone: why, and what takes their place.
RETIRED = {
    "cuset_confidence: file": _FROM_A_FILE,
    "cuset_confidence_file": _FROM_A_FILE,
    "cuset_analyze_steps": "training no longer measures the KS distance. Remove the key, and measure the trained model with `cuset analyze`",
}


def check_retired(keys: Mapping[str, Any]) -> None:
    """Refuse keys and values of an earlier version. keys: of a recipe; a list holds the values of a sweep.

    Raises:
        InputError: names the first one and what takes its place.
    """
    for key, value in keys.items():
        for one in (key, *(f"{key}: {item}" for item in (value if isinstance(value, list) else [value]))):
            if one in RETIRED:
                raise InputError(f"{one}: {RETIRED[one]}.")
