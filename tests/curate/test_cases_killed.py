"""`cuset curate cases` killed at random points: an answer of a model that is on the disk stays there and is not paid for twice."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from curation_endpoint import Endpoint
from test_endpoint_cases import KERNEL, good

from cuset_stage.curate.adapt import run_adapt
from cuset_stage.curate.importing import Source, run_import
from cuset_stage.curate.stage import stage_files


ROWS = 9
WORKERS = 2
TRIES = 3


def of(question: str) -> int:
    return int(re.search(r"void scale(\d+)\(", question)[1])


def behave(question: str, _number: int) -> str:
    """Every third row never gets a usable answer, and is dropped."""
    time.sleep(0.05)
    return "I cannot help." if of(question) % 3 == 2 else good(of(question))


def settled(journal: list[Path]) -> dict[int, bytes]:
    """The rows with a result that is wholly on the disk: number -> line."""
    found = {}
    for path in journal:
        for line in (path.read_bytes() if path.exists() else b"").split(b"\n")[:-1]:
            found[int(re.search(r"scale(\d+)\.cu", json.loads(line)["id"])[1])] = line
    return found


def test_killed_at_random_points_no_answer_is_lost_or_asked_for_again(tmp_path):
    tree = tmp_path / "kernels"
    tree.mkdir()
    for number in range(ROWS):
        (tree / f"scale{number}.cu").write_text(KERNEL.format(i=number), encoding="utf-8")
    work = tmp_path / "work"
    run_import(work, Source(tree, licence="MIT"))
    assert run_adapt(work, stage_files(work, "import")).kept == ROWS
    folder = work / "cases"
    journal = [folder / "rows.jsonl", folder / "dropped.jsonl"]
    chance = random.Random(time.time_ns())
    known: dict[int, bytes] = {}
    kills = 0
    with Endpoint(behave) as server:
        options = ["--endpoint", server.url, "--model", "test", "--workers", str(WORKERS)]
        command = [sys.executable, "-m", "cuset_stage.cli", "curate", "cases", str(work), *options]
        for _ in range(40):
            begun, seen, asked = time.monotonic(), len(settled(journal)), len(server.questions)
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            # Until something new is on the disk, and then a random while: between two results, or in the middle of one.
            while process.poll() is None and len(settled(journal)) == seen and time.monotonic() - begun < 60:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.3))
            ended = process.poll() is not None
            if not ended:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            _, errors = process.communicate()
            again = {of(question) for question in server.questions[asked:]} & known.keys()
            assert not again, "a row with a result on the disk was asked about again"
            now = settled(journal)
            assert known.items() <= now.items(), "a result that was on the disk is gone or changed"
            known = now
            if ended:
                break
            if journal[0].exists() and chance.random() < 0.5:  # as a kill in the middle of a write leaves it
                whole = journal[0].read_bytes()
                journal[0].write_bytes(whole[: whole.rfind(b"\n") + 1] + b'{"key": "0123')
    assert process.returncode == 0, errors
    assert kills >= 2
    keys = [json.loads(line)["key"] for path in journal for line in path.read_bytes().splitlines()]
    assert len(keys) == len(set(keys)) == ROWS
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert (summary["kept"], summary["reasons"]) == (ROWS - ROWS // 3, {"unusable_reply": ROWS // 3})
    # What a kill can cost is what was in flight: at most a row a worker.
    asked_for = Counter(of(question) for question in server.questions)
    fewest = {number: TRIES if number % 3 == 2 else 1 for number in range(ROWS)}
    assert all(asked_for[number] >= fewest[number] for number in range(ROWS))
    assert sum(asked_for.values()) <= sum(fewest.values()) + kills * WORKERS * TRIES
