"""scripts/planned_tests.py against a fit by NumPy and the errors and rates of tests/study/recompute.py."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import recompute
from scipy import stats

from cuset_stage.jsonl import to_line


SCRIPT = Path(__file__).parents[2] / "scripts" / "planned_tests.py"
LOSS = {"sft": 0.02, "profit": 0.01, "both_masks": 0.01, "cuset": 0.005}  # of the pass rate, a percent


def row(model, method, seed, task, passed):
    told = {"verdict": "passed" if passed else "mismatch", "compiled": True, "passed": bool(passed), "tokens": 9}
    return {"model": model, "method": method, "seed": seed, "task": task, "family": "", "sample": 0} | told


def tables_of(tmp_path, rows):
    """What is printed, and the cells of its tables' lines."""
    file = tmp_path / "results.jsonl"
    file.write_text("".join(map(to_line, rows)))
    said = subprocess.run([sys.executable, SCRIPT, file], capture_output=True, text=True, check=True).stdout
    return said, [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines() if "|" in line]


def test_last_steps(tmp_path):
    """Tasks are told by their ids alone; other models than `base` do not count."""
    random, rows = np.random.default_rng(6), []
    tasks = [f"add-{step}-n{number}" for number in range(20) for step in ("row_max", "row_sum-depth1", "clamp")]
    for method, rate in (("sft", 0.5), ("cuset", 0.2), ("signature", 0.7)):
        for seed in range(3 if method == "signature" else 4):
            rows += [row("base", method, seed, task, random.random() < rate) for task in tasks]
            rows += [row("base_25m", method, seed, task, False) for task in tasks]
    said, table = tables_of(tmp_path, rows)
    score = {
        (each["method"], each["seed"], each["task"]): float(each["passed"]) for each in rows if each["model"] == "base"
    }
    lines = {(cells[0], cells[1]): cells[2:] for cells in table if cells[0].startswith("row_")}
    assert len(lines) == 6
    for (step, method), cells in lines.items():
        mean, *_ = recompute.estimate(
            {key[1:]: value for key, value in score.items() if key[0] == method and f"-{step}" in key[2]}
        )
        assert float(cells[0]) == pytest.approx(100 * mean, abs=0.051)
        assert cells[2:] == ["20", "3" if method == "signature" else "4"]
    less = {
        (seed, task): score["signature", seed, task] - score["cuset", seed, task]
        for seed in range(3)
        for task in tasks
        if "row_max" in task
    }
    mean, se, df, _ = recompute.estimate(less)
    half = stats.t.ppf(0.975, df) * se
    expected = f"row_max: signature less cuset {100 * mean:+.1f} points ({100 * (mean - half):+.1f} to {100 * (mean + half):+.1f})"
    assert expected in said and "No slopes: a slope needs two doses, which these have not: sft on cuda" in said


def test_slopes_and_contrasts(tmp_path):
    random, rows = np.random.default_rng(5), []
    easy = random.normal(0.6, 0.1, 60)
    for model, dose in (
        ("clean", 0),
        *((f"{kind}{dose:02}", dose) for kind in ("cuda", "neutral") for dose in (5, 20)),
    ):
        for method, loss in LOSS.items():
            for seed in range(5 if model == "clean" else 3):  # one dose has more seeds
                passed = random.random(60) < easy - loss * dose
                rows += [row(model, method, seed, f"t{task}", right) for task, right in enumerate(passed)]
    table = [cells for cells in tables_of(tmp_path, rows)[1] if cells[0] in ("cuda", "neutral")]
    score = {(each["model"], each["method"], each["seed"], each["task"]): float(each["passed"]) for each in rows}

    def fitted(kind, method):
        return {
            (seed, f"t{task}"): np.polyfit(
                (0, 5, 20),
                [score[model, method, seed, f"t{task}"] for model in ("clean", f"{kind}05", f"{kind}20")],
                1,
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
    assert [cells[1] for cells in table[8:]] == [
        "profit less sft",
        "cuset less sft",
        "cuset less sft",
        "cuset less profit",
    ]
    assert float(table[8 + int(np.argmin(p_values))][5]) == pytest.approx(4 * min(p_values), rel=6e-3)
