"""The table that puts a report's methods side by side: pass@k, pairs, confidence, tokens and cost."""

import numpy as np

from .cells import Column, Table, decimal, estimate_cell, interval_cell, label, number, points
from .collection import CRITERIA, Run
from .measures import NOTION, Measures
from .numbers import Report
from .statistics import Rule


RIGHT = {"compiled": "compiles", "passed": "passes"}  # by criterion


def method_table(report: Report) -> Table | None:
    """A row a method: pass@k, pairs, confidence, tokens and cost; None where neither pairs nor confidence were given.

    The cost is in tokens a program that passes (or compiles, where nothing was run): those of a sample over the share of such samples.
    """
    if not report.measures:
        return None
    collection = report.collection
    criterion = collection.criteria[-1]
    runs = {run.label: run for run in collection.runs}
    names = [*runs, *(name for name in report.measures if name not in runs)]
    found = [report.measures.get(name, Measures()) for name in names]
    columns = [Column("Method", [label(name, run=name) if name in runs else label(name) for name in names], text=True)]
    for k in report.ks:
        rates = [report.rates.get((name, Rule.FIRST, k, criterion)) for name in names]
        columns.append(Column(f"pass@{k}", [estimate_cell(rate) for rate in rates], f"{CRITERIA[criterion]} (%)"))
    if any(one.pairs for one in found):
        columns.append(Column("right preferred (%)", [estimate_cell(one.pairs) for one in found], "Pairs"))
    if any(one.confidence for one in found):
        notions = [one.confidence and one.confidence["notions"][NOTION] for one in found]
        for kind, name in (("sensitive", "CUDA"), ("neutral", "neutral")):
            columns.append(
                Column(name, [interval_cell(of and of[kind]["mean"], decimal) for of in notions], "Mean confidence")
            )
        distances = [of and of["ks"] and of["ks"]["d"] for of in notions]
        columns.append(Column("KS distance", [interval_cell(of, decimal) for of in distances], "Confidence"))
        gaps = [of and of["windows"]["on_sensitive"]["centre"]["difference"] for of in notions]
        columns.append(
            Column("low windows on CUDA (points)", [interval_cell(of, points, 100) for of in gaps], "Confidence")
        )
    costs = [_tokens(report, runs[name]) if name in runs else (None, None) for name in names]
    columns.append(Column("a sample", [number(mean) for mean, _ in costs], "Tokens"))
    columns.append(Column(f"a program that {RIGHT[criterion]}", [number(cost) for _, cost in costs], "Tokens"))
    text = (
        "Pairs: how often the model prefers the right program to a wrong one; near 50 before training. Confidence: of tokens that depend on execution "
        "constraints and of the others, and the KS distance between the two. Low windows on CUDA: their share minus that of all windows, by "
        "the middle token; 0 where low windows have nothing to do with CUDA. Tokens: of a sample, and those divided by the share of samples whose "
        f"program {RIGHT[criterion]}."
    )
    return Table("methods", "Methods compared", columns, text)


def _tokens(report: Report, run: Run) -> tuple[float | None, float | None]:
    """Tokens a sample, and tokens a right program."""
    lines = report.collection.lines(run)
    mean = lines["tokens"].dropna().astype(float).mean()
    outcomes = report.collection.outcomes(run, report.collection.criteria[-1])
    share = np.nanmean(outcomes) if not np.isnan(outcomes).all() else 0.0
    return mean, mean / share if share else None
