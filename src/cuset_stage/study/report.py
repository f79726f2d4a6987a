"""The report of a study: results.jsonl, its tables as Markdown and CSV, pictures of its sweeps and scales, and a page with all of them."""

from __future__ import annotations

import base64
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from ..files import write_atomically
from ..pages import template
from ..report.cells import Table, escape, number_column, render_table, table_frame, text_column
from ..report.notes import counted
from ..report.statistics import Crossed, crossed
from .plan import OUTPUTS, Run, jobs_of, runs_of
from .run import gpu_hours
from .settings import StudySettings
from .tables import (
    BOUND,
    Parts,
    axis_table,
    collect,
    comparison_table,
    family_table,
    paired,
    published_number,
    rate_table,
    read_results,
    score_table,
    seed_table,
    verdict_table,
)


NAMED = 6  # unfinished runs that the summary names
PARTS = {
    "cuset_confidence_mask": "confidence mask",
    "cuset_cuda_mask": "CUDA mask",
    "cuset_region_weight": "region weight",
}


def write_report(settings: StudySettings) -> list[Path]:
    """Write the report of what is judged so far; returns the files.

    Raises:
        StudyError: no sample is judged.
    """
    results = collect(settings.output)
    rows = read_results(results)
    folder = settings.output / "report"
    folder.mkdir(parents=True, exist_ok=True)
    tables, pictures = list(_tables(settings, rows)), {}
    swept = list(settings.sweeps.runs) if settings.sweeps else []
    for axis in dict.fromkeys([*swept, *(axis for model in settings.models.values() for axis in model.at)]):
        points = _scale(settings, rows, axis) if axis not in swept else _sweep(settings, rows, axis)
        if points:
            key = re.sub(r"[^a-z0-9]+", "_", axis.lower()).strip("_")
            pictures[f"Pass@1 over {axis}"] = path = folder / f"{key}.png"
            _draw(points, axis, path, _published_sweep(settings, axis, points) if axis in swept else {})
            if axis not in swept:  # whose values are rows of a table
                tables.append(axis_table(points, axis, key))
    baseline = _baseline(settings)
    for model in settings.models:
        path = folder / f"differences_{model}.png"
        if _draw_differences(paired(rows, model, _compared(settings), baseline), baseline, path):
            pictures[f"{model}: against {baseline}, by seed"] = path
    models, seeds = (rows[key].unique() for key in ("model", "seed"))
    samples = int(rows["sample"].max()) + 1
    summary = (
        f"{counted(rows['task'].nunique(), 'task')}, {counted(len(rows), 'sample')}; models: {', '.join(models)}; "
        f"seeds: {', '.join(map(str, sorted(seeds)))}."
    )
    if short := [f"Pass@{k}" for k in settings.k if k > samples]:
        summary += f" No {' or '.join(short)}: a task has {counted(samples, 'sample')}."
    if "prompts" in rows:
        wordings = sorted(set(map(str, rows["prompts"])))
        summary += f" Prompts: {'; '.join(wordings)}."
        if len(wordings) > 1:
            summary += " Runs that answer different prompts do not compare: sample them again with the same."
    every = runs_of(settings)
    if left := [run.name for run in every if gpu_hours(settings, run, "evaluate") is None]:
        names = ", ".join(left[:NAMED]) + (", ..." if len(left) > NAMED else "")
        summary += (
            f" Not finished: {len(left):,} of {counted(len(every), 'run')} ({names}); the tables leave them out."
        )
    title = settings.title or settings.output.name
    parts = [f"# {escape(title)}", escape(summary), *(render_table(table) for table in tables)]
    write_atomically(folder / "report.md", "\n\n".join(parts) + "\n")
    for table in tables:
        write_atomically(folder / f"{table.key}.csv", table_frame(table).to_csv(index=False))
    drawn = {name: base64.b64encode(path.read_bytes()).decode() for name, path in pictures.items()}
    page = template("study/page.html").render(title=title, summary=summary, tables=tables, pictures=drawn)
    write_atomically(folder / "report.html", page)
    return [results, *sorted(folder.iterdir())]


