"""The tables of a study: pass rates in the layout of the paper's Tables 2 to 5, comparisons, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from types import MappingProxyType

import pandas as pd

from ..report.cells import ABSENT, Cell, Column, Table, estimate_cell, number, number_column, p_text, text_column
from ..report.collection import CRITERIA
from ..report.notes import counted
from ..report.statistics import Estimate, holm
from ..report.tables import VERDICTS
from .results import score_table
from .statistics import Crossed, crossed


BOUND = 0.05  # differences below are called equivalent: study plans say so before the runs
MOST_FAMILIES = 12
MOST_SEEDS = 12
Published = Mapping[str, Sequence[float | None]]
Parts = Mapping[str, Set[tuple[str, str]]]  # part of the objective -> the models and methods that have it
# What each of a method's published numbers is: (criterion, k), then tokens of an answer. They are of so many tasks.
PUBLISHED = (("compiled", 1), ("passed", 1), ("compiled", 3), ("passed", 3), ("tokens", None))
PUBLISHED_TASKS = 500


def rate_table(
    rows: pd.DataFrame,
    models: Mapping[str, Sequence[str]],
    ks: Sequence[int],
    published: Mapping[str, Published],
    key: str,
    title: str,
    *,
    tasks: str = "",
    parts: Parts = MappingProxyType({}),
) -> Table:
    """pass@k with intervals over tasks and seeds and tokens of an answer, a row a model and method; the paper's numbers beside them.

    models: model -> its methods, in the order of the rows. published: model -> method -> its numbers in the order of PUBLISHED; None
    where the paper has none. tasks: what these are called. parts: columns of them.
    """
    of = [(model, method) for model, methods in models.items() for method in methods]
    columns: list[Column] = [
        text_column("model", [model for model, _ in of]),
        text_column("method", [one for _, one in of]),
    ]
    columns += [text_column(part, ["yes" if one in having else "no" for one in of]) for part, having in parts.items()]
    groups = rows.groupby(["model", "method"])
    seeds, tokens = groups["seed"].nunique(), groups["tokens"].mean()
    columns.append(number_column("seeds", [float(seeds.get(one, 0)) for one in of]))
    text = "Percent; in brackets the 95 % interval over tasks and seeds."
    known = any(method in published.get(model, ()) for model, method in of)

    def beside(name: str, criterion: str, k: int | None, group: str = "", digits: int = 1) -> Iterator[Column]:
        if known and (criterion, k) in PUBLISHED:
            numbers = [published_number(published.get(model, {}), method, criterion, k) for model, method in of]
            if group or any(numbers):
                yield number_column(f"{name}, paper", numbers, group, digits)

    for k, (criterion, name) in ((k, one) for k in ks for one in CRITERIA.items()):
        scores = score_table(rows, criterion, k)
        columns.append(
            Column(name, [_rate(crossed(scores[one]) if one in scores else None) for one in of], f"Pass@{k}")
        )
        columns += beside(name, criterion, k, f"Pass@{k}")
    columns.append(number_column("tokens of an answer", [tokens.get(one) for one in of]))
    columns += beside("tokens", "tokens", None, digits=0)
    if any(column.name.endswith(", paper") for column in columns):
        counts = {int(count) for one, count in groups["task"].nunique().items() if one in of}
        text += (
            f" The paper's numbers are of CUDABench's {PUBLISHED_TASKS} tasks of Level 1, of models trained on 6,278 pairs of its authors, and of "
            f"one run each. Ours are of {' or '.join(counted(one, 'task') for one in sorted(counts))}{f' of {tasks}' if tasks else ''}"
            f"{': do not compare the two' if counts != {PUBLISHED_TASKS} else ''}."
        )
    return Table(key, title, columns, text)


def published_number(published: Published, method: str, criterion: str, k: int | None = None) -> float | None:
    """A number of the paper; None where it has none."""
    numbers, place = published.get(method, ()), PUBLISHED.index((criterion, k))
    return numbers[place] if place < len(numbers) else None


def _rate(found: Crossed | None) -> Cell:
    if found is None:
        return Cell(ABSENT)
    return estimate_cell(Estimate(found.value, *found.rate_interval(), found.tasks, left_out=0))


def family_table(rows: pd.DataFrame, model: str, methods: Sequence[str]) -> Table | None:
    """Function pass@1 by family of tasks; None where there is one, or more than a table holds."""
    rows = rows[rows["model"] == model]
    families = sorted(rows["family"].dropna().unique())
    if not 2 <= len(families) <= MOST_FAMILIES:
        return None
    columns: list[Column] = [text_column("method", methods)]
    for family in families:
        scores = score_table(rows[rows["family"] == family], "passed", 1)
        columns.append(
            Column(
                family,
                [_rate(crossed(scores[model, method]) if (model, method) in scores else None) for method in methods],
                "Pass@1: Function",
            )
        )
    return Table(
        f"families_{model}",
        f"{model}: families of tasks",
        columns,
        "Percent; in brackets the 95 % interval over tasks and seeds.",
    )


def seed_table(rows: pd.DataFrame, model: str, methods: Sequence[str]) -> Table | None:
    """Function pass@1 of each seed; None where there is one seed, or more than a table holds."""
    scores = score_table(rows[rows["model"] == model], "passed", 1)
    means = pd.DataFrame(
        {method: scores[model, method].mean(axis=1) for method in methods if (model, method) in scores}
    )
    if not 2 <= len(means) <= MOST_SEEDS:
        return None
    columns = [
        text_column("method", methods),
        *(
            number_column(str(seed), [100 * of.get(method, float("nan")) for method in methods], "Seed", digits=1)
            for seed, of in means.sort_index().iterrows()
        ),
    ]
    return Table(f"seeds_{model}", f"{model}: function Pass@1 by seed", columns, "Percent.")


def axis_table(lines: Mapping[str, Sequence[tuple[float, Crossed]]], axis: str, key: str) -> Table:
    """Function pass@1 over an axis: the numbers of its picture. lines: method -> (value on the axis, pass@1 there)."""
    columns = [
        text_column("method", lines),
        number_column("seeds", [float(points[0][1].seeds) for points in lines.values()]),
    ]
    for value in sorted({value for points in lines.values() for value, _ in points}):
        columns.append(Column(f"{value:g}", [_rate(dict(points).get(value)) for points in lines.values()], axis))
    text = "Percent; in brackets the 95 % interval over tasks and seeds. A row is of the seeds and tasks that all of its points have."
    return Table(f"axis_{key}", f"function Pass@1 over {axis}", columns, text)


def verdict_table(rows: pd.DataFrame, model: str, methods: Sequence[str]) -> Table:
    """Shares of the samples' verdicts: how answers fail."""
    rows = rows[rows["model"] == model]
    shares = 100 * pd.crosstab(rows["method"], rows["verdict"], normalize="index")
    columns = [text_column("method", methods)]
    for verdict, named in VERDICTS.items():
        if verdict in shares:
            columns.append(number_column(named, list(shares[verdict].reindex(methods)), digits=1))
    return Table(f"verdicts_{model}", f"{model}: verdicts", columns, "Percent of the samples.")


