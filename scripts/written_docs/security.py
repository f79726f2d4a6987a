"""The tables of attacks and cheats, in docs/security.md."""

from typing import Any

from . import between_marks, record, source, table


def page() -> str:
    """docs/security.md with the tables of every attack and cheat by class."""
    runs: dict[str, list[dict[str, Any]]] = {}
    for name in ("attacks", "attacks_user", "attacks_h200"):
        for one in record(f"{name}.json")["attacks"]:
            runs.setdefault(one["group"], []).append(one)
    attacks = []
    for group, found in runs.items():
        contained = f"{sum(one['contained'] for one in found)} of {len(found)}"
        attacks.append([group, "; ".join(dict.fromkeys(one["what"] for one in found)), contained])
    tried: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name in ("cheats", "cheats_h200"):
        for one in record(f"{name}.json")["attacks"]:
            if one["group"]:  # not the honest answer
                tried.setdefault((one["group"], one["what"]), []).append(one)
    cheats = []
    for (group, what), found in tried.items():
        paid = "no" if all(one["contained"] for one in found) else "**yes**"
        cheats.append([group, what, " / ".join(dict.fromkeys(one["verdict"] for one in found)), paid])
    classes = list(dict.fromkeys(row[0] for row in cheats))
    cheats.sort(key=lambda row: classes.index(row[0]))
    return between_marks(
        "security.md",
        f"""Programs and sources against the sandbox, in bubblewrap and under Landlock, for a judge that is root and for an ordinary user; those of the
device on an H200, each followed by a right program. Contained: the verdict is right, and afterwards no process, file or secret is out.

{table(["class", "tried", "contained"], attacks)}

Answers against the judge of modules; those that need a GPU on an H200. Paid: passed without doing the work, or a speed-up that is not there.
An answer that passes and is not paid did the work after all, and gained nothing by what it tried.

{table(["class", "tried", "verdict", "paid"], cheats)}

- {source("attacks.json", "python scripts/attack_table.py --json outputs/attacks.json --no-gpu")}
- {source("attacks_user.json", "python scripts/attack_table.py --json outputs/attacks.json --no-gpu")}
- {source("attacks_h200.json", "python scripts/attack_table.py --json outputs/attacks.json")}
- {source("cheats.json", "python scripts/attack_table.py --cheats --no-gpu --json outputs/cheats.json")}
- {source("cheats_h200.json", "python scripts/attack_table.py --cheats --json outputs/cheats.json")}""",
    )
