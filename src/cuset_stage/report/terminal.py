"""The report's main table in the terminal."""

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from .build import Report
from .cells import p_text
from .statistics import Rule
from .tables import conclusion, main_table


def print_report(report: Report) -> None:
    """Notes to standard error; the first rule's table and the comparisons' findings to standard output."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    for note in report.collection.notes:
        if note.loud:
            errors.print(Text(f"! {note.text}", style="yellow"))
    table = main_table(report, Rule.FIRST)
    shown = RichTable(title=Text(table.title), box=None, pad_edge=False)
    models = {row[0].text for row in table.rows}
    columns = range(1 if len(models) == 1 else 0, len(table.columns))  # one model for all needs no column
    for column in (table.columns[i] for i in columns):
        name = f"{column.group.split()[0]}\n{column.name}" if column.group else f"\n{column.name}"
        shown.add_column(Text(name), justify="left" if column.text else "right")
    for row in table.rows:
        shown.add_row(*(Text(row[i].text, style={0: "", 1: "bold", 2: "underline"}[row[i].rank]) for i in columns))
    console = Console(highlight=False)
    console.print(shown)
    for comparison in report.comparisons:
        if comparison.criterion == report.collection.criteria[-1]:
            console.print(
                Text(
                    f"{comparison.first} and {comparison.second}: {conclusion(comparison)} (p {p_text(comparison.adjusted)})"
                )
            )
