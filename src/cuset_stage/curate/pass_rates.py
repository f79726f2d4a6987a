"""How often a model solves each task: what `prove` found of the samples that `answer` took."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from .folders import settled_rows


_NAMED = 20  # tasks in a sentence


def pass_rates(prove: Path) -> list[dict[str, Any]]:
    """A record of each task that was sampled, the hardest first, from the stage's folder: the row's id (`of`) and name, `samples` that
    were judged, how many of them `passed`, how many of these were only `compiled`, and the `reasons` of the others. What
    the stage has still to settle is not counted.
    """
    found: dict[str, dict[str, Any]] = {}
    for row, reason in settled_rows(prove):
        if sample := row.get("sample"):
            new = {"of": sample["of"], "name": row.get("name"), "samples": 0, "passed": 0, "compiled": 0}
            rate = found.setdefault(sample["of"], {**new, "reasons": Counter()})
            rate["samples"] += 1
            rate["passed"] += not reason
            rate["compiled"] += not reason and (row.get("verified") or {}).get("verdict") == "compiled"
            rate["reasons"] += Counter([reason] if reason else [])
    return sorted(found.values(), key=lambda rate: (rate["passed"] / rate["samples"], rate["of"]))


def sentences(rates: list[dict[str, Any]]) -> list[str]:
    """The sum, and which tasks were never and which always solved; nothing where no task was sampled."""
    if not rates:
        return []
    never, always = ([rate for rate in rates if rate["passed"] == part * rate["samples"]] for part in (0, 1))
    compiled = sum(rate["compiled"] for rate in rates)
    not_run = f"; {compiled:,} of those that passed were compiled and not run" if compiled else ""
    found = [
        f"{sum(rate['passed'] for rate in rates):,} of {sum(rate['samples'] for rate in rates):,} samples passed; of {len(rates):,} tasks "
        f"{len(always):,} were always solved, {len(never):,} never{not_run}"
    ]
    for word, these in (("never", never), ("always", always)):
        if these:
            more = f" and {len(these) - _NAMED:,} more, see pass_rates.jsonl" if len(these) > _NAMED else ""
            found.append(f"{word} solved: {', '.join(map(_named, these[:_NAMED]))}{more}")
    return found


def _named(rate: dict[str, Any]) -> str:
    why = ", ".join(f"{reason} {count:,}" for reason, count in rate["reasons"].most_common())
    return f"{rate['name'] or rate['of']} ({why})" if why else str(rate["name"] or rate["of"])
