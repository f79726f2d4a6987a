"""The report as one HTML page that loads nothing: tables, charts, and every sample behind them.

Each sample is a row that the page's filters show or hide. What a row opens to lies in a compressed block a task, which the page unpacks
when it is asked for: a program is some 5 KB and the samples of a task resemble each other, so a block compresses about tenfold.
"""

import base64
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


CODE_LIMIT = 64_000  # characters of one sample; what is longer is an answer that repeats itself until the token limit
MESSAGE_LIMIT, LINE_LIMIT = 12_000, 140
NO_FAILURE = ("passed", "compiled", NOT_JUDGED)
ERROR_LINE = re.compile(r"\.(?:cu|cpp|cc|py)(?:\((\d+)\)|:(\d+):\d+): (?:fatal |catastrophic )?error")


def render_html(report: Report) -> str:
    """The page. What programs and models wrote is escaped, and a content security policy lets no script run but the page's own."""
    script = resources.files(__package__).joinpath("page.js").read_text("utf-8")
    tasks = [(task, list(_samples(report.collection.runs, task))) for task in report.collection.tasks]
    with Progress(total=len(tasks), unit="task", desc="page", leave=False) as bar:

        def packed(text: str) -> str:
            bar.update()
            return base64.b64encode(zlib.compress(text.encode(), 9)).decode()

        return template("report/page.html", digits=digits, duration=duration, packed=packed).render(
            notes=report.collection.notes,
            summary=summary(report),
            sections=sections(report),
            title=report.title,
            tasks=tasks,
            filters=_filters(report.collection),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )


def _filters(collection: Collection) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Key, label and options of the filters above the list of samples."""
    yield "run", "Method", {run.label: run.label for run in collection.runs}
    groups = {"failures": "all failures", "suspicious": "with a suspicion"}
    yield "verdict", "Verdict", groups | named_verdicts(collection)
    yield "family", "Family", {family: family for family in sorted({task.family for task in collection.tasks})}


def _samples(runs: Sequence[Run], task: TaskInfo) -> Iterator[dict[str, Any]]:
    """The samples of a task: their lines of the results files, and what the page makes of these."""
    for run, number in ((of_run, number) for of_run in runs for number in range(of_run.width)):
        line = run.samples.get((task.id, number)) or {}
        verdict, message, code = run.verdict(task.id, number), line.get("message") or "", line.get("code") or ""
        groups = ["failures"] * (verdict not in NO_FAILURE) + ["suspicious"] * bool(line.get("flags"))
        yield {
            "run": run,
            "number": number,
            "line": line,
            "verdict": [verdict, *groups],
            "named": VERDICTS.get(verdict, verdict),
            "said": first_line(message),
            "message": shorten(message, MESSAGE_LIMIT),
            "wrong": [one or other for one, other in ERROR_LINE.findall(message)],
            # Not stripped, so that the compiler's line numbers hold.
            "code": code if len(code) <= CODE_LIMIT else shorten(code, CODE_LIMIT),
        }


def digits(value: float | None) -> str:
    """Four digits that count; nothing for what is missing."""
    return f"{value:.4g}" if isinstance(value, int | float) else ""


def duration(seconds: float | None) -> str:
    """Three digits that count, in the unit that shows them: 45 µs, 1.23 ms, 2.50 s."""
    if not isinstance(seconds, int | float):
        return ""
    for unit, scale in (("µs", 1e6), ("ms", 1e3)):
        if seconds * scale < 999.5:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds:.{2 if seconds < 100 else 0}f} s"


def first_line(message: str) -> str:
    """What a list shows of a message: the line of the first error, else the first line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    line = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
    return line if len(line) <= LINE_LIMIT else line[: LINE_LIMIT - 1] + "…"
