"""A fixture that writes results files for the tests of reports."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from results_factory import write_results


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes the results file of a method into a folder of the method's name and returns its path."""

    def make(method: str, verdicts: dict[str, Any], **changes: Any) -> Path:
        return write_results(tmp_path / method / "results.jsonl", method, verdicts, **changes)

    return make
