"""A patch that fails must not break other stages, and must stop `stage: cuset` with a sentence that helps."""

import ast
import importlib.util
from pathlib import Path

import pytest

from cuset_stage import _compatibility, _startup

from .conftest import PATCHED


ARGUMENTS = "llamafactory.hparams.finetuning_args"
IMPORT_ALL = f"import importlib; [importlib.import_module(name) for name in {PATCHED!r}]\n"


@pytest.mark.parametrize("failing", [PATCHED[0], PATCHED[-1]])
def test_plain_sft_goes_on(failing, installed, pretend):
    code = (
        IMPORT_ALL + "from cuset_stage import _compatibility\n"
        f"assert set(_compatibility.errors) == {{{failing!r}}} and len(_compatibility.applied) == {len(PATCHED) - 1}\n"
        "try: _compatibility.check()\n"
        "except _compatibility.CompatibilityError as error: print(error, '| from', type(error.__cause__).__name__)"
    )
    done = installed.run("-c", code, path=pretend, FAILS=failing)
    assert done.returncode == 0, done.stderr
    symbol = f"{failing}.{_compatibility.SYMBOLS[failing]}"
    for word in ("9.9.9", symbol, "0.9.5", "pip install", "| from AttributeError"):
        assert word in done.stdout


def test_check_notices_a_module_that_slipped_through(installed, pretend):
    code = (
        "import sys, types; from cuset_stage import _compatibility\n"
        "sys.modules['llamafactory.train.sft'] = types.ModuleType('llamafactory.train.sft')\n"
        "_compatibility.check()"
    )
    done = installed.run("-c", code, path=pretend)
    assert "llamafactory.train.sft.run_sft (RuntimeError: the module was loaded without" in done.stderr


def test_cuset_recipe_stops_at_the_arguments(installed, pretend, recipe):
    """LLaMA-Factory would go on to reject `cuset` as an unknown stage, without a word about versions."""
    code = IMPORT_ALL + "print('imported')"
    done = installed.run("-c", code, str(recipe), path=pretend, FAILS=ARGUMENTS)
    assert done.returncode == 1
    assert "CompatibilityError: cuset-stage 0.2.0 could not patch LLaMA-Factory 9.9.9" in done.stderr
    for command_line in (("--stage", "sft"), (str(recipe), "stage=sft")):
        assert installed.run("-c", code, *command_line, path=pretend, FAILS=ARGUMENTS).stdout.strip() == "imported"


def test_v1_refuses_cuset_and_nothing_else(installed, pretend, recipe):
    code = "from llamafactory.cli import main; main()"
    refused = installed.run("-c", code, "train", str(recipe), path=pretend, USE_V1="1")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1 and "unset USE_V1" in refused.stderr
    assert installed.run("-c", code, "train", path=pretend, USE_V1="1").stdout == "v1 runs\n"
    assert installed.run("-c", code, "train", str(recipe), "stage=sft", path=pretend, USE_V1="1").stdout == "v1 runs\n"


RECIPES = [
    ("stage: cuset", True),
    ("### method\nstage: cuset  # CuSeT\ndo_train: true\n", True),
    ("\ufeffstage: 'cuset'\r\nlr: 1\r\n", True),
    ('{"do_train": true, "stage": "cuset"}', True),
    ('{\n  "stage": "cuset",\n  "lr": 1\n}\n', True),
    ("stage: sft", False),
    ("# stage: cuset\nstage: sft", False),
    ("stage: sft  # not stage: cuset", False),
    ("stage: cuset_variant", False),
    ('{"do_train": true, "stage": "cuset_2"}', False),
    ("output_dir: saves/stage: cuset", False),
    ("training_stage: cuset", False),
    ("cuset_objective: cuset\nstage: sft", False),
    ("", False),
]


@pytest.mark.parametrize("text, asked", RECIPES)
def test_recipe_detection(text, asked, tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_bytes(text.encode())
    assert _startup.asks_for_cuset(["llamafactory-cli", "train", str(path)]) is asked
    assert _startup.asks_for_cuset([str(path)]) is False  # argv[0] is the program
    for words, wins in (("stage=sft", False), ("stage='cuset'", True), ("--stage sft --stage cuset", True)):
        assert _startup.asks_for_cuset(["launcher.py", str(path), *words.split()]) is wins
    assert _startup.asks_for_cuset(["launcher.py", str(path), "missing.yaml"]) is asked


def test_the_installed_llamafactory_has_what_the_hook_and_the_launcher_rely_on():
    """Read, not imported: the five symbols, and the launcher that hands torchrun its own __file__."""
    package = Path(importlib.util.find_spec("llamafactory").origin).parent

    def tree_of(module: str) -> ast.Module:
        path = package.joinpath(*module.split(".")[1:])
        return ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8"))

    for module, symbol in _compatibility.SYMBOLS.items():
        names = set()
        for node in tree_of(module).body:
            names |= {alias.asname or alias.name for alias in getattr(node, "names", [])}
            names |= {target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)}
            names.add(getattr(node, "name", None))
        assert symbol in names, f"{module}.{symbol}"
    launcher = tree_of("llamafactory.launcher")
    keywords = [ast.unparse(node) for node in ast.walk(launcher) if isinstance(node, ast.keyword)]
    assert keywords.count("file_name=__file__") == 2
    assert tree_of(_startup.V1_LAUNCHER)
