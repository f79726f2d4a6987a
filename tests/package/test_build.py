"""What is in the sdist and the wheel, and what pip leaves behind."""

import configparser
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from cuset_stage import bundled

from .conftest import ROOT, STARTUP_FILES


HOOKED = "import sys; print([type(finder).__module__ for finder in sys.meta_path if not isinstance(finder, type)])"


def files_in(folder: Path, to: Path) -> set[str]:
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(to).as_posix() for path in files}


def test_wheel_holds_the_package_with_recipes_and_data_and_the_startup_files(built):
    with zipfile.ZipFile(built.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    shared = files_in(ROOT / "yaml_configs", ROOT)
    shared |= {f"data/{name}" for name in ("README.md", "dataset_info.json", *bundled.BUILT)}
    source = files_in(ROOT / "src" / "cuset_stage", ROOT / "src")
    assert names == STARTUP_FILES | source | {f"cuset_stage/share/{name}" for name in shared}
    assert "data/cuset_kernels.json" in shared and len(shared) > 12


def test_wheel_metadata(built):
    with zipfile.ZipFile(built.wheel) as archive:
        folder = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA")).rpartition("/")[0]
        metadata = archive.read(f"{folder}/METADATA").decode()
        entry_points = archive.read(f"{folder}/entry_points.txt").decode().split()
        assert entry_points == ["[console_scripts]", "cuset", "=", "cuset_stage.cli:main"]
        assert any(name.startswith(folder) and name.endswith("LICENSE") for name in archive.namelist())
    for line in ("Name: cuset-stage", "Version: 0.2.0", "License-Expression: Apache-2.0", "Requires-Python: >=3.11"):
        assert line in metadata.splitlines()


def test_sdist_holds_what_a_wheel_is_made_from(built):
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"setup.cfg", "setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "requirements/constraints.txt"}
    wanted |= {f"src/{name}" for name in (*STARTUP_FILES, "cuset_stage/_startup.py")} | {"scripts/build_data.py"}
    data = ("pairs.jsonl", "operations/frames.toml", "operations/names.json.gz", "kernels/row_argmax/kernel.cu")
    assert wanted | {f"data/{name}" for name in data} <= names


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_install_hooks_and_uninstall_leaves_nothing(kind, built, new_environment):
    environment = new_environment()
    before = environment.files()
    assert "cuset_stage" not in environment.run("-c", HOOKED).stdout

    environment.install(getattr(built, kind))
    assert {path.name for path in environment.site.glob("cuset_stage.*")} == STARTUP_FILES
    started = environment.run("-c", HOOKED)
    assert started.stdout.count("cuset_stage._startup") == 1, started
    assert started.stderr == ""
    found = "from cuset_stage import bundled as b; print((b.recipes() / 'cuset_qwen7b.yaml').is_file(), *b.data().glob('cuset_*.jsonl'))"
    printed = environment.run("-c", found).stdout
    assert printed.count("True") == 1 and printed.count(".jsonl") == 4

    environment.pip("uninstall", "--yes", "cuset-stage")
    assert environment.files() == before


def test_startup_files_say_the_same():
    """site executes .pth lines that start with `import`, one by one; PEP 829 wants pkg.mod:callable lines."""
    [line] = (ROOT / "src" / "cuset_stage.pth").read_text(encoding="ascii").splitlines()
    assert line.startswith("import ") and "cuset_stage._startup.install()" in line
    lines = (ROOT / "src" / "cuset_stage.start").read_text(encoding="ascii").splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["cuset_stage._startup:install"]


def test_constraints_pin_and_cover_the_requirements():
    lines = (ROOT / "requirements" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins), "pins only: no paths, addresses or markers"
    pinned = {re.sub(r"[-_.]+", "-", pin.partition("==")[0]).lower() for pin in pins}

    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = config["options.extras_require"]
    wanted = "\n".join([config["options"]["install_requires"], *(extras[name] for name in ("dev", "docs", "study"))])
    lines = [line for line in wanted.split("\n") if line and not line.startswith(("#", "cuset-stage["))]
    assert {re.split(r"[<>=]", line)[0] for line in lines} <= pinned
