"""The tables of results; Markdown, CSV and the page lay out the same cells."""

import numpy as np

from . import numbers
from .build import RULE_NAMES, RULE_TEXTS, Report
from .cells import ABSENT, Cell, Column, Table, counted, estimate_cell, label, number, p_text, percent, ranked, signed
from .collection import CRITERIA, NO_ANSWER, NOT_JUDGED, Run
from .statistics import Rule


VERDICTS = {
    "passed": "passed",
    "compiled": "compiled (not run)",
    "mismatch": "mismatch",
    "missing_output": "missing output",
    "timeout": "timeout",
    "runtime_error": "runtime error",
    "compile_timeout": "compile timeout",
    "compile_error": "compile error",
    "no_code": "no code",
    NO_ANSWER: "no answer",
    "infra_error": "infra error",
    NOT_JUDGED: "not judged",
}


def rank_groups(report: Report) -> list[list[int]]:
    """Runs that compete for bold type: those of one model, as in the paper's Table 2, or all when every model has one run."""
    runs = report.collection.runs
    groups: dict[tuple[str, int], list[int]] = {}
    for index, run in enumerate(runs):
        groups.setdefault((run.model, run.level), []).append(index)
    return list(groups.values()) if any(len(group) > 1 for group in groups.values()) else [list(range(len(runs)))]


def _absence(report: Report, run: Run, criterion: str, k: int) -> str:
    if criterion == "passed" and run.compile_only:
        return "not run"
    return f"needs {counted(k, 'sample')} a task, has {run.width}" if run.width < k else "no task judged"


def main_table(report: Report, rule: Rule, *, unflagged: bool = False) -> Table:
    """Table 2 of the paper, with Table 3's tokens."""
    runs, groups = report.collection.runs, rank_groups(report)
    rates = report.unflagged_rates if unflagged else report.rates
    columns = [Column("Model", text=True), Column("Method", text=True)]
    cells = [
        [label(run.model or ABSENT) for run in runs],
        [label(run.label, run=run.label) for run in runs],
    ]
    for k in report.ks:
        for criterion in report.collection.criteria:
            columns.append(Column(CRITERIA[criterion], f"pass@{k} (%)"))
            column = [
                estimate_cell(rates[run.label, rule, k, criterion].estimate, _absence(report, run, criterion, k))
                for run in runs
            ]
            cells.append(ranked(column, groups))
    if not unflagged:
        spreads = [numbers.tokens(report.collection, run).spread for run in runs]
        columns += [Column("mean", "Tokens a sample"), Column("median", "Tokens a sample")]
        cells.append([number(found.mean if found else None) for found in spreads])
        cells.append([number(found.median if found else None) for found in spreads])
    count = int(report.collection.unflagged.sum()) if unflagged else len(report.collection.tasks)
    text = f"{RULE_TEXTS[rule]} Over {count} tasks{', those without a finding of the audit' if unflagged else ''}, with 95% intervals"
    left_out = any(rate.estimate and rate.estimate.left_out for rate in rates.values() if rate.rule is rule)
    text += "; n where tasks are left out." if left_out else "."
    return Table(
        f"{'unflagged' if unflagged else 'main'}_{rule}",
        f"pass@k, {RULE_NAMES[rule]}" + (", without flagged tasks" if unflagged else ""),
        columns,
        list(zip(*cells, strict=True)),
        text,
    )


def conclusion(comparison: numbers.Comparison) -> str:
    """What the test allows to say, at the 5% level."""
    test = comparison.test
    if comparison.adjusted < 0.05:
        better, worse = (
            (comparison.first, comparison.second)
            if test.only_first > test.only_second
            else (comparison.second, comparison.first)
        )
        verb = "compiles" if comparison.criterion == "compiled" else "passes"
        return f"{better} {verb} more tasks than {worse}"
    if not test.tasks:
        return "no task in common"
    discordant = test.only_first + test.only_second
    # Two-sided, n discordant tasks give p >= 2^(1 - n).
    if 2.0 ** (1 - discordant) >= 0.05:
        return f"no difference shown; {counted(discordant, 'discordant task')}, too few to show one"
    return "no difference shown"


