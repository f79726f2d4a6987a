"""The order of a report: its sections with their tables, for Markdown and the page alike, and the tables behind the results."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .cells import ABSENT, Cell, Column, Table, estimate_cell, label, number
from .cells import text_columns as texts
from .collect import natural_key
from .collection import Run
from .notes import counted, run_settings
from .numbers import FAST_P, Report
from .statistics import RESAMPLES, Rule
from .tables import (
    VERDICTS,
    by_run,
    case_table,
    comparison_table,
    family_table,
    main_table,
    spread,
    token_table,
    verdict_table,
)


NOTED_TASKS = 20  # ids that a note lists; CSV has all


@dataclass(frozen=True)
class Section:
    """`text` stands below its tables."""

    key: str
    title: str
    tables: Sequence[Table]
    text: str = ""


def sections(report: Report) -> list[Section]:
    """All that hold something."""
    flagged = [main_table(report, rule, unflagged=True) for rule in Rule] if report.unflagged_rates else []
    ranks = "Best in bold, second-best underlined, within a model where it has several runs. A rank is no test: see the comparison."
    results = [main_table(report, rule) for rule in Rule]
    made = [
        Section("results", "Results", results, ranks),
        Section("comparison", "Paired comparison", _present(comparison_table(report))),
        Section("verdicts", "Verdicts", _present(verdict_table(report), flag_table(report))),
        Section("tokens", "Tokens used", [token_table(report)]),
        Section("families", "Results by family", _present(family_table(report), case_table(report))),
        Section("time", "Time and scores", _present(timing_table(report), score_table(report))),
        Section(
            "audit",
            "Audit",
            _present(audit_table(report), *flagged, audit_note_table(report)),
            "" if flagged else audit_text(report),
        ),
        Section("settings", "Settings", settings_tables(report)),
    ]
    return [section for section in made if section.tables or section.text]


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
    return f"{counted(tasks, 'task')}, {counted(runs, 'run')}. cuset-stage {report.version}, {report.created}."


def _present(*tables: Table | None) -> list[Table]:
    return [table for table in tables if table]


def score_table(report: Report) -> Table | None:
    """Rewards of the reinforcement learning papers and fast_p; None when nothing was run."""
    if not report.scores:
        return None
    timed = any(scores.fast for scores in report.scores.values())

    def cells(run: Run) -> Iterable[Cell]:
        scores = report.scores.get(run.label)
        yield number(scores and scores.kevin, 3)
        yield number(scores and scores.grpo, 3)
        if timed:
            yield from (estimate_cell(scores and scores.fast.get(p), "no speed-up measured") for p in FAST_P)
            lines = report.collection.lines(run)
            yield number(spread(lines.loc[lines["passed"].eq(True), "speedup"])["50%"], 2)

    text = (
        "Mean reward a sample. Kevin: 0.3·correct + speed-up if correct. GRPO report: 0.5·compiled + 1.0·correct + "
        "0.5·min(speed-up, 3) if correct. "
    )
    text += (
        "A right sample without a measured speed-up gets none. fast_p: share of all tasks whose first sample is right and more than p "
        "times as fast as the reference (p = 0: right)."
        if timed
        else "No speed-up was measured in these runs, so the speed terms are 0."
    )
    columns = [*texts("Method"), Column("Kevin"), Column("GRPO report")]
    columns += [Column(name) for name in (*(f"fast_{p:g} (%)" for p in FAST_P), "median speed-up") if timed]
    return Table("scores", "Published scores", columns, by_run(report, cells), text)


def timing_table(report: Report) -> Table:
    """Seconds a sample."""

    def cells(run: Run) -> Iterable[Cell]:
        lines = report.collection.lines(run)
        own = lines[lines["same_as_sample"].isna() & lines["verdict"].ne("no_code")]
        cached = own["compile_cached"].eq(True)
        for values in (own.loc[~cached, "compile_s"], own["run_s"], own["compare_s"], own["overhead_s"]):
            found = spread(values)
            yield from (number(found[key], 2 if found[key] < 100 else 0) for key in ("50%", "95%"))
        yield number(int(cached.sum()))

    groups = ("nvcc", "program", "comparison", "judge's overhead")
    columns = texts("Method")
    columns += [Column(name, f"{group} (s)") for group in groups for name in ("median", "95%")]
    return Table(
        "timing",
        "Time a sample",
        [*columns, Column("compile cache hits")],
        by_run(report, cells),
        "Seconds a sample, without samples that hold no code or repeat another one's; compilations answered from the cache are left "
        "out of nvcc's. Overhead is what the judge itself adds.",
    )


def flag_table(report: Report) -> Table | None:
    """Suspicions of the judge, counted in samples; None without any."""
    runs = report.collection.runs
    counts = [Counter(report.collection.lines(run)["flags"].explode().dropna()) for run in runs]
    flags = sorted(set().union(*counts))
    rows = [[label(flag), *(number(count[flag]) for count in counts)] for flag in flags]
    columns = [*texts("Suspicion"), *(Column(run.label) for run in runs)]
    text = "Samples the judge passed on with a warning. They stand in every number above as they were judged."
    return Table("flags", "Suspicions", columns, rows, text) if rows else None


def audit_table(report: Report) -> Table | None:
    """Tasks with weak oracles; None when the audit flags none."""
    collection = report.collection
    rows = []
    for task in collection.tasks:
        if task.findings:
            verdicts = [run.verdict(task.id, 0) for run in collection.runs]
            row = [label(task.id, task=task.id), label(task.name), label("; ".join(task.findings))]
            rows.append([*row, *(label(VERDICTS.get(verdict, verdict)) for verdict in verdicts)])
    columns = texts("Task", "Name", "Finding")
    columns += [Column(run.label, "First sample", text=True) for run in collection.runs]
    text = (
        f"{len(rows)} of {len(collection.tasks)} tasks have an oracle that the audit found weak: a wrong program may pass them. They "
        "count in the main tables; the tables without them stand here."
    )
    return Table("audit", "Flagged tasks", columns, rows, text) if rows else None


def audit_text(report: Report) -> str:
    """What stands in the place of flagged tasks when there are none."""
    covered, tasks = report.collection.audited, len(report.collection.tasks)
    if covered is None:
        return "No audit of the task set was given: weak oracles, if there are any, are not marked."
    if covered < tasks:
        return f"The audit covers {covered} of {tasks} tasks and flags none of them: of the others nothing is known."
    return "The audit flags none of these tasks."


def audit_note_table(report: Report) -> Table | None:
    """What the audit notes besides, a row a kind; None without any."""
    rows = []
    for code, noted in sorted(report.collection.audit_notes.items()):
        tasks = sorted(noted, key=natural_key)
        shown = ", ".join(tasks[:NOTED_TASKS]) + (", ..." if len(tasks) > NOTED_TASKS else "")
        which = Cell(shown, ", ".join(tasks))
        rows.append([label(code.replace("_", " ")), number(len(tasks)), which, label(noted[tasks[0]])])
    columns = [*texts("Note"), Column("tasks"), *texts("Which", "The first one")]
    text = "They put no verdict in doubt; numbers of another judge on the same tasks may differ for them."
    return Table("audit_notes", "What the audit notes besides", columns, rows, text) if rows else None


def settings_tables(report: Report) -> list[Table]:
    """What the runs were made with: what is the same for all of them, and a column a run for what differs."""
    runs = report.collection.runs
    settings = {name: values for name, values in run_settings(runs).items() if any(values)}
    same = [[label(name), label(values[0])] for name, values in settings.items() if len(set(values)) == 1]
    different = [
        [label(text or ABSENT) for text in (name, *values)]
        for name, values in settings.items()
        if len(set(values)) > 1
    ]
    tables = [Table("settings", "Settings", texts("Setting", "all runs" if len(runs) > 1 else "value"), same)]
    if different:
        columns = texts("Setting", *(run.label for run in runs))
        tables.append(Table("settings_by_run", "Settings that differ", columns, different))
    return tables
