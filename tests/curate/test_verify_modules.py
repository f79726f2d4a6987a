"""Answers to PyTorch modules, imported as ConCuR has them and judged by the real judge on the CPU: what passes and teaches nothing goes."""

from dataclasses import dataclass, replace

import pytest
from curation_steps import adapt, lines, put, take_in, verify
from curation_tree import MODULE

from cuset_stage.curate import verify as module
from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.judge.modules.checks import NO_KERNEL
from cuset_stage.judge.modules.trial import CONSTANT
from cuset_stage.judge.programs import Judgement
from cuset_stage.sandbox import SandboxError, Verdict, find_toolkit


pytest.importorskip("torch")
try:
    find_toolkit()
except SandboxError:
    pytest.skip("nvcc is needed", allow_module_level=True)

# A kernel cannot run here. The judge knows one by its words.
KERNEL = '\nSOURCE = "__global__ void k(float* x) { x[threadIdx.x] *= 2; }"\n'


def answer(expression: str, kernel: str = KERNEL) -> str:
    return MODULE.replace("class Model(", "class ModelNew(") % expression + kernel


@pytest.mark.slow
def test_modules_that_pass_without_a_kernel_or_whatever_they_compute_are_dropped(tmp_path, monkeypatch):
    answers = {
        "right": answer("2 * x"),
        "wrong": answer("3 * x"),
        "torch alone": answer("x + x", kernel=""),
        "constant": answer("2 * x"),
    }
    rows = [
        {"uuid": name, "problem_name": name, "pytorch_code": MODULE % "2 * x", "generated_code": f"```python\n{code}```\n"}
        for name, code in answers.items()
    ]  # fmt: skip
    work = tmp_path / "work"
    take_in(work, put(tmp_path / "answers.jsonl", rows), preset="concur", allow_unknown=True)
    assert adapt(work).kept == 4
    cased = lines(work / "adapt" / "rows.jsonl")
    (constant,) = (row for row in cased if row["name"] == "constant")
    assert "return 2 * x" in constant["task"]["reference"]
    constant["task"]["reference"] = constant["task"]["reference"].replace("return 2 * x", "return 0 * x")
    constant["answer_code"] = answer("0 * x")
    bench = module._bench
    judge = ModuleJudge(device="cpu", seeds=2)
    monkeypatch.setattr(module, "_bench", lambda settings: replace(bench(settings), modules=judge))
    summary = verify(work, put(tmp_path / "cased.jsonl", cased), use_gpu=False, times=1, executor="inline")
    assert summary.kept == 1 and not summary.unsettled
    assert summary.reasons == {"mismatch": 1, "no_kernel": 1, "weak_cases": 1}
    (kept,) = lines(work / "verify" / "rows.jsonl")
    assert kept["name"] == "right"
    assert kept["verified"]["verdict"] == "passed" and kept["verified"]["module_flags"] == []


@dataclass
class Verdicts:
    """A judge that has judged before: verdicts by the answer's text."""

    known: dict[str, Judgement]

    def judge(self, _task, code: str) -> Judgement:
        return self.known[code]


def test_what_the_judge_says_of_a_module_decides(tmp_path, monkeypatch):
    def passed(*flags: str, speedup: float = 2.0) -> Judgement:
        return Judgement(Verdict.PASSED, compiled=True, speedup=speedup, kernel_s=0.1, reference_s=0.2, flags=flags)

    known = {
        "right": passed("speed-up over 10x"),
        "wrong": Judgement(Verdict.MISMATCH, message="values are wrong"),
        "torch alone": passed(NO_KERNEL),
        "constant": passed(CONSTANT),
        "lost": Judgement(Verdict.INFRA_ERROR, message="no GPU"),
    }
    record = {"kind": "module", "name": "n", "family": "f", "prompt": "p", "system": None, "reference": "r"}
    rows = [
        {"id": name, "kind": "module", "answer_code": name, "task": {**record, "id": name}, "source": {}}
        for name in known
    ]
    rows.append({**rows[0], "id": "unanswered", "answer_code": None})
    bench = module._Bench(
        None, None, Verdicts(known), (), {"gpu": "g", "driver": "d", "toolkit": "t", "arch": "a", "flags": []}
    )
    monkeypatch.setattr(module, "_bench", lambda _settings: bench)
    summary = verify(tmp_path, put(tmp_path / "rows.jsonl", rows), executor="inline")
    assert (summary.kept, summary.unsettled) == (1, 1)
    assert summary.reasons == {"mismatch": 1, "no_kernel": 1, "weak_cases": 1, "no_answer": 1}
    (kept,) = lines(tmp_path / "verify" / "rows.jsonl")
    assert kept["verified"]["speedup"] == 2.0 and kept["verified"]["module_flags"] == ["speed-up over 10x"]
