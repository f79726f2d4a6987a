"""An account of a curation: how many rows each stage kept and why the others were dropped, and how often a model solved each task."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .folders import STAGES, read_journal, read_state, settled_rows, stage_folders, stale_stages
from .stage_rows import CurationError


_NAMED = 20  # tasks in a sentence
WRITE_STEPS = ("written", "compiled", "cases_made", "references_agree", "right", "mutants_caught")
"""How far a task came, in order. written: the reply has all parts and they fit together."""


@dataclass(frozen=True)
class Step:
    """A stage of a curation folder, its sources added up where there are several.

    stopped: the stage was interrupted (any more of its rows may be settled later); time and memory are 0 then. stale: why its rows
    are not those of what now lies before it; empty when they are. written: `written_funnel` of the stage `write`.
    """

    stage: str
    read: int
    kept: int
    dropped: int
    unsettled: int
    reasons: dict[str, int]
    seconds: float
    peak_memory_mib: float
    settings: dict[str, Any]
    sources: tuple[str, ...]
    stopped: bool
    stale: str
    written: dict[str, Any]


def read_funnel(folder: Path) -> list[Step]:
    """The stages that have run, in order.

    Raises:
        CurationError: none has, or a summary is broken.
    """
    steps: list[Step] = []
    old = stale_stages(folder)
    for stage in STAGES:
        begun = [path for path in stage_folders(folder, stage) if (path / "settings.json").is_file()]
        if not begun:
            continue
        ended = [path / "summary.json" for path in begun if (path / "summary.json").is_file()]
        summaries = [read_state(path, ("unsettled", "seconds", "peak_memory_mib", "name")) for path in ended]
        journals = [read_journal(path) for path in begun]
        kept, reasons = sum(each.kept for each in journals), sum((each.reasons for each in journals), Counter())
        settled = sum(len(each.keys) for each in journals)
        unsettled, stopped = sum(each["unsettled"] for each in summaries), len(ended) < len(begun)
        if stopped and stage != "import":
            unsettled = max(0, (steps[-1].kept if steps else 0) - settled)
        step = Step(
            stage=stage,
            read=settled + unsettled,
            kept=kept,
            dropped=reasons.total(),
            unsettled=unsettled,
            reasons=dict(reasons.most_common()),
            seconds=round(sum(each["seconds"] for each in summaries), 3),
            peak_memory_mib=max((each["peak_memory_mib"] for each in summaries), default=0.0),
            settings=read_state(begun[-1] / "settings.json"),
            sources=tuple(each["name"] for each in summaries if each["name"]),
            stopped=stopped,
            stale=old.get(stage, ""),
            written=written_funnel(folder) if stage == "write" else {},
        )
        steps.append(step)
    if not steps:
        raise CurationError(f"{folder}: no stage has run there; begin with `cuset curate import`.")
    return steps


def as_records(steps: list[Step]) -> list[dict[str, Any]]:
    return [{key: value for key, value in asdict(step).items() if key != "settings"} for step in steps]


def print_funnel(steps: list[Step]) -> None:
    """The funnel as a table, and under it why rows were dropped."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("stage", title="funnel", title_justify="left")
    for column in ("read", "kept", "dropped", "to try again", "seconds", "peak MiB"):
        table.add_column(column, justify="right")
    for step in steps:
        numbers = (f"{number:,}" for number in (step.read, step.kept, step.dropped, step.unsettled))
        spent = ("stopped", "") if step.stopped else (f"{step.seconds:,.1f}", f"{step.peak_memory_mib:,.0f}")
        table.add_row(step.stage, *numbers, *spent)
    console.print(table)
    for step in steps:
        if step.reasons:
            why = ", ".join(f"{reason} {count:,}" for reason, count in step.reasons.items())
            console.print(f"{step.stage}: {why}")
        if step.stale:
            console.print(f"out of date: {step.stale}", markup=False)
        if step.written:
            console.print(_written_table(step.written, bool(step.settings.get("gpu"))))


def _written_table(written: dict[str, Any], on_gpu: bool) -> Any:
    """on_gpu: whether the last run had one; without it a finding may have come from another machine."""
    from rich.table import Table

    gpu = "" if on_gpu or written["ran"] else "no GPU yet: nothing is known of right and mutants caught; "
    tokens = f"{written['questions']:,} questions, tokens: {written['prompt_tokens']:,} asked, {written['tokens']:,} replied"
    tokens += f", of {estimated:,} replies by estimate" if (estimated := written["estimated"]) else ""
    mutants = f"mutants: {written['mutants']['failed']:,} of {written['mutants']['compiled']:,} fail"
    table = Table(
        "kernels", title="write", title_justify="left", caption=f"{gpu}{tokens}; {mutants}", caption_justify="left"
    )
    for column in ("all", "that compile alone", "in the first try"):
        table.add_column(column, justify="right")
    for step, counts in written["steps"].items():
        table.add_row(step.replace("_", " "), *(f"{count:,}" for count in counts.values()))
    return table


