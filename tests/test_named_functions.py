"""Functions named in recipes: where they are found, and what is said where they are not."""

import sys

import pytest

from cuset_stage.named_functions import function_digest, is_function_name, load_function
from cuset_stage.text import InputError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside_it.py").write_text("FACTOR = 3\n")
    (tmp_path / "my_rules_of_a_test.py").write_text(
        "import beside_it\n\n\ndef focal(x):\n    return beside_it.FACTOR * x\n\n\nclass Box:\n    @staticmethod\n"
        "    def inner(x):\n        return -x\n\n\nnumber = 5\n"
    )
    (tmp_path / "broken_of_a_test.py").write_text("import no_such_module_at_all\n")
    (tmp_path / "wrong_of_a_test.py").write_text("1 / 0\n")
    yield tmp_path
    for name in [name for name in sys.modules if "_of_a_test" in name or name == "beside_it"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "place", ["my_rules_of_a_test", "my_rules_of_a_test.py", "./my_rules_of_a_test.py", "{}/my_rules_of_a_test.py"]
)
def test_a_function_is_found_by_module_and_by_file(folder, place):
    place = place.format(folder)
    assert load_function(f"{place}:focal", "key")(2) == 6
    assert load_function(f"{place}:Box.inner", "key")(2) == -2
    assert load_function(f"{place}:focal", "key") is load_function(f"{place}:focal", "key")


def test_a_folder_that_is_not_the_current_one(folder, monkeypatch):
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert load_function("../my_rules_of_a_test.py:focal", "key")(1) == 3


def test_nothing_installed_is_hidden(folder):
    (folder / "json.py").write_text("def dumps(x):\n    return 'mine'\n")
    sys.modules.pop("json")
    assert load_function("json:dumps", "key")(1) == "1"


def test_the_digest_follows_the_file(folder):
    first = function_digest("my_rules_of_a_test.py:focal", "key")
    assert first == function_digest("my_rules_of_a_test:focal", "key")
    with (folder / "my_rules_of_a_test.py").open("a") as file:
        file.write("# another line\n")
    assert function_digest("my_rules_of_a_test.py:focal", "key") != first


def test_names_with_a_colon_are_functions():
    assert is_function_name("a:b") and not is_function_name("cuda") and not is_function_name(None)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("focal", "my_key='focal': expected my_module:my_function or path/to/file.py:my_function"),
        (":focal", "expected my_module"),
        ("my_rules_of_a_test:", "expected my_module"),
        ("my_rules_of_a_test:a b", "expected my_module"),
        (3, "my_key=3: expected my_module"),
        ("no/such.py:focal", "there is no file no/such.py in .*Give a path from the current folder"),
        ("no_such_module:focal", "ModuleNotFoundError: No module named 'no_such_module'.*Start where the module lies"),
        ("broken_of_a_test.py:focal", "No module named 'no_such_module_at_all'"),
        ("wrong_of_a_test.py:focal", "importing it failed with ZeroDivisionError: division by zero. Mend it"),
        ("my_rules_of_a_test:fokal", "my_rules_of_a_test has no 'fokal'; did you mean focal"),
        ("my_rules_of_a_test:number", "number is int, not a function"),
    ],
)  # fmt: skip
def test_what_cannot_be_found_is_said(folder, name, message):
    with pytest.raises(InputError, match=f"my_key=.*{message}" if not message.startswith("my_key") else message):
        load_function(name, "my_key")