def comparison_table(report: Report) -> Table | None:
    """The paired tests; None with one run."""
    if not report.comparisons:
        return None
    ks = sorted(
        {(d.rule, d.k) for c in report.comparisons for d in c.differences},
        key=lambda pair: (list(Rule).index(pair[0]), pair[1]),
    )
    adjusted = (
        any(comparison.adjusted != comparison.test.p_value for comparison in report.comparisons)
        or len(report.comparisons) > 2
    )
    columns = [
        Column("Criterion", text=True),
        Column("A", text=True),
        Column("B", text=True),
        Column("A only", "Tasks passed, first sample"),
        Column("B only", "Tasks passed, first sample"),
        Column("both", "Tasks passed, first sample"),
        Column("neither", "Tasks passed, first sample"),
        Column("p", "McNemar"),
        *([Column("p, Holm", "McNemar")] if adjusted else []),
        Column("Finding", text=True),
        *(Column(f"pass@{k}, {rule}", "A − B (points)") for rule, k in ks),
    ]
    rows = []
    for index, comparison in enumerate(report.comparisons):
        test = comparison.test
        found = {(d.rule, d.k): d.estimate for d in comparison.differences}
        row = [
            label(CRITERIA[comparison.criterion]),
            label(comparison.first),
            label(comparison.second),
            Cell(str(test.only_first), test.only_first, link={"set": f"{index}a"}),
            Cell(str(test.only_second), test.only_second, link={"set": f"{index}b"}),
            number(test.both),
            number(test.neither),
            Cell(p_text(test.p_value), test.p_value),
            *([Cell(p_text(comparison.adjusted), comparison.adjusted)] if adjusted else []),
            label(conclusion(comparison)),
        ]
        for key in ks:
            estimate = found.get(key)
            if estimate is None or estimate.value is None:
                row.append(Cell(ABSENT))
            else:
                row.append(
                    Cell(
                        signed(estimate.value),
                        round(100 * estimate.value, 4),
                        f"{signed(estimate.low)} to {signed(estimate.high)}",
                        (round(100 * estimate.low, 4), round(100 * estimate.high, 4)),
                    )
                )
        rows.append(row)
    text = "Exact McNemar test on first samples; the difference in pass@k with a paired bootstrap interval over tasks."
    if adjusted:
        text += " Holm's adjustment is over the comparisons of one criterion; the intervals are not adjusted."
    text += f" The finding is the test's, at the 5% level{' of the adjusted p' if adjusted else ''}. A large p does not show that methods are equal."
    return Table("comparisons", "Paired comparison", columns, rows, text)


def verdict_table(report: Report) -> Table:
    """How many samples ended how."""
    counts = {run.label: numbers.verdict_counts(report.collection, run) for run in report.collection.runs}
    shown = [verdict for verdict in VERDICTS if any(count[verdict] for count in counts.values())]
    shown += sorted({verdict for count in counts.values() for verdict in count} - set(VERDICTS))
    rows = [
        [
            label(run.label, run=run.label),
            *(
                Cell(
                    str(counts[run.label][v]),
                    counts[run.label][v],
                    link={"run": run.label, "verdict": v} if counts[run.label][v] else {},
                )
                for v in shown
            ),
            number(sum(counts[run.label].values())),
        ]
        for run in report.collection.runs
    ]
    columns = [Column("Method", text=True), *(Column(VERDICTS.get(v, v)) for v in shown), Column("samples")]
    return Table("verdicts", "Verdicts", columns, rows)


def token_table(report: Report) -> Table:
    """Table 3's efficiency column with its spread."""
    rows = []
    for run in report.collection.runs:
        found = numbers.tokens(report.collection, run)
        s = found.spread
        rows.append(
            [
                label(run.label, run=run.label),
                *(number(value) for value in ((s.mean, s.median, s.p5, s.p95, s.largest) if s else (None,) * 5)),
                Cell(f"{found.cut} of {found.answers}", found.cut),
                number(found.unknown),
            ]
        )
    names = ("mean", "median", "5%", "95%", "largest", "cut at the limit", "not counted")
    return Table(
        "tokens",
        "Tokens used",
        [Column("Method", text=True), *(Column(name) for name in names)],
        rows,
        "Generated tokens a sample, reasoning included, prompt not; over all answers. The mean is the paper's Avg. Consumed Tokens.",
    )


def family_table(report: Report) -> Table:
    """pass@k by family, first samples."""
    collection = report.collection
    criterion = collection.criteria[-1]
    ks = [k for k in report.ks if any(run.width >= k for run in collection.runs)] or [1]
    columns = [Column("Family", text=True), Column("tasks")]
    columns += [Column(f"pass@{k}", run.label) for run in collection.runs for k in ks]
    outcomes = {run.label: collection.outcomes(run, criterion) for run in collection.runs}
    rows = []
    for family, mask in numbers.families(collection).items():
        row = [label(family, family=family), number(int(np.sum(mask)))]
        for run in collection.runs:
            for k in ks:
                value = None
                if run.width >= k and not (criterion == "passed" and run.compile_only):
                    value, _ = numbers.mean_score(outcomes[run.label][mask], k, Rule.FIRST)
                row.append(
                    Cell(ABSENT)
                    if value is None
                    else Cell(
                        percent(value), round(100 * value, 4), shade=value, link={"run": run.label, "family": family}
                    )
                )
        rows.append(row)
    text = f"{CRITERIA[criterion]}, %, {RULE_NAMES[Rule.FIRST]}. Families are small: single cells carry wide intervals that are not shown."
    return Table("families", "Results by family", columns, rows, text)
