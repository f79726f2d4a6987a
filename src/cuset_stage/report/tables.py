"""The tables of results and the order of a report; Markdown, CSV and the page lay out the same cells."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pandas as pd

from .. import __version__
from .cells import ABSENT, Cell, Column, Section, Table, estimate_cell, label, number, number_column, p_cell, share
from .cells import text_column as texts
from .collection import CRITERIA, NO_ANSWER, NOT_JUDGED, Collection
from .notes import counted, run_settings
from .numbers import FAST_P, Comparison, Report
from .statistics import RESAMPLES, Rule, task_scores


RULE_NAMES = {Rule.FIRST: "first samples (CUDABench's rule)", Rule.UNBIASED: "unbiased estimator (Chen et al. 2021)"}
RULE_TEXTS = {
    Rule.FIRST: "pass@k by CUDABench's rule, the one behind the CuSeT paper's tables: a task counts when any of its first k samples passes.",
    Rule.UNBIASED: "pass@k by the unbiased estimator of Chen et al. 2021: 1 − C(n−c, k) / C(n, k) for c right ones of n samples, "
    "the mean over all choices of k.",
}
ORDER = (
    *("passed", "compiled", "no_gpu_work", "memory_error", "race", "undefined", "mismatch", "missing_output"),
    *("timeout", "runtime_error", "compile_timeout", "compile_error", "no_code", NO_ANSWER, "infra_error", NOT_JUDGED),
)
VERDICTS = {verdict: verdict.replace("_", " ") for verdict in ORDER} | {"compiled": "compiled (not run)"}


def sections(report: Report) -> list[Section]:
    """All that hold something, in the order of the report, for Markdown and the page alike."""
    results = [main_table(report, rule) for rule in Rule]
    made = [
        ("results", "Results", results, f"How the numbers are made: {methods(report)}"),
        ("comparison", "Paired comparison", [comparison_table(report)], ""),
        ("verdicts", "Verdicts", [verdict_table(report), flag_table(report)], ""),
        ("tokens", "Tokens used", [token_table(report)], ""),
        ("families", "Results by family", [family_table(report)], ""),
        ("speed", "Speed-ups", [speed_table(report)], ""),
        ("audit", "Audit", [audit_table(report)], audit_text(report)),
        ("settings", "Settings", [settings_table(report)], ""),
    ]
    filled = [Section(key, title, list(filter(None, tables)), text) for key, title, tables, text in made]
    return [section for section in filled if section.tables or section.text]


def methods(report: Report) -> str:
    """How the numbers were made, in words that can stand in a paper."""
    text = (
        f"The task is the unit: intervals are 95% percentile bootstrap intervals over tasks ({RESAMPLES:,} resamples, seed "
        f"{report.seed}), the samples of a task kept together; where all tasks agree, the exact binomial interval. "
        "Samples on which the judge itself failed (infra_error) are not charged to the model: one that had compiled counts as "
        "compiled, and a task is left out of every other number that needs one. A task or sample without an answer counts as a failure."
    )
    if report.comparisons:
        count = sum(comparison.criterion == report.comparisons[0].criterion for comparison in report.comparisons)
        text += (
            " Methods are compared on the same tasks: exact two-sided McNemar test on first samples, and a paired bootstrap of "
            "the difference in pass@k."
        )
        if count > 1:
            text += f" p is adjusted by Holm's method over the {count} comparisons of each criterion."
    return text


def summary(report: Report) -> str:
    """The line below the title."""
    tasks, runs = len(report.collection.tasks), len(report.collection.runs)
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{counted(tasks, 'task')}, {counted(runs, 'run')}. cuset-stage {__version__}, {now}."


def named_verdicts(collection: Collection) -> dict[str, str]:
    """The verdicts that occur, each with its name."""
    there = set().union(*(collection.verdicts(run) for run in collection.runs))
    ordered = (*(verdict for verdict in ORDER if verdict in there), *sorted(there - VERDICTS.keys()))
    return {verdict: VERDICTS.get(verdict, verdict) for verdict in ordered}


def method_column(report: Report) -> Column:
    """The names of the runs, linked to their samples."""
    return Column("Method", [label(run.label, run=run.label) for run in report.collection.runs], text=True)


def spread_columns(
    of_runs: Sequence[pd.Series], names: Mapping[str, str], group: str, digits: int = 0
) -> list[Column]:
    """A column for each name of a statistic, such as {"median": "50%"}, of the values that are there; `digits` below 100."""
    spreads = [values.dropna().astype(float).describe([0.05, 0.5, 0.95]) for values in of_runs]
    return [
        Column(name, [number(of[key], digits if of[key] < 100 else 0) for of in spreads], group)
        for name, key in names.items()
    ]


def main_table(report: Report, rule: Rule) -> Table:
    """Table 2 of the paper, with Table 3's tokens."""
    collection, runs = report.collection, report.collection.runs
    columns = [texts("Model", [run.model or ABSENT for run in runs]), method_column(report)]
    for k in report.ks:
        for criterion in collection.criteria:
            cells = []
            for run in runs:
                short = f"needs {counted(k, 'sample')} a task, has {run.width}"
                absence = short if run.width < k else "no task judged"
                absence = "not run" if criterion == "passed" and run.compile_only else absence
                cells.append(estimate_cell(report.rates[run.label, rule, k, criterion], absence))
            columns.append(Column(CRITERIA[criterion], cells, f"pass@{k} (%)"))
    tokens = [collection.lines(run)["tokens"] for run in runs]
    columns += spread_columns(tokens, {"mean": "mean", "median": "50%"}, "Tokens a sample")
    left_out = any(rate and rate.left_out for (_, of, _, _), rate in report.rates.items() if of is rule)
    text = (
        f"{RULE_TEXTS[rule]} Over {len(collection.tasks)} tasks, with 95% intervals"
        f"{'; n where tasks are left out' if left_out else ''}."
    )
    return Table(f"main_{rule}", f"pass@k, {RULE_NAMES[rule]}", columns, text)


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
    tests = [comparison.test for comparison in comparisons]
    columns = [
        texts("Criterion", [CRITERIA[comparison.criterion] for comparison in comparisons]),
        texts("A", [comparison.first for comparison in comparisons]),
        texts("B", [comparison.second for comparison in comparisons]),
    ]
    for name, key in (("A only", "only_first"), ("B only", "only_second"), ("both", "both"), ("neither", "neither")):
        columns.append(number_column(name, [getattr(test, key) for test in tests], "Tasks passed, first sample"))
    columns.append(Column("p", [p_cell(test.p_value) for test in tests], "McNemar"))
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
    columns += [number_column(run, count.reindex(flags, fill_value=0)) for run, count in counts.items()]
    text = "Samples the judge passed on with a warning. They stand in every number above as they were judged."
    return Table("flags", "Suspicions", columns, text) if flags else None


