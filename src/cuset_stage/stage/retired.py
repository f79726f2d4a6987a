"""Keys of a recipe that earlier versions read and this one refuses."""

from collections.abc import Mapping
from typing import Any

from ..text import InputError


_FROM_A_FILE = "confidence is no longer read from a file. Set cuset_confidence: base, and remove cuset_confidence_file"
# Keys, and values of keys, that were removed, with the reason and the replacement.
RETIRED = {
    "cuset_confidence: file": _FROM_A_FILE,
    "cuset_confidence_file": _FROM_A_FILE,
    "cuset_analyze_steps": "training no longer measures the KS distance. Remove the key, and measure the trained model with `cuset analyze`",
}


def check_retired(keys: Mapping[str, Any]) -> None:
    """Refuse keys and values of an earlier version.

    Args:
        keys: the recipe's keys with their values. A list holds the values of a sweep.

    Raises:
        InputError: names the first retired key or value and its replacement.
    """
    for key, value in keys.items():
        for setting in (key, *(f"{key}: {item}" for item in (value if isinstance(value, list) else [value]))):
            if setting in RETIRED:
                raise InputError(f"{setting}: {RETIRED[setting]}.")
