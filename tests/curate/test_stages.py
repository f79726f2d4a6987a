"""Folders of stages: who may empty them, what a part of the input takes away, what is out of date, and what is damaged."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cuset_stage.cli import app
from cuset_stage.curate.funnel import read_funnel
from cuset_stage.curate.inputs import stale_stages
from cuset_stage.curate.journal import Journal
from cuset_stage.curate.select import Selection, run_select
from cuset_stage.curate.stage import Kept, run_stage, stage_files
from cuset_stage.curate.stage_rows import CurationError, read_stage_rows
from cuset_stage.curate.write import Output, run_write


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


def put(path: Path, given: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    return path


def stage(work: Path, name: str, files: list[Path], **options):
    return run_stage(work / name, name, read_stage_rows(files), Kept, settings={}, **options)


def ids(path: Path) -> set[str]:
    return {json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()}


def test_a_stage_that_runs_is_not_emptied_by_another_process(tmp_path):
    given = put(tmp_path / "cases" / "rows.jsonl", rows(3))
    stage(tmp_path, "verify", [given])
    before = (tmp_path / "verify" / "rows.jsonl").read_bytes()
    with Journal(tmp_path / "verify"):
        with pytest.raises(CurationError, match="another process"):
            stage(tmp_path, "verify", [given], fresh=True)
        assert (tmp_path / "verify" / "rows.jsonl").read_bytes() == before
    (tmp_path / "select").mkdir()
    with Journal(tmp_path / "select"), pytest.raises(CurationError, match="another process"):
        run_select(tmp_path, [given], Selection(), {})
    again = stage(tmp_path, "verify", [given], fresh=True)
    assert (again.kept, again.resumed) == (3, 0)


def test_fresh_leaves_nothing_of_the_run_before_but_the_lock(tmp_path):
    given = put(tmp_path / "cases" / "rows.jsonl", rows(1))
    stage(tmp_path, "verify", [given])
    (tmp_path / "verify" / "left").mkdir()
    lock = (tmp_path / "verify" / ".lock").stat().st_ino
    stage(tmp_path, "verify", [given], fresh=True)
    assert not (tmp_path / "verify" / "left").exists() and (tmp_path / "verify" / ".lock").stat().st_ino == lock


def test_a_part_of_the_rows_takes_no_other_results_away(tmp_path):
    whole = put(tmp_path / "cases" / "rows.jsonl", rows(5))
    stage(tmp_path, "verify", [whole])
    part = put(tmp_path / "part.jsonl", rows(2, first=4))  # one of them is new
    summary = stage(tmp_path, "verify", [part])
    assert (summary.read, summary.kept, summary.resumed, summary.elsewhere) == (2, 6, 1, 4)
    assert ids(tmp_path / "verify" / "rows.jsonl") == {f"src:{number}" for number in range(6)}
    assert [(step.read, step.kept) for step in read_funnel(tmp_path)] == [(6, 6)]
    # What the stage before has no longer goes, as ever.
    put(whole, rows(2))
    assert stage(tmp_path, "verify", [whole]).kept == 2 == len(ids(tmp_path / "verify" / "rows.jsonl"))


def test_a_stage_before_that_was_run_again_is_noticed(tmp_path):
    cases = put(tmp_path / "cases" / "rows.jsonl", rows(6))
    stage(tmp_path, "verify", [cases])
    run_select(tmp_path, stage_files(tmp_path, "verify"), Selection(), {})
    assert stale_stages(tmp_path) == {}
    put(cases, rows(7))
    assert set(stale_stages(tmp_path)) == {"verify"}
    stage(tmp_path, "verify", [cases])
    assert set(stale_stages(tmp_path)) == {"select"}
    output = Output(tmp_path / "dataset")
    summary = run_write(tmp_path, stage_files(tmp_path, "select"), output)
    assert any("select was made from other rows" in note and "verify/rows.jsonl" in note for note in summary.notes)
    assert "select was made from other rows" in (output.folder / "curated.md").read_text()
    assert "out of date: select" in CliRunner().invoke(app, ["curate", "funnel", str(tmp_path)]).output
    run_select(tmp_path, stage_files(tmp_path, "verify"), Selection(), {})
    summary = run_write(tmp_path, stage_files(tmp_path, "select"), output)
    assert not summary.notes and "Out of date" not in (output.folder / "curated.md").read_text()


def test_a_source_that_was_added_makes_what_follows_out_of_date(tmp_path):
    put(tmp_path / "import" / "one" / "rows.jsonl", rows(1))
    stage(tmp_path, "adapt", stage_files(tmp_path, "import"))
    put(tmp_path / "import" / "two" / "rows.jsonl", rows(1, first=1))
    assert "import/two/rows.jsonl" in stale_stages(tmp_path)["adapt"]


@pytest.mark.parametrize("text", ["", "[]", '{"a": '])
def test_damaged_settings_are_named_with_the_way_out(tmp_path, text):
    given = put(tmp_path / "cases" / "rows.jsonl", rows(1))
    stage(tmp_path, "verify", [given])
    (tmp_path / "verify" / "settings.json").write_text(text)
    with pytest.raises(CurationError, match=r"verify/settings\.json: .*--fresh"):
        stage(tmp_path, "verify", [given])
    assert stage(tmp_path, "verify", [given], fresh=True).kept == 1


@pytest.mark.parametrize("text", ["", "{}", "[]"])
def test_a_damaged_summary_is_named_with_the_way_out(tmp_path, text):
    given = put(tmp_path / "cases" / "rows.jsonl", rows(1))
    stage(tmp_path, "verify", [given])
    (tmp_path / "verify" / "summary.json").write_text(text)
    with pytest.raises(CurationError, match=r"verify/summary\.json: .*run the stage again"):
        read_funnel(tmp_path)
    run_write(tmp_path, [given], Output(tmp_path / "dataset"))  # the card says what it can
    assert stage(tmp_path, "verify", [given]).kept == 1 == read_funnel(tmp_path)[0].kept


def test_a_dropped_line_that_was_edited_is_named(tmp_path):
    folder = tmp_path / "verify"
    folder.mkdir()
    (folder / "dropped.jsonl").write_text('{"key": "%s", "rea\n' % ("0" * 32))
    with pytest.raises(CurationError, match=r"dropped\.jsonl: .*--fresh"):
        Journal(folder)


KERNEL = "__global__ void f(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }"


def curate(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["curate", *map(str, arguments)])
    return done.exit_code, " ".join(done.output.split())


def sources(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"text": KERNEL.replace("f(", f"{name}(")}) + "\n")
    return tmp_path / "one.jsonl", tmp_path / "two.jsonl"


def test_run_takes_no_rows_of_a_source_it_was_not_given(tmp_path, monkeypatch):
    one, two = sources(tmp_path)
    work = tmp_path / "work"
    common = ("--map", "code=text", "--licence", "MIT")
    assert curate("import", work, two, "--name", "two", *common)[0] == 0
    monkeypatch.setattr("cuset_stage.cli.curate._cases", lambda *_: (_ for _ in ()).throw(CurationError("far enough")))
    code, output = curate("run", work, "--source", f"one={one}", *common)
    assert code == 2 and "two: imported by an earlier command" in output and "--fresh" in output
    assert not (work / "import" / "one").exists()
    code, output = curate("run", work, "--source", f"one={one}", *common, "--fresh")
    assert "far enough" in output
    assert stage_files(work, "import") == [work / "import" / "one" / "rows.jsonl"]
    assert all(identity.startswith("one:") for identity in ids(work / "import" / "one" / "rows.jsonl"))


def test_run_reads_one_source_with_a_map_a_format_and_a_revision(tmp_path, monkeypatch):
    one, two = sources(tmp_path)
    renamed = one.rename(tmp_path / "one.txt")
    monkeypatch.setattr("cuset_stage.cli.curate._cases", lambda *_: (_ for _ in ()).throw(CurationError("far enough")))
    options = ("--map", "code=text", "--format", "jsonl", "--revision", "abc", "--licence", "MIT")
    _, output = curate("run", tmp_path / "work", "--source", f"one={renamed}", *options)
    assert "far enough" in output
    (row,) = map(json.loads, (tmp_path / "work" / "import" / "one" / "rows.jsonl").read_text().splitlines())
    assert row["code"] == KERNEL.replace("f(", "one(") and row["source"]["revision"] == "abc"
    code, output = curate("run", tmp_path / "other", "--source", renamed, "--source", two, "--map", "code=text")
    assert code == 2 and "--map code=text" in output and not (tmp_path / "other").exists()
