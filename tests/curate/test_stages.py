"""Commands and the folders of their stages: which rows a stage takes, and what is said where something is missing or wrong."""

import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from commands import small_files
from curation_steps import lines, put, run, select
from curation_tree import KERNEL
from test_select import row

from cuset_stage.curate.funnel import read_funnel
from cuset_stage.curate.parallel import in_threads
from cuset_stage.curate.rows import CurationError, RowError
from cuset_stage.curate.stage import locked, run_stage
from cuset_stage.curate.store import find_once


def rows(count: int) -> list[dict]:
    return [row(f"src:{number}", f"int main() {{ return {number}; }}", f"Return {number}.") for number in range(count)]


def sources(tmp_path: Path) -> list[Path]:
    rows = {name: {"text": KERNEL.replace("f(", f"{name}(")} for name in ("one", "two")}
    return [put(tmp_path / f"{name}.jsonl", [row]) for name, row in rows.items()]


def test_a_stage_takes_what_the_one_before_it_left_and_not_while_that_is_at_work(tmp_path):
    with pytest.raises(CurationError, match="run `cuset curate prove` first"):
        select(tmp_path)
    run_stage(tmp_path, "prove", rows(3), lambda row: [row], settings={})
    assert select(tmp_path).kept == 3
    assert select(tmp_path, put(tmp_path / "part.jsonl", rows(2))).kept == 2
    steps = [(step["stage"], step["read"], step["kept"]) for step in read_funnel(tmp_path)]
    assert steps == [("prove", 3, 3), ("select", 2, 2)]
    wrong = {b'{"id": "a"}': "source", b'{"id": "a", "source": {}, "task": "b"}': "task", b"[" * 100_000: "id"}
    for content, key in {**wrong, b'{"id": 5, "source": {}}': "id", b"\xff\xfe": "id"}.items():
        (tmp_path / "part.jsonl").write_bytes(content)
        with pytest.raises(CurationError, match=rf"part\.jsonl, line 1: no row of a stage: `{key}` is"):
            select(tmp_path, tmp_path / "part.jsonl")
    with locked(tmp_path / "select"), pytest.raises(CurationError, match="another process"):
        select(tmp_path)
    assert select(tmp_path, tmp_path / "select" / "rows.jsonl").kept == 2  # its own rows of the time before
    (tmp_path / "prove" / "summary.json").write_text("{")  # copied in part; it is missing while the stage runs
    assert [step["stage"] for step in read_funnel(tmp_path)] == ["select"]
    with pytest.raises(CurationError, match="has not run there to its end; run `cuset curate prove` first"):
        select(tmp_path)
    (tmp_path / "part.jsonl").write_text("")
    assert "select kept no row; there are none in its input" in run(
        "select", tmp_path, f"input={tmp_path}/part.jsonl", exit_code=1
    )
    with locked(tmp_path):  # by another `cuset curate run`, whose sources this one would remove
        assert "another process is working in it" in run("run", tmp_path, *sources(tmp_path), exit_code=2)


def test_a_disk_that_is_full_is_said_with_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would keep the bytecode of a stage cut off
    part, work = put(tmp_path / "part.jsonl", rows(50)), tmp_path / "work"
    with small_files():
        said = [run(stage, work, f"input={part}", exit_code=2) for stage in ("split", "deduplicate", "adapt")]
    folders = ("work/split", "work", "work/adapt")
    assert all(f"{tmp_path}/{folder}: File too large." in text for folder, text in zip(folders, said, strict=True))


