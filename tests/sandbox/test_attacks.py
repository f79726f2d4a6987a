"""Every attack of attacks.json under both isolations: its verdict, its time, and nothing of it left behind."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest


def _load(name: str):
    file = Path(__file__).parents[2] / "scripts" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


attack_table = _load("attack_table")  # parametrisation needs it before any fixture is there
ATTACKS = attack_table.load_attacks()


@pytest.fixture(scope="module")
def place(open_folder):
    place = attack_table.Range(open_folder())
    yield place
    place.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_contained(place, attack, isolation):
    if not attack_table.is_safe_here(attack, isolation):
        pytest.skip("nothing but our watcher would hold this here")
    outcome = place.run(attack, isolation)
    if attack_table.is_contained_here(attack, isolation):
        assert outcome.contained, outcome.problems
    else:  # what it can read or reach is not promised; that nothing is left and nothing spoiled is
        assert not [problem for problem in outcome.problems if "left" in problem or "changed" in problem]


def test_table_is_whole():
    source = (attack_table.ATTACKS / "attacks.cu").read_text()
    named = {attack.program or attack.name for attack in ATTACKS if attack.source is None} | {"good"}
    assert named == set(re.findall(r'^    \{"(\w+)",', source, re.MULTILINE))
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


def test_a_right_program_passes(place, isolation):
    outcome = place.run(attack_table.Attack("good", "", "", ("ok",)), isolation)
    assert outcome.contained, outcome.problems


def test_an_attack_that_is_not_held_is_noticed(place, isolation):
    """The range itself can fail: a verdict other than expected, and a file that is left."""
    outcome = place.run(attack_table.Attack("exit_3", "", "", ("ok",)), isolation)
    assert not outcome.contained and "verdict runtime_error" in outcome.problems[0]
    (place.scratch / "left").touch()
    outcome = place.run(attack_table.Attack("good", "", "", ("ok",)), isolation)
    (place.scratch / "left").unlink()
    assert any("files left" in problem for problem in outcome.problems)


def test_overhead_is_small(place, isolation):
    """Measured 40 to 60 ms of wall time on a quiet machine; CPU time is nearly all of it, and holds on a busy one."""
    assert place.overhead(isolation, repeats=10)["cpu_mean_ms"] < 100
