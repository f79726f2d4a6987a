"""The attacks of attacks.json under both kinds of isolation.

Each must get an expected verdict, learn no secret and leave nothing behind. One attack of each group runs in every
test run, all of them in slow runs.
"""

import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import attack_table
import pytest

from cuset_stage.sandbox import Isolation


ROOT = Path(__file__).parents[2]

ATTACKS = attack_table.load_attacks()
SOURCE = ROOT / "src"
READERS = [attack for attack in ATTACKS if attack.group == "reading by the compiler"]
# Attacks by which this compiler reads no content, or tells at most whether the file exists.
NOT_READ = {"include_by_trigraph", "embed", "has_include", "line_directive", "pragma_dependency", "pragma_operator"}


@pytest.fixture(scope="module")
def place():
    with attack_table.attack_range() as place:
        yield place


@pytest.mark.parametrize(
    "attack", [pytest.param(attack, id=attack.name, marks=[pytest.mark.slow] * attack.slow) for attack in ATTACKS]
)
def test_contained(place, attack, isolation):
    if not attack_table.is_safe_here(attack, isolation):
        pytest.skip("nothing but our watcher would hold this here")
    outcome = place.run(attack, isolation)
    assert outcome.contained, outcome.problems


@pytest.mark.slow
def test_contained_for_an_ordinary_user(open_folder):
    """The sandbox also holds for a judge without root rights.

    Such a judge cannot give programs a user of their own, cannot make control groups, and sees less of /proc. If the
    tests run as root, the attacks are run as another user.
    """
    if os.geteuid() != 0:
        pytest.skip("the tests above run as one")
    packages = sysconfig.get_path("purelib")
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "-i", f"PATH={os.environ['PATH']}"]
    cache = open_folder()
    os.chown(cache, 65534, 65534)
    become += ["HOME=/nonexistent", f"CUSET_CACHE={cache}", "PYTHONDONTWRITEBYTECODE=1"]
    become += [f"PYTHONPATH={SOURCE}:{packages}"]
    pythons = [sys.executable, "/usr/bin/python3"]
    works = [python for python in pythons if subprocess.run([*become, python, "-c", "import psutil"]).returncode == 0]
    if not works:
        pytest.skip("no Python that another user may run has psutil")
    groups = ("processes", "memory", "disk", "blaming the judge", "reading", "reaching out", "outputs")
    names = [attack.name for attack in ATTACKS if attack.group in groups]
    script = [str(Path(attack_table.__file__)), "--no-gpu", "--only", *names]
    done = subprocess.run([*become, works[0], *script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("attack", READERS, ids=lambda attack: attack.name)
def test_the_spellings_would_read_without_a_sandbox(place, attack):
    """Without a sandbox these attacks do read the secret. Otherwise the tests above would prove nothing."""
    problems = place.run(replace(attack, verdicts=("ok", "compile_error")), Isolation.NONE).problems
    assert problems == (() if attack.name in NOT_READ else ("a secret came out",))


def test_table_is_whole():
    source = (attack_table.ATTACKS / "attacks.cu").read_text()
    named = {attack.program or attack.name for attack in ATTACKS if attack.source is None} | {"good"}
    assert named == set(re.findall(r'^    \{"(\w+)",', source, re.MULTILINE))
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert {attack.group for attack in ATTACKS if not attack.slow} == {attack.group for attack in ATTACKS}


def test_a_right_program_passes_and_an_attack_that_is_not_held_is_noticed(place, isolation):
    """The attack range reports a verdict that was not expected, and a file that was left behind."""
    outcome = place.run(attack_table.GOOD, isolation)
    assert outcome.contained, outcome.problems
    outcome = place.run(attack_table.Attack("exit_3", "", "", ("ok",)), isolation)
    assert not outcome.contained and "verdict runtime_error" in outcome.problems[0]
    (place.scratch / "left").touch()
    outcome = place.run(attack_table.GOOD, isolation)
    (place.scratch / "left").unlink()
    assert any("files left" in problem for problem in outcome.problems)
