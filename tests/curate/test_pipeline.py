"""The whole pipeline on a small tree of .cu files, through the command line, without a GPU; and killed at random points."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from curation_tree import make_tree, write_program

from cuset_stage.sandbox import SandboxError, find_toolkit


try:
    find_toolkit()
except SandboxError:
    pytest.skip("nvcc is needed", allow_module_level=True)


def cuset(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "cuset_stage.cli", "curate", *map(str, arguments)]


def run(*arguments: str | Path) -> str:
    done = subprocess.run(cuset(*arguments), capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def by_id(path: Path) -> dict[str, dict]:
    return {each["id"].partition(":")[2]: each for each in lines(path)}


@pytest.fixture(scope="module")
def curated(tmp_path_factory):
    """The tree of curation_tree.py, taken through all stages."""
    tmp = tmp_path_factory.mktemp("pipeline")
    root = make_tree(tmp / "tree")
    out = run(
        "run", tmp / "work", "--source", root, "--no-gpu", "--mutants", "1", "--validation", "0.4", "--name", "mine"
    )
    left = [each for stage in ("cases", "verify") for each in lines(tmp / "work" / stage / "unsettled.jsonl")]
    assert not left, left  # the judge's own failures
    return tmp / "work", out


def test_every_file_is_accounted_for(curated):
    work, out = curated
    funnel = {each["stage"]: each for each in json.loads(run("funnel", work, "--json"))}
    assert [funnel[stage]["read"] for stage in ("import", "adapt", "cases", "verify", "select", "write")] == [
        6,
        6,
        5,
        5,
        3,
        2,
    ]
    assert funnel["adapt"]["reasons"] == {"does_not_parse": 1}
    # On a machine without a GPU the kernel in its harness cannot run; with one, it passes.
    assert funnel["verify"]["reasons"] == {"mismatch": 1, "runtime_error": 1}
    assert set(funnel["select"]["reasons"]) == {"duplicate_exact"}
    assert "funnel" in out and "data card" in out


def test_a_kernel_gets_a_harness_and_the_function_beside_it_as_reference(curated):
    work, _ = curated
    row = by_id(work / "cases" / "rows.jsonl")["saxpy.cu"]
    assert row["form"] == "kernel" and "saxpy<<<" in row["program"] and row["source"]["licence"] == "BSD-3-Clause"
    assert row["provenance"][-1]["reference"] == "a CPU function of the source"
    assert {output["name"] for output in row["task"]["outputs"]} == {"y_out"}  # y has a value before
    sizes = [case["parameters"]["n"] for case in row["task"]["cases"]]
    assert len(set(sizes)) == 5 and sizes[1] % 2 == 1 and min(sizes) < 32


def test_what_a_verdict_depends_on_is_in_the_row(curated):
    work, _ = curated
    rows = by_id(work / "verify" / "rows.jsonl")
    verified = rows["square.cu"]["verified"]
    assert verified["verdict"] == "passed" and verified["times"] == 2 and len(verified["cases"]) == 5
    assert (
        all(len(case["run_s"]) == 2 for case in verified["cases"]) and verified["toolkit"] and verified["gpu"] is None
    )
    assert [entry["stage"] for entry in rows["square.cu"]["provenance"]] == ["import", "adapt", "cases", "verify"]
    wrong = by_id(work / "verify" / "dropped.jsonl")["wrong.cu"]
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
    before = (work / "verify" / "rows.jsonl").read_bytes()
    out = run("verify", work, "--no-gpu", "--mutants", "1")
    assert "5 rows (5 of them before)" in out and (work / "verify" / "rows.jsonl").read_bytes() == before


def test_killed_at_random_points_verification_loses_and_repeats_nothing(tmp_path):
    count = 6
    for number in range(count):
        write_program(tmp_path / "tree", f"program{number}", f"x + {number + 1}.0f", f"x + {number + 1}.0")
    work = tmp_path / "work"
    run("import", work, tmp_path / "tree")
    run("adapt", work)
    run("cases", work)
    folder = work / "verify"
    journal = [folder / "rows.jsonl", folder / "dropped.jsonl"]
    command = cuset("verify", work, "--no-gpu", "--mutants", "0", "--workers", "2")
    chance = random.Random(time.time_ns())
    snapshot: dict[Path, bytes] = {}
    kills = 0
    for _ in range(40):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        begun = time.monotonic()
        seen = sum(path.stat().st_size for path in journal if path.exists())
        # Until something new is on the disk, and then a random while: between two results, or in the middle of one.
        while process.poll() is None and time.monotonic() - begun < 60:
            if sum(path.stat().st_size for path in journal if path.exists()) != seen:
                break
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 1.0))
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
    assert kills >= 2
    written = lines(journal[0]) + lines(journal[1])
    keys = [each["key"] for each in written]
    assert len(keys) == len(set(keys)) == count  # every row once
    done_before = sum(data.count(b"\n") for data in snapshot.values())
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["kept"], summary["resumed"]) == (count, done_before)
    for path, data in snapshot.items():
        assert (path.read_bytes() if path.exists() else b"").startswith(data)


def test_two_processes_do_not_work_in_one_folder(curated, tmp_path):
    from cuset_stage.curate.journal import Journal
    from cuset_stage.curate.stage_rows import CurationError

    work, _ = curated
    folder = tmp_path / "verify"
    shutil.copytree(work / "verify", folder)
    with Journal(folder), pytest.raises(CurationError, match="another process"):
        Journal(folder)


def test_bad_options_end_with_a_sentence(tmp_path):
    done = subprocess.run(cuset("verify", tmp_path, "--no-gpu"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "cuset curate cases" in done.stderr
    done = subprocess.run(
        cuset("run", tmp_path, "--source", tmp_path / "no"), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and "nothing is downloaded" in done.stderr
    for name in ("a", "b"):  # the second one, with --fresh, would take the first one's rows away
        write_program(tmp_path / name / "kernels", "square", "x * x", "x * x")
    twice = ("--source", tmp_path / "a" / "kernels", "--source", tmp_path / "b" / "kernels")
    done = subprocess.run(
        cuset("run", tmp_path / "work", *twice, "--fresh"), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and "kernels is given twice" in done.stderr and not (tmp_path / "work").exists()
    (tmp_path / "bench.jsonl").write_text('{"question": "?"}\n')
    done = subprocess.run(
        cuset("run", tmp_path / "work", *twice[:2], "--against", f"bench={tmp_path / 'bench.jsonl'}"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "--against bench=" in done.stderr and not (tmp_path / "work").exists()
