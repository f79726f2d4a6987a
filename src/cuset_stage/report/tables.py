"""The tables of results. Markdown, CSV and the HTML page show the same cells."""

from collections.abc import Mapping, Sequence

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
"""The name that readers see of every verdict, in the order of the tables."""


def named_verdicts(collection: Collection) -> dict[str, str]:
    """Return the names of the verdicts that occur, in the order of `VERDICTS`."""
    occurring = set().union(*(run.verdicts for run in collection.runs))
    return {verdict: name for verdict, name in VERDICTS.items() if verdict in occurring}


def method_column(report: Report) -> Column:
    """Return the column with the labels of the runs, linked to their samples."""
    return Column("Method", [label(run.label, run=run.label) for run in report.collection.runs], text=True)


def spread_columns(runs: Sequence[pd.Series], names: Mapping[str, str], group: str, digits: int = 0) -> list[Column]:
    """Return one column per statistic, with one cell per run.

    Args:
        runs: values of each run. Missing ones are ignored.
        names: statistic of `pandas.Series.describe` by column name, such as {"median": "50%"}.
        group: heading that the columns share.
        digits: decimals of values below 100. Larger values have none.
    """
    spreads = [values.dropna().astype(float).describe([0.05, 0.5, 0.95]) for values in runs]
    return [
        Column(name, [number(of[key], digits if of[key] < 100 else 0) for of in spreads], group)
        for name, key in names.items()
    ]


def main_table(report: Report, rule: Rule) -> Table:
    """Return the paper's Table 2 for these runs, with the token counts of its Table 3, under one rule of pass@k."""
    collection, runs = report.collection, report.collection.runs
    # Runs of the same model and level are ranked against each other, as in the paper's Table 2. If every model has one
    # run, all runs are.
    competing = pd.Series(range(len(runs))).groupby([f"{run.model}, {run.level}" for run in runs]).agg(list)
    if len(competing) == len(runs):
        competing = [list(range(len(runs)))]
    columns = [texts("Model", [run.model or ABSENT for run in runs]), method_column(report)]
    for k in report.ks:
        for criterion in collection.criteria:
            rates = [report.rates[run.label, rule, k, criterion] for run in runs]
            cells = [estimate_cell(rate, _absence(run, criterion, k)) for run, rate in zip(runs, rates, strict=True)]
            columns.append(Column(CRITERIA[criterion], ranked(cells, competing), f"pass@{k} (%)"))
    tokens = [run.lines["tokens"] for run in runs]
    columns += spread_columns(tokens, {"mean": "mean", "median": "50%"}, "Tokens a sample")
    left_out = any(rate and rate.left_out for (_, of, _, _), rate in report.rates.items() if of is rule)
    note = "; n where tasks are left out" if left_out else ""
    text = f"{RULE_TEXTS[rule]} Over {len(collection.tasks)} tasks, with 95% intervals{note}."
    return Table(f"main_{rule}", f"pass@k, {RULE_NAMES[rule]}", columns, text)


def _absence(run: Run, criterion: str, k: int) -> str:
    """Return the reason why a run has no rate."""
    if criterion == "passed" and run.compile_only:
        return "not run"
    return f"needs {counted(k, 'sample')} a task, has {run.width}" if run.width < k else "no task judged"


def conclusion(comparison: Comparison) -> str:
    """Return what the test allows to say about two runs, at the 5% level.

    The test is on the adjusted p-value. If no difference is shown, the text says so when too few tasks differ to show
    one at all.
    """
    counts, pair = comparison.counts, (comparison.first, comparison.second)
    if comparison.adjusted < 0.05:
        gap = counts.only_first - counts.only_second if comparison.gap is None else comparison.gap
        better, worse = pair if gap > 0 else pair[::-1]
        return f"{better} {'compiles' if comparison.criterion == 'compiled' else 'passes'} more tasks than {worse}"
    discordant = counts.only_first + counts.only_second
    if not discordant + counts.both + counts.neither:
        return "no task in common"
    # The two-sided p-value of McNemar's test on n discordant tasks is at least 2^(1 - n).
    if comparison.gap is None and 2.0 ** (1 - discordant) >= 0.05:
        return f"no difference shown; {counted(discordant, 'discordant task')}, too few to show one"
    return "no difference shown"


def comparison_table(report: Report) -> Table | None:
    """Return the paired comparisons, or None if there are none, as with a single run."""
    comparisons = report.comparisons
    if not comparisons:
        return None
    adjusted = len(comparisons) > len({comparison.criterion for comparison in comparisons})
    counts = [comparison.counts for comparison in comparisons]
    columns = [
        texts("Criterion", [CRITERIA[comparison.criterion] for comparison in comparisons]),
        texts("A", [comparison.first for comparison in comparisons]),
        texts("B", [comparison.second for comparison in comparisons]),
    ]
    for name, key in (("A only", "only_first"), ("B only", "only_second"), ("both", "both"), ("neither", "neither")):
        columns.append(number_column(name, [getattr(of, key) for of in counts], "Tasks passed, first sample"))
    group = "McNemar" if report.collection.clusters is None else "t test"
    columns.append(Column("p", [p_cell(comparison.p_value) for comparison in comparisons], group))
    if adjusted:
        columns.append(Column("p, Holm", [p_cell(comparison.adjusted) for comparison in comparisons], group))
    columns.append(texts("Finding", map(conclusion, comparisons)))
    for key in ((rule, k) for rule in Rule for k in report.ks):
        if any(key in comparison.differences for comparison in comparisons):
            cells = [estimate_cell(comparison.differences.get(key), signed=True) for comparison in comparisons]
            columns.append(Column(f"pass@{key[1]}, {key[0]}", cells, "A − B (points)"))
    text = f"The finding is the test's, at the 5% level{' of the adjusted p; the intervals are not adjusted' if adjusted else ''}. "
    text += "A large p does not show that methods are equal."
    return Table("comparisons", "Paired comparison", columns, text)


