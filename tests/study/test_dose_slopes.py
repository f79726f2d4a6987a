"""scripts/dose_slopes.py against a fit by NumPy and the errors of tests/study/recompute.py."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import recompute
from scipy import stats

from cuset_stage.jsonl import to_line


SCRIPT = Path(__file__).parents[2] / "scripts" / "dose_slopes.py"
LOSS = {"sft": 0.02, "profit": 0.01, "both_masks": 0.01, "cuset": 0.005}  # of the pass rate, a percent


def test_slopes_and_contrasts(tmp_path):
    random, rows = np.random.default_rng(5), []
    easy = random.normal(0.6, 0.1, 60)
    for model, dose in (
        ("base", 0),
        *((f"{kind}{dose:02}", dose) for kind in ("cuda", "neutral") for dose in (5, 20)),
    ):
        for method, loss in LOSS.items():
            for seed in range(5 if model == "base" else 3):  # base has more seeds
                passed = random.random(60) < easy - loss * dose
                rows += [
                    {"model": model, "method": method, "seed": seed, "task": f"t{task}", "family": "", "sample": 0}
                    | {
                        "verdict": "passed" if right else "mismatch",
                        "compiled": True,
                        "passed": bool(right),
                        "tokens": 9,
                    }
                    for task, right in enumerate(passed)
                ]
    file = tmp_path / "results.jsonl"
    file.write_text("".join(map(to_line, rows)))
    said = subprocess.run([sys.executable, SCRIPT, file], capture_output=True, text=True, check=True).stdout
    table = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in said.splitlines()
        if line.startswith(("| cuda", "| neutral"))
    ]
    score = {(row["model"], row["method"], row["seed"], row["task"]): float(row["passed"]) for row in rows}

    def fitted(kind, method):
        return {
            (seed, f"t{task}"): np.polyfit(
                (0, 5, 20), [score[model, method, seed, f"t{task}"] for model in ("base", f"{kind}05", f"{kind}20")], 1
            )[0]
            for seed in range(3)
            for task in range(60)
        }

    for kind, method, slope, _, seeds in table[:8]:
        mean, *_ = recompute.estimate(fitted(kind, method))
        assert float(slope) == pytest.approx(100 * mean, abs=6e-4) and seeds == "3"
    p_values = []
    for kind, contrast, difference, _, p, _ in table[8:]:
        one, other = (fitted(kind, method) for method in contrast.split(" less "))
        mean, se, df, _ = recompute.estimate({key: one[key] - other[key] for key in one})
        p_values.append(2 * stats.t.sf(abs(mean) / se, df))
        assert (float(difference), float(p)) == pytest.approx((100 * mean, p_values[-1]), rel=6e-3, abs=6e-4)
    assert [row[1] for row in table[8:]] == [
        "profit less sft",
        "cuset less sft",
        "cuset less sft",
        "cuset less profit",
    ]
    assert float(table[8 + int(np.argmin(p_values))][5]) == pytest.approx(4 * min(p_values), rel=6e-3)