def _tables(settings: StudySettings, rows: pd.DataFrame) -> Iterator[Table]:
    """The paper's Tables 2, 3 and 4 as one, then by model Table 5, the numbers of Fig. 4, comparisons and costs."""
    swept = dict.fromkeys(run.method for run in runs_of(settings) if run.method not in _compared(settings))
    samples = int(rows["sample"].max()) + 1
    judged = set(zip(rows["model"], rows["method"], strict=True))
    ks = [k for k in settings.k if k <= samples]
    published = {name: model.published for name, model in settings.models.items()}

    def rates(of: pd.DataFrame, methods: Mapping[str, Iterable[str]], key: str, title: str, parts: Parts) -> Table:
        shown = {
            name: [method for method in dict.fromkeys(of_model) if (name, method) in judged]
            for name, of_model in methods.items()
        }
        return rate_table(of, shown, ks, published, key, title, tasks=settings.tasks.name, parts=parts)

    if any(method in settings.methods for _, method in judged):
        yield rates(rows, dict.fromkeys(settings.models, settings.methods), "rates", "methods", {})
    parts = _parts(settings)
    for name in settings.models:
        if settings.ablations and any((name, method) in judged for method in settings.ablations.runs):
            # from none, which is SFT, to all
            methods = ("sft", *settings.ablations.runs, settings.ablations.of)
            yield rates(rows, {name: methods}, f"parts_{name}", f"{name}: parts of the objective", parts)
        # of a sweep, or of an ablation that lists values
        if values := [method for method in swept if (name, method) in judged]:
            varied = settings.sweeps or settings.ablations
            of_seeds = rows if varied.seeds is None else rows[rows["seed"].isin(varied.seeds)]
            methods = (varied.of, *values)  # which has one of the values
            yield rates(of_seeds, {name: methods}, f"sweeps_{name}", f"{name}: values of a key", {})
        compared = [method for method in _compared(settings) if (name, method) in judged]
        tables = [
            comparison_table(rows, name, compared, _baseline(settings)),
            family_table(rows, name, compared),
            seed_table(rows, name, [*compared, *values]),
        ]
        yield from (table for table in tables if table is not None)
        if compared:
            yield verdict_table(rows, name, compared)
            yield _cost_table(settings, name, compared)


def _parts(settings: StudySettings) -> Parts:
    """Which models and methods have each part of CuSeT (the marks of the paper's Table 5); {} where no ablation is of these parts."""
    varied = settings.ablations.runs.values() if settings.ablations else ()
    if not any(PARTS.keys() & keys_of_run.keys() for keys_of_run in varied if isinstance(keys_of_run, dict)):
        return {}
    having = {part: set() for part in PARTS.values()}
    for job in jobs_of(settings):
        keys = job.settings
        if job.kind == "train" and keys.get("stage", "cuset") == "cuset" == keys.get("cuset_objective", "cuset"):
            for key, part in PARTS.items():
                if keys.get(key, True):
                    having[part].add((job.run.model, job.run.method))
    return having


def _baseline(settings: StudySettings) -> str:
    return settings.baseline or ("sft" if "sft" in settings.methods else next(iter(settings.methods)))


def _compared(settings: StudySettings) -> list[str]:
    """What comparisons are made of: methods and ablations, and no values of a sweep."""
    return [*settings.methods, *(settings.ablations.runs if settings.ablations else ())]


def _cost_table(settings: StudySettings, model: str, methods: Sequence[str]) -> Table:
    """Preference for right programs, and GPU hours: means over seeds."""
    runs = [run for run in runs_of(settings) if run.model == model and run.method in methods]

    def means(value: Callable[[Run], float | None]) -> list[float]:
        """Of each method's runs whose value is known, NaN without any."""
        values = pd.Series([value(run) for run in runs], dtype=float)
        return list(values.groupby([run.method for run in runs]).mean().reindex(methods))

    columns = [text_column("method", methods)]
    if settings.pairs is not None:
        columns.append(number_column("pairs right, %", means(lambda run: _pairs(settings, run)), digits=1))
    for kind, name in (("train", "training"), ("generate", "sampling"), ("evaluate", "judging")):
        hours = means(lambda run, kind=kind: gpu_hours(settings, run, kind))
        columns.append(number_column(name, hours, "GPU hours", digits=3))
    return Table(f"cost_{model}", f"{model}: costs", columns, "Means over seeds.")


