"""`python -m cuset_stage`: the way in where start-up files are not read."""

import os

import pytest

from .conftest import STARTUP_FILES, write


# Two ranks, one after the other, started as torchrun starts them: by path.
TORCHRUN = """#!{python}
import subprocess, sys
sys.exit(max(subprocess.run([sys.executable, "-u", *sys.argv[1:]]).returncode for _ in range(2)))
"""


@pytest.fixture(scope="module")
def without_startup_files(built, new_environment):
    environment = new_environment()
    environment.install(built.wheel)
    for name in STARTUP_FILES:
        (environment.site / name).unlink()
    write(environment.python.parent, {"torchrun": TORCHRUN.format(python=environment.python)}, mode=0o755)
    return environment


@pytest.mark.parametrize("path_variable", ["", "elsewhere"])
def test_every_rank_is_patched_by_this_python(path_variable, without_startup_files, pretend, recipe, tmp_path):
    """torchrun lies beside this interpreter; PATH does not lead there, or leads to another environment's first."""
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere, {"torchrun": "#!/bin/sh\necho wrong torchrun\n"}, mode=0o755)
    variables = {"PATH": str(elsewhere) if path_variable else os.defpath, "FORCE_TORCHRUN": "1"}
    done = without_startup_files.run("-m", "cuset_stage", "train", str(recipe), path=pretend, **variables)
    ranks = [line for line in done.stdout.splitlines() if line.startswith("run_exp")]
    assert len(ranks) == 2, done
    for rank in ranks:
        assert rank.startswith("run_exp [1, 1, 1, 1, 1] " + str(without_startup_files.python.parent))
        assert rank.endswith(str(recipe))


def test_worker_keeps_the_package_folder_off_the_path(without_startup_files, pretend, tmp_path):
    """By path, Python would put cuset_stage/ first: `import factory` would find ours instead of anybody's own."""
    probe = "import sys\ndef run_exp(): print(any(p.endswith('cuset_stage') for p in sys.path), 'end')\n"
    worker = without_startup_files.site / "cuset_stage" / "_worker.py"
    write(tmp_path, {"llamafactory/train/tuner.py": probe})  # without __init__.py: a package all the same
    assert without_startup_files.run(str(worker), path=tmp_path).stdout == "False end\n"


def test_target_folder(built, new_environment, pretend, tmp_path):
    """pip install --target: start-up files lie there, and no Python reads them."""
    environment = new_environment()
    target = tmp_path / "target"
    environment.pip("install", "--no-deps", "--no-index", "--target", str(target), str(built.wheel))
    both = f"{target}{os.pathsep}{pretend}"
    plain = environment.run("-c", "from llamafactory.cli import main; main()", "train", path=both)
    assert plain.stdout.startswith("run_exp [0, 0, 0, 0, 0]"), plain.stderr
    for flags in ((), ("-S",)):
        done = environment.run(*flags, "-m", "cuset_stage", "train", path=both)
        assert done.stdout.startswith("run_exp [1, 1, 1, 1, 1]"), done.stderr


def test_disabled_and_asked_for(without_startup_files, pretend, recipe):
    done = without_startup_files.run("-m", "cuset_stage", "train", str(recipe), path=pretend, CUSET_STAGE_DISABLE="1")
    assert done.returncode == 1 and "CUSET_STAGE_DISABLE" in done.stderr
    done = without_startup_files.run("-m", "cuset_stage", "train", path=pretend, CUSET_STAGE_DISABLE="1")
    assert done.stdout.startswith("run_exp [0, 0, 0, 0, 0]")
