"""Folders of stages: who may empty them, what a part of the input takes away, what is out of date, and what is damaged."""

import json
from pathlib import Path

import pytest
from curation_steps import export, lines, put, select
from typer.testing import CliRunner

from cuset_stage.cli import app
from cuset_stage.curate.folders import locked, read_journal, rows_of, stale_stages
from cuset_stage.curate.funnel import read_funnel
from cuset_stage.curate.stage import Kept, run_stage
from cuset_stage.curate.stage_rows import CurationError, StageRows


def rows(count: int, first: int = 0) -> list[dict]:
    return [
        {
            "key": f"{number:032x}",
            "id": f"src:{number}",
            "kind": "program",
            "program": f"int main() {{ return {number}; }}",
            "task": {"id": f"t{number}", "prompt": f"Return the number {number}."},
            "source": {"name": "src", "licence": "MIT"},
        }
        for number in range(first, first + count)
    ]


def stage(work: Path, name: str, files: list[Path], **options):
    part = options.pop("part", False)
    return run_stage(work / name, name, StageRows(files, part), Kept, settings={}, dear=True, **options)


def ids(path: Path) -> set[str]:
    return {json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()}


def test_a_stage_that_runs_is_not_emptied_by_another_process(tmp_path):
    given = put(tmp_path / "adapt" / "rows.jsonl", rows(3))
    stage(tmp_path, "prove", [given])
    before = (tmp_path / "prove" / "rows.jsonl").read_bytes()
    with locked(tmp_path / "prove"):
        with pytest.raises(CurationError, match="another process"):
            stage(tmp_path, "prove", [given], fresh=True)
        assert (tmp_path / "prove" / "rows.jsonl").read_bytes() == before
    (tmp_path / "select").mkdir()
    with locked(tmp_path / "select"), pytest.raises(CurationError, match="another process"):
        select(tmp_path, given)
    (tmp_path / "prove" / "left").mkdir()
    again = stage(tmp_path, "prove", [given], fresh=True)
    assert (again.kept, again.resumed) == (3, 0) and not (tmp_path / "prove" / "left").exists()


def test_a_part_of_the_rows_takes_no_other_results_away(tmp_path):
    whole = put(tmp_path / "adapt" / "rows.jsonl", rows(5))
    stage(tmp_path, "prove", [whole])
    part = put(tmp_path / "part.jsonl", rows(2, first=4))  # one of them is new
    summary = stage(tmp_path, "prove", [part], part=True)
    assert (summary.read, summary.kept, summary.resumed) == (2, 6, 1)
    assert ids(tmp_path / "prove" / "rows.jsonl") == {f"src:{number}" for number in range(6)}
    assert [(step.read, step.kept) for step in read_funnel(tmp_path)] == [(6, 6)]
    # What the stage before has no longer goes, as ever.
    put(whole, rows(2))
    assert stage(tmp_path, "prove", [whole]).kept == 2 == len(ids(tmp_path / "prove" / "rows.jsonl"))


def test_a_stage_before_that_was_run_again_is_noticed(tmp_path):
    cases = put(tmp_path / "answer" / "rows.jsonl", rows(6))
    stage(tmp_path, "prove", [cases])
    select(tmp_path)
    assert stale_stages(tmp_path) == {}
    put(cases, rows(7))
    assert set(stale_stages(tmp_path)) == {"prove"}
    stage(tmp_path, "prove", [cases])
    assert set(stale_stages(tmp_path)) == {"select"}
    summary = export(tmp_path)
    assert any("select was made from other rows" in note and "prove/rows.jsonl" in note for note in summary.notes)
    assert "select was made from other rows" in (tmp_path / "dataset" / "curated.md").read_text()
    assert "out of date: select" in CliRunner().invoke(app, ["curate", "funnel", str(tmp_path)]).output
    select(tmp_path)
    summary = export(tmp_path)
    assert not summary.notes and "Out of date" not in (tmp_path / "dataset" / "curated.md").read_text()


def test_a_stage_before_that_was_stopped_is_said(tmp_path, caplog):
    stage(tmp_path, "prove", [put(tmp_path / "answer" / "rows.jsonl", rows(6))])
    select(tmp_path)
    assert not caplog.messages
    (tmp_path / "prove" / "summary.json").unlink()
    assert select(tmp_path).kept == 6 and "the stage `prove` was stopped" in caplog.text


