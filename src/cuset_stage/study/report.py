"""The report of a study.

It consists of results.jsonl, the tables as Markdown and CSV, pictures of the sweeps, and an HTML page with all of
them.
"""

import functools
import io
import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ..files import write_atomically
from ..report.cells import Section, render_markdown, render_page, table_frame
from ..report.collection import INFRA_ERROR
from ..report.notes import counted
from ..report.statistics import Crossed, crossed
from .plan import runs_of
from .settings import StudySettings
from .tables import Records, collect, score_table, tables_of


NAMED = 6  # maximum number of unfinished runs that the summary names
Lines = Mapping[str, Mapping[float, Crossed]]
"""Functional Pass@1 at each value of a key, by model."""


def write_report(settings: StudySettings, records: Records) -> list[Path]:
    """Write the report of what is judged so far, and return its files.

    Raises:
        StudyError: no sample is judged.
    """
    rows = collect(settings, records)
    folder = settings.output / "report"
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "report.html"
    for key in re.findall(r'<section id="(.+?)">', page.read_text(encoding="utf-8")) if page.exists() else ():
        for suffix in (".csv", ".png"):  # what the earlier report had may no longer apply; files of others stay
            (folder / f"{key}{suffix}").unlink(missing_ok=True)
    sections = [Section(table.key, table.title, [table]) for table in tables_of(settings, records, rows)]
    for key in settings.sweeps.runs if settings.sweeps else ():
        if lines := sweep_lines(settings, rows, key):
            (folder / f"{key}.png").write_bytes(picture := draw(lines, key))
            sections.append(Section(key, f"Pass@1 over {key}", pictures={f"Pass@1 over {key}": picture}))
    title, summary = settings.title or settings.output.name, _summary(settings, records, rows)
    write_atomically(folder / "report.md", render_markdown(title, summary, sections))
    write_atomically(page, render_page(title, summary, sections))
    for table in (table for section in sections for table in section.tables):
        write_atomically(folder / f"{table.key}.csv", table_frame(table).to_csv(index=False))
    return [settings.output / "results.jsonl", *sorted(folder.iterdir())]


def _summary(settings: StudySettings, records: Records, rows: pd.DataFrame) -> str:
    """Return the text below the title: the size of the study, and what is missing or does not compare."""
    models, seeds = (rows[key].unique() for key in ("model", "seed"))
    samples = int(rows["sample"].max()) + 1
    text = (
        f"{counted(rows['task'].nunique(), 'task')}, {counted(len(rows), 'sample')}; models: {', '.join(models)}; "
        f"seeds: {', '.join(map(str, sorted(seeds)))}."
    )
    if missing_ks := [f"Pass@{k}" for k in settings.k if k > samples]:
        text += f" No {' or '.join(missing_ks)}: a task has {counted(samples, 'sample')}."
    if "prompts" in rows:
        wordings = sorted(set(map(str, rows["prompts"])))
        text += f" Prompts: {'; '.join(wordings)}."
        if len(wordings) > 1:
            text += " Runs that answer different prompts do not compare: sample them again with the same."
    if infra_errors := int((rows["verdict"] == INFRA_ERROR).sum()):
        text += f" The judge itself failed at {counted(infra_errors, 'sample')} (infra_error, {infra_errors / len(rows):.1%}): judge these again before you publish."
    all_runs = runs_of(settings)
    if unfinished := [run.name for run in all_runs if f"evaluate/{run.name}" not in records]:
        names = ", ".join(unfinished[:NAMED]) + (", ..." if len(unfinished) > NAMED else "")
        text += f" Not finished: {len(unfinished):,} of {counted(len(all_runs), 'run')} ({names}); the tables leave them out."
    return text


def sweep_lines(settings: StudySettings, rows: pd.DataFrame, key: str) -> Lines:
    """Return the lines of a sweep, one per model, as in the paper's Fig. 4.

    A line has one point per value of the key that is a number. Each point is the mean over the seeds and tasks that
    all points of the line have in common. A model with fewer than two points has no line.
    """
    sweeps = settings.sweeps
    base = (settings.methods[sweeps.of] or {}).get(key)
    values = sorted(value for value in {*sweeps.runs[key], base} if isinstance(value, int | float))
    scores, lines = score_table(rows, "passed", 1), {}
    for model in settings.models:
        runs = {value: (model, sweeps.of if value == base else sweeps.method_of(key, value)) for value in values}
        tables = {value: scores[run] for value, run in runs.items() if run in scores}
        if len(tables) < 2:
            continue
        seeds = functools.reduce(pd.Index.intersection, (table.index for table in tables.values()))
        tasks = functools.reduce(pd.Index.intersection, (table.columns for table in tables.values()))
        means = {value: mean for value, table in tables.items() if (mean := crossed(table.loc[seeds, tasks]))}
        if len(means) > 1:
            lines[model] = means
    return lines


def draw(lines: Lines, key: str) -> bytes:
    """Return a PNG of the lines with 95 % intervals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), dpi=150, layout="constrained")
    axes = figure.subplots()
    for line, points in lines.items():
        means = [100 * mean.value for mean in points.values()]
        ends = [[100 * abs(mean.rate_interval()[end] - mean.value) for mean in points.values()] for end in (0, 1)]
        axes.errorbar(list(points), means, yerr=ends, marker="o", capsize=3, elinewidth=1, label=line)
    ticks = sorted({value for points in lines.values() for value in points})
    axes.set(xlabel=f"{key}\nbars: 95 %", ylabel="Pass@1, function, %", xticks=ticks)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(file := io.BytesIO(), format="png")
    return file.getvalue()
