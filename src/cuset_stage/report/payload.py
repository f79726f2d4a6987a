"""The samples inside the page: a table for the list and its filters, and a compressed block of details a task.

A program is some 5 KB and the samples of a task resemble each other, so a block of one task compresses about tenfold; the page
unpacks a block when its first sample is opened.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..judge.run_header import content_sha256
from ..tasks.answers_file import AnswersError, read_answers
from .build import Report
from .collection import CRITERIA, Run
from .tables import VERDICTS


CODE_LIMIT = 64_000  # characters of one sample; what is longer is an answer that repeats itself until the token limit
MESSAGE_LIMIT = 12_000
EXCERPT = (1_500, 700)  # head and tail of an answer's text around its code
EXCERPT_NO_CODE = (4_000, 1_500)
PAGE_LIMIT = 14_000_000  # bytes of blocks; above it passed samples are shown without code
_DETAILS = (
    *("prompt_tokens", "finish_reason", "compile_s", "compile_cached", "run_s", "overhead_s"),
    *("speedup", "reference_s", "kernel_s", "code_sha256"),
)


@dataclass(frozen=True)
class Payload:
    """`index` and `blocks` go into script elements that no browser runs; `notes` are for the reader."""

    index: str
    blocks: list[str]
    notes: list[str]


def make_payload(report: Report) -> Payload:
    """Pack the samples of every run."""
    notes: list[str] = []
    answers = {run.label: _answers(run, notes) for run in report.collection.runs}
    blocks = _blocks(report, answers, code_of_passed=True)
    if sum(map(len, blocks)) > PAGE_LIMIT:
        blocks = _blocks(report, answers, code_of_passed=False)
        notes.append(
            "To keep this page small, passed samples are shown without their code; it is in the results files."
        )
    return Payload(script_json(_index(report)), blocks, notes)


def script_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return text


def _index(report: Report) -> dict[str, Any]:
    collection = report.collection
    verdicts = list(VERDICTS)
    messages: dict[str, int] = {}
    rows, flags = [], {}
    for t, task in enumerate(collection.tasks):
        for r, run in enumerate(collection.runs):
            for number in range(run.width):
                verdict = run.verdict(task.id, number)
                if verdict not in verdicts:
                    verdicts.append(verdict)
                sample = run.samples.get((task.id, number)) or {}
                line = first_line(str(sample.get("message") or ""))
                if sample.get("flags"):
                    flags[len(rows)] = "; ".join(map(str, sample["flags"]))
                rows.append(
                    [
                        t,
                        r,
                        number,
                        verdicts.index(verdict),
                        sample.get("tokens"),
                        messages.setdefault(line, len(messages)),
                    ]
                )
    sets = []
    for index, comparison in enumerate(report.comparisons):
        for side, one, other, members in (
            ("a", comparison.first, comparison.second, comparison.only_first),
            ("b", comparison.second, comparison.first, comparison.only_second),
        ):
            if members:
                name = f"{one} passes, {other} does not ({CRITERIA[comparison.criterion].lower()})"
                runs = [run.label for run in collection.runs]
                pair = [runs.index(one), runs.index(other)]
                sets.append({"key": f"{index}{side}", "name": name, "tasks": members, "runs": pair})
    return {
        "runs": [
            {"name": run.label, "python": (run.header.get("tasks") or {}).get("format") == "kernelbench"}
            for run in collection.runs
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


def _blocks(
    report: Report, answers: Mapping[str, Mapping[tuple[str, int], str]], *, code_of_passed: bool
) -> list[str]:
    blocks = []
    for task in report.collection.tasks:
        details = []
        for run in report.collection.runs:
            for number in range(run.width):
                sample = run.samples.get((task.id, number))
                answer = answers[run.label].get((task.id, number))
                details.append(_details(sample, answer, with_code=code_of_passed or not (sample or {}).get("passed")))
        raw = json.dumps(details, ensure_ascii=True, separators=(",", ":")).encode()
        blocks.append(base64.b64encode(zlib.compress(raw, 9)).decode())
    return blocks


def _details(sample: Mapping[str, Any] | None, answer: str | None, *, with_code: bool) -> dict[str, Any]:
    if sample is None:
        return {}
    code = sample.get("code") or ""
    record = {key: sample[key] for key in _DETAILS if sample.get(key) not in (None, False)}
    record["message"] = _clip(str(sample.get("message") or ""), MESSAGE_LIMIT // 2, MESSAGE_LIMIT // 2)
    record["case"] = sample.get("case")
    if len(sample.get("cases") or ()) > 1:
        record["cases"] = sample["cases"]
    elif sample.get("cases"):
        errors = {key: sample["cases"][0].get(key) for key in ("max_abs_error", "max_rel_error")}
        record |= {key: value for key, value in errors.items() if value is not None}
    record["code"] = _clip(code, CODE_LIMIT - 4_000, 4_000) if with_code else None
    if answer is not None:
        place = answer.find(code.strip()) if code.strip() else -1
        if place >= 0:
            answer = answer[:place] + "[the code]" + answer[place + len(code.strip()) :]
        record["answer"] = _clip(answer, *(EXCERPT if place >= 0 else EXCERPT_NO_CODE))
    return record


def _clip(text: str, head: int, tail: int) -> str:
    if len(text) <= head + tail:
        return text
    return f"{text[:head]}\n[... {len(text) - head - tail:,} characters left out ...]\n{text[-tail:]}"


def _answers(run: Run, notes: list[str]) -> dict[tuple[str, int], str]:
    """The whole answers, when the file the run was judged from is still where it was and still the same."""
    told = run.header.get("answers") or {}
    if not told.get("path"):
        return {}
    path = next((p for p in (Path(told["path"]), run.path.parent / Path(told["path"]).name) if p.exists()), None)
    if path is None:
        notes.append(f"{run.label}: {told['path']} is not here, so the text around the code is not shown.")
        return {}
    if told.get("sha256") and content_sha256(path) != told["sha256"]:
        notes.append(
            f"{run.label}: {path.name} has changed since it was judged; the text around the code is not shown."
        )
        return {}
    try:
        return {
            (answer.task, answer.sample): answer.answer
            for answer in read_answers(path)
            if (answer.level or 1) == run.level
        }
    except (AnswersError, OSError) as error:
        notes.append(f"{run.label}: {error}")
        return {}
