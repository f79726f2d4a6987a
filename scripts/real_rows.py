"""Write the rows of the study on real weights, one per judged answer, and print the learning rate of each method.

    python scripts/real_rows.py yaml_configs/studies/real_rates.yaml outputs/real/rates benchmarks/real/rates.jsonl.gz
    python scripts/real_rows.py yaml_configs/studies/real.yaml outputs/real/tier1 benchmarks/real/results.jsonl.gz

A row has model, method, seed, task, operation, sample, verdict, compiled, tokens, run_s, prompts and rate. `error` is
nvcc's first error without names, or says that the program looked for a file that is not there. A row has no text of a
benchmark, a program or a prompt. Rows of other runs that the file has stay. The script prints one line per run.
For each method that was trained with several learning rates, it prints the rate that the rule of
docs/real_study_plan.md chooses: rates within five right answers of the best are tied. Among these the one with the
most answers that compile wins, then the smallest.
"""

import gzip
import json
import re
import sys
from collections import defaultdict
from operator import itemgetter
from pathlib import Path

import pandas as pd
from scipy import stats

from cuset_stage.judge.results import read_results
from cuset_stage.settings import read_yaml
from cuset_stage.study.plan import OUTPUTS, runs_of
from cuset_stage.study.settings import StudySettings
from cuset_stage.tasks.messages import prompts_of


TIED = 5  # rates whose right answers differ by at most this many are tied
NO_FILE = "no file of this name"  # `error` of a program that failed as it ran and named a file in data/
RUN = itemgetter("model", "method", "rate", "seed")  # which run a row is of
REAL = "qwen2.5-coder-1.5b"  # the model of runs whose model is named after the learning rate ("rate...")


def first_error(verdict: str, message: str) -> dict[str, str]:
    """Return why a program failed as the key "error", with X for each name, or an empty dict if it is not known."""
    if verdict == "runtime_error" and re.search(r"data/\S+\.bin", message):
        return {"error": NO_FILE}
    if verdict != "compile_error":
        return {}
    error = re.search(r"error: (.*)", message)
    if error is None:
        return {}
    text = re.sub(r'"[^"]*"', '"X"', error[1].partition(". ")[0])
    return {"error": text.replace(' (aka "X")', "")}


def rows_of(settings: StudySettings) -> list[dict]:
    """Return the judged answers of every run that has some, in the order of the study's runs."""
    recipes = {name: read_yaml(model.recipe) for name, model in settings.models.items()}
    rows = []
    for run in runs_of(settings):
        file = settings.output / "runs" / run.name / OUTPUTS["evaluate"]
        if not file.is_file():
            continue
        results = read_results(file)
        keys = {**recipes[run.model], **settings.models[run.model].keys, **(run.keys or {})}
        about = {"model": REAL if run.model.startswith("rate") else run.model, "method": run.method, "seed": run.seed}
        of_run = {"prompts": prompts_of(results.run), "rate": None if run.keys is None else keys["learning_rate"]}
        for row in sorted(results.samples, key=lambda row: (row["task"], row["sample"])):
            answer = {key: row[key] for key in ("task", "sample", "verdict", "compiled", "tokens", "run_s")}
            error = first_error(row["verdict"], row["message"])
            rows.append(about | {"operation": row["family"], **answer, **of_run, **error})
    return rows


def print_differences(rows: list[dict]) -> None:
    """Print each method's share of right answers minus SFT's, in points.

    It is the mean over operations with the 95 % interval of Student's t, averaged over all rates at which both methods
    have equally many answers.
    """
    table = pd.DataFrame(rows).assign(right=lambda row: 100 * (row.verdict == "passed"))
    answers = table.groupby(["model", "method", "rate"]).right.size()
    means = table.groupby(["model", "method", "rate", "operation"]).right.mean()
    for model, method in answers.index.droplevel("rate").unique():
        mine, sft = (answers.get((model, name)) for name in (method, "sft"))
        rates = [] if sft is None else [rate for rate in mine.index.intersection(sft.index) if mine[rate] == sft[rate]]
        if method != "sft" and rates:
            difference = sum(means[model, method, rate] - means[model, "sft", rate] for rate in rates) / len(rates)
            interval = stats.ttest_1samp(difference, 0).confidence_interval()
            points = f"{difference.mean():.2f} points ({interval.low:.2f} to {interval.high:.2f})"
            print(f"{model} {method} minus sft at {rates}: {points}")


def main(study: str, folder: str, output: str) -> None:
    rows = rows_of(StudySettings.read([study, f"output={folder}"]))
    runs = defaultdict(list)
    for row in rows:
        runs[RUN(row)].append(row)
    others = []
    if Path(output).exists():
        with gzip.open(output, "rt", encoding="utf-8") as file:
            others = [row for row in map(json.loads, file) if RUN(row) not in runs]
    with open(output, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write("".join(json.dumps(row) + "\n" for row in others + rows).encode())
    print_differences(rows)
    rates = defaultdict(dict)  # by model and method: rate -> (right, compiled, answers)
    for (model, method, rate, seed), of_run in runs.items():
        right = sum(row["verdict"] == "passed" for row in of_run)
        compiled = sum(row["compiled"] for row in of_run)
        rates[model, method][rate] = right, compiled, len(of_run)
        print(f"{model} {method} seed {seed} at {rate}: {right} right and {compiled} compiled of {len(of_run)}")
    for (model, method), counts in rates.items():
        best = max(right for right, _, _ in counts.values())
        tied = {rate: compiled for rate, (right, compiled, _) in counts.items() if right >= best - TIED}
        is_whole = len({answers for _, _, answers in counts.values()}) == 1  # else some run is not fully judged yet
        if len(counts) > 1 and is_whole:
            print(f"{model} {method}: {max(tied, key=lambda rate: (tied[rate], -rate))} of {sorted(counts)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
