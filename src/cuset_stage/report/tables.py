"""The tables of results; Markdown, CSV and the page lay out the same cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from .cells import ABSENT, Cell, Column, Table, estimate_cell, label, number, number_column, p_cell, ranked, share
from .cells import text_column as texts
from .collection import CRITERIA, INFRA_ERROR, NO_ANSWER, NOT_JUDGED, Collection, Run
from .notes import counted
from .numbers import FAST_P, Comparison, Report
from .statistics import Rule, task_scores


RULE_NAMES = {Rule.FIRST: "first samples (CUDABench's rule)", Rule.UNBIASED: "unbiased estimator (Chen et al. 2021)"}
RULE_TEXTS = {
    Rule.FIRST: "pass@k by CUDABench's rule, the one behind the CuSeT paper's tables: a task counts when any of its first k samples passes.",
    Rule.UNBIASED: "pass@k by the unbiased estimator of Chen et al. 2021: 1 − C(n−c, k) / C(n, k) for c right ones of n samples, "
    "the mean over all choices of k.",
}
ORDER = (
    *("passed", "compiled", "no_gpu_work", "memory_error", "race", "undefined", "mismatch", "missing_output"),
    *("timeout", "runtime_error", "compile_timeout", "compile_error", "no_code", NO_ANSWER, INFRA_ERROR, NOT_JUDGED),
)
VERDICTS = {verdict: verdict.replace("_", " ") for verdict in ORDER} | {"compiled": "compiled (not run)"}


def named_verdicts(collection: Collection) -> dict[str, str]:
    """The verdicts that occur, each with its name."""
    there = set().union(*(collection.verdicts(run) for run in collection.runs))
    ordered = (*(verdict for verdict in ORDER if verdict in there), *sorted(there - VERDICTS.keys()))
    return {verdict: VERDICTS.get(verdict, verdict) for verdict in ordered}


def method_column(report: Report) -> Column:
    """The names of the runs, linked to their samples."""
    return Column("Method", [label(run.label, run=run.label) for run in report.collection.runs], text=True)


def spread(values: pd.Series) -> pd.Series:
    """count, mean, 5%, 25%, 50%, 75%, 95%, max of the values that are there; NaN without any."""
    return values.dropna().astype(float).describe([0.05, 0.25, 0.5, 0.75, 0.95])


def spread_columns(
    spreads: Sequence[pd.Series], names: Mapping[str, str], group: str, digits: int = 0
) -> list[Column]:
    """A column for each name of a statistic, such as {"median": "50%"}; `digits` below 100."""
    return [
        Column(name, [number(of[key], digits if of[key] < 100 else 0) for of in spreads], group)
        for name, key in names.items()
    ]


def main_table(report: Report, rule: Rule, *, unflagged: bool = False) -> Table:
    """Table 2 of the paper, with Table 3's tokens."""
    collection = report.collection
    runs, rates = collection.runs, report.unflagged_rates if unflagged else report.rates
    # Runs of one model compete for bold type, as in the paper's Table 2, or all when every model has one run.
    competing = pd.Series(range(len(runs))).groupby([f"{run.model}, {run.level}" for run in runs]).agg(list)
    if len(competing) == len(runs):
        competing = [list(range(len(runs)))]
    columns = [texts("Model", [run.model or ABSENT for run in runs]), method_column(report)]
    for k in report.ks:
        for criterion in collection.criteria:
            cells = [estimate_cell(rates[run.label, rule, k, criterion], _absence(run, criterion, k)) for run in runs]
            columns.append(Column(CRITERIA[criterion], ranked(cells, competing), f"pass@{k} (%)"))
    if not unflagged:
        spreads = [spread(collection.lines(run)["tokens"]) for run in runs]
        columns += spread_columns(spreads, {"mean": "mean", "median": "50%"}, "Tokens a sample")
    count = int(collection.unflagged.sum()) if unflagged else len(collection.tasks)
    text = f"{RULE_TEXTS[rule]} Over {count} tasks{', those without a finding of the audit' if unflagged else ''}, with 95% intervals"
    left_out = any(rate and rate.left_out for (_, of, _, _), rate in rates.items() if of is rule)
    return Table(
        f"{'unflagged' if unflagged else 'main'}_{rule}",
        f"pass@k, {RULE_NAMES[rule]}" + (", without flagged tasks" if unflagged else ""),
        columns,
        text + ("; n where tasks are left out." if left_out else "."),
    )


def _absence(run: Run, criterion: str, k: int) -> str:
    if criterion == "passed" and run.compile_only:
        return "not run"
    return f"needs {counted(k, 'sample')} a task, has {run.width}" if run.width < k else "no task judged"