def _pairs(settings: StudySettings, run: Run) -> float | None:
    try:
        record = json.loads((settings.output / "runs" / run.name / OUTPUTS["pairs"]).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    [model] = record["models"].values()
    accuracy = model["accuracy"]["from_change"]  # None without a wrong program among the pairs
    return accuracy and 100 * accuracy["value"]


Points = dict[str, list[tuple[float, Crossed]]]
"""name of a line -> values on the axis with function Pass@1 there."""


def _swept(settings: StudySettings, key: str) -> dict[float, str]:
    """Value of a key -> the method that has it. Values that are no numbers have no place on an axis."""
    sweeps = settings.sweeps
    base = (settings.methods[sweeps.of] or {}).get(key)
    values = sorted(value for value in {*sweeps.runs[key], base} if isinstance(value, int | float))
    return {value: sweeps.of if value == base else f"{sweeps.of}_{key}={value}" for value in values}


def _sweep(settings: StudySettings, rows: pd.DataFrame, key: str) -> Points:
    """A line a model over the values of a key (the paper's Fig. 4)."""
    values = _swept(settings, key).items()
    return _lines(rows, {model: [(value, model, method) for value, method in values] for model in settings.models})


def _published_sweep(settings: StudySettings, key: str, models: Iterable[str]) -> dict[str, list[tuple[float, float]]]:
    """The paper's points of the same figure: function Pass@1 in percent."""
    points: dict[str, list[tuple[float, float]]] = {}
    for model in models:
        for value, method in _swept(settings, key).items():
            if (number := published_number(settings.models[model].published, method, "passed", 1)) is not None:
                points.setdefault(model, []).append((value, number))
    return points


def _scale(settings: StudySettings, rows: pd.DataFrame, axis: str) -> Points:
    """A line a method over the models that stand on an axis."""
    places = sorted((model.at[axis], name) for name, model in settings.models.items() if axis in model.at)
    return _lines(rows, {method: [(value, name, method) for value, name in places] for method in _compared(settings)})


def _lines(rows: pd.DataFrame, runs: Mapping[str, Sequence[tuple[float, str, str]]]) -> Points:
    """runs: name of a line -> (value on the axis, model, method). A line needs two points; it is of the seeds and tasks that all of them have."""
    scores, lines = score_table(rows, "passed", 1), {}
    for line, of in runs.items():
        tables = {value: scores[model, method] for value, model, method in of if (model, method) in scores}
        if len(tables) > 1:
            seeds = functools.reduce(pd.Index.intersection, (table.index for table in tables.values()))
            tasks = functools.reduce(pd.Index.intersection, (table.columns for table in tables.values()))
            points = [(value, crossed(table.loc[seeds, tasks])) for value, table in tables.items()]
            lines[line] = [(value, mean) for value, mean in points if mean is not None]
    return {line: points for line, points in lines.items() if len(points) > 1}


def _draw(lines: Points, axis: str, path: Path, published: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Lines with 95 % intervals, each line a little to the side of the one before, so that none hides another. Where there are several seeds,
    each seed's own line is thin. The paper's points are crosses."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), dpi=150, layout="constrained")
    axes = figure.subplots()
    every = [value for points in lines.values() for value, _ in points]
    aside = 0.01 * (max(every) - min(every))
    for place, (line, points) in enumerate(lines.items()):
        shifted = [value + (place - (len(lines) - 1) / 2) * aside for value, _ in points]
        means = [100 * mean.value for _, mean in points]
        ends = [[100 * abs(mean.rate_interval()[end] - mean.value) for _, mean in points] for end in (0, 1)]
        if points[0][1].seeds > 1:
            by_seed = [[100 * rate for rate in one.by_seed] for _, one in points]
            axes.plot(shifted, by_seed, ".-", color=f"C{place}", linewidth=0.8)
        axes.errorbar(shifted, means, yerr=ends, marker="o", capsize=3, elinewidth=1, label=line)
        if line in published:
            axes.plot(*zip(*published[line], strict=True), "x", color=f"C{place}", label=f"{line}, paper")
    several = any(points[0][1].seeds > 1 for points in lines.values())
    axes.set(
        xlabel=f"{axis}\nbars: 95 %{'; thin lines: seeds' if several else ''}",
        ylabel="Pass@1, function, %",
        xticks=sorted(set(every)),
    )
    if len(lines) > 1 or published:
        longest = max(map(len, axes.get_legend_handles_labels()[1]))
        figure.legend(loc="outside upper center", ncols=max(1, min(4, 84 // (longest + 8))), frameon=False)
    figure.savefig(path)


def _draw_differences(differences: Mapping[str, pd.DataFrame], baseline: str, path: Path) -> bool:
    """Each seed's mean difference ([seeds, tasks] of each method, see `paired`), and the mean of all with its 95 % interval. Returns whether there
    was anything to draw: a method with two seeds."""
    several = {method: crossed(less.to_numpy()) for method, less in differences.items() if len(less) > 1}
    known = {method: mean for method, mean in several.items() if mean is not None}
    if not known:
        return False
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 0.8 + 0.34 * len(known)), dpi=150, layout="constrained")
    axes = figure.subplots()
    axes.axvspan(-100 * BOUND, 100 * BOUND, color="0.93")
    axes.axvline(0, color="0.6", linewidth=1)
    for place, one in enumerate(known.values()):
        seeds = [100 * less for less in one.by_seed]
        axes.plot(seeds, [place + 0.18] * len(seeds), "o", color="C0", alpha=0.55, markersize=5)
        low, high = (100 * end for end in one.interval())
        axes.plot([low, high], [place - 0.18] * 2, color="0.2")
        axes.plot([100 * one.value], [place - 0.18], "D", color="0.2", markersize=4)
    axes.set(
        xlabel=f"function Pass@1 minus that of {baseline}, points\ncircles: seeds; line: 95 %; grey: ±{100 * BOUND:g}",
        yticks=range(len(known)),
    )
    axes.set_yticklabels(known)
    axes.invert_yaxis()
    figure.savefig(path)
    return True
