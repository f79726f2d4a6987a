"""Statistics of a curation: rows kept per stage, reasons for dropped rows, and how often a model solved each task."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..jsonl import read_objects
from ..report.cells import Table, number_column, print_table, text_column
from .rows import CurationError
from .settings import STAGE_SETTINGS
from .store import stored


Step = dict[str, Any]
_NAMED = 20  # most tasks that a sentence names
# Keys of a summary that are added up over sources -> column headings.
_ADDED = {"read": "read", "kept": "kept", "dropped": "dropped", "unsettled": "to try again", "seconds": "seconds"}


def read_funnel(folder: Path) -> list[Step]:
    """Return a record of each stage that has run, in order. The counts of several sources are added up.

    Raises:
        CurationError: no stage has run in the folder.
    """
    steps: list[Step] = []
    for stage in STAGE_SETTINGS:
        paths = sorted(folder.glob(f"{'import/*' if stage == 'import' else stage}/summary.json"))
        summaries = list(filter(None, map(stored, paths)))
        if not summaries:
            continue
        reasons = sum((Counter(summary["reasons"]) for summary in summaries), Counter())
        steps.append(
            {
                "stage": stage,
                **{key: round(sum(summary[key] for summary in summaries), 3) for key in _ADDED},
                "reasons": dict(reasons.most_common()),
                "sources": [summary["name"] for summary in summaries if summary["name"]],
                "settings": summaries[-1].get("settings", {}),  # version 0.1 stored them elsewhere
            }
        )
    if not steps:
        raise CurationError(f"{folder}: no stage has run there; begin with `cuset curate import`.")
    return steps


def print_funnel(steps: list[Step]) -> None:
    """Print the funnel as a table, and below it the reasons why rows were dropped."""
    columns = [text_column("stage", [step["stage"] for step in steps])]
    for key, name in _ADDED.items():
        columns.append(number_column(name, [step[key] for step in steps], digits=int(key == "seconds")))
    print_table(Table("funnel", "funnel", columns))
    for step in steps:
        if step["reasons"]:
            print(f"{step['stage']}: {counted(step['reasons'])}")
        if step["stage"] == "write" and step["settings"].get("gpu") is False:
            print("write: no GPU yet: programs without a proof from elsewhere were compiled and not run")


def counted(counts: Mapping[str, int], sign: str = " ") -> str:
    """Return counts as a text, such as "no_task 2, bad_task 1". `sign` stands between a name and its count."""
    return ", ".join(f"{name}{sign}{count:,}" for name, count in counts.items())


def pass_rates(prove: Path) -> list[dict[str, Any]]:
    """Return a record of each task that was sampled, hardest first.

    Samples that the stage `prove` could not settle yet are not counted.

    Args:
        prove: the folder of the stage `prove`.

    Returns:
        Dictionaries with `of` (the id of the task's row), `name`, `samples` (how many were judged), `passed` (how many
        of these passed), `compiled` (how many of the passed ones were only compiled and not run), and `reasons`
        (counts of the reasons why the others failed).
    """
    rates: dict[str, dict[str, Any]] = {}
    for file in ("rows", "dropped") if prove.is_dir() else ():
        for _, line in read_objects(prove / f"{file}.jsonl"):
            row, reason = (line, "") if file == "rows" else (line["data"], line["reason"])
            if sample := row.get("sample"):
                new = {"of": sample["of"], "name": row.get("name"), "samples": 0, "passed": 0, "compiled": 0}
                rate = rates.setdefault(sample["of"], {**new, "reasons": Counter()})
                rate["samples"] += 1
                rate["passed"] += not reason
                rate["compiled"] += not reason and (row.get("verified") or {}).get("verdict") == "compiled"
                rate["reasons"] += Counter([reason] if reason else [])
    return sorted(rates.values(), key=lambda rate: (rate["passed"] / rate["samples"], rate["of"]))


def sentences(rates: list[dict[str, Any]]) -> list[str]:
    """Return sentences with the totals and with the tasks that were never or always solved; none without samples."""
    if not rates:
        return []
    never, always = ([rate for rate in rates if rate["passed"] == part * rate["samples"]] for part in (0, 1))
    compiled = sum(rate["compiled"] for rate in rates)
    not_run = f"; {compiled:,} of those that passed were compiled and not run" if compiled else ""
    texts = [
        f"{sum(rate['passed'] for rate in rates):,} of {sum(rate['samples'] for rate in rates):,} samples passed; of {len(rates):,} tasks "
        f"{len(always):,} were always solved, {len(never):,} never{not_run}"
    ]
    for word, matching in (("never", never), ("always", always)):
        if matching:
            more = f" and {len(matching) - _NAMED:,} more, see pass_rates.jsonl" if len(matching) > _NAMED else ""
            texts.append(f"{word} solved: {', '.join(map(_named, matching[:_NAMED]))}{more}")
    return texts


def _named(rate: dict[str, Any]) -> str:
    name, why = str(rate["name"] or rate["of"]), counted(dict(rate["reasons"].most_common()))
    return f"{name} ({why})" if why else name
