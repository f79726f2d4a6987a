"""Reports on judged runs, as Markdown, CSV and one self-contained HTML page.

    collection = collect([Path("sft/results.jsonl"), Path("cuset/results.jsonl")])
    report = build_report(collection, ks=(1, 3))
    write_report(report, Path("report"))

`collect` reads the results files and `numbers` computes rates and tests. `tables` and `sections` turn the numbers into
ordered tables of cells. `page` writes these as HTML, and `write` as Markdown and CSV.
"""

from .collect import collect
from .collection import Collection, ReportError
from .numbers import Report, build_report
from .write import print_report, write_report


__all__ = ["Collection", "Report", "ReportError", "build_report", "collect", "print_report", "write_report"]
