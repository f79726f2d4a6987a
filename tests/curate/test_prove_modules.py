"""Answers to PyTorch modules, imported as ConCuR has them and judged by the real judge on the CPU: what passes and teaches nothing goes."""

import pytest
from curation_steps import adapt, lines, prove, put, take_in
from curation_tree import MODULE, require_nvcc

from cuset_stage.curate import prove as module
from cuset_stage.judge.modules import ModuleJudge


require_nvcc()


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
