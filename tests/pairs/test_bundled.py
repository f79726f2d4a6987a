"""The bundled pairs: verified, of held-out tasks, and even over tasks and lengths."""

import gzip
import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from cuset_stage.cuda_source import tokens
from cuset_stage.mutants import OPERATORS
from cuset_stage.pairs.rows import ALTERNATIVE, read_pairs


ROOT = Path(__file__).parents[2]
WRONG = {"mismatch", "missing_output", "runtime_error", "timeout", "race", "memory_error", "undefined"}
MINI = ROOT / "data" / "cuset_mini.jsonl"


@pytest.fixture(scope="module")
def bundled():
    return read_pairs("cuset_mini")


@pytest.mark.parametrize("name", ["data/cuset_pairs.jsonl", str(ROOT / "data/cuset_pairs.jsonl"), "copy.jsonl"])
def test_a_path_works_as_the_name_does(bundled, name, tmp_path, monkeypatch):
    """From an empty folder: the path in the package, the whole path, and a copy of the file; also with the path of the tasks."""
    monkeypatch.chdir(tmp_path)
    if name == "copy.jsonl":
        shutil.copy(ROOT / "data/cuset_pairs.jsonl", name)
    assert read_pairs(name) == read_pairs(name, Path("data/cuset_mini.jsonl")) == bundled


def code(response):
    return response.removeprefix("```cpp\n").removesuffix("\n```")


def test_the_bundled_pairs_are_verified_and_of_held_out_tasks(bundled):
    rows = {row["id"]: row for row in map(json.loads, MINI.read_text().splitlines())}
    record = map(json.loads, gzip.decompress((ROOT / "benchmarks" / "pairs_h200.jsonl.gz").read_bytes()).splitlines())
    recorded = {(row["task"], row["sha256"]): row["verdict"] for row in record}
    wrong = [pair for pair in bundled if not pair.is_floor]
    assert len(wrong) == 600 and len({(pair.task, pair.wrong) for pair in bundled}) == len(bundled)
    assert Counter(pair.task for pair in wrong) == dict.fromkeys(rows, 6)
    assert {pair.kind for pair in wrong} <= set(OPERATORS)
    for pair in bundled:
        own = [(rows[pair.task][key] or "").rstrip() for key in ("solution", "alternative")]
        assert code(pair.right) == own[0] or {code(pair.right), code(pair.wrong)} == set(own)
        assert (code(pair.wrong) in own) is (pair.kind == ALTERNATIVE)
        assert (pair.verdict == "passed") if pair.is_floor else (pair.verdict in WRONG)
        sha256 = hashlib.sha256((code(pair.wrong) + "\n").encode()).hexdigest()
        assert recorded[pair.task, sha256] == pair.verdict


def test_the_bundled_pairs_are_even_over_tasks_and_lengths(bundled):
    wrong = [pair for pair in bundled if not pair.is_floor]
    longer = [len(tokens(code(pair.wrong))) - len(tokens(code(pair.right))) for pair in wrong]
    signs = Counter((one > 0) - (one < 0) for one in longer)
    assert abs(signs[1] - signs[-1]) <= 2 and signs[1] > 20
    assert abs(sum(longer)) < len(longer)  # below one token in the mean