def written_funnel(folder: Path) -> dict[str, Any]:
    """Count how far kernels came in `write`, in their best try and in the first: of all, and of those that compile on their own.

    Empty where no kernel has been written of. tokens and prompt_tokens: of all tries; estimated: replies whose tokens the server did
    not count; seconds: of their requests, one after the other.
    """
    counts: Counter[tuple[str, str]] = Counter()
    spent: Counter[str] = Counter()
    mutants: Counter[str] = Counter()
    ran = 0
    for row in (row for row, _ in settled_rows(folder / "write") if "written" in row):
        record, verified = row["written"], row.get("verified") or {}
        tries = record["tries"]
        best = max((each["reached"] for each in tries), key=_rank)
        groups = {
            "all": best,
            "first_try": tries[0]["reached"],
            **({"compile_alone": best} if record["compiles_alone"] else {}),
        }
        for group, reached in groups.items():
            counts.update((group, step) for step in ("kernels", *WRITE_STEPS[: _rank(reached)]))
        spent.update(
            {key: sum(each[key] for each in tries) for key in ("tokens", "prompt_tokens", "seconds", "estimated")}
        )
        spent.update({"tries": len(tries), "questions": sum(len(each["questions"]) for each in tries)})
        ran += bool(verified.get("gpu"))
        mutants.update({key: (verified.get("mutants") or {}).get(key, 0) for key in ("compiled", "failed")})
    steps = {
        step: {group: counts[group, step] for group in ("all", "compile_alone", "first_try")}
        for step in ("kernels", *WRITE_STEPS)
    }
    return {"steps": steps, "ran": ran, "mutants": dict(mutants), **spent} if counts else {}


def _rank(reached: str) -> int:
    return WRITE_STEPS.index(reached) + 1 if reached else 0


def pass_rates(prove: Path) -> list[dict[str, Any]]:
    """A record of each task that was sampled, the hardest first, from the stage's folder: the row's id (`of`) and name, `samples` that
    were judged, how many of them `passed`, how many of these were only `compiled`, and the `reasons` of the others. What
    the stage has still to settle is not counted.
    """
    rates: dict[str, dict[str, Any]] = {}
    for row, reason in settled_rows(prove):
        if sample := row.get("sample"):
            new = {"of": sample["of"], "name": row.get("name"), "samples": 0, "passed": 0, "compiled": 0}
            rate = rates.setdefault(sample["of"], {**new, "reasons": Counter()})
            rate["samples"] += 1
            rate["passed"] += not reason
            rate["compiled"] += not reason and (row.get("verified") or {}).get("verdict") == "compiled"
            rate["reasons"] += Counter([reason] if reason else [])
    return sorted(rates.values(), key=lambda rate: (rate["passed"] / rate["samples"], rate["of"]))


def sentences(rates: list[dict[str, Any]]) -> list[str]:
    """The sum, and which tasks were never and which always solved; nothing where no task was sampled."""
    if not rates:
        return []
    never, always = ([rate for rate in rates if rate["passed"] == part * rate["samples"]] for part in (0, 1))
    compiled = sum(rate["compiled"] for rate in rates)
    not_run = f"; {compiled:,} of those that passed were compiled and not run" if compiled else ""
    texts = [
        f"{sum(rate['passed'] for rate in rates):,} of {sum(rate['samples'] for rate in rates):,} samples passed; of {len(rates):,} tasks "
        f"{len(always):,} were always solved, {len(never):,} never{not_run}"
    ]
    for word, these in (("never", never), ("always", always)):
        if these:
            more = f" and {len(these) - _NAMED:,} more, see pass_rates.jsonl" if len(these) > _NAMED else ""
            texts.append(f"{word} solved: {', '.join(map(_named, these[:_NAMED]))}{more}")
    return texts


def _named(rate: dict[str, Any]) -> str:
    why = ", ".join(f"{reason} {count:,}" for reason, count in rate["reasons"].most_common())
    return f"{rate['name'] or rate['of']} ({why})" if why else str(rate["name"] or rate["of"])
