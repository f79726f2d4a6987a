"""A model's score under different wordings of CUDABench: from results files of `cuset evaluate` to one JSON.

    cuset generate tasks=CUDABench-Set.jsonl model=M temperature=0.2 top_p=0.95 max_tokens=2048 prompts=CUDABench output=a.jsonl
    cuset evaluate a.jsonl tasks=CUDABench-Set.jsonl output=a-results.jsonl
    python scripts/bench_prompts.py a-results.jsonl b-results.jsonl --model "Qwen2.5-Coder-1.5B-Instruct" --output benchmarks/prompts_h100.json

A row has the share of answers that compile and that pass, in percent, with a 95 % interval over operations (CUDABench asks for each in five
sizes, so its tasks are not independent), the mean number of tokens, and the verdicts.
"""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from cuset_stage.judge.results import read_results
from cuset_stage.report.statistics import estimate_means


def share(outcomes: dict[str, list[bool]]) -> dict[str, float]:
    """Percent over all answers, with the package's bootstrap interval over operations. outcomes: by operation."""
    [estimate] = estimate_means([[np.mean(values)] for values in outcomes.values()])
    mean = np.mean([outcome for values in outcomes.values() for outcome in values])
    return {
        name: round(100 * float(value), 2)
        for name, value in (("percent", mean), ("low", estimate.low), ("high", estimate.high))
    }


def row_of(path: Path) -> dict:
    results = read_results(path)
    charged = results.charged
    by_operation = {key: defaultdict(list) for key in ("compiled", "passed")}
    for sample in charged:
        for key, outcomes in by_operation.items():
            outcomes[sample["family"]].append(bool(sample[key]))
    run = results.run
    return {
        "prompts": run["generation"]["prompts"],
        "answers": len(charged),
        "infra_error": len(results.samples) - len(charged),
        "operations": len(by_operation["passed"]),
        **{key: share(outcomes) for key, outcomes in by_operation.items()},
        "tokens": round(float(np.mean([sample["tokens"] for sample in charged])), 1),
        "verdicts": dict(Counter(sample["verdict"] for sample in results.samples).most_common()),
        "generation": {key: run["generation"][key] for key in ("temperature", "top_p", "max_tokens", "seed")},
        "gpu": ", ".join(sorted({gpu["name"] for gpu in run.get("gpus") or []})),
        "judged": run["created"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--model", required=True, help="which model, with the SHA-256 of its weights")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    rows = [row_of(path) for path in options.results]
    gpu, date = (
        ", ".join(sorted({row[key][:length] for row in rows})) for key, length in (("gpu", None), ("judged", 10))
    )
    record = {"model": options.model, "gpu": gpu, "date": date, "rows": rows}
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        print(
            f"{row['prompts']}: compiled {row['compiled']['percent']} %, passed {row['passed']['percent']} %, {row['tokens']} tokens"
        )


if __name__ == "__main__":
    main()