def test_a_source_that_was_added_makes_what_follows_out_of_date(tmp_path):
    put(tmp_path / "import" / "one" / "rows.jsonl", rows(1))
    stage(tmp_path, "split", rows_of(tmp_path, "import"))
    put(tmp_path / "import" / "two" / "rows.jsonl", rows(1, first=1))
    assert "import/two/rows.jsonl" in stale_stages(tmp_path)["split"]


@pytest.mark.parametrize("text", ["", "[]", '{"a": '])
def test_damaged_settings_are_named_with_the_way_out(tmp_path, text):
    given = put(tmp_path / "adapt" / "rows.jsonl", rows(1))
    stage(tmp_path, "prove", [given])
    (tmp_path / "prove" / "settings.json").write_text(text)
    with pytest.raises(CurationError, match=r"prove/settings\.json: .*fresh=true"):
        stage(tmp_path, "prove", [given])
    assert stage(tmp_path, "prove", [given], fresh=True).kept == 1


@pytest.mark.parametrize("text", ["", "{}", "[]"])
def test_a_damaged_summary_is_named_with_the_way_out(tmp_path, text):
    given = put(tmp_path / "adapt" / "rows.jsonl", rows(1))
    stage(tmp_path, "prove", [given])
    (tmp_path / "prove" / "summary.json").write_text(text)
    with pytest.raises(CurationError, match=r"prove/summary\.json: .*run the stage again"):
        read_funnel(tmp_path)
    export(tmp_path, given)  # the card says what it can
    assert stage(tmp_path, "prove", [given]).kept == 1 == read_funnel(tmp_path)[0].kept


def test_a_dropped_line_that_was_edited_is_named(tmp_path):
    folder = tmp_path / "prove"
    folder.mkdir()
    (folder / "dropped.jsonl").write_text('{"key": "%s", "rea\n' % ("0" * 32))
    with pytest.raises(CurationError, match=r"dropped\.jsonl: .*fresh=true"):
        read_journal(folder)


KERNEL = "__global__ void f(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }"


def curate(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["curate", *map(str, arguments)])
    return done.exit_code, " ".join(done.output.split())


def sources(tmp_path: Path) -> tuple[Path, Path]:
    one, two = (
        put(tmp_path / f"{name}.jsonl", [{"text": KERNEL.replace("f(", f"{name}(")}]) for name in ("one", "two")
    )
    return one, two


@pytest.fixture
def ends_after_import(monkeypatch):
    def end(_settings):
        raise CurationError("far enough")

    monkeypatch.setattr("cuset_stage.curate.adapt.run_adapt", end)


def test_run_takes_no_rows_of_a_source_it_was_not_given(tmp_path, ends_after_import):
    one, two = sources(tmp_path)
    work = tmp_path / "work"
    common = ("columns=code=text", "licence=MIT")
    assert curate("import", work, two, "name=two", *common)[0] == 0
    code, output = curate("run", work, one, *common)
    assert code == 2 and "two: imported by an earlier command" in output and "fresh=true" in output
    assert not (work / "import" / "one.jsonl").exists()
    code, output = curate("run", work, f"sources=one={one}", *common, "fresh=true")
    assert "far enough" in output
    assert rows_of(work, "import") == [work / "import" / "one" / "rows.jsonl"]
    assert all(identity.startswith("one:") for identity in ids(work / "import" / "one" / "rows.jsonl"))


