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
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import yaml

from cuset_stage.judge.results import read_results
from cuset_stage.report.statistics import estimate_means


FOLDER = Path(__file__).parent.parent / "benchmarks"
ROWS = FOLDER / "data_rounds.jsonl.gz"
SETS = ("develop", "cudabench", "mini")


def share(outcomes: dict[str, list[bool]]) -> dict[str, float]:
    """Return the percentage over all answers, with the package's bootstrap interval over operations.

    Args:
        outcomes: the outcomes of each operation's answers.

    Returns:
        `percent`, `low` and `high`, in percent.
    """
    [estimate] = estimate_means([[np.mean(values)] for values in outcomes.values()])
    mean = np.mean([outcome for values in outcomes.values() for outcome in values])
    numbers = {"percent": mean, "low": estimate.low, "high": estimate.high}
    return {name: round(100 * float(value), 2) for name, value in numbers.items()}


def score(rows: list[dict]) -> dict:
    """Return the percentages of right and compiled answers, with intervals and by seed, and counts of verdicts."""
    result: dict = {"answers": len(rows), "seeds": sorted({row["seed"] for row in rows})}
    for name, is_so in (
        ("function", lambda row: row["verdict"] == "passed"),
        ("compiled", lambda row: row["compiled"]),
    ):
        outcomes = defaultdict(list)
        for row in rows:
            outcomes[row["operation"]].append(is_so(row))
        by_seed = {seed: [is_so(row) for row in rows if row["seed"] == seed] for seed in result["seeds"]}
        result[name] = share(outcomes)
        result[name]["by_seed"] = {
            str(seed): round(100 * sum(values) / len(values), 2) for seed, values in by_seed.items()
        }
    return {
        **result,
        "operations": len({row["operation"] for row in rows}),
        "verdicts": dict(Counter(row["verdict"] for row in rows).most_common()),
    }


def rounds() -> list[dict]:
    """Return what data_rounds.yaml says about each round, with the scores of its rows.

    `restated` names the operations of CUDABench that some training operations restated. The score `without_restated`
    is CUDABench's without them.
    """
    with gzip.open(ROWS, "rt") as file:
        rows = list(map(json.loads, file))
    results = []
    for number, notes in yaml.safe_load((FOLDER / "data_rounds.yaml").read_text(encoding="utf-8")).items():
        by_set = {name: [row for row in rows if row["round"] == number and row["set"] == name] for name in SETS}
        if notes.get("restated"):
            by_set["without_restated"] = [
                row for row in by_set["cudabench"] if row["operation"] not in notes["restated"]
            ]
        results.append({"round": number, **notes, **{name: score(by_set[name]) for name in by_set if by_set[name]}})
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
            for sample in read_results(options.add).charged:
                operation = sample["name" if options.set == "mini" else "family"]
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
