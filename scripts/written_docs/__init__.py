"""The pages of docs/ that scripts/write_docs.py writes, a file each, and what they share."""

import importlib
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


ROOT = Path(__file__).resolve().parents[2]
NOTE = "Written by `python scripts/write_docs.py` from {}; do not edit by hand.\n"
MARKS = ("<!-- written by scripts/write_docs.py -->", "<!-- end -->")


def record(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def source(name: str, command: str) -> str:
    """Where the numbers come from: the record, its date and machine, and the command that measured them."""
    saved = record(name)
    machine = (
        saved.get("gpu")
        or ", ".join(gpu["name"] for gpu in saved.get("gpus", []))
        or f"{saved.get('cores', 2)} CPU cores"
    )
    return f"`benchmarks/{name}`, {saved['date'][:10]}, {machine}: `{command}`"


def between_marks(name: str, text: str) -> str:
    """A page of docs/ with this text between its marks."""
    before, _, rest = (ROOT / "docs" / name).read_text(encoding="utf-8").partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    return f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}"


def helper_table(module: str, name: str) -> dict[str, Any]:
    """A table that the tests run from, in a file of tests/helpers/."""
    folder = str(ROOT / "tests" / "helpers")
    sys.path.insert(0, folder)
    try:
        return getattr(importlib.import_module(module), name)
    finally:
        sys.path.remove(folder)
