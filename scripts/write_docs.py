"""Write the pages and tables of docs/ that come from records, settings and tests.

    python scripts/write_docs.py

The package `written_docs` has a file for each page. Every number in them comes from a file in benchmarks/, which a
script has written on the machine that the file names.
"""

from importlib import import_module

from written_docs import ROOT


NAMES = ("data", "benchmarks", "many_gpus", "keys", "features", "security", "real_study")
PAGES = {ROOT / "docs" / f"{name}.md": import_module(f"written_docs.{name}").page for name in NAMES}


if __name__ == "__main__":
    for path, write in PAGES.items():
        path.write_text(write(), encoding="utf-8")
    import_module("written_docs.real_study").draw()
