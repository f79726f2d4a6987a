"""Answers that cheat (helpers/cheats.py), on the CPU: one of each kind, and when slow all of them, in the sandbox."""

import importlib.util
import sys
from pathlib import Path

import pytest
from cheats import MODULES, REFERENCE, SEED, Cheat

from cuset_stage.judge.modules import ModuleJudge
from cuset_stage.sandbox import Isolation, Limits
from cuset_stage.tasks import ModuleTask


ON_THE_CPU = [cheat for cheat in MODULES if not cheat.gpu]
FIRST = {cheat.group: cheat for cheat in reversed(ON_THE_CPU) if not cheat.escapes}.values()


def named(cheat: Cheat) -> str:
    return cheat.name


@pytest.mark.parametrize("cheat", FIRST, ids=named)
def test_a_cheat_is_not_paid(forked: None, cheat: Cheat) -> None:
    judge = ModuleJudge(device="cpu", seeds=3, seed=SEED, limits=Limits(wall_s=600.0, processes=256))
    judged = judge.judge(ModuleTask("cheated", "c", "level1", {1: "p"}, None, REFERENCE, "c:1"), cheat.code)
    assert judged.verdict in cheat.verdicts, judged.message


@pytest.mark.slow
def test_none_is_paid_in_the_sandbox(sandboxed: None, isolation: Isolation) -> None:
    outcomes = list(_attack_table().try_cheats([], isolation, []))
    assert len(outcomes) == len(ON_THE_CPU) + 1
    assert {one.name: one.problems for one in outcomes if not one.contained} == {}


def _attack_table():
    file = Path(__file__).parents[2] / "scripts" / "attack_table.py"
    spec = importlib.util.spec_from_file_location("attack_table", file)
    sys.modules["attack_table"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