def paired(rows: pd.DataFrame, model: str, methods: Sequence[str], baseline: str) -> dict[str, pd.DataFrame]:
    """Function pass@1 of each method less the baseline's: [seeds, tasks], of those that both have."""
    scores = score_table(rows[rows["model"] == model], "passed", 1)
    base, found = scores.get((model, baseline)), {}
    for method in methods:
        other = scores.get((model, method))
        if method != baseline and base is not None and other is not None:
            first, second = other.align(base, join="inner")
            found[method] = first - second
    return found


def comparison_table(rows: pd.DataFrame, model: str, methods: Sequence[str], baseline: str) -> Table | None:
    """Function pass@1 of each method less the baseline's, paired by seed and task; Holm's correction over the methods. None without a pair."""
    every = paired(rows, model, methods, baseline)
    found = {method: one for method, less in every.items() if (one := crossed(less.to_numpy())) is not None}
    if not found:
        return None
    spread = {method: one for method, one in found.items() if one.se}  # without any nothing can be tested
    different, alike = (
        dict(zip(spread, holm(values), strict=True))
        for values in ([one.p_value for one in spread.values()], [one.equivalence_p(BOUND) for one in spread.values()])
    )

    def tested(value: Callable[[str, Crossed], Cell]) -> list[Cell]:
        return [value(method, one) if method in spread else Cell(ABSENT) for method, one in found.items()]

    columns = [
        text_column("method", found),
        number_column("seeds", [float(one.seeds) for one in found.values()]),
        Column("difference", [_difference(one) for one in found.values()]),
        Column("p", tested(lambda _, one: _p(one.p_value))),
        Column("p, Holm", tested(lambda method, _: _p(different[method]))),
        Column(f"p, beyond ±{100 * BOUND:g}, Holm", tested(lambda method, _: _p(alike[method]))),
        Column("seen with power 0.8", tested(lambda _, one: number(100 * one.detectable(), 1))),
    ]
    text = (
        f"Function Pass@1 less that of {baseline}, in points, paired by seed and task; the error is over both. A small p says that they differ; "
        f"a small p of the last test that they differ by less than {100 * BOUND:g} points. The last column is the difference that this study "
        "could have seen. With one seed nothing is said of other trainings."
    )
    return Table(f"differences_{model}", f"{model}: against {baseline}", columns, text)


def _difference(found: Crossed) -> Cell:
    value, low, high = (100 * one for one in (found.value, *found.interval()))
    if not found.se:
        return Cell(f"{value:+.1f}", value)
    return Cell(f"{value:+.1f}", value, f"{low:+.1f} to {high:+.1f}", (low, high))


def _p(value: float) -> Cell:
    return Cell(p_text(value), value)