def token_table(report: Report) -> Table:
    """Table 3's efficiency column with its spread."""
    lines = [report.collection.lines(run) for run in report.collection.runs]
    names = {"mean": "mean", "median": "50%", "5%": "5%", "95%": "95%", "largest": "max"}
    columns = [
        method_column(report),
        *spread_columns([of["tokens"] for of in lines], names, ""),
        number_column("cut at the limit", [of["finish_reason"].eq("length").sum() for of in lines]),
        number_column("not counted", [of["tokens"].isna().sum() for of in lines]),
    ]
    text = "Generated tokens a sample, reasoning included, prompt not; over all answers. The mean is the paper's Avg. Consumed Tokens."
    return Table("tokens", "Tokens used", columns, text)


def family_table(report: Report) -> Table:
    """pass@k by family, first samples."""
    collection = report.collection
    criterion = collection.criteria[-1]
    tasks = pd.Series([task.family for task in collection.tasks])
    families = tasks.value_counts().sort_index()
    columns = [
        Column("Family", [label(family, family=family) for family in families.index], text=True),
        number_column("tasks", families),
    ]
    for run in collection.runs:
        for k in (k for k in report.ks if run.offers(criterion, k)):
            scores = pd.Series(task_scores(collection.outcomes(run, criterion), k, Rule.FIRST))
            means = scores.groupby(tasks).mean()
            cells = [share(means[family], run=run.label, family=family) for family in families.index]
            columns.append(Column(f"pass@{k}", cells, run.label))
    text = f"{CRITERIA[criterion]}, %, {RULE_NAMES[Rule.FIRST]}. Families are small: single cells carry wide intervals that are not shown."
    return Table("families", "Results by family", columns, text)


def speed_table(report: Report) -> Table | None:
    """fast_p; None where no speed-up was measured."""
    if not report.fast:
        return None
    runs = report.collection.runs
    columns = [method_column(report)]
    for p in FAST_P:
        cells = [estimate_cell(report.fast.get((run.label, p)), "no speed-up measured") for run in runs]
        columns.append(Column(f"fast_{p:g} (%)", cells))
    right = [lines.loc[lines["passed"].eq(True), "speedup"] for lines in map(report.collection.lines, runs)]
    columns += spread_columns(right, {"median speed-up": "50%"}, "", digits=2)
    text = (
        "fast_p: share of all tasks whose first sample is right and more than p times as fast as the reference (p = 0: right). A right sample "
        "without a measured speed-up counts as not faster."
    )
    return Table("speed", "Speed-ups", columns, text)


def audit_table(report: Report) -> Table | None:
    """Tasks with weak oracles; None when the audit flags none."""
    collection = report.collection
    tasks = [task for task in collection.tasks if task.findings]
    columns = [
        Column("Task", [label(task.id, task=task.id) for task in tasks], text=True),
        texts("Name", [task.name for task in tasks]),
        texts("Finding", ["; ".join(task.findings) for task in tasks]),
    ]
    for run in collection.runs:
        verdicts = [run.verdict(task.id, 0) for task in tasks]
        names = [VERDICTS.get(verdict, verdict) for verdict in verdicts]
        columns.append(texts(run.label, names, "First sample"))
    text = "Their oracles are weak: a wrong program may pass them. They count in every table."
    return Table("audit", "Flagged tasks", columns, text) if tasks else None


def audit_text(report: Report) -> str:
    """How many tasks the audit covers, and whether it flags any."""
    covered, tasks = report.collection.audited, len(report.collection.tasks)
    if not covered:
        return "No audit of the task set was given: weak oracles, if there are any, are not marked."
    flags = "" if any(task.findings for task in report.collection.tasks) else " and flags none of them"
    rest = "of the others nothing is known; run `cuset audit-tasks` again to resume it, then judge or report again"
    return f"The audit covers {covered} of {tasks} tasks{flags}{f': {rest}' if covered < tasks else ''}."


def settings_table(report: Report) -> Table:
    """What the runs were made with; settings that differ between them come first."""
    runs = report.collection.runs
    settings = run_settings(runs)
    ordered = sorted(settings, key=lambda name: len(set(settings[name])) == 1)
    columns = [texts("Setting", ordered)]
    for i, run in enumerate(runs):
        columns.append(texts(run.label, [settings[name][i] or ABSENT for name in ordered]))
    return Table("settings", "Settings", columns)
