"""The tables of results; Markdown, CSV and the page lay out the same cells."""

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from .cells import ABSENT, Cell, Column, Table, difference_cell, estimate_cell, label, number, p_cell, ranked, share
from .cells import text_columns as texts
from .collection import CRITERIA, INFRA_ERROR, NO_ANSWER, NOT_JUDGED, Run
from .notes import counted
from .numbers import Comparison, Report
from .statistics import Rule, task_scores


RULE_NAMES = {Rule.FIRST: "first samples (CUDABench's rule)", Rule.UNBIASED: "unbiased estimator (Chen et al. 2021)"}
RULE_TEXTS = {
    Rule.FIRST: "pass@k by CUDABench's rule, the one behind the CuSeT paper's tables: a task counts when any of its first k samples passes.",
    Rule.UNBIASED: "pass@k by the unbiased estimator of Chen et al. 2021: 1 − C(n−c, k) / C(n, k) for c right ones of n samples, "
    "the mean over all choices of k.",
}
VERDICTS = {
    verdict: verdict.replace("_", " ")
    for verdict in (
        *("passed", "compiled", "mismatch", "missing_output", "timeout", "runtime_error", "compile_timeout"),
        *("compile_error", "no_code", NO_ANSWER, INFRA_ERROR, NOT_JUDGED),
    )
} | {"compiled": "compiled (not run)"}


def by_run(report: Report, cells: Callable[[Run], Iterable[Cell]]) -> list[list[Cell]]:
    """A row a run: its name, linked to its samples, and the cells."""
    return [[label(run.label, run=run.label), *cells(run)] for run in report.collection.runs]


def spread(values: pd.Series) -> pd.Series:
    """count, mean, 5%, 25%, 50%, 75%, 95%, max of the values that are there; NaN without any."""
    return values.dropna().astype(float).describe([0.05, 0.25, 0.5, 0.75, 0.95])


