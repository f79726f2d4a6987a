"""The rounds of the bundled data: what SFT of a real model on them gives, from verdict rows to one JSON.

    python scripts/data_rounds.py --add r2-results.jsonl --round 2 --seed 0 --set cudabench    # the verdicts of a judged run
    python scripts/data_rounds.py                                                              # writes benchmarks/data_rounds.json

benchmarks/data_rounds.jsonl.gz has a row an answer (round, set, seed, operation, task, verdict, compiled: no text of a benchmark),
benchmarks/data_rounds.yaml says of each round what was trained on and what changed; round 0 is the model as it is. Failed answers are
read on `develop`, the 100 operations that are kept for it; CUDABench's are counted only. Intervals are over operations: seeds and sizes of
one are averaged.
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
    """Percent over all answers, with the package's bootstrap interval over operations. outcomes: by operation."""
    [estimate] = estimate_means([[np.mean(values)] for values in outcomes.values()])
    mean = np.mean([outcome for values in outcomes.values() for outcome in values])
    numbers = {"percent": mean, "low": estimate.low, "high": estimate.high}
    return {name: round(100 * float(value), 2) for name, value in numbers.items()}


def score(rows: list[dict]) -> dict:
    """Percent right and compiled with intervals, by seed as well, and the verdicts."""
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
    """What data_rounds.yaml says of each round, and the scores of its rows.

    `restated` names operations of CUDABench that some of the training ones restated; `without_restated` leaves them out.
    """
    with gzip.open(ROWS, "rt") as file:
        rows = list(map(json.loads, file))
    found = []
    for number, said in yaml.safe_load((FOLDER / "data_rounds.yaml").read_text(encoding="utf-8")).items():
        of = {name: [row for row in rows if row["round"] == number and row["set"] == name] for name in SETS}
        if said.get("restated"):
            of["without_restated"] = [row for row in of["cudabench"] if row["operation"] not in said["restated"]]
        found.append({"round": number, **said, **{name: score(of[name]) for name in of if of[name]}})
    return found


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
    found = rounds()
    (FOLDER / "data_rounds.json").write_text(json.dumps({"rounds": found}, indent=2) + "\n", encoding="utf-8")
    for one in found:
        for name, scored in one.items():
            if name in (*SETS, "without_restated"):
                print(f"round {one['round']}, {name}: compiled {scored['compiled']}, function {scored['function']}")


if __name__ == "__main__":
    main()
