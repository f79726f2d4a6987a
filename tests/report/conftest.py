"""Results files to report on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from results_factory import write_results


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes the results file of a method, in a folder that is called as it."""

    def make(method: str, verdicts: dict[str, Any], **changes: Any) -> Path:
        return write_results(tmp_path / method / "results.jsonl", method, verdicts, **changes)

    return make
