"""The cheats of helpers/cheats.py on the CPU: one of each group in every test run, all of them in the sandbox in slow
runs.
"""

import os
import subprocess
import sys

import attack_table
import pytest
from cheats import MODULES, REFERENCE, SEED

from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.sandbox import Limits
from cuset_stage.tasks import ModuleTask


ON_THE_CPU = [cheat for cheat in MODULES if not cheat.gpu]
FIRST = {cheat.group: cheat for cheat in reversed(ON_THE_CPU) if not cheat.escapes}.values()


@pytest.mark.parametrize("cheat", FIRST, ids=lambda cheat: cheat.name)
def test_a_cheat_is_not_paid(forked, cheat):
    judge = ModuleJudge(device="cpu", seeds=3, seed=SEED, limits=Limits(wall_s=600.0, processes=256))
    judged = judge.judge(ModuleTask("cheated", "c", "level1", {1: "p"}, None, REFERENCE, "c:1"), cheat.code)
    assert judged.verdict in cheat.verdicts, judged.message


# A naive judge that times an answer and compares its output in the answer's own process. The expected output lies in
# that process's memory, so the answer can find it.
NAIVE = """
import sys, time, torch
import answer
torch.manual_seed(0)
model = answer.Model(32, 2.0)
torch.manual_seed(0)
other, x = answer.ModelNew(32, 2.0), torch.randn(512, 32)
def timed(expected):
    begin = time.perf_counter()
    time.sleep(0.5)
    return other(x), time.perf_counter() - begin
with torch.no_grad():
    expected = model(x)
    (found, seconds), = map(timed, [expected])
    right = torch.allclose(found.cpu(), expected, atol=1e-4)
sys.exit(f"right {right}, slow {seconds > 0.4}")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("patched_got", "right True, slow False"),
        ("detoured_clock", "right True, slow False"),
        ("heap_scan", "right True, slow True"),
        ("stack_scan", "right True, slow True"),
        ("method_descriptors", "right True, slow True"),
    ],
)
def test_a_judge_in_the_answers_process_would_believe_it(tmp_path, name, said):
    (cheat,) = (cheat for cheat in MODULES if cheat.name == name)
    (tmp_path / "answer.py").write_text(f"{cheat.code}\n{cheat.reference}")
    (tmp_path / "naive.py").write_text(NAIVE)
    environment = {**os.environ, "TORCH_EXTENSIONS_DIR": str(tmp_path), "CUSET_STAGE_DISABLE": "1", "CUDA_HOME": ""}
    done = subprocess.run([sys.executable, "naive.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stderr.strip().splitlines()[-1] == said, done.stdout + done.stderr


@pytest.mark.slow
def test_none_is_paid_in_the_sandbox(sandboxed, isolation):
    outcomes = list(attack_table.try_cheats([], isolation, []))
    assert len(outcomes) == len(ON_THE_CPU) + 1
    assert {one.name: one.problems for one in outcomes if not one.contained} == {}
