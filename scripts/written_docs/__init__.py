"""The generated parts of the pages of docs/, for scripts/write_docs.py.

Each page has a module with a function `page`, which returns the whole page as text. The functions here are shared by
these modules.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "helpers"))  # some pages are written from tables that the tests run from
NOTE = "Written by `python scripts/write_docs.py` from {}; do not edit by hand.\n"


def record(name: str) -> Any:
    """Return the content of a JSON file in benchmarks/."""
    return json.loads((ROOT / "benchmarks" / name).read_text(encoding="utf-8"))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def between(value: float, low: float, high: float, form: str = ".1f") -> str:
    """Return a value with its interval, such as "35.1 (27.5 to 42.6)"."""
    return f"{value:{form}} ({low:{form}} to {high:{form}})"


def source(name: str, command: str) -> str:
    """Return a list item that says where numbers come from.

    It names the record, its date and machine, and the command that measured them.

    Args:
        name: the record's file name in benchmarks/.
        command: the command that wrote it.
    """
    saved = record(name)
    gpus = ", ".join(gpu["name"] for gpu in saved.get("gpus", []))
    machine = saved.get("gpu") or gpus or f"{saved.get('cores', 2)} CPU cores"
    return f"- `benchmarks/{name}`, {saved['date'][:10]}, {machine}: `{command}`"


def filled(name: str, **texts: str) -> str:
    """Return a page of docs/ with generated texts filled in.

    Args:
        name: the page's file name.
        **texts: each replaces what is between `<!-- written: KEY -->` and `<!-- end -->`.

    Raises:
        AssertionError: the page does not have a mark exactly once.
    """
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    for key, text in texts.items():
        begin, end = f"<!-- written: {key} -->", "<!-- end -->"
        pattern = re.compile(f"{begin}.*?{end}", re.DOTALL)
        page, count = pattern.subn(lambda _, new=f"{begin}\n\n{text}\n\n{end}": new, page)
        assert count == 1, f"docs/{name}: {begin} stands {count} times"
    return page
