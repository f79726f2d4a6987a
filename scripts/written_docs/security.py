"""The tables of attacks and cheats in docs/security.md."""

from collections.abc import Iterable

import pandas as pd

from . import filled, record, source, table


# Record in benchmarks/ -> the options of attack_table.py that wrote it.
ATTACKS = {
    "attacks.json": "--json outputs/attacks.json --no-gpu",
    "attacks_user.json": "--json outputs/attacks.json --no-gpu",
    "attacks_h200.json": "--json outputs/attacks.json",
    "attacks_user_h200.json": "--only (the device attacks) --json outputs/attacks.json",
}
CHEATS = {
    "cheats.json": "--cheats --no-gpu --json outputs/cheats.json",
    "cheats_h200.json": "--cheats --json outputs/cheats.json",
    "cheats_h100.json": "--cheats --json outputs/cheats.json",
}


def outcomes(names: Iterable[str]) -> pd.DataFrame:
    """Return the outcomes in these records, one per row, without the honest answer, which has no group."""
    rows = pd.DataFrame([outcome for name in names for outcome in record(name)["attacks"]])
    return rows[rows.group != ""]


def page() -> str:
    attacks, cheats = [], []
    for group, rows in outcomes(ATTACKS).groupby("group", sort=False):
        attacks.append([group, "; ".join(rows.what.unique()), f"{rows.contained.sum()} of {len(rows)}"])
    slowest = max(record(name)["slowest_look_s"] for name in ATTACKS)
    for group, rows in outcomes(CHEATS).groupby("group", sort=False):
        tried = rows.groupby("what", sort=False)
        verdicts = [f"{what} ({' / '.join(same.verdict.unique())})" for what, same in tried]
        cheats.append([group, "; ".join(verdicts), f"{(~tried.contained.all()).sum()} of {len(verdicts)}"])
    sources = [source(name, f"python scripts/attack_table.py {how}") for name, how in (ATTACKS | CHEATS).items()]
    return filled(
        "security.md",
        attacks=table(["class", "tried", "contained"], attacks)
        + f"\n\nThe slowest look at a program's memory and files took {slowest:.1f} s.",
        cheats=table(["class", "tried (verdict)", "paid"], cheats),
        sources="\n".join(sources),
    )
