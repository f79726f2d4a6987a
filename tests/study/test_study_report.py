"""Every number of the report's tables is computed again from results.jsonl by a script that has nothing of this package."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest
import recompute
from results_factory import write_results

from cuset_stage.files import write_atomically
from cuset_stage.study.plan import StudyError, jobs_of
from cuset_stage.study.report import sweep_lines, write_report
from cuset_stage.study.run import records_of
from cuset_stage.study.settings import StudySettings
from cuset_stage.study.tables import collect, score_table


DIFFERENCE = ["difference", "difference (low)", "difference (high)", "p", "p, Holm", "p, beyond ±5, Holm"]
DIFFERENCE += ["seen with power 0.8"]
METHODS = {"vanilla": None, "sft": {}, "dft": {}, "cuset": {"tau": 0.1}}


def rows_of(study):
    return collect(study, records_of(study, jobs_of(study)))


def report(study):
    return write_report(study, records_of(study, jobs_of(study)))


@pytest.fixture
def study(tmp_path):
    """A study whose answers are judged: 3 seeds, 14 tasks, 3 samples, some of which the judge failed at; vanilla has one seed."""
    (tmp_path / "r.yaml").touch()
    models = {"m": {"model": "m", "recipe": str(tmp_path / "r.yaml")}}
    given = {"models": models, "methods": METHODS, "seeds": [4, 5, 6], "tasks": "t", "generate": {"samples": 3}}
    varied = {"ablations": {"runs": {"no_mask": {"mask": False}}}, "sweeps": {"runs": {"tau": [0.5, 0.9]}}}
    settings = StudySettings.checked({"output": tmp_path, **given, **varied})
    random = np.random.default_rng(7)
    of_task = random.normal(0, 1, 14)
    for place, method in enumerate([*METHODS, "no_mask", "cuset_tau=0.5", "cuset_tau=0.9"]):
        for seed in settings.seeds[: 1 if method == "vanilla" else 3]:
            ends = {f"t{task}": [] for task in range(14)}
            for task, _ in np.ndindex(14, 3):
                right = bool(of_task[task] + 0.3 * place + random.normal(0, 1) > 0.7)
                wrong = "compile_error" if random.random() < 0.3 else "mismatch"
                ends[f"t{task}"].append("infra_error" if random.random() < 0.03 else "passed" if right else wrong)

            def of_line(line):
                family = ("even", "odd")[int(line["task"][1:]) % 2]
                return {**line, "tokens": int(random.integers(50, 99)), "family": family, "prompt_sha256": "1"}

            file = tmp_path / "runs/m" / method / f"seed{seed}" / "results.jsonl"
            write_results(file, method, ends, tasks={"sha256": "1"}, change=of_line)
            write_atomically(file.with_name("answers.jsonl"), '{"weights": "1"}')
            for kind in ("train", "generate", "evaluate"):
                record = tmp_path / "done" / kind / "m" / method / f"seed{seed}.json"
                write_atomically(record, '{"seconds": 36, "gpus": 0.5}')
    return settings


def test_the_summary_says_what_is_not_there(study):
    (study.output / "done" / "evaluate" / "m" / "sft" / "seed5.json").unlink()  # judged in part
    (study.output / "done" / "train" / "m" / "dft" / "seed6.json").unlink()  # to be trained and judged again
    report(study.model_copy(update={"k": (1, 5), "sweeps": None, "ablations": None}))
    text = (study.output / "report" / "report.md").read_text()
    assert re.search(r"The judge itself failed at \d+ samples \(infra_error, [1-9]\.\d%\)", text)
    assert "14 tasks, 336 samples" in text and "No Pass@5: a task has 3 samples." in text
    left = "m/vanilla/seed5, m/vanilla/seed6, m/sft/seed5, m/dft/seed6"
    assert f"Not finished: 4 of 12 runs ({left}); the tables leave" in text
    rates = read(study.output / "report" / "rates.csv")
    assert [rates[method]["seeds"] for method in METHODS] == ["1.0", "2.0", "2.0", "3.0"]
    assert read(study.output / "report" / "cost_m.csv")["sft"]["GPU hours: judging"] == "0.005"


@pytest.mark.parametrize(("kept", "found"), [(12, "11 lines with 11"), (44, "43 lines with 42")])
def test_results_that_were_cut_off_or_joined_are_refused(study, kept, found):
    file = study.output / "runs/m/sft/seed4/results.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    lines.append(re.sub('"code_sha256": "..', '"code_sha256": "zz', lines[1]))
    file.write_text("".join(lines[:kept]))
    with pytest.raises(StudyError, match=rf"sft/seed4/results.jsonl: {found} of 42 .*/done/generate/m/sft/seed4.json"):
        rows_of(study)
    file.write_text(re.sub('"count": [0-9]+', '"count": null', "".join(lines)))
    with pytest.raises(StudyError, match=r"sft/seed4/results.jsonl: 43 lines with 42 of 0 samples"):
        rows_of(study)


RECORD = "done/evaluate/m/sft/seed4.json"
DAMAGED = [("runs/m/sft/seed4/pairs.json", '{"'), *((RECORD, text) for text in ("", "{}", "1", '{"seconds": "1"}'))]


@pytest.mark.parametrize(("name", "text"), DAMAGED)
def test_a_file_that_is_cut_off_is_named(study, name, text):
    (study.output / name).write_text(text)
    with pytest.raises(StudyError, match=f"{name} is cut off or damaged .*Remove it, and run the study"):
        report(study)


def test_pairs_and_samples_may_be_missing(study):
    record = {"models": {"sft": {"accuracy": {"from_change": {"value": 0.75}}}}}
    (study.output / "runs/m/sft/seed4/pairs.json").write_text(json.dumps(record))
    record["models"]["sft"]["accuracy"]["from_change"] = None  # all pairs are of two right programs
    (study.output / "runs/m/cuset/seed4/pairs.json").write_text(json.dumps(record))
    report(study.model_copy(update={"pairs": {}}))
    costs = read(study.output / "report" / "cost_m.csv")
    assert [costs[method]["pairs right, %"] for method in ("sft", "cuset", "dft")] == ["75.0", "", ""]
    for file in study.output.glob("runs/**/results.jsonl"):
        write_results(file, "none", {})
    with pytest.raises(StudyError, match="no sample is judged"):
        report(study)


def test_values_of_a_key_have_a_table_and_those_that_are_numbers_a_picture(study):
    lines = sweep_lines(study, rows_of(study), "tau")
    assert list(lines["m"]) == [0.1, 0.5, 0.9]  # the first is the method's own
    listed = study.ablations.model_copy(update={"runs": {"tau": [0.5, 0.9]}})
    named = study.sweeps.model_copy(update={"runs": {"tau": ["a", None]}})
    (study.output / "report").mkdir()
    (study.output / "report" / "mine.csv").touch()
    report(study)  # leaves nothing of its own to the reports that follow
    for varied in ({"ablations": listed, "sweeps": None}, {"sweeps": named}):
        written = report(study.model_copy(update=varied))
        assert [path.name for path in written if path.suffix == ".png"] == []
        assert (study.output / "report" / "sweeps_m.csv") not in written
        assert study.output / "report" / "mine.csv" in written
        if varied["sweeps"] is None:
            assert list(read(study.output / "report/ablations_m.csv")) == ["cuset", "cuset_tau=0.5", "cuset_tau=0.9"]


def test_methods_of_a_sweep_that_have_names_are_in_its_table(study):
    named = study.sweeps.model_copy(update={"runs": {"no_mask": {"mask": False}, "tau": [0.5]}})
    report(study.model_copy(update={"ablations": None, "sweeps": named}))
    assert list(read(study.output / "report/sweeps_m.csv")) == ["cuset", "no_mask", "cuset_tau=0.5"]


def test_each_list_of_values_has_its_own_seeds(study):
    listed = study.ablations.model_copy(update={"runs": {"tau": [0.5]}})
    of_one_seed = study.sweeps.model_copy(update={"runs": {"tau": [0.9]}, "seeds": (4,)})
    report(study.model_copy(update={"ablations": listed, "sweeps": of_one_seed}))
    for part, value, seeds in (("ablations", 0.5, "3.0"), ("sweeps", 0.9, "1.0")):
        found = {method: row["seeds"] for method, row in read(study.output / f"report/{part}_m.csv").items()}
        assert found == {"cuset": seeds, f"cuset_tau={value}": seeds}


def test_the_unit_is_cudabenchs_operation():
    """Answers at several sizes that are right or wrong together are one observation, and not several."""
    rows = pd.DataFrame(
        {"model": "m", "method": "sft", "seed": seed, "task": f"t{task}", "family": "ab"[task > 3], "sample": sample,
         "verdict": "mismatch", "passed": seed == 1 or (task < 4 and sample == 0)}
        for seed in range(3) for task in range(9) for sample in range(3)
    )  # fmt: skip
    by_task = score_table(rows, "passed", 1)["m", "sft"]
    by_operation = score_table(rows.assign(prompts="prompt.py"), "passed", 1)["m", "sft"]
    assert by_task.shape == (3, 9) and by_operation.shape == (3, 2)
    assert by_operation.loc[0].to_dict() == pytest.approx({"a": 1 / 3, "b": 0})
    assert by_operation.loc[1].to_dict() == {"a": 1, "b": 1}
    only_compiled = rows.assign(verdict="compiled", compiled=True)
    one_fails = only_compiled.assign(verdict=["compile_error", *only_compiled["verdict"][1:]])
    nothing_compiles = pd.concat([only_compiled, rows.assign(method="dft", verdict="compile_error")])
    for none_ran in (only_compiled, one_fails, nothing_compiles):
        assert all(scores.isna().all(None) for scores in score_table(none_ran, "passed", 1).values())
    assert (score_table(only_compiled, "compiled", 1)["m", "sft"] == 1).all(None)


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ('"sha256": "1"', r"^tasks=t: has changed since m/vanilla/seed4 began, .* remove \S+/seed4/results"),
        ('"prompt_sha256": "1"', r"cuset/seed5: another prompt of task t0.* than in \S+/vanilla/seed4: .* remove results"),
    ],
)  # fmt: skip
def test_runs_on_other_tasks_are_not_mixed(study, old, message):
    changed = study.output / "runs" / "m" / "cuset" / "seed5" / "results.jsonl"
    changed.write_text(changed.read_text().replace(old, old.replace("1", "2")))
    with pytest.raises(StudyError, match=message):
        rows_of(study)


def test_samples_of_other_weights_are_not_mixed(study):
    untrained = study.model_copy(update={"methods": {"vanilla": None, "sft": None}})
    (study.output / "runs/m/sft/seed5/answers.jsonl").write_text('{"weights": "2"}')
    rows_of(study)  # each training has its own
    with pytest.raises(StudyError, match="model_name_or_path=m: has changed since m/vanilla/seed4 began"):
        rows_of(untrained.model_copy(update={"ablations": None, "sweeps": None}))


def read(path):
    """Each method's row."""
    with path.open(encoding="utf-8") as file:
        return {row.pop("method"): row for row in csv.DictReader(file)}


