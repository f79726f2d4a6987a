"""What `prove` keeps and drops, on a machine without a GPU: NVML lists two that are not there, everything else is real."""

import pytest
from curation_steps import adapt, lines, prove, put, take_in
from curation_tree import MODULE, write_program
from fake_nvml import fake_gpus, fake_nvml

from cuset_stage.curate import prove as module
from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.judge.programs import ProgramJudge
from cuset_stage.mutants import make_mutants


@pytest.fixture
def gpus(monkeypatch):
    fake_nvml(monkeypatch, fake_gpus(2))


@pytest.fixture(scope="module")
def row(tmp_path_factory):
    """As `adapt` leaves it. value() is the CPU's, too, so that of its mutants one changes what it computes there: `+` becomes `-`."""
    folder = tmp_path_factory.mktemp("row")
    write_program(folder / "tree", "program", "x * x + 1.0f", "x * x + 1.0")
    take_in(folder, folder / "tree")
    assert adapt(folder).kept == 1
    return lines(folder / "adapt" / "rows.jsonl")[0]


def test_a_row_is_kept_with_the_mutant_that_is_found_out_and_dropped_where_none_is(tmp_path, gpus, row, monkeypatch):
    mutants = make_mutants(row["program"], per_operator=1)
    chosen = [mutant for mutant in mutants if mutant.operator in ("wrong_index", "wrong_operator")]
    monkeypatch.setattr(module, "make_mutants", lambda code, per_operator: chosen)  # every one costs a compilation
    rows = put(tmp_path / "rows.jsonl", [row])
    # The first one is an error of the kernel, which changes nothing on the CPU.
    summary = prove(tmp_path, rows, times=1, mutants=1)
    assert (summary.kept, summary.unsettled, summary.reasons) == (0, 0, {"weak_cases": 1}), summary.unsettled_rows
    detail = lines(tmp_path / "prove" / "dropped.jsonl")[0]["detail"]
    assert detail.startswith("every mutant that compiled passes all cases: ") and detail.count(" in line ") == 1
    assert prove(tmp_path, rows, times=1, mutants=0).kept == 1
    summary = prove(tmp_path, rows, times=1)
    assert (summary.kept, summary.unsettled) == (1, 0), (summary.reasons, summary.unsettled_rows)
    tested = lines(tmp_path / "prove" / "rows.jsonl")[0]["verified"]["mutants"]
    assert (tested["found"], tested["as"]) == ("wrong_operator", "mismatch")
    assert len(tested["passed"]) == tested["compiled"] - 1 > 0  # it went on after those that pass


def test_what_was_found_of_the_same_program_in_the_same_way_is_not_run_again(tmp_path, gpus, row):
    given = put(tmp_path / "rows.jsonl", [row])
    asked = {"times": 1, "mutants": 0}
    assert prove(tmp_path, given, **asked).kept == 1
    (proved,) = lines(tmp_path / "prove" / "rows.jsonl")
    proved["verified"]["compile_s"] = "as it was"
    again = put(tmp_path / "again.jsonl", [proved])
    assert prove(tmp_path, again, **asked).kept == 1
    assert lines(tmp_path / "prove" / "rows.jsonl")[0]["verified"]["compile_s"] == "as it was"
    for changed in ({"code_sha256": "0"}, {"driver": "0"}, {"times": 2}, {"verdict": "compiled"}, {"thorough": True}):
        put(again, [{**proved, "verified": {**proved["verified"], **changed}}])
        assert prove(tmp_path, again, **asked).kept == 1
        assert lines(tmp_path / "prove" / "rows.jsonl")[0]["verified"]["compile_s"] != "as it was", changed


def test_a_program_whose_later_run_differs_is_dropped_as_not_repeatable(tmp_path, row, monkeypatch):
    """The judge's real verdicts, of a wrong program from the second run on."""
    wrong = row["program"].replace("x * x + 1.0f", "x * x + 1.5f")
    runs = []
    execute = ProgramJudge.execute

    def changed(judge, task, built, prepared):
        runs.append(built)
        return execute(judge, task, built if len(runs) == 1 else judge.build(task, wrong), prepared)

    monkeypatch.setattr(ProgramJudge, "execute", changed)
    summary = prove(tmp_path, put(tmp_path / "rows.jsonl", [row]), no_gpu=True, workers=1)
    assert (summary.kept, summary.unsettled, summary.reasons) == (0, 0, {"not_repeatable": 1})
    assert lines(tmp_path / "prove" / "dropped.jsonl")[0]["detail"].startswith("run 2: case n1: mismatch: ")


def test_cases_that_an_output_passes_which_nobody_computed_are_dropped(tmp_path, row):
    reference = row["task"]["reference"]
    rows = []
    for name, computed in (("zeros", "0 * x"), ("copy", "x"), ("fails", "missing")):
        task = {**row["task"], "id": name, "reference": reference.replace("x * x + 1.0", computed)}
        program = row["program"].replace("x * x + 1.0f", {"zeros": "0.0f"}.get(name, "x"))
        rows.append({**row, "id": f"t:{name}", "task": task, "program": program})
    summary = prove(tmp_path, put(tmp_path / "rows.jsonl", rows), no_gpu=True, workers=1)
    dropped = {each["id"]: each for each in lines(tmp_path / "prove" / "dropped.jsonl")}
    assert summary.unsettled == 0 and summary.reasons == {"weak_cases": 2, "reference_fails": 1}
    assert "zeros pass as y in every case" in dropped["t:zeros"]["detail"]
    assert " x " in dropped["t:copy"]["detail"] and dropped["t:fails"]["reason"] == "reference_fails"


def answer(expression: str) -> str:
    return MODULE.replace("class Model(", "class ModelNew(") % expression


@pytest.mark.slow
def test_modules_that_pass_whatever_they_compute_are_dropped(tmp_path, monkeypatch):
    answers = {"right": answer("2 * x"), "wrong": answer("3 * x"), "constant": answer("x + x")}
    rows = [
        {"uuid": name, "problem_name": name, "pytorch_code": MODULE % "2 * x", "generated_code": f"```python\n{code}```\n"}
        for name, code in answers.items()
    ]  # fmt: skip
    work = tmp_path / "work"
    take_in(work, put(tmp_path / "answers.jsonl", rows), preset="concur", allow_unknown=True)
    assert adapt(work).kept == 3
    cased = lines(work / "adapt" / "rows.jsonl")
    (constant,) = (row for row in cased if row["name"] == "constant")
    assert "return 2 * x" in constant["task"]["reference"]
    constant["task"]["reference"] = constant["task"]["reference"].replace("return 2 * x", "return 0 * x")
    constant["answer_code"] = answer("0 * x")
    judge = ModuleJudge(device="cpu", seeds=2)
    monkeypatch.setattr(module, "_module_judge", lambda settings: judge)
    cased.append({**constant, "id": "unanswered", "answer_code": None})
    summary = prove(work, put(tmp_path / "cased.jsonl", cased), no_gpu=True, times=1, workers=1)
    assert summary.kept == 1 and not summary.unsettled
    assert summary.reasons == {"mismatch": 1, "weak_cases": 1, "no_answer": 1}
    (kept,) = lines(work / "prove" / "rows.jsonl")
    assert kept["name"] == "right"
    assert kept["verified"]["verdict"] == "passed" and kept["verified"]["module_flags"] == []