def conclusion(comparison: Comparison) -> str:
    """What the test allows to say, at the 5% level."""
    test, pair = comparison.test, (comparison.first, comparison.second)
    if comparison.adjusted < 0.05:
        better, worse = pair if test.only_first > test.only_second else pair[::-1]
        return f"{better} {'compiles' if comparison.criterion == 'compiled' else 'passes'} more tasks than {worse}"
    discordant = test.only_first + test.only_second
    if not discordant + test.both + test.neither:
        return "no task in common"
    # Two-sided, n discordant tasks give p >= 2^(1 - n).
    if 2.0 ** (1 - discordant) >= 0.05:
        return f"no difference shown; {counted(discordant, 'discordant task')}, too few to show one"
    return "no difference shown"


def comparison_table(report: Report) -> Table | None:
    """The paired tests; None with one run."""
    comparisons = report.comparisons
    if not comparisons:
        return None
    adjusted = len(comparisons) > len({comparison.criterion for comparison in comparisons})
    solved, tests = "Tasks passed, first sample", [comparison.test for comparison in comparisons]
    columns = [
        texts("Criterion", [CRITERIA[comparison.criterion] for comparison in comparisons]),
        texts("A", [comparison.first for comparison in comparisons]),
        texts("B", [comparison.second for comparison in comparisons]),
        Column("A only", [number(test.only_first, set=f"{i}a") for i, test in enumerate(tests)], solved),
        Column("B only", [number(test.only_second, set=f"{i}b") for i, test in enumerate(tests)], solved),
        number_column("both", [test.both for test in tests], solved),
        number_column("neither", [test.neither for test in tests], solved),
        Column("p", [p_cell(test.p_value) for test in tests], "McNemar"),
    ]
    if adjusted:
        columns.append(Column("p, Holm", [p_cell(comparison.adjusted) for comparison in comparisons], "McNemar"))
    columns.append(texts("Finding", map(conclusion, comparisons)))
    for key in ((rule, k) for rule in Rule for k in report.ks):
        if any(key in comparison.differences for comparison in comparisons):
            cells = [estimate_cell(comparison.differences.get(key), signed=True) for comparison in comparisons]
            columns.append(Column(f"pass@{key[1]}, {key[0]}", cells, "A − B (points)"))
    text = f"The finding is the test's, at the 5% level{' of the adjusted p; the intervals are not adjusted' if adjusted else ''}. "
    text += "A large p does not show that methods are equal."
    return Table("comparisons", "Paired comparison", columns, text)


def verdict_table(report: Report) -> Table:
    """How many samples ended how."""
    counts = {run.label: report.collection.verdicts(run) for run in report.collection.runs}
    columns = [method_column(report)]
    for verdict, name in named_verdicts(report.collection).items():
        cells = []
        for run, count in counts.items():
            n, link = count[verdict], {"run": run, "verdict": verdict}
            cells.append(Cell(f"{n:,}", n, shade=n / (count.total() or 1), link=link if n else {}))
        columns.append(Column(name, cells))
    columns.append(number_column("samples", [count.total() for count in counts.values()]))
    return Table("verdicts", "Verdicts", columns)


def flag_table(report: Report) -> Table | None:
    """Suspicions of the judge, counted in samples; None without any."""
    collection = report.collection
    counts = {run.label: collection.lines(run)["flags"].explode().value_counts() for run in collection.runs}
    flags = sorted(set().union(*(count.index for count in counts.values())))
    columns = [texts("Suspicion", flags)]
    columns += [number_column(run, [int(count.get(flag, 0)) for flag in flags]) for run, count in counts.items()]
    text = "Samples the judge passed on with a warning. They stand in every number above as they were judged."
    return Table("flags", "Suspicions", columns, text) if flags else None


def token_table(report: Report) -> Table:
    """Table 3's efficiency column with its spread."""
    lines = [report.collection.lines(run) for run in report.collection.runs]
    spreads = [spread(of["tokens"]) for of in lines]
    names = {"mean": "mean", "median": "50%", "5%": "5%", "95%": "95%", "largest": "max"}
    columns = spread_columns(spreads, names, "")
    longest = max((found["max"] for found in spreads if found["count"]), default=0) or 1
    bars = [tuple(found[["5%", "50%", "95%"]] / longest) if found["count"] else None for found in spreads]
    cells = [replace(cell, bar=bar) for cell, bar in zip(columns[1].cells, bars, strict=True)]
    columns[1] = Column("median", cells)
    cut = [int(of["finish_reason"].eq("length").sum()) for of in lines]
    cells = [Cell(f"{n} of {len(of)}", n) for n, of in zip(cut, lines, strict=True)]
    columns.append(Column("cut at the limit", cells))
    columns.append(number_column("not counted", [int(of["tokens"].isna().sum()) for of in lines]))
    text = "Generated tokens a sample, reasoning included, prompt not; over all answers. The mean is the paper's Avg. Consumed Tokens."
    return Table("tokens", "Tokens used", [method_column(report), *columns], text)