def test_run_reads_its_sources_from_a_yaml_file_each_with_its_own_columns(tmp_path, ends_after_import):
    one, two = sources(tmp_path)
    renamed = one.rename(tmp_path / "one.txt")
    two.write_text(json.dumps({"code": KERNEL, "license": "ISC"}) + "\n")
    recipe = tmp_path / "curate.yaml"
    recipe.write_text(
        f"folder: {tmp_path / 'work'}\nlicence: MIT\nsources:\n- {{path: {renamed}, name: one, columns: {{code: text}}, format: jsonl, "
        f"revision: abc}}\n- {two}\n"
    )
    _, output = curate("run", recipe)
    assert "far enough" in output
    (row,) = lines(tmp_path / "work" / "import" / "one" / "rows.jsonl")
    assert row["code"] == KERNEL.replace("f(", "one(")
    assert (row["source"]["revision"], row["source"]["licence"]) == ("abc", "MIT")
    (row,) = lines(tmp_path / "work" / "import" / "two.jsonl" / "rows.jsonl")
    assert row["source"]["licence"] == "ISC"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("one.jsonl", "a/one.jsonl"), "one.jsonl is given twice; give each its own name, as in second=a/one.jsonl"),
        (("sources=[{path: one.jsonl, presett: cuset}]",), "presett: no such key; did you mean preset?"),
        (("sources=[{name: one}]",), "{'name': 'one'}: path: missing"),
        (("sources=One=one.jsonl",), "lower-case letters"),
        ((), "sources: missing"),
        (("one.jsonl", "against=bench=gone"), "bench: there is nothing at gone"),
        (("one.jsonl", "columns=text"), "write ours=theirs, such as code=cuda_code"),
        (("one.jsonl", "validation=1"), "validation='1': expected less than 1"),
        (("one.jsonl", "--per-gpu", "4"), "settings are written key=value; did you mean per_gpu"),
        (("one.jsonl", "workers=0"), "workers='0': expected greater than 0"),
        (
            ("one.jsonl", "executor=ray"),
            "executor: no longer a key: curation runs on this machine, and Ray is gone; give each",
        ),
    ],
)
def test_what_is_wrong_with_a_run_is_said_before_it_begins(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    code, output = curate("run", "work", *given)
    assert code == 2 and said in output and not (tmp_path / "work").exists()


def test_an_import_without_code_names_the_columns_and_the_option(tmp_path):
    """LLaMA-Factory's alpaca form, whose code stands in answers."""
    file = tmp_path / "alpaca.json"
    file.write_text(json.dumps([{"instruction": "Add.", "output": "```cuda\n__global__ void f() {}\n```"}]))
    code, output = curate("import", tmp_path / "work", file, "licence=MIT")
    assert (
        code == 1
        and "alpaca.json, row 1: none of the columns holds code or a task; there are: instruction, output" in output
    )
    assert "columns={answer: COLUMN}" in output
    assert curate("import", tmp_path / "work", file, "licence=MIT", "columns={answer: output}")[0] == 0


def test_a_stage_that_keeps_nothing_has_failed_and_says_why(tmp_path):
    one, _ = sources(tmp_path)
    code, output = curate("run", tmp_path / "work", one, "columns=code=text", "licence=MIT")
    assert code == 1 and "adapt kept no row; most were dropped for no_task (1)" in output
    assert "write={endpoint: URL, model: NAME}" in output
    assert "cuset: curate run: sources: missing" in curate("run", tmp_path / "work")[1]
    (empty := tmp_path / "empty.jsonl").write_text("")
    assert (
        "import kept no row; there are none in empty.jsonl"
        in curate("run", tmp_path / "third", empty, "licence=MIT")[1]
    )
    (dropped,) = lines(tmp_path / "work" / "adapt" / "dropped.jsonl")
    assert dropped["detail"].startswith("no task: ") and "name a preset, or columns" in dropped["detail"]
    assert curate("prove", tmp_path / "other", "no_gpu=true")[1].count("run `cuset curate answer` first") == 1
    code, output = curate("import", tmp_path / "work", tmp_path / "gone.jsonl")
    assert code == 2 and "nothing is downloaded" in output


def test_an_import_that_keeps_nothing_names_its_own_row_and_not_that_of_another_source(tmp_path):
    one, two = sources(tmp_path)
    work = tmp_path / "work"
    for file in (one, two):
        code, output = curate("import", work, file, "licence=MIT")
        assert code == 1 and f"such as {file.name}, row 1: none of the columns" in output and "preset=" in output


@pytest.mark.parametrize("given", ["{model: m, endpoint: http://h/v1", "m"])
def test_what_is_no_mapping_of_a_model_is_told_how_one_is_written(tmp_path, given):
    one, _ = sources(tmp_path)
    code, output = curate("run", tmp_path / "work", one, f"write={given}")
    assert code == 2 and "expected a mapping such as '{model: NAME, endpoint:" in output
