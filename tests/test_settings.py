"""Settings from a YAML file and `key=value`: what is read, and what a wrong key, value or file is told."""

from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import Field, FilePath, model_validator

from cuset_stage.settings import Names, Numbers, Settings, SettingsError, check_datasets, read_yaml


class Example(Settings):
    positional: ClassVar[tuple[str, ...]] = ("source", "rest")

    source: Path = Field(description="where from")
    rest: Names = Field((), description="what else")
    per_gpu: int = Field(1, ge=1, description="programs at a time")
    ratio: float | None = Field(None, ge=0, lt=1, description="a share")
    fresh: bool = Field(False, description="from the beginning")
    name: str = Field("a", pattern="^[a-z 0-9./]*$", description="what it is called")
    recipe: FilePath | None = Field(None, description="a file that is read")
    gpus: Numbers | None = Field(None, description="indices")
    extra: dict[str, int] = Field({}, description="anything")

    @model_validator(mode="after")
    def _check(self):
        if self.fresh and self.rest:
            raise ValueError("fresh=true and rest contradict each other: leave one out")
        return self


def test_later_wins_over_earlier(tmp_path):
    file = tmp_path / "example.yaml"
    file.write_text("source: from_yaml\nper_gpu: 2\nrest: [x, y]\nname: 7\n")
    assert Example.read([str(file)]) == Example(source="from_yaml", per_gpu=2, rest=("x", "y"), name="7")
    read = Example.read([str(file), "other", "per_gpu=3", "per_gpu=4"])
    assert read == Example(source="other", per_gpu=4, rest=("x", "y"), name="7")


def test_values_take_the_fields_type():
    read = Example.read(["s", "b", "c", "name=007", "gpus=0,1", "extra={a: 1}", "ratio=1e-3", "fresh=off"])
    assert read == Example(source="s", rest=("b", "c"), name="007", gpus=(0, 1), extra={"a": 1}, ratio=1e-3)
    assert Example.read(["s", "rest=a,b", "ratio=null"]) == Example(source="s", rest=("a", "b"))


def test_a_list_that_is_not_yaml_says_what_to_write():
    with pytest.raises(SettingsError, match=r"is not a list in YAML, .* write \*/sft/\* without brackets"):
        Example.read(["s", "rest=[*/sft/*]"])


def test_a_number_with_an_exponent_needs_no_point(tmp_path):
    file = tmp_path / "example.yaml"
    file.write_text("a: [1e-4, 1.0e-4, 2E3, -1e+2, 1e, e5, '1e-4', '${x', '${oc.env:HOME}']\n")
    assert read_yaml(file) == {"a": [1e-4, 1e-4, 2e3, -100.0, "1e", "e5", "1e-4", "${x", "${oc.env:HOME}"]}


def test_a_path_may_have_dots_and_equals_signs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rest.lr=1.jsonl").touch()
    paths = ("outputs/lr=2/answers.jsonl", "rest.v1/lr=2/a", "./rest.lr=2", "rest.lr=1.jsonl", "lr.x=1")
    assert Example.read(["s", *paths]).rest == paths


def test_a_switch_may_have_dashes():
    assert Example.read(["s", "--fresh"]) == Example.read(["s", "fresh=true"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["s", "per_gpu=x"], "^per_gpu='x': expected a valid integer$"),
        ([], r"^source: missing; say source=\.\.\. \(where from\)$"),
        (["s", "per_gpuu=2"], "^per_gpuu: no such key; did you mean per_gpu"),
        (["s", "per_gpu=0"], "^per_gpu='0': expected greater than or equal to 1$"),
        (["s", "recipe=none.yaml"], "^recipe='none.yaml': there is no such file$"),
        (["s", "ratio=1"], "^ratio='1': expected less than 1$"),
        (["s", "name=B!"], r"^name='B!': expected text that matches '\^\[a-z"),
        (["s", "gpus=0,x"], r"^gpus\[1\]='x': expected a valid integer"),
        (["s", "--per-gpu", "4"], r"^--per-gpu: settings are written key=value, so: per_gpu=4"),
        (["a b", "--fresh", "--per-gpu=4"], "^--per-gpu=4: settings are written key=value, so: per_gpu=4$"),
        (["s", "extra.a=1"], r"^extra\.a=1: a key has no dots; write extra=\{a: 1\} with all else .* or \./extra\.a=1 if"),
        (["s", "extra.a.b=[1]"], r"write extra=\{a: \{b: \[1\]\}\} with"),
        (["s", "--frsh"], "^--frsh: settings are written key=value; did you mean fresh"),
        (["s", "a", "fresh=true"], "^fresh=true and rest contradict each other: leave one out$"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(arguments, message):
    with pytest.raises(SettingsError, match=message):
        Example.read(arguments)


def test_a_files_mistakes_name_the_file(tmp_path):
    file = tmp_path / "example.yaml"
    for text, message in (
        ("source: s\nper_gpu: 0\n", rf"^{file}: per_gpu=0: expected greater than or equal to 1$"),
        ("- a\n", "expected `key: value` lines"),
        ("a: [", "not YAML"),
        ("source: s\nper_gpu: 1\nsource: t\n", rf"{file}: not YAML: the key source stands twice\n.*line 1"),
    ):
        file.write_text(text)
        with pytest.raises(SettingsError, match=message):
            Example.read([str(file)])
    with pytest.raises(SettingsError, match=r"gone\.yaml: cannot be read: No such file"):
        Example.read(["gone.yaml"])


def test_every_key_is_described():
    assert list(Example.describe())[:5] == [
        ("source", "path", "required", "where from"),
        ("rest", "list of text", "", "what else"),
        ("per_gpu", "integer", "1", "programs at a time"),
        ("ratio", "number", "", "a share"),
        ("fresh", "true or false", "false", "from the beginning"),
    ]


def test_a_data_set_of_the_package_that_another_folder_hides(tmp_path):
    (tmp_path / "dataset_info.json").write_text('{"mine": {"file_name": "a"}}')
    with pytest.raises(SettingsError, match=r"cuset_kernels comes with the package: give dataset_dir=.*, or") as error:
        check_datasets(["mine", "cuset_kernels"], str(tmp_path))
    folder = str(error.value).partition("dataset_dir=")[2].partition(",")[0]
    check_datasets(["cuset_kernels"], folder)


def test_an_entry_of_a_data_set_that_names_no_file_is_shown(tmp_path):
    (tmp_path / "dataset_info.json").write_text(
        '{"right": {"file_name": "a"}, "wrong": {"filename": "a"}, "text": "a"}'
    )
    check_datasets(["right"], str(tmp_path))
    with pytest.raises(SettingsError, match=r"json is \{'filename': 'a'\}; expected an object with file_name"):
        check_datasets(["right", "wrong"], str(tmp_path))
    with pytest.raises(SettingsError, match=r"dataset=text: its entry in .* is 'a'; expected"):
        check_datasets(["text"], str(tmp_path))
