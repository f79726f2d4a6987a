"""Dose and response of the miniature: how fast each method loses with wrong training answers, and the plan's four contrasts.

    python scripts/dose_slopes.py outputs/miniature/study/results.jsonl

A slope is that of function pass@1 over the percent of tokens that are wrong, by least squares over the doses there are; `base` is dose 0. It is
computed for every task and seed, so that its error is over both, as everywhere in a study (docs/study_plan.md). Points a percent.
"""

import argparse
import re
from pathlib import Path

import numpy as np
import pandas as pd

from cuset_stage.report.statistics import holm
from cuset_stage.study.results import read_results, score_table
from cuset_stage.study.statistics import crossed


METHODS = ("sft", "profit", "both_masks", "cuset")
CONTRASTS = (
    ("neutral", "profit", "sft"),
    ("neutral", "cuset", "sft"),
    ("cuda", "cuset", "sft"),
    ("cuda", "cuset", "profit"),
)


def slopes(scores: dict[tuple[str, str], pd.DataFrame], kind: str, method: str) -> pd.DataFrame:
    """The slope of each seed and task [seeds, tasks], over the seeds and tasks that every dose has."""
    doses = {"base": 0} | {
        model: int(found[1]) for model, _ in scores if (found := re.fullmatch(rf"{kind}(\d+)", model))
    }
    tables = {dose: scores[model, method] for model, dose in doses.items() if (model, method) in scores}
    if len(tables) < 2:
        raise SystemExit(f"{method} on {kind}: judged at {len(tables)} doses; a slope needs two.")
    centred = {dose: dose - sum(tables) / len(tables) for dose in tables}
    total = sum(weight * tables[dose] for dose, weight in centred.items())
    return (total / sum(weight**2 for weight in centred.values())).dropna(how="all").dropna(axis=1, how="all")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    scores = score_table(read_results(parser.parse_args().results), "passed", 1)
    found = {(kind, method): slopes(scores, kind, method) for kind in ("cuda", "neutral") for method in METHODS}
    print("| wrong tokens | method | slope | 95 % | seeds |\n| :--- | :--- | ---: | ---: | ---: |")
    for (kind, method), table in found.items():
        one = crossed(table)
        low, high = one.interval()
        print(f"| {kind} | {method} | {100 * one.value:+.3f} | {100 * low:+.3f} to {100 * high:+.3f} | {one.seeds} |")
    differences = [
        crossed(np.subtract(*found[kind, one].align(found[kind, other], join="inner")))
        for kind, one, other in CONTRASTS
    ]
    corrected = holm([one.p_value for one in differences])
    print(
        "\n| wrong tokens | contrast | difference | 95 % | p | p, Holm |\n| :--- | :--- | ---: | ---: | ---: | ---: |"
    )
    for (kind, method, other), one, p in zip(CONTRASTS, differences, corrected, strict=True):
        low, high = one.interval()
        ends = f"{100 * low:+.3f} to {100 * high:+.3f}"
        print(f"| {kind} | {method} less {other} | {100 * one.value:+.3f} | {ends} | {one.p_value:.3g} | {p:.3g} |")


if __name__ == "__main__":
    main()
