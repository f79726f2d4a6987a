"""What scripts/write_docs.py writes into the pages of docs/, a file for each page, and what these files share."""

import importlib
import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


ROOT = Path(__file__).resolve().parents[2]
NOTE = "Written by `python scripts/write_docs.py` from {}; do not edit by hand.\n"


def record(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def between(value: float, low: float, high: float, form: str = ".1f") -> str:
    """ "35.1 (27.5 to 42.6)"."""
    return f"{value:{form}} ({low:{form}} to {high:{form}})"


def source(name: str, command: str) -> str:
    """Where the numbers come from: the record, its date and machine, and the command that measured them."""
    saved = record(name)
    gpus = ", ".join(gpu["name"] for gpu in saved.get("gpus", []))
    machine = saved.get("gpu") or gpus or f"{saved.get('cores', 2)} CPU cores"
    return f"- `benchmarks/{name}`, {saved['date'][:10]}, {machine}: `{command}`"


def filled(name: str, **texts: str) -> str:
    """A page of docs/ with each of these texts between its marks: `<!-- written: KEY -->` and `<!-- end -->`."""
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    for key, text in texts.items():
        begin, end = f"<!-- written: {key} -->", "<!-- end -->"
        pattern = re.compile(f"{begin}.*?{end}", re.DOTALL)
        page, count = pattern.subn(lambda _, new=f"{begin}\n\n{text}\n\n{end}": new, page)
        assert count == 1, f"docs/{name}: {begin} stands {count} times"
    return page


def helper_table(module: str, name: str) -> dict[str, Any]:
    """A table that the tests run from, in a file of tests/helpers/."""
    folder = str(ROOT / "tests" / "helpers")
    sys.path.insert(0, folder)
    try:
        return getattr(importlib.import_module(module), name)
    finally:
        sys.path.remove(folder)
