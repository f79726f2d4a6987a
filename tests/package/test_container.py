"""The Dockerfile is held to the package: versions, what it copies, who runs, and the commands that docs/install.md shows for it."""

import fnmatch
import re
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path, PurePosixPath

import pytest

from cuset_stage.cli._app import COMMANDS

from .conftest import ROOT


PYTHON = {"ubuntu24.04": "3.12"}  # what a distribution's python3 is
PAGE = (ROOT / "docs" / "install.md").read_text()
TOLD = "".join(re.findall(r"```bash[^\n]*needs Docker[^\n]*\n(.*?)```", PAGE, re.DOTALL))


def instructions() -> list[tuple[str, str]]:
    """(name, arguments) of every line of the Dockerfile."""
    lines = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines.splitlines() if line)]


def of(name: str) -> list[str]:
    return [rest for found, rest in instructions() if found == name]


def is_sent(path: str) -> bool:
    """Whether .dockerignore leaves a file to the build: the last line that matches it, or a folder above it, decides."""
    sent, places = True, [path, *map(str, PurePosixPath(path).parents)]
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if line and line[0] != "#" and any(fnmatch.fnmatch(place, line.removeprefix("!")) for place in places):
            sent = line[0] == "!"
    return sent


def test_base_image_has_the_cuda_and_a_python_that_were_tested():
    [base] = of("FROM")
    cuda, system = re.fullmatch(r"nvidia/cuda:([\d.]+)-devel-(\S+)", base).groups()
    assert f"cuda-toolkit=={cuda}" in (ROOT / "requirements" / "constraints.txt").read_text().splitlines()
    assert f"Programming Language :: Python :: {PYTHON[system]}" in (ROOT / "setup.cfg").read_text()


def test_the_build_gets_what_a_wheel_is_made_from_and_nothing_else(built):
    with tarfile.open(built.sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    kept = {name for name in names if not is_sent(name)}
    assert kept == {name for name in names if name == "PKG-INFO" or "egg-info" in name}
    for other in (".git/HEAD", ".venv/bin/python", "outputs/answers.jsonl", "CUDABench/a.py", "tests/conftest.py"):
        assert not is_sent(other)


def test_what_runs_names_files_that_are_there():
    [copied] = of("COPY")
    folder = copied.split()[-1]
    for name in re.findall(rf"{folder}/(\S+)", "".join(of("RUN"))):
        assert Path(ROOT, name).exists() and is_sent(name)


def test_nobody_runs_as_root():
    names = [name for name, _ in instructions()]
    assert of("USER") == ["$UID"] and names.index("USER") > max(n for n, name in enumerate(names) if name == "RUN")
    [argument] = of("ARG")
    assert int(argument.removeprefix("UID=")) > 0


def test_the_commands_that_are_told_fit():
    build, train, evaluate = TOLD.replace("\\\n", " ").strip().splitlines()
    arguments = {argument.partition("=")[0] for argument in of("ARG")}
    assert set(re.findall(r"--build-arg (\w+)=", build)) <= arguments and re.search(r"--tag cuset-stage \.$", build)
    for line in (train, evaluate):
        assert f':{of("WORKDIR")[0]}"' in line and "/home/cuset/.cache" in line and "--gpus" in line
    recipe = re.search(r"cuset-stage\s+llamafactory-cli train (\S+)", train)[1]
    assert (ROOT / recipe).is_file()
    _, name, *keys = shlex.split(evaluate.partition(" cuset-stage ")[2])
    COMMANDS[name].read(keys)


def test_hadolint_finds_nothing():
    if shutil.which("hadolint") is None:
        pytest.skip("no hadolint here: pip install -e '.[dev]' brings it")
    done = subprocess.run(["hadolint", str(ROOT / "Dockerfile")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