def test_run_reads_the_sources_of_its_yaml_file_alone_each_with_its_own_columns(tmp_path, monkeypatch):
    def end(_settings):
        raise CurationError("far enough")

    monkeypatch.setattr("cuset_stage.curate.adapt.run_adapt", end)
    one, two = sources(tmp_path)
    work, recipe = tmp_path / "work", tmp_path / "curate.yaml"
    run("import", work, two, "name=two", "columns=code=text", "licence=MIT")
    put(work / "import" / "killed" / "rows.jsonl.part", [])
    renamed = one.rename(tmp_path / "one.txt")
    other = put(tmp_path / "three.jsonl", [{"code": KERNEL, "license": "ISC"}])
    source = f"{{path: {renamed}, name: one, columns: {{code: text}}, format: jsonl, revision: abc}}"
    recipe.write_text(f"folder: {work}\nlicence: MIT\nsources:\n- {source}\n- {other}\n")
    assert "far enough" in run("run", recipe, exit_code=2)
    # And not what was imported before.
    assert {path.name for path in (work / "import").iterdir()} == {"one", "three.jsonl"}
    (row,) = lines(work / "import" / "one" / "rows.jsonl")
    assert row["code"] == KERNEL.replace("f(", "one(")
    assert (row["source"]["revision"], row["source"]["licence"]) == ("abc", "MIT")
    (row,) = lines(work / "import" / "three.jsonl" / "rows.jsonl")
    assert row["source"]["licence"] == "ISC"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("one.jsonl", "a/one.jsonl"), "one.jsonl is given twice; give each its own name, as in second=a/one.jsonl"),
        (("sources=[{path: one.jsonl, presett: cuset}]",), "presett: no such key; did you mean preset?"),
        (("sources=[{name: one}]",), "sources[0]: path: missing"),
        (("sources=One=one.jsonl",), "name='One': expected"),
        ((), "sources: missing"),
        (("one.jsonl", "against=bench=gone"), "bench: there is nothing at gone"),
        (("one.jsonl", "output=file"), "output=file: this is a file; give a folder"),
        (("one.jsonl", "output=list"), "list/dataset_info.json: []; expected an object with an entry for"),
        (("mine/curated.json", "output=mine"), "mine/curated.json: the data set would overwrite this source; give"),
        (("one.jsonl", "columns=text"), "write ours=theirs, such as code=cuda_code"),
        (("one.jsonl", "name=a_eval"), "name='a_eval': this is what a holds out; give another name"),
        (("one.jsonl", "validation=1"), "validation='1': expected less than 1"),
        (("one.jsonl", "--per-gpu", "4"), "so: per_gpu=4"),
        (("one.jsonl", "workers=0"), "workers='0': expected greater than 0"),
        (("one.jsonl", "write=m"), "write='m': expected a valid dictionary"),
    ],
)
def test_what_is_wrong_with_a_run_is_said_before_it_begins(tmp_path, monkeypatch, given, said):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    put(Path("list", "dataset_info.json"), [[]])
    assert said in run("run", "work", *given, exit_code=2) and not (tmp_path / "work").exists()


def test_a_stage_that_keeps_nothing_has_failed_and_says_why(tmp_path):
    one, two = sources(tmp_path)
    output = run("run", tmp_path / "work", one, "columns=code=text", "licence=MIT", exit_code=1)
    assert "adapt kept no row; most were dropped for no_task (1)" in output
    assert "write={endpoint: URL, model: NAME}" in output
    (empty := tmp_path / "empty.jsonl").write_text("")
    said = run("run", tmp_path / "third", empty, "licence=MIT", exit_code=1)
    assert "import kept no row; there are none in empty.jsonl" in said
    (dropped,) = lines(tmp_path / "work" / "adapt" / "dropped.jsonl")
    assert dropped["detail"].startswith("no task: ") and "write={endpoint: URL, model: NAME}" in dropped["detail"]
    assert run("prove", tmp_path / "other", "no_gpu=true", exit_code=2).count("run `cuset curate answer` first") == 1
    assert "nothing is downloaded" in run("import", tmp_path / "work", tmp_path / "gone.jsonl", exit_code=2)
    second = put(tmp_path / "a" / "one.jsonl", [{"code": KERNEL}])
    run("import", tmp_path / "fourth", one, "columns=code=text", "licence=MIT")
    said = run("import", tmp_path / "fourth", second, "licence=MIT", exit_code=2)
    assert f"{one} was imported under the name one.jsonl; give {second} another one, as in name=second" in said
    for file in (one, two):  # each names its own row
        output = run("import", tmp_path / "work", file, "licence=MIT", exit_code=1)
        assert f"such as {file.name}, row 1: none of the columns" in output and "preset=" in output


def test_rows_keep_their_order_and_one_that_hangs_holds_up_no_other():
    """A training on what is made of them is not begun anew because one program took longer."""
    others, done = threading.Event(), []

    def work(row):
        assert row or others.wait(60)
        done.append(row)
        if len(done) == 19:
            others.set()
        return row

    assert list(in_threads(work, range(20), 4)) == list(range(20))


@pytest.mark.parametrize("workers", [1, 3])
def test_what_was_found_before_a_stage_was_stopped_is_not_found_again(tmp_path, workers):
    begun, found, stops = [], [], [6]

    def find(number):
        begun.append(number)
        if number in stops:
            raise CurationError("stopped")
        time.sleep(number / 40)
        found.append(number)
        if number % 3 == 0:
            raise RowError("third", "a third of them")
        return {"square": number**2}

    def work(row):
        return [{**row, **find_once(tmp_path / "proofs", row["number"], lambda: find(row["number"]))}]

    given = [{"id": f"t:{number}", "number": number, "source": {}} for number in range(9)]
    prove = partial(run_stage, tmp_path, "prove", given, settings={}, workers=workers)
    with pytest.raises(CurationError, match="stopped"):
        prove(work)
    assert {*begun} == {*found, 6}  # rows that were begun are finished first
    stops.clear()
    summary = prove(work)
    assert sorted(found) == list(range(9)) and (summary.kept, summary.dropped) == (6, 3)
    summary = prove(lambda row: 1 / 0)  # a defect of ours is no row's fault, and tried again
    assert (summary.kept, summary.unsettled) == (0, 9)
    assert "ZeroDivisionError" in summary.unsettled_rows[0]["detail"] and prove(work).unsettled == 0
