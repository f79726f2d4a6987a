"""The report as one self-contained HTML page: tables, charts, and every sample behind them.

Each sample is a row that the filters of the page show or hide. The details of the samples are stored in one compressed
block per task, which the page unpacks when a reader opens a row. A program has about 5 KB, and the samples of a task
resemble each other, so a block compresses about tenfold.
"""

import hashlib
import re
import zlib
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any

from markupsafe import Markup

from ..pages import template
from ..progress import Progress
from ..text import shorten
from .collection import NOT_JUDGED, Collection, Run, TaskInfo
from .numbers import Report
from .sections import sections, summary
from .tables import VERDICTS, named_verdicts


CODE_LIMIT = 64_000  # characters of one sample; longer answers repeat themselves until the token limit
MESSAGE_LIMIT, LINE_LIMIT = 12_000, 140
NO_FAILURE = ("passed", "compiled", NOT_JUDGED)
ERROR_LINE = re.compile(r"\.(?:cu|cpp|cc|py)(?:\((\d+)\)|:(\d+):\d+): (?:fatal |catastrophic )?error")


def render_html(report: Report) -> str:
    """Return the HTML page.

    The page shows text that programs and models wrote. This text is escaped, and a content security policy only allows
    the page's own script to run.
    """
    script = resources.files(__package__).joinpath("page.js").read_text("utf-8")
    tasks = [(task, list(_samples(report.collection.runs, task))) for task in report.collection.tasks]
    with Progress(total=len(tasks), unit="task", desc="page", leave=False) as bar:

        def packed(text: str) -> bytes:
            bar.update()
            return zlib.compress(text.encode(), 9)

        return template("report/page.html", digits=digits, duration=duration, packed=packed).render(
            notes=report.collection.notes,
            summary=summary(report),
            sections=sections(report),
            title=report.title,
            tasks=tasks,
            filters=_filters(report.collection),
            script=Markup(script),
            script_hash=hashlib.sha256(script.encode()).digest(),
        )


def _filters(collection: Collection) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield (key, label, options) of each filter above the list of samples."""
    yield "run", "Method", {run.label: run.label for run in collection.runs}
    groups = {"failures": "all failures", "suspicious": "with a suspicion"}
    yield "verdict", "Verdict", groups | named_verdicts(collection)
    yield "family", "Family", {family: family for family in sorted({task.family for task in collection.tasks})}


def _samples(runs: Sequence[Run], task: TaskInfo) -> Iterator[dict[str, Any]]:
    """Yield the samples of a task, each with its line of the results file and the values that the page shows."""
    for run, number in ((of_run, number) for of_run in runs for number in range(of_run.width)):
        line = run.samples.get((task.id, number)) or {}
        verdict, message, code = run.verdict(task.id, number), line.get("message") or "", line.get("code") or ""
        groups = ["failures"] * (verdict not in NO_FAILURE) + ["suspicious"] * bool(line.get("flags"))
        yield {
            "run": run,
            "number": number,
            "line": line,
            "verdict": [verdict, *groups],
            "named": VERDICTS[verdict],
            "said": first_line(message),
            "message": shorten(message, MESSAGE_LIMIT),
            "wrong": [in_brackets or after_colon for in_brackets, after_colon in ERROR_LINE.findall(message)],
            # The code is not stripped, so that the compiler's line numbers stay right.
            "code": code if len(code) <= CODE_LIMIT else shorten(code, CODE_LIMIT),
        }


def digits(value: float | None) -> str:
    """Format a number with four significant digits. Anything else, such as None, gives an empty text."""
    return f"{value:.4g}" if isinstance(value, int | float) else ""


def duration(seconds: float | None) -> str:
    """Format a time in the fitting unit, such as "45 µs", "1.23 ms" or "2.50 s". None gives an empty text."""
    if not isinstance(seconds, int | float):
        return ""
    for unit, scale in (("µs", 1e6), ("ms", 1e3)):
        if seconds * scale < 999.5:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds:.{2 if seconds < 100 else 0}f} s"


def first_line(message: str) -> str:
    """Return the first line of a message that mentions an error, or its first line, cut to `LINE_LIMIT` characters."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    line = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
    return line if len(line) <= LINE_LIMIT else line[: LINE_LIMIT - 1] + "…"
