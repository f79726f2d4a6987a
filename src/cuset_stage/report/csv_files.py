"""The report's tables as CSV files, and the samples in one."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import rewards
from .build import Report
from .cells import Cell, Table
from .collection import INFRA_ERROR, Run
from .details import (
    audit_note_table,
    audit_table,
    case_table,
    flag_table,
    score_table,
    settings_tables,
    timing_table,
)
from .statistics import Rule
from .tables import comparison_table, family_table, token_table, verdict_table


_SAMPLE_COLUMNS = (
    *(
        "task",
        "name",
        "family",
        "sample",
        "verdict",
        "compiled",
        "passed",
        "case",
        "message",
        "tokens",
        "prompt_tokens",
    ),
    *("finish_reason", "compile_s", "compile_cached", "run_s", "overhead_s", "speedup", "reference_s", "kernel_s"),
    *("flags", "code_sha256"),
)

CSV_FILES = tuple(
    f"{name}.csv"
    for name in (
        *("pass_at_k", "samples", "comparisons", "verdicts", "tokens", "families", "cases", "scores", "timing"),
        *("flags", "audit", "audit_notes", "settings", "settings_by_run"),
    )
)
"""All that `write_csv` may write."""

_RATE_COLUMNS = (
    *("run", "model", "level", "rule", "k", "criterion", "flagged_tasks"),
    *("percent", "low", "high", "tasks", "left_out"),
)


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Write pass_at_k.csv, samples.csv and a file a table. Rates are percentages with their interval's ends in own columns."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [
        _write(folder / "pass_at_k.csv", _rates(report)),
        _write(folder / "samples.csv", _samples(report)),
    ]
    builders = (
        *(comparison_table, verdict_table, token_table, family_table, case_table, score_table, timing_table),
        *(flag_table, audit_table, audit_note_table),
    )
    for build in builders:
        if table := build(report):
            written.append(_write(folder / f"{table.key}.csv", _table(table)))
    written += [_write(folder / f"{table.key}.csv", _table(table)) for table in settings_tables(report)]
    return written


def _rates(report: Report) -> Iterator[Sequence[Any]]:
    yield _RATE_COLUMNS
    for with_flagged, rates in (("included", report.rates), ("left out", report.unflagged_rates or {})):
        for run in report.collection.runs:
            for (name, rule, k, criterion), rate in rates.items():
                if name == run.label:
                    e = rate.estimate
                    known = e is not None and e.value is not None
                    values = [round(100 * v, 4) for v in (e.value, e.low, e.high)] if known else ["", "", ""]
                    counts = [e.tasks, e.left_out] if e else ["", ""]
                    yield name, run.model, run.level, Rule(rule).value, k, criterion, with_flagged, *values, *counts


def _samples(report: Report) -> Iterator[Sequence[Any]]:
    yield "run", "level", *_SAMPLE_COLUMNS, "kevin", "grpo"
    for run in report.collection.runs:
        for sample in report.collection.judged(run):
            values = [sample.get(column) for column in _SAMPLE_COLUMNS]
            texts = ("; ".join(map(str, v)) if isinstance(v, list) else v for v in values)
            yield run.label, run.level, *texts, *_rewards(run, sample)


def _rewards(run: Run, sample: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Kevin's and the GRPO report's; None where the run means leave the sample out: it was not run, or the judge failed."""
    if run.compile_only or sample["verdict"] == INFRA_ERROR:
        return None, None
    return round(rewards.kevin(sample), 6), round(rewards.grpo(sample), 6)


def _table(table: Table) -> Iterator[Sequence[Any]]:
    """The table's values; what stands behind one, such as an interval, in columns of its own."""
    columns = [[row[i] for row in table.rows] for i in range(len(table.columns))]
    header: list[str] = []
    parts: list[Sequence[Any]] = []  # of each column of the file
    for column, cells in zip(table.columns, columns, strict=True):
        name = f"{column.group}: {column.name}" if column.group else column.name
        further = _further(cells)
        header += [name, *(f"{name} ({title})" for title in further)]
        parts += [[cell.value for cell in cells], *further.values()]
    yield header
    yield from zip(*parts, strict=True)


def _further(cells: Sequence[Cell]) -> dict[str, Sequence[Any]]:
    if any(cell.ends for cell in cells):
        return {title: [cell.ends and cell.ends[i] for cell in cells] for i, title in enumerate(("low", "high"))}
    return {"interval": [cell.detail for cell in cells]} if any(cell.detail for cell in cells) else {}


def _write(path: Path, rows: Iterable[Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[_safe(value) for value in row] for row in rows])
    return path


def _safe(value: Any) -> Any:
    """A spreadsheet runs text that begins like a formula; messages come from programs nobody trusts."""
    if isinstance(value, str):
        value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        if value.startswith(("=", "+", "-", "@", "\t", "\r")):
            return "'" + value
    return "" if value is None else value