def family_table(report: Report) -> Table:
    """pass@k by family, first samples."""
    collection = report.collection
    criterion = collection.criteria[-1]
    ks = [k for k in report.ks if any(run.width >= k for run in collection.runs)] or [1]
    tasks = pd.Series([task.family for task in collection.tasks])
    families = tasks.value_counts().sort_index()
    columns = [
        Column("Family", [label(family, family=family) for family in families.index], text=True),
        number_column("tasks", map(int, families)),
    ]
    for run in collection.runs:
        for k in ks:
            scores = np.full(len(tasks), np.nan)
            if run.offers(criterion, k):
                scores = task_scores(collection.outcomes(run, criterion), k, Rule.FIRST)
            means = pd.Series(scores).groupby(tasks).mean()
            cells = [share(means[family], run=run.label, family=family) for family in families.index]
            columns.append(Column(f"pass@{k}", cells, run.label))
    text = f"{CRITERIA[criterion]}, %, {RULE_NAMES[Rule.FIRST]}. Families are small: single cells carry wide intervals that are not shown."
    return Table("families", "Results by family", columns, text)


def case_table(report: Report) -> Table | None:
    """Which cases fail; None when no task has two."""
    listed = {run.label: report.collection.lines(run)["cases"] for run in report.collection.runs}
    if not any(cases.str.len().gt(1).any() for cases in listed.values()):
        return None
    counts = {}
    for run, found in listed.items():
        cases = pd.DataFrame(found.explode().dropna().tolist(), columns=["name", "verdict"])
        passed = cases["verdict"].eq("passed").where(cases["verdict"] != INFRA_ERROR).astype(float)
        counts[run] = passed.groupby(cases["name"]).agg(["mean", "count"])
    names = sorted(set().union(*(found.index for found in counts.values())))
    columns = [texts("Case", names)]
    for run, found in counts.items():
        found = found.reindex(names)
        columns.append(Column("passed (%)", [share(value) for value in found["mean"]], run))
        columns.append(number_column("judged", found["count"].fillna(0).astype(int), run))
    text = "Samples that passed a case, of those it was judged on; a sample passes when all its cases do."
    return Table("cases", "Results by case", columns, text)


def timing_table(report: Report) -> Table:
    """Seconds a sample."""
    own = [report.collection.lines(run) for run in report.collection.runs]
    own = [lines[lines["same_as_sample"].isna() & lines["verdict"].ne("no_code")] for lines in own]
    cached = [lines["compile_cached"].eq(True) for lines in own]
    columns = [method_column(report)]
    names = {"nvcc": "compile_s", "program": "run_s", "comparison": "compare_s", "judge's overhead": "overhead_s"}
    for group, key in names.items():
        seconds = [lines[key] for lines in own]
        if group == "nvcc":
            seconds = [of.mask(hit) for of, hit in zip(seconds, cached, strict=True)]
        spreads = [spread(of) for of in seconds]
        columns += spread_columns(spreads, {"median": "50%", "95%": "95%"}, f"{group} (s)", digits=2)
    if any(lines["kernel_s"].notna().any() for lines in own):
        kernel = [spread(1e3 * lines["kernel_s"].astype(float)) for lines in own]
        columns += spread_columns(kernel, {"median": "50%", "95%": "95%"}, "kernels (ms)", digits=3)
    columns.append(number_column("compile cache hits", [int(hit.sum()) for hit in cached]))
    text = (
        "Seconds a sample, without samples that hold no code or repeat another one's; compilations answered from the cache are left "
        "out of nvcc's. Overhead is what the judge itself adds. Kernels: the time in which the GPU worked, of a program over all its cases, "
        "of a module in a call."
    )
    return Table("timing", "Time a sample", columns, text)


def speed_table(report: Report) -> Table | None:
    """fast_p; None where no speed-up was measured."""
    if not report.fast:
        return None
    runs = report.collection.runs
    columns = [method_column(report)]
    for p in FAST_P:
        cells = [estimate_cell(report.fast.get((run.label, p)), "no speed-up measured") for run in runs]
        columns.append(Column(f"fast_{p:g} (%)", cells))
    right = [lines[lines["passed"].eq(True)] for lines in map(report.collection.lines, runs)]
    columns.append(number_column("median speed-up", [spread(lines["speedup"])["50%"] for lines in right], digits=2))
    text = (
        "fast_p: share of all tasks whose first sample is right and more than p times as fast as the reference (p = 0: right). A right sample "
        "without a measured speed-up counts as not faster."
    )
    return Table("speed", "Speed-ups", columns, text)
