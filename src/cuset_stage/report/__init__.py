"""Reports on judged runs: Markdown, CSV, and one HTML page that needs nothing else.

    collection = collect([Path("sft/results.jsonl"), Path("cuset/results.jsonl")])
    report = build_report(collection, ks=(1, 3))
    write_report(report, Path("report"))

`collect` reads, `build` and `numbers` compute, `tables` and `details` make cells, and `markdown`, `csv_files` and `html` lay them out.
"""

from .audit import AuditError, read_audit
from .build import Report, build_report
from .collect import ReportError, collect
from .collection import Collection
from .write import FORMATS, write_report


__all__ = [
    "FORMATS",
    "AuditError",
    "Collection",
    "Report",
    "ReportError",
    "build_report",
    "collect",
    "read_audit",
    "write_report",
]