def verdict_table(report: Report) -> Table:
    """Return the number of samples per run and verdict."""
    runs, columns = report.collection.runs, [method_column(report)]
    for verdict, name in named_verdicts(report.collection).items():
        cells = []
        for run in runs:
            n, link = run.verdicts[verdict], {"run": run.label, "verdict": verdict}
            cells.append(Cell(f"{n:,}", n, shade=n / (len(run.table) or 1), link=link if n else {}))
        columns.append(Column(name, cells))
    columns.append(number_column("samples", [len(run.table) for run in runs]))
    return Table("verdicts", "Verdicts", columns)


def flag_table(report: Report) -> Table | None:
    """Return the number of samples per suspicion of the judge and run, or None if there are no suspicions."""
    counts = {run.label: run.lines["flags"].explode().value_counts() for run in report.collection.runs}
    flags = sorted(set().union(*(count.index for count in counts.values())))
    columns = [texts("Suspicion", flags)]
    columns += [number_column(run, count.reindex(flags, fill_value=0)) for run, count in counts.items()]
    text = "Samples the judge passed on with a warning. They stand in every number above as they were judged."
    return Table("flags", "Suspicions", columns, text) if flags else None


def token_table(report: Report) -> Table:
    """Return the efficiency column of the paper's Table 3 (tokens per sample), with its spread."""
    lines = [run.lines for run in report.collection.runs]
    names = {"mean": "mean", "median": "50%", "5%": "5%", "95%": "95%", "largest": "max"}
    columns = [
        method_column(report),
        *spread_columns([run_lines["tokens"] for run_lines in lines], names, ""),
        number_column("cut at the limit", [run_lines["finish_reason"].eq("length").sum() for run_lines in lines]),
        number_column("not counted", [run_lines["tokens"].isna().sum() for run_lines in lines]),
    ]
    text = "Generated tokens a sample, reasoning included, prompt not; over all answers. The mean is the paper's Avg. Consumed Tokens."
    return Table("tokens", "Tokens used", columns, text)


def family_table(report: Report) -> Table:
    """Return pass@k by family of tasks, on first samples."""
    collection = report.collection
    criterion = collection.criteria[-1]
    ks = [k for k in report.ks if any(run.width >= k for run in collection.runs)] or [1]
    tasks = pd.Series([task.family for task in collection.tasks])
    families = tasks.value_counts().sort_index()
    columns = [
        Column("Family", [label(family, family=family) for family in families.index], text=True),
        number_column("tasks", families),
    ]
    for run in collection.runs:
        for k in (k for k in ks if run.offers(criterion, k)):
            means = pd.Series(task_scores(run.outcomes(criterion), k, Rule.FIRST)).groupby(tasks).mean()
            cells = [share(means[family], run=run.label, family=family) for family in families.index]
            columns.append(Column(f"pass@{k}", cells, run.label))
    text = f"{CRITERIA[criterion]}, %, {RULE_NAMES[Rule.FIRST]}. Families are small: single cells carry wide intervals that are not shown."
    return Table("families", "Results by family", columns, text)


def timing_table(report: Report) -> Table:
    """Return the seconds per sample, with their spread.

    Samples that hold no code or repeat another sample are left out. Compilations that the cache answered are left out
    of the compiler's times.
    """
    lines_of_runs, cache_hits = [], []
    for run in report.collection.runs:
        lines = run.lines[run.lines["same_as_sample"].isna() & run.lines["verdict"].ne("no_code")]
        cache_hits.append(lines["compile_cached"].eq(True))
        lines_of_runs.append(lines.assign(compile_s=lines["compile_s"].mask(cache_hits[-1])))
    columns, spread = [method_column(report)], {"median": "50%", "95%": "95%"}
    keys = {"nvcc": "compile_s", "program": "run_s", "comparison": "compare_s", "judge's overhead": "overhead_s"}
    for name, key in keys.items():
        columns += spread_columns([lines[key] for lines in lines_of_runs], spread, f"{name} (s)", digits=2)
    if any(lines["kernel_s"].notna().any() for lines in lines_of_runs):
        kernel = [1e3 * lines["kernel_s"].astype(float) for lines in lines_of_runs]
        columns += spread_columns(kernel, spread, "kernels (ms)", digits=3)
    columns.append(number_column("compile cache hits", [hits.sum() for hits in cache_hits]))
    text = (
        "Seconds a sample, without samples that hold no code or repeat another one's; compilations answered from the cache are left "
        "out of nvcc's. Overhead is what the judge itself adds. Kernels: the time in which the GPU worked, of a program over all its cases, "
        "of a module in a call."
    )
    return Table("timing", "Time a sample", columns, text)


def speed_table(report: Report) -> Table | None:
    """Return fast_p and the median speed-up of each run, or None if no speed-up was measured."""
    if not report.fast:
        return None
    runs = report.collection.runs
    columns = [method_column(report)]
    for p in FAST_P:
        cells = [estimate_cell(report.fast.get((run.label, p)), "no speed-up measured") for run in runs]
        columns.append(Column(f"fast_{p:g} (%)", cells))
    right_speedups = [run.lines.loc[run.lines["passed"].eq(True), "speedup"] for run in runs]
    columns += spread_columns(right_speedups, {"median speed-up": "50%"}, "", digits=2)
    text = (
        "fast_p: share of all tasks whose first sample is right and more than p times as fast as the reference (p = 0: right). A right sample "
        "without a measured speed-up counts as not faster."
    )
    return Table("speed", "Speed-ups", columns, text)