def main_table(report: Report, rule: Rule, *, unflagged: bool = False) -> Table:
    """Table 2 of the paper, with Table 3's tokens."""
    collection = report.collection
    runs, rates = collection.runs, report.unflagged_rates if unflagged else report.rates
    # Runs of one model compete for bold type, as in the paper's Table 2, or all when every model has one run.
    groups: dict[tuple[str, int], list[int]] = {}
    for index, run in enumerate(runs):
        groups.setdefault((run.model, run.level), []).append(index)
    competing = list(groups.values()) if len(groups) < len(runs) else [list(range(len(runs)))]
    columns = texts("Model", "Method")
    cells = [[label(run.model or ABSENT) for run in runs], [label(run.label, run=run.label) for run in runs]]
    for k in report.ks:
        for criterion in collection.criteria:
            columns.append(Column(CRITERIA[criterion], f"pass@{k} (%)"))
            column = [estimate_cell(rates[run.label, rule, k, criterion], _absence(run, criterion, k)) for run in runs]
            cells.append(ranked(column, competing))
    if not unflagged:
        spreads = [spread(collection.lines(run)["tokens"]) for run in runs]
        columns += [Column("mean", "Tokens a sample"), Column("median", "Tokens a sample")]
        cells += [[number(found[key]) for found in spreads] for key in ("mean", "50%")]
    count = int(collection.unflagged.sum()) if unflagged else len(collection.tasks)
    text = f"{RULE_TEXTS[rule]} Over {count} tasks{', those without a finding of the audit' if unflagged else ''}, with 95% intervals"
    left_out = any(rate and rate.left_out for (_, of, _, _), rate in rates.items() if of is rule)
    return Table(
        f"{'unflagged' if unflagged else 'main'}_{rule}",
        f"pass@k, {RULE_NAMES[rule]}" + (", without flagged tasks" if unflagged else ""),
        columns,
        list(zip(*cells, strict=True)),
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
    if not report.comparisons:
        return None
    keys = {key for comparison in report.comparisons for key in comparison.differences}
    adjusted = len(report.comparisons) > len({comparison.criterion for comparison in report.comparisons})
    columns = [
        *texts("Criterion", "A", "B"),
        *(Column(name, "Tasks passed, first sample") for name in ("A only", "B only", "both", "neither")),
        *(Column(name, "McNemar") for name in ("p", "p, Holm")[: 1 + adjusted]),
        *texts("Finding"),
    ]
    rows = []
    for index, comparison in enumerate(report.comparisons):
        test = comparison.test
        row = [
            *(label(text) for text in (CRITERIA[comparison.criterion], comparison.first, comparison.second)),
            Cell(str(test.only_first), test.only_first, link={"set": f"{index}a"}),
            Cell(str(test.only_second), test.only_second, link={"set": f"{index}b"}),
            *(number(test.both), number(test.neither)),
            *(p_cell(p) for p in (test.p_value, comparison.adjusted)[: 1 + adjusted]),
            label(conclusion(comparison)),
        ]
        rows.append(row)
    for rule in Rule:
        for k in report.ks:
            if (rule, k) in keys:
                columns.append(Column(f"pass@{k}, {rule}", "A − B (points)"))
                for row, comparison in zip(rows, report.comparisons, strict=True):
                    row.append(difference_cell(comparison.differences.get((rule, k))))
    text = "Exact McNemar test on first samples; the difference in pass@k with a paired bootstrap interval over tasks."
    if adjusted:
        text += " Holm's adjustment is over the comparisons of one criterion; the intervals are not adjusted."
    text += f" The finding is the test's, at the 5% level{' of the adjusted p' if adjusted else ''}. A large p does not show that methods are equal."
    return Table("comparisons", "Paired comparison", columns, rows, text)


def verdict_table(report: Report) -> Table:
    """How many samples ended how."""
    counts = {run.label: report.collection.verdicts(run) for run in report.collection.runs}
    found = {verdict for count in counts.values() for verdict in count}
    shown = [verdict for verdict in VERDICTS if verdict in found] + sorted(found - set(VERDICTS))

    def cells(run: Run) -> Iterable[Cell]:
        for verdict in shown:
            count = counts[run.label][verdict]
            yield Cell(str(count), count, link={"run": run.label, "verdict": verdict} if count else {})
        yield number(counts[run.label].total())

    columns = [*texts("Method"), *(Column(VERDICTS.get(verdict, verdict)) for verdict in shown), Column("samples")]
    return Table("verdicts", "Verdicts", columns, by_run(report, cells))


def token_table(report: Report) -> Table:
    """Table 3's efficiency column with its spread."""

    def cells(run: Run) -> Iterable[Cell]:
        lines = report.collection.lines(run)
        found = spread(lines["tokens"])
        yield from (number(found[key]) for key in ("mean", "50%", "5%", "95%", "max"))
        cut = int(lines["finish_reason"].eq("length").sum())
        yield Cell(f"{cut} of {len(lines)}", cut)
        yield number(int(lines["tokens"].isna().sum()))

    names = ("mean", "median", "5%", "95%", "largest", "cut at the limit", "not counted")
    return Table(
        "tokens",
        "Tokens used",
        [*texts("Method"), *map(Column, names)],
        by_run(report, cells),
        "Generated tokens a sample, reasoning included, prompt not; over all answers. The mean is the paper's Avg. Consumed Tokens.",
    )


def family_table(report: Report) -> Table:
    """pass@k by family, first samples."""
    collection = report.collection
    criterion = collection.criteria[-1]
    ks = [k for k in report.ks if any(run.width >= k for run in collection.runs)] or [1]
    outcomes = {run.label: collection.outcomes(run, criterion) for run in collection.runs}
    families = pd.Series([task.family for task in collection.tasks])
    rows = []
    for family in sorted(families.unique()):
        mask = families.eq(family).to_numpy()
        row = [label(family, family=family), number(int(mask.sum()))]
        for run in collection.runs:
            for k in ks:
                scores = np.empty(0)
                if run.offers(criterion, k):
                    scores = task_scores(outcomes[run.label][mask], k, Rule.FIRST)
                row.append(share(pd.Series(scores).mean(), run=run.label, family=family))
        rows.append(row)
    columns = [*texts("Family"), Column("tasks")]
    columns += [Column(f"pass@{k}", run.label) for run in collection.runs for k in ks]
    text = f"{CRITERIA[criterion]}, %, {RULE_NAMES[Rule.FIRST]}. Families are small: single cells carry wide intervals that are not shown."
    return Table("families", "Results by family", columns, rows, text)


def case_table(report: Report) -> Table | None:
    """Which cases fail; None when no task has two."""
    counts: dict[str, pd.DataFrame] = {}
    several = False
    for run in report.collection.runs:
        listed = report.collection.lines(run)["cases"]
        several |= bool(listed.str.len().gt(1).any())
        cases = pd.DataFrame(listed.explode().dropna().tolist(), columns=["name", "verdict"])
        passed = cases["verdict"].eq("passed").where(cases["verdict"] != INFRA_ERROR).astype(float)
        counts[run.label] = passed.groupby(cases["name"]).agg(["mean", "count"])
    if not several:
        return None
    columns = texts("Case")
    columns += [Column(name, run.label) for run in report.collection.runs for name in ("passed (%)", "judged")]
    rows = []
    for name in sorted(set().union(*(found.index for found in counts.values()))):
        row = [label(name)]
        for found in counts.values():
            passed, judged = found.loc[name] if name in found.index else (None, 0)
            row += [share(passed), number(int(judged))]
        rows.append(row)
    text = "Samples that passed a case, of those it was judged on; a sample passes when all its cases do."
    return Table("cases", "Results by case", columns, rows, text)
