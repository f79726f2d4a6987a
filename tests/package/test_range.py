"""Versions of transformers that LLaMA-Factory takes before 5.0, newer ones that docs/install.md says work, and of TRL: the same tests.

An environment lies over the suite's and has only what differs. 5.12 began to count a step's tokens otherwise.
"""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from .conftest import ROOT


HELD = ("tests/stage", "tests/invariant", "tests/generate")
TRL, V1 = "tests/test_other_trainers.py", "tests/test_llamafactory_v1.py"
SECONDS = 3 * 3600
CASES = [
    (("transformers==4.55.0", "trl==0.22.2"), (*HELD, TRL)),
    (("transformers==4.57.6",), HELD),
    (("transformers==5.8.1",), HELD),
    (("transformers==5.16.1",), HELD),
    (("trl==1.16.0",), (TRL,)),
]
if NEW := tuple(os.environ.get("CUSET_NEW", "").split()):  # by scripts/new_release.sh
    CASES = [(NEW, (TRL,) if NEW[0].startswith("trl") else (*HELD, TRL, V1))]


@pytest.fixture
def layered(new_environment, index):
    """An environment over the suite's with other versions of some packages, and the scripts that start a run."""

    def make(*pins: str):
        environment = new_environment()
        suite = sysconfig.get_path("purelib")
        (environment.site / "suite.pth").write_text(f"import site; site.addsitedir({suite!r})\n", encoding="utf-8")
        environment.pip("install", *pins)
        for name in ("cuset", "llamafactory-cli", "torchrun"):
            script = Path(sysconfig.get_path("scripts"), name).read_text(encoding="utf-8")
            copy = environment.python.parent / name
            copy.write_text(f"#!{environment.python}\n{script.partition(chr(10))[2]}", encoding="utf-8")
            copy.chmod(0o755)
        return environment

    return make


@pytest.mark.slow
@pytest.mark.parametrize(("pins", "held"), CASES, ids=lambda value: " ".join(value) if "==" in value[0] else "")
def test_other_versions(pins, held, layered):
    environment = layered(*pins)
    bin_dir = environment.python.parent
    name, _, wanted = pins[0].partition("==")
    shown = environment.run("-c", f"import {name}; print({name}.__version__)")
    assert shown.stdout.strip() == wanted, shown.stderr
    command = [environment.python, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow and not gpu", *held]
    # Without DISABLE_VERSION_CHECK, LLaMA-Factory refuses versions above 5.6.0.
    env = os.environ | {"PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}", "DISABLE_VERSION_CHECK": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
