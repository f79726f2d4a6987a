"""Answers to PyTorch modules, imported as ConCuR has them and judged by the real judge on the CPU: what passes and teaches nothing goes."""

import json
from dataclasses import replace

import pytest
from curation_tree import MODULE

from cuset_stage.curate import verify
from cuset_stage.curate.adapt import run_adapt
from cuset_stage.curate.cases import run_cases
from cuset_stage.curate.importing import Source, run_import
from cuset_stage.curate.parallel import Executor
from cuset_stage.curate.stage import stage_files
from cuset_stage.curate.verify import Verification, run_verify
from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.sandbox import SandboxError, find_toolkit


pytest.importorskip("torch")
try:
    find_toolkit()
except SandboxError:
    pytest.skip("nvcc is needed", allow_module_level=True)

# A kernel cannot run here. The judge knows one by its words.
KERNEL = '\nSOURCE = "__global__ void k(float* x) { x[threadIdx.x] *= 2; }"\n'


def answer(expression: str, kernel: str = KERNEL) -> str:
    return MODULE.replace("class Model(", "class ModelNew(") % expression + kernel


def test_modules_that_pass_without_a_kernel_or_whatever_they_compute_are_dropped(tmp_path, monkeypatch):
    answers = {
        "right": answer("2 * x"),
        "wrong": answer("3 * x"),
        "torch alone": answer("x + x", kernel=""),
        "constant": answer("2 * x"),
    }
    path = tmp_path / "answers.jsonl"
    rows = [
        {"uuid": name, "problem_name": name, "pytorch_code": MODULE % "2 * x", "generated_code": f"```python\n{code}```\n"}
        for name, code in answers.items()
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    work = tmp_path / "work"
    run_import(work, Source(path, preset="concur", allow_unknown=True))
    run_adapt(work, stage_files(work, "import"))
    assert run_cases(work, stage_files(work, "adapt"), executor=Executor.INLINE).kept == 4

    # `cases` finds constants itself, unless a module is too slow for the CPU.
    cased = [json.loads(line) for line in (work / "cases" / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    (constant,) = (row for row in cased if row["name"] == "constant")
    assert "return 2 * x" in constant["task"]["reference"]
    constant["task"]["reference"] = constant["task"]["reference"].replace("return 2 * x", "return 0 * x")
    constant["answer_code"] = answer("0 * x")
    files = [tmp_path / "cased.jsonl"]
    files[0].write_text("".join(json.dumps(row) + "\n" for row in cased), encoding="utf-8")

    bench = verify._bench
    judge = ModuleJudge(device="cpu", seeds=2)
    monkeypatch.setattr(verify, "_bench", lambda verification: replace(bench(verification), modules=judge))
    summary = run_verify(work, files, Verification(use_gpu=False, times=1), executor=Executor.INLINE)
    assert summary.kept == 1 and not summary.unsettled
    assert summary.reasons == {"mismatch": 1, "no_kernel": 1, "weak_cases": 1}
    (kept,) = (json.loads(line) for line in (work / "verify" / "rows.jsonl").read_text(encoding="utf-8").splitlines())
    assert kept["name"] == "right"
    assert kept["verified"]["verdict"] == "passed" and kept["verified"]["module_flags"] == []
