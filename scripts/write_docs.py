"""Write the pages and tables of docs/ that come from records, settings and tests.

    python scripts/write_docs.py

The package `written_docs` has a file for each page. Every number in them comes from a file in benchmarks/, which a
script has written on the machine that the file names.
"""

import sys
from importlib import import_module
from pathlib import Path


SCRIPTS = Path(__file__).resolve().parent
sys.path.append(str(SCRIPTS))  # tests load this file by its path
NAMES = ("data", "benchmarks", "keys", "features", "security", "real_study")
PAGES = {SCRIPTS.parent / "docs" / f"{name}.md": import_module(f"written_docs.{name}").page for name in NAMES}


if __name__ == "__main__":
    for path, write in PAGES.items():
        path.write_text(write(), encoding="utf-8")
    import_module("written_docs.real_study").draw()
