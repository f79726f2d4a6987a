"""The report as one HTML page that loads nothing: tables, charts, and every sample behind them.

The samples stand in it as a list with its filters, and a compressed block of details a task: a program is some 5 KB and the samples
of a task resemble each other, so a block compresses about tenfold; the page unpacks it when its first sample is opened.
"""

import base64
import hashlib
import itertools
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from ..judge.run_header import content_sha256
from ..tasks.answers_file import AnswersError, read_answers
from ..text import shorten
from .cells import Column
from .charts import charts
from .collection import CRITERIA, Run
from .numbers import Report
from .sections import methods, sections, summary
from .tables import VERDICTS


CODE_LIMIT = 64_000  # characters of one sample; what is longer is an answer that repeats itself until the token limit
MESSAGE_LIMIT = 12_000
DETAILS = (
    *("prompt_tokens", "finish_reason", "compile_s", "compile_cached", "run_s", "overhead_s", "speedup"),
    *("reference_s", "kernel_s", "code_sha256"),
)
Answers = Mapping[str, Mapping[tuple[str, int], str]]  # run's label -> (task, sample) -> the whole answer


def render_html(report: Report) -> str:
    """The page. What programs and models wrote is escaped, and a content security policy lets no script run but the page's own."""
    files = resources.files(__package__)
    template, style, script = (files.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    notes: list[str] = []
    answers = {run.label: _answers(run, notes) for run in report.collection.runs}
    index = sample_index(report)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["fragment"] = lambda link: "#" + urlencode(link, quote_via=quote)  # the page's script reads it
    environment.filters["runs"] = _runs
    return environment.from_string(template).render(
        report=report,
        summary=summary(report),
        sections=sections(report),
        charts=charts(report),
        methods=methods(report),
        notes=notes,
        blocks=detail_blocks(report, answers),
        index=_in_script(index),
        filters=_filters(index),
        style=Markup(style),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _filters(index: Mapping[str, Any]) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Key, label and options of the filters above the list of samples."""
    present = {row[3] for row in index["rows"]}
    verdicts = [(key, text) for i, (key, text) in enumerate(index["verdicts"]) if i in present]
    yield "run", "Method", [(run["name"], run["name"]) for run in index["runs"]]
    yield "verdict", "Verdict", [("failures", "all failures"), ("suspicious", "with a suspicion"), *verdicts]
    yield "family", "Family", [(family, family) for family in sorted({task[2] for task in index["tasks"]})]
    flagged = any(task[3] for task in index["tasks"])
    audit = [("flagged", "flagged by the audit"), ("clean", "not flagged by the audit")] if flagged else []
    yield "set", "Tasks", [*audit, *((one["key"], f"{one['name']}: {len(one['tasks'])}") for one in index["sets"])]


def _runs(columns: Sequence[Column]) -> Iterator[tuple[str, int]]:
    """Each group of neighbouring columns, and how many they are."""
    for group, of_group in itertools.groupby(columns, key=lambda column: column.group):
        yield group, len(list(of_group))


def _in_script(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def sample_index(report: Report) -> dict[str, Any]:
    """What the list of samples and its filters need; messages, verdicts, tasks and runs by number."""
    collection = report.collection
    labels, verdicts = [run.label for run in collection.runs], list(VERDICTS)
    messages: dict[str, int] = {}
    rows, flags, sets = [], {}, []
    for t, task in enumerate(collection.tasks):
        for r, run in enumerate(collection.runs):
            for number in range(run.width):
                verdict = run.verdict(task.id, number)
                if verdict not in verdicts:
                    verdicts.append(verdict)
                sample = run.samples.get((task.id, number)) or {}
                if sample.get("flags"):
                    flags[len(rows)] = "; ".join(sample["flags"])
                message = messages.setdefault(first_line(sample.get("message") or ""), len(messages))
                rows.append([t, r, number, verdicts.index(verdict), sample.get("tokens"), message])
    for index, comparison in enumerate(report.comparisons):
        pair, criterion = [comparison.first, comparison.second], CRITERIA[comparison.criterion].lower()
        for side, (one, other), tasks in (
            ("a", pair, comparison.only_first),
            ("b", pair[::-1], comparison.only_second),
        ):
            if tasks:
                name = f"{one} passes, {other} does not ({criterion})"
                runs = [labels.index(one), labels.index(other)]
                sets.append({"key": f"{index}{side}", "name": name, "tasks": tasks, "runs": runs})
    return {
        "runs": [
            {"name": run.label, "python": run.told("tasks", "format") == "kernelbench"} for run in collection.runs
        ],
        "tasks": [[task.id, task.name, task.family, "; ".join(task.findings)] for task in collection.tasks],
        "verdicts": [[verdict, VERDICTS.get(verdict, verdict)] for verdict in verdicts],
        "rows": rows,
        "messages": list(messages),
        "flags": flags,
        "sets": sets,
    }


def first_line(message: str, limit: int = 140) -> str:
    """What a list shows of a message: the line of the first error, else the first line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    line = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def detail_blocks(report: Report, answers: Answers) -> list[str]:
    """A compressed block a task: the details of its samples in the order of the index."""
    blocks = []
    for task in report.collection.tasks:
        details = []
        for run in report.collection.runs:
            for key in ((task.id, number) for number in range(run.width)):
                sample = run.samples.get(key)
                details.append(_details(sample, answers[run.label].get(key)) if sample else {})
        raw = json.dumps(details, separators=(",", ":")).encode()
        blocks.append(base64.b64encode(zlib.compress(raw, 9)).decode())
    return blocks


def _details(sample: Mapping[str, Any], answer: str | None) -> dict[str, Any]:
    code, cases = sample.get("code") or "", sample.get("cases") or []
    record = {key: sample[key] for key in DETAILS if sample.get(key) not in (None, False)}
    record["message"] = shorten(sample.get("message") or "", MESSAGE_LIMIT)
    record["case"] = sample.get("case")
    if len(cases) > 1:
        record["cases"] = cases
    elif cases:
        record |= {key: cases[0].get(key) for key in ("max_abs_error", "max_rel_error")}
    # Not stripped, so that the compiler's line numbers hold.
    record["code"] = code if len(code) <= CODE_LIMIT else shorten(code, CODE_LIMIT)
    if answer is not None:
        bare = code.strip()
        found = bool(bare) and bare in answer
        record["answer"] = shorten(answer.replace(bare, "[the code]", 1), 2_200) if found else shorten(answer, 5_500)
    return record


def _answers(run: Run, notes: list[str]) -> dict[tuple[str, int], str]:
    """The whole answers, when the file the run was judged from is still where it was and still the same."""
    told, digest = run.told("answers", "path"), run.told("answers", "sha256")
    if not told:
        return {}
    path = next((p for p in (Path(told), run.path.parent / Path(told).name) if p.exists()), None)
    if path is None:
        notes.append(f"{run.label}: {told} is not here, so the text around the code is not shown.")
    elif digest and content_sha256(path) != digest:
        text = "has changed since it was judged; the text around the code is not shown."
        notes.append(f"{run.label}: {path.name} {text}")
    else:
        try:
            answers = [answer for answer in read_answers(path) if (answer.level or 1) == run.level]
            return {(answer.task, answer.sample): answer.answer for answer in answers}
        except (AnswersError, OSError) as error:
            notes.append(f"{run.label}: {error}")
    return {}
