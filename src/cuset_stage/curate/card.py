"""The data card: what is in a set, where it comes from, what was left out and why, and on which GPU it was verified."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import __version__
from .folders import Step, read_funnel
from .stage_rows import CurationError


_UNKNOWN = {**dict.fromkeys(("toolkit", "arch", "driver", "times"), "unknown"), "flags": (), "mutants": 0}


def data_card(folder: Path, name: str, facts: Any, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """Markdown. facts: the counters of `write._Facts`."""
    try:
        steps = read_funnel(folder)
    except CurationError:
        steps = []
    steps = [step for step in steps if step.stage != "write"]
    parts = [
        f"# Data card: {name}\n\nWritten by cuset-stage {__version__} on {datetime.now(UTC):%Y-%m-%d}.\n",
        _contents(facts, entries),
        _stale(steps),
        _verification(steps, facts.verdicts, facts.without_mutants),
        _table("Families", "family", facts.families),
        _table("Licences", "licence", facts.licences),
        _table("Sources", "source and revision", facts.sources),
        _funnel(steps),
        _lengths(facts.length_report),
        _contamination(folder, steps),
    ]
    return "\n".join(part for part in parts if part)


def _contents(facts: Any, entries: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["| split | rows | tasks |", "|---|---:|---:|"]
    lines += [f"| {split} | {facts.rows[split]:,} | {facts.tasks[split]:,} |" for split in ("train", "eval")]
    files = ", ".join(f"`{name}` ({entry['file_name']})" for name, entry in entries.items()) or "none: no row was left"
    return "\n".join(
        ["## Contents\n", *lines, f"\nEntries of dataset_info.json: {files}. No task is in both splits.\n"]
    )


def _stale(steps: list[Step]) -> str:
    old = [f"- {step.stale}" for step in steps if step.stale]
    return "\n".join(["## Out of date\n", *old, ""]) if old else ""


def _verification(steps: list[Step], verdicts: Counter[str], without_mutants: int) -> str:
    step = next((step for step in steps if step.stage == "verify"), None)
    counts = ", ".join(f"{verdict}: {count:,}" for verdict, count in verdicts.most_common()) or "no rows"
    lines = ["## Verification\n", f"Rows by verdict: {counts}.\n"]
    if step is None:
        lines.append("The programs were not verified.\n")
        return "\n".join(lines)
    if step.stopped:
        lines.append(f"The verification was stopped: {step.unsettled:,} of {step.read:,} rows are still to come.\n")
    settings = {**_UNKNOWN, **step.settings}
    if settings.get("compile_only"):
        lines.append(f"Programs were compiled and not run: nvcc {settings['toolkit']}, `-arch={settings['arch']}`.\n")
    else:
        where = f"{settings['gpu']}, driver {settings['driver']}" if settings.get("gpu") else "no GPU (host programs)"
        but = f"; {without_mutants:,} rows have none (modules, or nothing that compiled)" if without_mutants else ""
        tested = (
            f" Of up to {settings['mutants']} wrong versions of each, at least one was found out by its cases{but}."
            if settings.get("gpu") and settings["mutants"]
            else ""
        )
        lines.append(
            f"Every program passed every case {settings['times']} times on: {where}; nvcc {settings['toolkit']}, "
            f"`-arch={settings['arch']}`, `{' '.join(settings['flags'])}`.{tested}\n"
        )
    return "\n".join(lines)


def _table(title: str, column: str, counts: Counter[str]) -> str:
    if not counts:
        return ""
    rows = [f"| {name} | {count:,} |" for name, count in counts.most_common()]
    return "\n".join([f"## {title}\n", f"| {column} | rows |", "|---|---:|", *rows, ""])


def _funnel(steps: list[Step]) -> str:
    lines = [
        "## Funnel\n",
        "| stage | read | kept | dropped | to try again | why dropped |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for step in steps:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in step.reasons.items())
        lines.append(
            f"| {step.stage} | {step.read:,} | {step.kept:,} | {step.dropped:,} | {step.unsettled:,} | {reasons} |"
        )
    return "\n".join([*lines, ""])


def _lengths(report: Mapping[str, Any]) -> str:
    if not report.get("rows"):
        return ""
    quantiles = ", ".join(f"{float(q):.0%}: {value:,}" for q, value in report["quantiles"].items())
    return (
        f"## Lengths\n\nTokens of prompt and answer ({report['counted_by']}): {quantiles}, longest {report['longest']:,}. "
        f"{report['over']:,} rows are longer than cutoff_len {report['cutoff_len']:,}; training would cut {report['tokens_lost']:,} of "
        f"{report['tokens']:,} tokens.\n"
    )


def _contamination(folder: Path, steps: list[Step]) -> str:
    step = next((step for step in steps if step.stage == "select"), None)
    against = {} if step is None else step.settings.get("against", {})
    if not against:
        return "## Benchmarks\n\nThe set was not held against any benchmark.\n"
    try:
        found = json.loads((folder / "select" / "selection.json").read_text(encoding="utf-8"))["found_in_benchmarks"]
    except (OSError, ValueError, KeyError, TypeError):
        found = {}
    names = ", ".join(
        f"{name} ({entry['tasks']:,} tasks, sha256 {entry['sha256'][:12]})" for name, entry in against.items()
    )
    removed = ", ".join(f"{what} {count:,}" for what, count in found.items()) or "none"
    return f"## Benchmarks\n\nHeld against {names}. Rows removed: {removed}.\n"
