"""The report of a study: results.jsonl, its tables as Markdown and CSV, pictures of its sweeps, and a page with all of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..files import write_atomically
from ..pages import template
from ..report.cells import Table, number_column, text_column
from ..report.markdown import escape, render_table
from ..report.write import table_frame
from .plan import Run, runs_of
from .results import collect, read_results, score_table
from .run import gpu_hours
from .settings import StudySettings
from .statistics import crossed
from .tables import comparison_table, rate_table


def write_report(settings: StudySettings) -> list[Path]:
    """Write the report of what is judged so far; returns the files.

    Raises:
        StudyError: no sample is judged.
    """
    results = collect(settings.output)
    rows = read_results(results)
    folder = settings.output / "report"
    tables, pictures = list(_tables(settings, rows)), {}
    for key in settings.sweeps.runs if settings.sweeps else ():
        if (path := _draw_sweep(settings, rows, key, folder / f"{key}.png")) is not None:
            pictures[f"Pass@1 over {key}"] = base64.b64encode(path.read_bytes()).decode()
    summary = (
        f"{rows['task'].nunique():,} tasks, {len(rows):,} samples; models: {', '.join(settings.models)}; "
        f"seeds: {', '.join(map(str, settings.seeds))}"
    )
    title = settings.title or settings.output.name
    parts = [f"# {escape(title)}", escape(summary), *(render_table(table) for table in tables)]
    write_atomically(folder / "report.md", "\n\n".join(parts) + "\n")
    for table in tables:
        write_atomically(folder / f"{table.key}.csv", table_frame(table).to_csv(index=False))
    page = template("study/page.html").render(title=title, summary=summary, tables=tables, pictures=pictures)
    write_atomically(folder / "report.html", page)
    return [results, *sorted(folder.iterdir())]


def _tables(settings: StudySettings, rows: pd.DataFrame) -> Iterator[Table]:
    """The paper's Tables 2 and 4, then 5, the numbers of Fig. 4, then comparisons and costs, by model."""
    ablations = list(settings.ablations.runs) if settings.ablations else []
    swept = [run.method for run in runs_of(settings) if run.method not in {*settings.methods, *ablations}]
    baseline = settings.baseline or ("sft" if "sft" in settings.methods else next(iter(settings.methods)))
    samples = int(rows["sample"].max()) + 1
    ks = [k for k in settings.k if k <= samples]
    judged = set(zip(rows["model"], rows["method"], strict=True))
    for name, model in settings.models.items():
        for key, methods, what in (
            ("rates", settings.methods, "methods"),
            ("parts", ablations, "parts of the objective"),
            ("sweeps", dict.fromkeys(swept), "values of a key"),
        ):
            if known := [method for method in methods if (name, method) in judged]:
                table = rate_table(rows, name, known, ks, model.published, f"{name}: {what}")
                yield replace(table, key=f"{key}_{name}")
        if (found := comparison_table(rows, name, [*settings.methods, *ablations], baseline)) is not None:
            yield found
        if known := [method for method in (*settings.methods, *ablations) if (name, method) in judged]:
            yield _cost_table(settings, rows, name, known)


def _cost_table(settings: StudySettings, rows: pd.DataFrame, model: str, methods: Sequence[str]) -> Table:
    """Tokens of an answer, preference for right programs, and GPU hours: means over seeds."""
    of_model = rows[rows["model"] == model]
    runs = [run for run in runs_of(settings) if run.model == model]

    def mean(values: Iterable[float | None]) -> float:
        """Of those that are known, NaN without any."""
        return pd.Series(list(values), dtype=float).mean()

    by_method = [[run for run in runs if run.method == method] for method in methods]
    tokens = [mean(of_model[of_model["method"] == method]["tokens"]) for method in methods]
    pairs = [mean(_pairs(settings, run) for run in of) for of in by_method]
    hours = [mean(gpu_hours(settings, run, "train") for run in of) for of in by_method]
    columns = [
        text_column("method", methods),
        number_column("tokens of an answer", tokens),
        number_column("pairs right, %", pairs, digits=1),
        number_column("GPU hours of training", hours, digits=2),
    ]
    return Table(f"cost_{model}", f"{model}: answers and costs", columns, "Means over seeds.")


def _pairs(settings: StudySettings, run: Run) -> float | None:
    try:
        record = json.loads((settings.output / "runs" / run.name / "pairs.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    [model] = record["models"].values()
    return 100 * model["accuracy"]["from_change"]["value"]


def _draw_sweep(settings: StudySettings, rows: pd.DataFrame, key: str, path: Path) -> Path | None:
    """Function Pass@1 over the values of a key (the paper's Fig. 4), a line a model, with 95 % intervals; None without a number."""
    from matplotlib.figure import Figure

    sweeps = settings.sweeps
    assert sweeps is not None
    scores = score_table(rows, "passed", 1)
    base = (settings.methods[sweeps.of] or {}).get(key)
    figure = Figure(figsize=(6, 3.6), dpi=150, layout="constrained")
    axes = figure.subplots()
    for model in settings.models:
        points = []
        for value in sorted({*sweeps.runs[key], *([base] if base is not None else [])}):
            method = sweeps.of if value == base else f"{sweeps.of}_{key}={value}"
            one = crossed(scores[model, method].to_numpy()) if (model, method) in scores else None
            if one is not None:
                points.append((value, 100 * one.value, *(100 * abs(end - one.value) for end in one.rate_interval())))
        if points:
            values, means, *ends = zip(*points, strict=True)
            axes.errorbar(values, means, yerr=ends, marker="o", capsize=3, label=model)
    if not axes.has_data():
        return None
    axes.set(xlabel=key, ylabel="Pass@1, function, %")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    return path
