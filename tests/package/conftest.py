"""Builds cuset-stage once, installs it into small throw-away environments, and puts a pretend LLaMA-Factory beside it.

Nothing here needs a network or the packages that cuset-stage depends on. The start-up hook uses the standard library
alone, and the pretend LLaMA-Factory has the real one's module names and both ways in which the real one starts
processes.
"""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from worker_folders import shared_folder

from cuset_stage._compatibility import SYMBOLS


ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    *("LICENSE", "MANIFEST.in", "README.md", "data", "pyproject.toml", "requirements"),
    *("scripts", "setup.cfg", "setup.py", "src", "yaml_configs"),
)
STARTUP_FILES = {"cuset_stage.pth", "cuset_stage.start"}
PATCHED, SFT = tuple(SYMBOLS), "llamafactory.train.sft"
PRETEND = {
    # Also stands in for cuset_stage.stage: it counts how often a module was patched, and fails for the one named in
    # FAILS.
    "llamafactory/__init__.py": """
import os, sys, types
def apply(module):
    if os.environ.get("FAILS") == module.__name__:
        raise AttributeError("the symbol is gone")
    module.patched = getattr(module, "patched", 0) + 1
factory = types.ModuleType("cuset_stage.stage")
factory.patches = types.ModuleType("cuset_stage.stage.patches")
factory.patches.apply = apply
sys.modules.setdefault("cuset_stage.stage", factory)
sys.modules.setdefault("cuset_stage.stage.patches", factory.patches)
""",
    "llamafactory/cli.py": """
import os
def main():
    if os.environ.get("USE_V1") == "1":
        from .v1 import launcher
    else:
        from . import launcher
    launcher.launch()
""",
    "llamafactory/launcher.py": """
import os, subprocess, sys
def launch():
    assert sys.argv.pop(1) == "train"
    if os.environ.get("FORCE_TORCHRUN") == "1":
        sys.exit(subprocess.run(["torchrun", __file__, *sys.argv[1:]], check=True).returncode)
    from .train.tuner import run_exp
    run_exp()
if __name__ == "__main__":
    from llamafactory.train.tuner import run_exp
    run_exp()
""",
    "llamafactory/train/tuner.py": """
import sys
from ..data import loader
from ..extras import constants
from ..hparams import finetuning_args, parser
from . import sft
def run_exp():
    patched = [getattr(module, "patched", 0) for module in (loader, constants, finetuning_args, parser, sft)]
    print("run_exp", patched, sys.executable, *sys.argv[1:], flush=True)
""",
    "llamafactory/v1/launcher.py": "def launch(): print('v1 runs')\n",
    "llamafactory-9.9.9.dist-info/METADATA": "Metadata-Version: 2.1\nName: llamafactory\nVersion: 9.9.9\n",
    **dict.fromkeys((name.replace(".", "/") + ".py" for name in PATCHED if name != SFT), "VALUE = 1\n"),
    **{f"llamafactory/{name}/__init__.py": "" for name in ("data", "extras", "hparams", "train", "v1")},
    "llamafactory/train/sft/__init__.py": "VALUE = 1\n",
}


@dataclass(frozen=True)
class Built:
    """The files that the builds made."""

    wheel: Path
    sdist: Path
    editable: Path  # the wheel pip makes for `pip install -e`


@dataclass(frozen=True)
class Environment:
    """A virtual environment without pip."""

    folder: Path
    site: Path  # its site-packages, into which pip installs
    python: Path

    def files(self) -> set[str]:
        """Return the paths of all its files, relative to its folder."""
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}

    def pip(self, *arguments: str) -> None:
        """Run the tests' own pip on this environment."""
        command = [sys.executable, "-m", "pip", "--python", str(self.python), *arguments]
        subprocess.run([*command, "--quiet", "--disable-pip-version-check"], check=True)

    def install(self, wheel: Path) -> None:
        """Install a wheel without its dependencies and without a package index."""
        self.pip("install", "--no-deps", "--no-index", str(wheel))

    def run(
        self, *arguments: str, path: Path | None = None, seconds: float = 60, **variables: str
    ) -> subprocess.CompletedProcess:
        """Run this environment's Python, with this PYTHONPATH or none, and return the finished process.

        `variables` are added to those of this process, less those that would change how Python or the package behaves
        (PYTHON*, CUSET_*, USE_V1*).
        """
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CUSET_", "USE_V1"))}
        if path is not None:
            kept["PYTHONPATH"] = str(path)
        command, environment = [str(self.python), *arguments], kept | variables
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds)


