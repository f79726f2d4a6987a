"""What docs/study_plan.md asks of the miniature and the report has no table for: row_max and row_sum tasks, dose and response.

    python scripts/planned_tests.py benchmarks/study/results.jsonl

By last step: pass@1 on the tasks that end with the maximum of a row and on those that end with its sum, and there CuSeT with kernel heads
among its CUDA tokens (`signature`) less CuSeT. Dose: how fast each method loses with wrong training answers. A slope is that of pass@1 over the
percent of tokens that are wrong, by least squares over the doses there are; `clean` is dose 0. All errors are over tasks and seeds.
"""

import argparse
import re
from pathlib import Path

import numpy as np
import pandas as pd

from cuset_stage.report.statistics import holm
from cuset_stage.study.results import read_results, score_table
from cuset_stage.study.statistics import Crossed, crossed


STEPS = ("row_max", "row_sum")
METHODS = ("sft", "profit", "both_masks", "cuset")
CONTRASTS = (
    ("neutral", "profit", "sft"),
    ("neutral", "cuset", "sft"),
    ("cuda", "cuset", "sft"),
    ("cuda", "cuset", "profit"),
)
Scores = dict[tuple[str, str], pd.DataFrame]


def difference(one: pd.DataFrame, other: pd.DataFrame) -> Crossed | None:
    """Over the seeds and tasks that both have."""
    return crossed(np.subtract(*one.align(other, join="inner")))


def ends(found: Crossed, digits: int) -> str:
    low, high = found.interval()
    return f"{100 * low:+.{digits}f} to {100 * high:+.{digits}f}"


def print_last_steps(scores: Scores) -> None:
    print("| last step | method | pass@1 | 95 % | tasks | seeds |\n| :--- | :--- | ---: | ---: | ---: | ---: |")
    of_step = {
        (step, method): table.filter(regex=rf"-{step}(-|$)")
        for step in STEPS
        for (model, method), table in scores.items()
        if model == "base"
    }
    for (step, method), table in of_step.items():
        if one := crossed(table):
            low, high = one.rate_interval()
            print(
                f"| {step} | {method} | {100 * one.value:.1f} | {100 * low:.1f} to {100 * high:.1f} | {one.tasks} | {one.seeds} |"
            )
    for step in STEPS:
        if {(step, "signature"), (step, "cuset")} <= of_step.keys():
            one = difference(of_step[step, "signature"], of_step[step, "cuset"])
            if one:
                print(
                    f"\n{step}: signature less cuset {100 * one.value:+.1f} points ({ends(one, 1)}), p = {one.p_value:.3g}"
                )


def slopes(scores: Scores, kind: str, method: str) -> pd.DataFrame | None:
    """The slope of each seed and task [seeds, tasks], over the seeds and tasks that every dose has; None with less than two doses."""
    doses = {"clean": 0} | {
        model: int(found[1]) for model, _ in scores if (found := re.fullmatch(rf"{kind}(\d+)", model))
    }
    tables = {dose: scores[model, method] for model, dose in doses.items() if (model, method) in scores}
    if len(tables) < 2:
        return None
    centred = {dose: dose - sum(tables) / len(tables) for dose in tables}
    total = sum(weight * tables[dose] for dose, weight in centred.items())
    return (total / sum(weight**2 for weight in centred.values())).dropna(how="all").dropna(axis=1, how="all")


def print_doses(scores: Scores) -> None:
    found = {(kind, method): slopes(scores, kind, method) for kind in ("cuda", "neutral") for method in METHODS}
    if missing := [f"{method} on {kind}" for (kind, method), table in found.items() if table is None]:
        print(f"\nNo slopes: a slope needs two doses, which these have not: {', '.join(missing)}.")
        return
    print("\n| wrong tokens | method | slope | 95 % | seeds |\n| :--- | :--- | ---: | ---: | ---: |")
    for (kind, method), table in found.items():
        one = crossed(table)
        print(f"| {kind} | {method} | {100 * one.value:+.3f} | {ends(one, 3)} | {one.seeds} |")
    if all(len(table) == 1 for table in found.values()):
        print("\nWith one seed nothing is said of other trainings.")
    differences = [difference(found[kind, one], found[kind, other]) for kind, one, other in CONTRASTS]
    corrected = holm([one.p_value for one in differences])
    print(
        "\n| wrong tokens | contrast | difference | 95 % | p | p, Holm |\n| :--- | :--- | ---: | ---: | ---: | ---: |"
    )
    for (kind, method, other), one, p in zip(CONTRASTS, differences, corrected, strict=True):
        print(
            f"| {kind} | {method} less {other} | {100 * one.value:+.3f} | {ends(one, 3)} | {one.p_value:.3g} | {p:.3g} |"
        )


def print_tests(results: Path) -> None:
    scores = score_table(read_results(results), "passed", 1)
    print_last_steps(scores)
    print_doses(scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    print_tests(parser.parse_args().results)


if __name__ == "__main__":
    main()
