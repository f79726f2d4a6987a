"""The report's files in one folder."""

from collections.abc import Sequence
from pathlib import Path

from .build import Report
from .csv_files import CSV_FILES, write_csv
from .markdown import render_markdown


FORMATS = ("md", "csv", "html")


def write_report(report: Report, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write report.md, csv/ and report.html into the folder, which is made.

    The files of an earlier report are removed first, those of other formats too: what lies there is of one report. Other
    files stay. Returns the files a reader opens first. ValueError for an unknown format.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise ValueError(f"--format {','.join(unknown)}: one or more of {', '.join(FORMATS)}, comma-separated.")
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"report.md": render_markdown(report)} if "md" in formats else {}
    if "html" in formats:
        from .html import render_html

        pages["report.html"] = render_html(report)
    _remove_earlier(folder)
    written = []
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
        written.append(folder / name)
    if "csv" in formats:
        written.insert("md" in formats, write_csv(report, folder / "csv")[0])
    return written


def _remove_earlier(folder: Path) -> None:
    for path in (folder / "report.md", folder / "report.html", *(folder / "csv" / name for name in CSV_FILES)):
        path.unlink(missing_ok=True)
    csv = folder / "csv"
    if csv.is_dir() and not csv.is_symlink() and not any(csv.iterdir()):
        csv.rmdir()