def number(text):
    return float(text) if text else None


def test_the_report_says_what_the_rows_say(study):
    written = report(study)
    assert study.output / "report" / "tau.png" in written
    # the tasks of Pass@3, less those of which the judge failed at a sample
    assert re.search(r"n = \d+\b", (study.output / "report" / "report.md").read_text())
    assert "Pass@1 over tau" in (study.output / "report" / "report.html").read_text()
    tables = {path.stem: read(path) for path in (study.output / "report").glob("*.csv")}
    assert set(tables) == {*("rates", "parts_m", "sweeps_m", "differences_m", "verdicts_m", "cost_m")}
    found = recompute.recompute(study.output / "results.jsonl")
    rates = {**tables["rates"], **tables["parts_m"], **tables["sweeps_m"]}
    assert set(rates) == set(found["rates"]) and "cuset_tau=0.9" in rates
    assert list(tables["parts_m"]) == ["sft", "no_mask", "cuset"]
    assert list(tables["sweeps_m"]) == ["cuset", "cuset_tau=0.5", "cuset_tau=0.9"]
    for method, row in rates.items():
        expected = found["rates"][method]
        assert len(row) == 3 + 4 * 3 and number(row["seeds"]) == expected["seeds"]
        assert number(row["tokens of an answer"]) == pytest.approx(expected["tokens"], abs=1e-4)
        for name in ("Pass@1: Compilation", "Pass@1: Function", "Pass@3: Compilation", "Pass@3: Function"):
            ours = [number(row[name + end]) for end in ("", " (low)", " (high)")]
            assert ours == pytest.approx(expected[name], abs=1e-4), (method, name)
    for method, row in tables["verdicts_m"].items():
        shown = {name.replace(" ", "_"): number(share) for name, share in row.items()}
        shares = {verdict: share for verdict, share in shown.items() if share}
        assert shares == pytest.approx(found["verdicts"][method], abs=1e-4), method
    assert set(tables["differences_m"]) == set(found["differences"]) == {"vanilla", "dft", "cuset", "no_mask"}
    for method, row in tables["differences_m"].items():
        values = [number(row[key]) for key in DIFFERENCE]
        assert values == pytest.approx(found["differences"][method], rel=1e-5, abs=1e-6), method
