"""The table in docs/many_gpus.md of the paper's recipe on several GPUs."""

import pandas as pd

from . import between, filled, record, table


RECORD = "scaling_h200.json"
COLUMNS = {"tokens_s": 0, "start_s": 1, "peak_gib": 1}  # and their digits


def page() -> str:
    scaling = record(RECORD)
    stages = pd.DataFrame(scaling["rows"]).pivot(index=["model", "packed", "ranks"], columns="stage")
    compared = {(one["model"], one["packed"], one["ranks"]): one for one in scaling["compared"]}
    rows = []
    for key, row in stages.iterrows():
        comparison = compared[key]
        pairs = [
            f"{row[name, 'sft']:,.{digits}f} / {row[name, 'cuset']:,.{digits}f}" for name, digits in COLUMNS.items()
        ]
        efficiencies = [comparison.get(f"efficiency_{stage}") for stage in ("sft", "cuset")]
        pairs.append(" / ".join("?" if share is None else f"{share:.2f}" for share in efficiencies))
        ratio = between(comparison["ratio"], comparison["low"], comparison["high"], ".2f")
        rows.append([key[0], "packed" if key[1] else "one row", str(key[2]), *pairs, ratio])
    header = ["model", "rows", "GPUs", *("tokens/s", "start, s", "peak GiB", "efficiency"), "cuset's speed over sft's"]
    missing = pd.DataFrame(scaling["missing"]).drop(columns="stage").drop_duplicates()
    left = [
        f"{name}, {'packed' if packed else 'one row'}: {', '.join(map(str, sorted(of.ranks)))}"
        for (name, packed), of in missing.groupby(["model", "packed"])
    ]
    return filled(
        "many_gpus.md", scaling=table(header, rows) + f"\n\nNot measured, by numbers of GPUs: {'; '.join(left)}."
    )
