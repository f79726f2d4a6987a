"""The tables of attacks and cheats in docs/security.md."""

import itertools
from typing import Any

from . import filled, record, source, table


def page() -> str:
    runs: dict[str, list[dict[str, Any]]] = {}
    records = [record(f"{name}.json") for name in ("attacks", "attacks_user", "attacks_h100", "attacks_user_h200")]
    for outcome in itertools.chain.from_iterable(run["attacks"] for run in records):
        runs.setdefault(outcome["group"], []).append(outcome)
    slowest = max(run["slowest_look_s"] for run in records)
    attacks = []
    for group, outcomes in runs.items():
        contained = f"{sum(outcome['contained'] for outcome in outcomes)} of {len(outcomes)}"
        attacks.append([group, "; ".join(dict.fromkeys(outcome["what"] for outcome in outcomes)), contained])
    verdicts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name in ("cheats", "cheats_h200", "cheats_h100"):
        for outcome in record(f"{name}.json")["attacks"]:
            if outcome["group"]:  # the honest answer has none
                verdicts.setdefault((outcome["group"], outcome["what"]), []).append(outcome)
    cheats: dict[str, list[str]] = {}
    paid: dict[str, int] = {}
    for (group, what), outcomes in verdicts.items():
        cheats.setdefault(group, []).append(
            f"{what} ({' / '.join(dict.fromkeys(outcome['verdict'] for outcome in outcomes))})"
        )
        paid[group] = paid.get(group, 0) + (not all(outcome["contained"] for outcome in outcomes))
    rows = [[group, "; ".join(tried), f"{paid[group]} of {len(tried)}"] for group, tried in cheats.items()]
    sources = [
        ("attacks.json", "--json outputs/attacks.json --no-gpu"),
        ("attacks_user.json", "--json outputs/attacks.json --no-gpu"),
        ("attacks_h100.json", "--json outputs/attacks.json"),
        ("attacks_user_h200.json", "--only (the device attacks) --json outputs/attacks.json"),
        ("cheats.json", "--cheats --no-gpu --json outputs/cheats.json"),
        ("cheats_h200.json", "--cheats --json outputs/cheats.json"),
        ("cheats_h100.json", "--cheats --json outputs/cheats.json"),
    ]
    return filled(
        "security.md",
        attacks=table(["class", "tried", "contained"], attacks)
        + f"\n\nThe slowest look at a program's memory and files took {slowest:.1f} s.",
        cheats=table(["class", "tried (verdict)", "paid"], rows),
        sources="\n".join(source(name, f"python scripts/attack_table.py {options}") for name, options in sources),
    )
