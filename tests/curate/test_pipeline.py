"""The whole pipeline on small folders of tasks and of .cu files, through the command line, without a GPU."""

import json

import pytest
from curation_steps import lines, run
from curation_tree import make_sources
from host_programs import AS_HOST


@pytest.fixture(scope="module")
def curated(tmp_path_factory):
    """The sources of curation_tree.py, taken through all stages by a YAML file."""
    tmp = tmp_path_factory.mktemp("pipeline")
    tasks, tree = make_sources(tmp)
    recipe = tmp / "curate.yaml"
    recipe.write_text(f"folder: {tmp / 'work'}\nsources: [{tasks}, {tree}]\nno_gpu: true\ntimes: 3\nname: mine\n")
    out = run("run", recipe, "times=2", "validation=0.4", AS_HOST)
    left = lines(tmp / "work" / "prove" / "unsettled.jsonl")
    assert not left, left  # the judge's own failures
    return tmp / "work", out


def test_every_file_is_accounted_for(curated):
    work, out = curated
    funnel = {each["stage"]: each for each in json.loads(run("funnel", work, "format=json"))}
    stages = ("import", "split", "deduplicate", "write", "adapt", "answer", "prove", "select", "export")
    assert [funnel[stage]["read"] for stage in stages] == [6, 6, 6, 5, 5, 3, 3, 2, 2]
    assert funnel["deduplicate"]["reasons"] == {"duplicate": 1}
    assert funnel["adapt"]["reasons"] == {"bad_task": 1, "no_task": 1}
    assert funnel["prove"]["reasons"] == {"mismatch": 1}
    assert "funnel" in out and "data card" in out


def test_what_a_verdict_depends_on_is_in_the_row_and_on_the_card_of_the_data_set(curated):
    work, _ = curated
    (square,) = (row for row in lines(work / "prove" / "rows.jsonl") if row["id"] == "tasks:square")
    verified, folder = square["verified"], work / "dataset"
    assert verified["verdict"] == "passed" and verified["times"] == 2 and len(verified["cases"]) == 5
    assert all(len(case["run_s"]) == 2 for case in verified["cases"]) and verified["toolkit"]
    assert verified["gpu"] is None and square["task"]["family"] == "element-wise"
    (wrong,) = lines(work / "prove" / "dropped.jsonl")
    assert "values are wrong" in wrong["detail"]
    train, held_out = (json.loads((folder / name).read_text()) for name in ("mine.json", "mine_eval.json"))
    assert len(train) + len(held_out) == 2 and train[0]["output"].startswith("```cpp\n")
    card = (folder / "mine.md").read_text()
    assert "no GPU (host programs)" in card and "mismatch 1" in card and "MIT" in card


def test_the_same_command_again_judges_nothing_again(curated):
    work, _ = curated
    findings = {path: path.stat().st_mtime_ns for path in (work / "proofs").glob("*/*.json")}
    assert len(findings) == 3
    before = lines(work / "prove" / "rows.jsonl")
    run("prove", work, "no_gpu=true", AS_HOST)
    assert findings == {path: path.stat().st_mtime_ns for path in (work / "proofs").glob("*/*.json")}
    assert lines(work / "prove" / "rows.jsonl") == before
    run("prove", work, "no_gpu=true", AS_HOST, "times=1")  # asked otherwise, it is found out anew
    assert len([*(work / "proofs").glob("*/*.json")]) == 6
