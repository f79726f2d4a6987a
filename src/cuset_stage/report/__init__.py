"""Reports on judged runs: Markdown, CSV, and one HTML page that needs nothing else.

    collection = collect([Path("sft/results.jsonl"), Path("cuset/results.jsonl")])
    report = build_report(collection, ks=(1, 3))
    write_report(report, Path("report"))

`collect` reads, `numbers` computes, `tables` and `sections` make cells and put them in order, and `page` and `write` (Markdown, CSV) lay
them out.
"""

from .collect import collect
from .collection import Collection, ReportError
from .numbers import Report, build_report
from .write import print_report, write_report


__all__ = ["Collection", "Report", "ReportError", "build_report", "collect", "print_report", "write_report"]
