"""Score the rounds of the bundled data: the results of SFT of a real model on them, from verdict rows to one JSON.

    python scripts/data_rounds.py --add r2-results.jsonl --round 2 --seed 0 --set cudabench    # add a judged run
    python scripts/data_rounds.py    # write benchmarks/data_rounds.json

benchmarks/data_rounds.jsonl.gz has one row per answer: round, set, seed, operation, task, verdict, compiled. It has no
text of a benchmark. benchmarks/data_rounds.yaml describes what each round was trained on and what changed. Round 0 is
the model before any training. People read the failed answers of `develop` only, the 100 operations that are reserved
for this. CUDABench's failures are only counted. Intervals are over operations. The seeds and sizes of an operation are
averaged first.
"""

import argparse
import gzip
import json
from collections import Counter
from pathlib import Path

import pandas as pd
import yaml

from cuset_stage.judge.results import read_results
from cuset_stage.report.statistics import estimate_means


FOLDER = Path(__file__).parent.parent / "benchmarks"
ROWS = FOLDER / "data_rounds.jsonl.gz"
SETS = ("develop", "cudabench", "mini", "mini_0.5b")  # the last by Qwen2.5-Coder-0.5B, all others by 1.5B


def score(rows: pd.DataFrame) -> dict:
    """Return the percentages of right and compiled answers, and counts of verdicts.

    A percentage is over all answers. It stands beside the package's bootstrap interval over operations (`low` and
    `high`) and the percentage of each seed.
    """
    rows = rows.assign(function=rows.verdict == "passed")
    result: dict = {"answers": len(rows), "seeds": sorted(rows.seed.unique().tolist())}
    for name in ("function", "compiled"):
        [estimate] = estimate_means(rows.groupby("operation", sort=False)[[name]].mean().to_numpy())
        numbers = {"percent": rows[name].mean(), "low": estimate.low, "high": estimate.high}
        by_seed = {str(seed): round(100 * share, 2) for seed, share in rows.groupby("seed")[name].mean().items()}
        result[name] = {key: round(100 * float(value), 2) for key, value in numbers.items()} | {"by_seed": by_seed}
    verdicts = dict(Counter(rows.verdict).most_common())
    return {**result, "operations": rows.operation.nunique(), "verdicts": verdicts}


def rounds() -> list[dict]:
    """Return what data_rounds.yaml says about each round, with the scores of its rows.

    `restated` names the operations of CUDABench that some training operations restated. The score `without_restated`
    is CUDABench's without them.
    """
    rows, results = pd.read_json(ROWS, lines=True, dtype=False), []
    for number, notes in yaml.safe_load((FOLDER / "data_rounds.yaml").read_text(encoding="utf-8")).items():
        by_set = {name: rows[(rows["round"] == number) & (rows["set"] == name)] for name in SETS}
        if notes.get("restated"):
            by_set["without_restated"] = by_set["cudabench"][~by_set["cudabench"].operation.isin(notes["restated"])]
        scores = {name: score(of_set) for name, of_set in by_set.items() if len(of_set)}
        results.append({"round": number, **notes, **scores})
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--add", type=Path, help="results of `cuset evaluate` to add the verdicts of")
    parser.add_argument("--round", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", choices=SETS)
    options = parser.parse_args()
    if options.add:
        key = {"round": options.round, "set": options.set, "seed": options.seed}
        with gzip.open(ROWS, "at") as file:
            for sample in read_results(options.add).samples:
                if sample["verdict"] == "infra_error":
                    continue  # the judge itself failed
                operation = sample["name" if options.set.startswith("mini") else "family"]
                names = {"operation": operation, "task": sample["task"], "verdict": sample["verdict"]}
                file.write(json.dumps({**key, **names, "compiled": bool(sample["compiled"])}) + "\n")
    results = rounds()
    (FOLDER / "data_rounds.json").write_text(json.dumps({"rounds": results}, indent=2) + "\n", encoding="utf-8")
    for result in results:
        for name, scores in result.items():
            if name in (*SETS, "without_restated"):
                print(f"round {result['round']}, {name}: compiled {scores['compiled']}, function {scores['function']}")


if __name__ == "__main__":
    main()
