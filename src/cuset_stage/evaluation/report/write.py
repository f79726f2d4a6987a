"""The report's files in one folder."""

from collections.abc import Sequence
from pathlib import Path

from .build import Report
from .csv_files import write_csv
from .markdown import render_markdown


FORMATS = ("md", "csv", "html")


def write_report(report: Report, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write report.md, csv/ and report.html into the folder, which is made; files of an earlier report are replaced.

    Returns the files a reader opens first. ValueError for an unknown format.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise ValueError(f"--format {','.join(unknown)}: one or more of {', '.join(FORMATS)}, comma-separated.")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    if "md" in formats:
        (folder / "report.md").write_text(render_markdown(report), encoding="utf-8", newline="\n")
        written.append(folder / "report.md")
    if "csv" in formats:
        written.append(write_csv(report, folder / "csv")[0])
    if "html" in formats:
        from .html import render_html

        (folder / "report.html").write_text(render_html(report), encoding="utf-8", newline="\n")
        written.append(folder / "report.html")
    return written
