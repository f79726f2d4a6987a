"""Scripts of a task set run in forks of a process that has imported what they need: each alone, and ended with all that it started."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from cuset_stage.judge import oracle_scripts
from cuset_stage.judge.oracle_scripts import ORACLE_LIMITS, ScriptServer
from cuset_stage.sandbox import Isolation, resolve_isolation


pytestmark = pytest.mark.usefixtures("forked")


@pytest.fixture
def server(sandboxed):
    server = ScriptServer(ORACLE_LIMITS, resolve_isolation(Isolation.AUTO))
    yield server
    server.close()


def run(server: ScriptServer, folder: Path, source: str) -> tuple[int | None, str]:
    folder.mkdir()
    finished = server.run(["script", "gen.py"], {"gen.py": source}, folder)
    return finished.returncode, finished.stderr


def test_scripts_run_one_after_the_other_and_share_nothing(server, tmp_path):
    spoil = "import numpy, os, sys\nnumpy.zeros = None\nos.environ['LEFT'] = '1'\nopen('data/x', 'w').write('one')"
    assert run(server, tmp_path / "one", spoil) == (0, "")
    look = "import numpy, os\nnumpy.zeros(1)\nassert 'LEFT' not in os.environ\nassert not os.listdir('data'), os.listdir('..')"
    assert run(server, tmp_path / "two", look) == (0, "")
    assert (tmp_path / "one" / "data" / "x").read_text() == "one"
    code, said = run(server, tmp_path / "three", "print('to people'); raise ValueError('bad luck')")
    assert code == 1 and said.endswith("ValueError: bad luck\n")
    code, said = run(server, tmp_path / "four", "import os; os.kill(os.getpid(), 11)")
    assert code == -11


def test_what_a_script_started_ends_with_it(server, tmp_path):
    leaves = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        for _ in range(600):\n"
        "            open('data/alive', 'a').write('.')\n"
        "            time.sleep(0.02)\n"
        "    os._exit(0)\n"
        "while not os.path.exists('data/alive') or not os.path.getsize('data/alive'):\n"
        "    time.sleep(0.02)\n"
    )
    assert run(server, tmp_path / "one", leaves) == (0, "")
    size = (tmp_path / "one" / "data" / "alive").stat().st_size
    time.sleep(0.2)
    assert size and (tmp_path / "one" / "data" / "alive").stat().st_size == size


def test_a_server_that_is_killed_is_replaced(tmp_path, sandboxed):
    codes = []
    for name, source in (("one", "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"), ("two", "pass")):
        (tmp_path / name).mkdir()
        given = ["script", "gen.py"], {"gen.py": source}, tmp_path / name, ORACLE_LIMITS, resolve_isolation()
        codes.append(oracle_scripts.run_script(*given).returncode)
    assert codes[0] != 0 and codes[1] == 0


def test_a_script_that_takes_too_long(tmp_path, sandboxed):
    server = ScriptServer(replace(ORACLE_LIMITS, wall_s=1.0), resolve_isolation())
    (tmp_path / "one").mkdir()
    assert server.run(["script", "gen.py"], {"gen.py": "while True: pass"}, tmp_path / "one").stopped == "wall"
    assert not server.alive
