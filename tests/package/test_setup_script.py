"""scripts/setup.sh, as far as it goes without a network: what it refuses, and that a second run does nothing."""

import os
import subprocess
from pathlib import Path

import pytest

from .conftest import ROOT, copy_checkout, write


# Stands in for an environment's Python: this Python, except that `-m pip` only says what it was asked for.
PYTHON = """#!/bin/sh
if [ "$2" = pip ]; then
    echo "pip $*"; mkdir -p "{bin}"; touch "{bin}/cuset"; chmod +x "{bin}/cuset"
else
    exec "{python}" "$@"
fi
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    folder = copy_checkout(tmp_path_factory.mktemp("setup") / "checkout", leave_out="data")
    (folder / "data").symlink_to(ROOT / "data")  # the script compares dates, and builds nothing
    return folder


def setup(checkout: Path, **variables: str) -> subprocess.CompletedProcess:
    command = ["bash", str(checkout / "scripts" / "setup.sh")]
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)


def test_refuses_without_a_recent_python(checkout, tmp_path):
    done = setup(checkout, CUSET_VENV=str(tmp_path / "venv"), CUSET_PYTHON="false")
    assert done.returncode == 1 and "3.11" in done.stderr and "CUSET_PYTHON=" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_refuses_an_old_environment(checkout, tmp_path):
    old = "#!/bin/sh\n[ $1 = --version ] && echo Python 3.9.1\nexit 1\n"
    write(tmp_path / "venv" / "bin", {"python": old}, mode=0o755)
    done = setup(checkout, CUSET_VENV=str(tmp_path / "venv"))
    assert done.returncode == 1 and "holds Python 3.9.1" in done.stderr and "CUSET_VENV" in done.stderr


def test_installs_once_and_again_when_something_changed(checkout, tmp_path, new_environment):
    bin_dir = tmp_path / "venv" / "bin"
    write(bin_dir, {"python": PYTHON.format(bin=bin_dir, python=new_environment().python)}, mode=0o755)

    first = setup(checkout, CUSET_VENV=str(tmp_path / "venv"))
    assert first.returncode == 0, first.stderr
    assert f"-c {checkout}/requirements/constraints.txt -e {checkout}[dev]" in first.stdout

    second = setup(checkout, CUSET_VENV=str(tmp_path / "venv"))
    assert "pip" not in second.stdout and "up to date" in second.stdout

    with (checkout / "requirements" / "constraints.txt").open("a") as file:
        file.write("# changed\n")
    assert "pip -m pip install" in setup(checkout, CUSET_VENV=str(tmp_path / "venv")).stdout

    (bin_dir / "cuset").unlink()  # as `pip uninstall` leaves it
    write(bin_dir, {"uv": '#!/bin/sh\necho "uv $*"\n'}, mode=0o755)
    again = setup(checkout, CUSET_VENV=str(tmp_path / "venv")).stdout
    assert f"uv pip install --python {bin_dir}/python -c {checkout}" in again and again.count("[dev]") == 1
