"""Errors that cross tasks and seeds, held to simulation and to what is known exactly."""

import json

import numpy as np
import pandas as pd
import pytest
from results_factory import write_results
from scipy import stats

from cuset_stage.files import write_atomically
from cuset_stage.report.statistics import crossed
from cuset_stage.study.plan import StudyError
from cuset_stage.study.report import draw, sweep_lines
from cuset_stage.study.settings import StudySettings
from cuset_stage.study.tables import collect, comparison_table, rate_table, read_results, score_table


def test_where_seeds_agree_it_is_the_error_over_tasks():
    tasks = np.random.default_rng(0).random(40)
    found = crossed(np.tile(tasks, (5, 1)))
    assert found.by_seed == pytest.approx([tasks.mean()] * 5) and found.seeds == 5
    assert found.se == pytest.approx(stats.sem(tasks)) and found.value == pytest.approx(tasks.mean())
    alone = crossed(tasks[None])
    test = stats.ttest_1samp(tasks, 0)
    assert alone.p_value == pytest.approx(test.pvalue) and alone.interval() == pytest.approx(
        tuple(test.confidence_interval())
    )


def test_the_interval_holds_the_true_difference_where_one_over_tasks_does_not():
    random, held, over_tasks = np.random.default_rng(1), 0, 0
    for _ in range(400):
        scores = random.normal(0, 0.3, (1, 100)) + random.normal(0, 0.1, (6, 1)) + random.normal(0, 0.3, (6, 100))
        low, high = crossed(scores).interval()
        held += low <= 0 <= high
        over_tasks += abs(stats.ttest_1samp(scores.mean(axis=0), 0).statistic) < 1.98
    assert 0.93 <= held / 400 <= 0.99 and over_tasks / 400 < 0.75


def test_equivalence_and_what_could_have_been_seen():
    found = crossed(np.random.default_rng(2).normal(0.01, 0.1, (8, 300)))
    low, high = found.interval(0.9)  # two one-sided tests at 5 % are the 90 % interval
    for bound in (max(-low, high) * 0.99, max(-low, high) * 1.01):
        assert (found.equivalence_p(bound) < 0.05) == (-bound < low and high < bound)
    shifted = stats.nct.sf(stats.t.ppf(0.975, found.df), found.df, found.detectable() / found.se)
    assert shifted == pytest.approx(0.8, abs=0.06)


def test_scores_without_spread_prove_nothing():
    for seeds, tasks, equal in ((2, 4, 2), (1, 4, 4)):
        found = crossed(np.ones((seeds, tasks)))
        assert found.p_value == 1 and found.equivalence_p(0.05) == 1
        exact = stats.binomtest(equal, equal).proportion_ci(0.95, method="exact")
        assert found.rate_interval() == pytest.approx((exact.low, exact.high))
    assert crossed(np.full((2, 3), np.nan)) is None


@pytest.fixture
def study(tmp_path):
    """Two methods, three seeds, ten tasks, three samples: what `cuset evaluate` writes; and its settings with others."""
    random = np.random.default_rng(3)
    for method, rate in (("sft", 0.4), ("cuset", 0.7)):
        for seed in range(3):
            record = tmp_path / "done" / "evaluate" / "m" / method / f"seed{seed}.json"
            passed = {
                f"t{task}": ["passed" if random.random() < rate else "mismatch" for _ in range(3)]
                for task in range(10)
            }
            if seed == 0:
                passed["t0"][0] = "infra_error"
            file = tmp_path / "runs" / "m" / method / f"seed{seed}" / "results.jsonl"
            write_results(file, method, passed, tasks={"sha256": "old"}, change=lambda line: {**line, "family": "f"})
            write_atomically(record, '{"seconds": 1, "gpus": 1}')

    def settings(methods=("sft", "cuset"), **more):
        given = {
            "models": {"m": {"model": "m", "recipe": "r.yaml"}},
            "methods": {method: {"tau": 0.1} for method in methods},
            "tasks": "t",
        }
        return StudySettings.checked({"output": tmp_path, "seeds": [0, 1, 2], **given, **more})

    return settings


def test_the_tables_come_from_the_rows_alone(study):
    settings = study()
    path = collect(settings)
    rows = read_results(path)
    raw = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(raw) == 180
    for method in ("sft", "cuset"):
        known = [row for row in raw if row["method"] == method and row["verdict"] != "infra_error"]
        of = pd.DataFrame(known).groupby(["seed", "task"])["passed"].mean()
        assert score_table(rows, "passed", 1)["m", method].stack().sort_index().tolist() == pytest.approx(
            of.sort_index().tolist()
        )
    table = rate_table(settings.k, rows, [("m", "sft"), ("m", "cuset")], "rates", "rates")
    assert [cell.text for cell in table.rows[0]][:3] == ["m", "sft", "3"]
    function = next(column for column in table.columns if column.heading == "Pass@1: Function")
    expected = np.mean([row["passed"] for row in raw if row["method"] == "cuset" and row["task"] != "t0"])
    nine = score_table(rows[rows["task"] != "t0"], "passed", 1)["m", "cuset"].to_numpy().mean()
    assert nine == pytest.approx(expected) and function.cells[1].value is not None
    compared = comparison_table(rows, "m", ["sft", "cuset"], "sft")
    assert compared.rows[0][0].text == "cuset" and compared.rows[0][2].value > 0


def test_the_unit_is_cudabenchs_operation(study):
    """Answers at ten sizes that are right or wrong together are one observation, and not ten."""
    rows = read_results(collect(study()))
    rows = rows[rows["task"] != "t0"].assign(passed=rows["seed"] == 1)
    rows["family"] = rows["task"].map(lambda task: "a" if task < "t4" else "b")
    rows.loc[(rows["family"] == "a") & (rows["sample"] == 0), "passed"] = True
    by_task = score_table(rows, "passed", 1)["m", "sft"]
    by_operation = score_table(rows.assign(prompts="prompt.py"), "passed", 1)["m", "sft"]
    assert by_task.shape == (3, 9) and by_operation.shape == (3, 2)
    assert by_operation.loc[0].to_dict() == pytest.approx({"a": 1 / 3, "b": 0})
    assert by_operation.loc[1].to_dict() == {"a": 1, "b": 1}


def test_a_sweep_is_drawn_with_its_method_s_own_value(study):
    rows = read_results(collect(study()))
    rows.loc[rows["method"] == "sft", "method"] = "cuset_tau=0.5"
    settings = study(methods=["cuset"], sweeps={"runs": {"tau": [0.5]}})
    lines = sweep_lines(settings, rows, "tau")
    assert list(lines["m"]) == [0.1, 0.5]
    assert draw(lines, "tau").startswith(b"\x89PNG")
    assert sweep_lines(settings, rows[rows["method"] == "nothing"], "tau") == {}


def test_runs_on_other_tasks_are_not_mixed(study):
    settings = study()
    changed = settings.output / "runs" / "m" / "cuset" / "seed1" / "results.jsonl"
    changed.write_text(changed.read_text().replace('"sha256": "old"', '"sha256": "new"'))
    with pytest.raises(StudyError, match=r"cuset/seed1/results\.jsonl: judged on other tasks than the runs before it"):
        collect(settings)