def write(folder: Path, files: dict[str, str], *, mode: int = 0o644) -> Path:
    """Write files, given as relative path -> text, with this mode, and return the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
    return folder


def copy_checkout(to: Path, leave_out: str = "") -> Path:
    """Copy what a build reads, and data that are built, to a new folder: builds leave nothing in the checkout.

    Of the operations, whose files take most of the time, it has those that begin with a.
    """
    to.mkdir()
    others = {"__pycache__", "cuset_stage.egg-info"}
    others |= {path.parent.name for path in (ROOT / "data" / "operations").glob("[!a]*/task.json")}
    for part in {*PARTS} - {leave_out}:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, to / part, ignore=lambda _, names: others & {*names})
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, to / part)
    return to


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Built:
    """The sdist, the wheel made from it, and the editable wheel, built once for all workers."""
    folder = shared_folder(tmp_path_factory, "built", build)
    return Built(*(next(folder.glob(name)) for name in ("dist/*.whl", "dist/*.tar.gz", "editable/*.whl")))


def build(folder: Path) -> None:
    """Build sdist and wheel into folder/dist and the editable wheel into folder/editable."""
    source = copy_checkout(folder / "source")

    def call(*command: str) -> None:
        done = subprocess.run(command, cwd=source, capture_output=True, text=True)
        fix = "pip install -e '.[dev]' brings what it needs"
        assert done.returncode == 0, f"{command}: {fix}\n{done.stdout}{done.stderr}"

    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), ".")
    # Call the hook that pip would call. pip itself would look for cuset-stage in the environment in which the tests
    # run.
    hook = "import sys; from setuptools import build_meta; build_meta.build_editable(sys.argv[1])"
    call(sys.executable, "-c", hook, str(folder / "editable"))


def environment_in(folder: Path) -> Environment:
    """Return the environment that lies in this folder."""
    return Environment(folder, next(folder.glob("[Ll]ib/**/site-packages")), next(folder.glob("[bS]*/python*")))


def make_environment(folder: Path) -> Environment:
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    return environment_in(folder)


@pytest.fixture(scope="session")
def new_environment(tmp_path_factory) -> Callable[[], Environment]:
    """A function that makes a new, empty environment."""
    return lambda: make_environment(tmp_path_factory.mktemp("environment"))


@pytest.fixture(scope="session")
def index() -> None:
    """Skip the test if pip reaches no package index."""
    asked = [sys.executable, "-m", "pip", "index", "versions", "transformers", "--retries", "1"]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"pip reaches no package index: {done.stderr.strip()[-200:]}")


@pytest.fixture(scope="session")
def installed(built, tmp_path_factory) -> Environment:
    """An environment with cuset-stage's wheel installed, shared by all workers. Tests must not change it."""
    folder = shared_folder(tmp_path_factory, "installed", lambda to: make_environment(to).install(built.wheel))
    return environment_in(folder)


@pytest.fixture(scope="session")
def pretend(tmp_path_factory) -> Path:
    """A folder for PYTHONPATH that holds the pretend LLaMA-Factory 9.9.9."""
    return write(tmp_path_factory.mktemp("pretend"), PRETEND)


@pytest.fixture
def recipe(tmp_path) -> Path:
    path = tmp_path / "recipe.yaml"
    path.write_text("stage: cuset\n", encoding="utf-8")
    return path
