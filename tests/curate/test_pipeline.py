"""The whole pipeline on a small tree of .cu files, through the command line, without a GPU; and killed at random points."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from curation_steps import adapt, answer, lines, run, take_in
from curation_tree import make_tree, write_program

from cuset_stage.sandbox import SandboxError, find_toolkit


try:
    find_toolkit()
except SandboxError:
    pytest.skip("nvcc is needed", allow_module_level=True)


def by_id(path: Path) -> dict[str, dict]:
    return {each["id"].partition(":")[2]: each for each in lines(path)}


@pytest.fixture(scope="module")
def curated(tmp_path_factory):
    """The tree of curation_tree.py, taken through all stages by a YAML file."""
    tmp = tmp_path_factory.mktemp("pipeline")
    root = make_tree(tmp / "tree")
    recipe = tmp / "curate.yaml"
    recipe.write_text(f"folder: {tmp / 'work'}\nsources: {root}\nno_gpu: true\ntimes: 3\nname: mine\n")
    out = run("run", recipe, "times=2", "validation=0.4")
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


def test_what_a_verdict_depends_on_is_in_the_row(curated):
    work, _ = curated
    rows = by_id(work / "prove" / "rows.jsonl")
    verified = rows["square.cu"]["verified"]
    assert verified["verdict"] == "passed" and verified["times"] == 2 and len(verified["cases"]) == 5
    assert all(len(case["run_s"]) == 2 for case in verified["cases"]) and verified["toolkit"]
    assert verified["gpu"] is None and rows["square.cu"]["task"]["family"] == "element-wise"
    stages = [entry["stage"] for entry in rows["square.cu"]["provenance"]]
    assert stages == ["import", "split", "deduplicate", "write", "adapt", "answer", "prove"]
    wrong = by_id(work / "prove" / "dropped.jsonl")["wrong.cu"]
    assert "values are wrong" in wrong["detail"]


def test_the_data_set_and_its_card_are_written(curated):
    work, _ = curated
    folder = work / "dataset"
    train, held_out = (json.loads((folder / name).read_text()) for name in ("mine.json", "mine_eval.json"))
    assert len(train) + len(held_out) == 2 and train[0]["output"].startswith("```cpp\n")
    card = (folder / "mine.md").read_text()
    assert "no GPU (host programs)" in card and "mismatch 1" in card and "MIT" in card


def test_the_same_command_again_does_nothing_twice(curated):
    work, _ = curated
    before = (work / "prove" / "rows.jsonl").read_bytes()
    out = run("prove", work, "no_gpu=true")
    assert "3 rows (3 of them before)" in out and (work / "prove" / "rows.jsonl").read_bytes() == before


WORKING = """
import sys, time
from pathlib import Path
from cuset_stage.curate.stage import Kept, run_stage
from cuset_stage.curate.stage_rows import RowError, StageRows

def work(row):
    time.sleep(0.01)
    if row["number"] % 3 == 0:
        raise RowError("third", "a third of them")
    return Kept(row)

folder = Path(sys.argv[1])
run_stage(folder / "prove", "prove", StageRows([folder / "rows.jsonl"]), work, settings={}, workers=2, dear=True)
"""


def killed_until_done(command: list[str], folder: Path, count: int, pause_s: float) -> None:
    """Run the command and kill it at random points until it comes to its end: no row is lost, and none is done twice."""
    journal = [folder / "rows.jsonl", folder / "dropped.jsonl"]
    chance = random.Random(time.time_ns())
    snapshot: dict[Path, bytes] = {}
    kills = 0
    for _ in range(40):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        seen = sum(path.stat().st_size for path in journal if path.exists())
        # Until something new is on the disk, and then a random while: between two results, or in the middle of one.
        while process.poll() is None:
            if sum(path.stat().st_size for path in journal if path.exists()) != seen:
                break
            time.sleep(0.005)
        if kills >= 3 and pause_s < 1:  # three are enough where every start costs more than the work
            process.wait()
        time.sleep(chance.uniform(0.0, pause_s))
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        kills += 1
        for path in journal:
            now = path.read_bytes() if path.exists() else b""
            assert now.startswith(snapshot.get(path, b"")), "a result that was on the disk is gone"
            whole = now[: now.rfind(b"\n") + 1]
            snapshot[path] = whole
            if path is journal[0] and chance.random() < 0.5:  # as a kill in the middle of a write leaves it
                path.write_bytes(whole + b'{"key": "0123')
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert kills
    keys = [each["key"] for path in journal for each in lines(path)]
    assert len(keys) == len(set(keys)) == count  # every row once
    done_before = sum(data.count(b"\n") for data in snapshot.values())
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["kept"] + summary["dropped"], summary["resumed"]) == (count, done_before)
    for path, data in snapshot.items():
        assert (path.read_bytes() if path.exists() else b"").startswith(data)


def test_a_stage_that_is_killed_at_random_points_loses_and_repeats_nothing(tmp_path):
    rows = "".join(json.dumps({"id": f"t:{n}", "number": n, "source": {}}) + "\n" for n in range(200))
    (tmp_path / "rows.jsonl").write_text(rows)
    killed_until_done([sys.executable, "-c", WORKING, str(tmp_path)], tmp_path / "prove", 200, 0.1)


@pytest.mark.slow
def test_verification_that_is_killed_at_random_points_loses_and_repeats_nothing(tmp_path):
    for number in range(6):
        write_program(tmp_path / "tree", f"program{number}", f"x + {number + 1}.0f", f"x + {number + 1}.0")
    work = tmp_path / "work"
    take_in(work, tmp_path / "tree")
    adapt(work)
    answer(work)
    options = ["no_gpu=true", "mutants=0", "workers=2"]
    command = [sys.executable, "-m", "cuset_stage.cli", "curate", "prove", str(work), *options]
    killed_until_done(command, work / "prove", 6, 1.0)
