"""The table in docs/many_gpus.md of the paper's recipe on several GPUs."""

import functools
import json

import numpy as np
import pandas as pd

from . import ROOT, between, filled, record, table


COLUMNS = {"tokens_s": 0, "start_s": 1, "peak_gib": 1}  # and their digits
HEADER = ["model", "rows", "GPUs", "tokens/s", "start, s", "peak GiB", "efficiency", "on 8 GPUs", "cuset / sft"]
KINDS = {True: "packed", False: "one row"}


def page() -> str:
    scaling = record("scaling_h200.json")
    stages = pd.DataFrame(scaling["rows"]).pivot(index=["model", "packed", "ranks"], columns="stage")
    compared = {(one["model"], one["packed"], one["ranks"]): one for one in scaling["compared"]}
    rows = []
    for (model, packed, ranks), row in stages.iterrows():
        comparison = compared[model, packed, ranks]
        pairs = [[f"{row[name, stage]:,.{digits}f}" for stage in ("sft", "cuset")] for name, digits in COLUMNS.items()]
        shares = [comparison.get(f"efficiency_{stage}") for stage in ("sft", "cuset")]
        pairs.append([f"{share:.2f}" for share in shares if share])
        pairs.append([f"{extrapolated(share, packed):.2f}" for share in shares if share and ranks == 2])
        ratio = between(comparison["ratio"], comparison["low"], comparison["high"], ".2f")
        rows.append([model, KINDS[packed], str(ranks), *map(" / ".join, pairs), ratio])
    missing = pd.DataFrame(scaling["missing"], columns=["model", "packed", "ranks"]).drop_duplicates()
    left = [
        f"{model}, {KINDS[packed]}: {', '.join(map(str, sorted(of.ranks)))}"
        for (model, packed), of in missing.groupby(["model", "packed"])
    ]
    [overall] = scaling["overall"]
    note = f"Over all {overall['turns']} turns, cuset / sft is {between(overall['ratio'], overall['low'], overall['high'], '.2f')}."
    if left:
        note += f" Not measured, by numbers of GPUs: {'; '.join(left)}."
    return filled("many_gpus.md", scaling=f"{table(HEADER, rows)}\n\n{note}")


def extrapolated(share: float, packed: bool, gpus: int = 8) -> float:
    """Return the efficiency on more GPUs of one host, given that on two.

    What a step takes longer than on one GPU grows, with packed rows, like what an all-reduce in a ring sends, and with
    rows as they are like the longest of the GPUs' rows, for which all others wait. An efficiency above 1 is noise.
    """

    def cost(count: int) -> float:
        if packed:
            return 2 * (count - 1) / count
        lengths = sorted_lengths()
        is_longest = np.diff(np.linspace(0, 1, len(lengths) + 1) ** count)  # its probability, for each row
        return is_longest @ lengths / lengths.mean() - 1

    return 1 / (1 + max(1 / share - 1, 0) * cost(gpus) / cost(2))


@functools.cache
def sorted_lengths() -> np.ndarray:
    """Return the lengths of the bundled rows in characters, in ascending order."""
    rows = json.loads((ROOT / "data" / "cuset_kernels.json").read_text(encoding="utf-8"))
    return np.sort([len(row["instruction"] + row["output"]) for row in rows])
