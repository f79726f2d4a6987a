"""Options out of their range end the command with a sentence, before anything is written or thrown away."""

import subprocess
import sys

import pytest

from cuset_stage.curate.asking import Asker
from cuset_stage.curate.cases import run_cases
from cuset_stage.curate.parallel import Executor, unordered_map
from cuset_stage.curate.stage_rows import CurationError
from cuset_stage.curate.verify import Verification, run_verify


@pytest.mark.parametrize("workers", [-1, 0])
@pytest.mark.parametrize("executor", list(Executor))
def test_workers_are_at_least_one(executor, workers):
    with pytest.raises(CurationError, match=rf"--workers {workers}: at least 1"):
        unordered_map(str, [1, 2], executor=executor, workers=workers)
    assert [result for _, result in unordered_map(str, [1], executor=Executor.THREADS, workers=2)] == ["1"]


@pytest.mark.parametrize("stage", ["cases", "verify"])
def test_a_wrong_number_of_workers_throws_no_earlier_results_away(tmp_path, stage):
    earlier = tmp_path / stage / "rows.jsonl"
    earlier.parent.mkdir()
    earlier.write_text("{}\n")
    with pytest.raises(CurationError, match="--workers -1: at least 1"):
        if stage == "cases":
            run_cases(tmp_path, [], workers=-1, fresh=True)
        else:
            run_verify(tmp_path, [], Verification(use_gpu=False), workers=-1, fresh=True)
    assert earlier.read_text() == "{}\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"retries": -1}, "--retries -1: a whole number, at least 0"),
        ({"timeout_s": 0}, "--timeout 0: more than 0 and at most 86400 seconds"),
        ({"timeout_s": -3.5}, "--timeout -3.5: more than 0"),
        ({"timeout_s": float("nan")}, "--timeout nan: more than 0"),
        ({"timeout_s": float("inf")}, "--timeout inf: more than 0"),
        ({"tries": 0}, "tries 0"),
        ({"backoff_s": -1.0}, "backoff_s -1.0"),
    ],
)
def test_an_asker_refuses_options_that_would_fail_every_row(options, said):
    with pytest.raises(CurationError, match=said):
        Asker("http://localhost:1/v1", "test", **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--workers", "-1"), "--workers -1"),
        (("--retries", "-1"), "--retries -1"),
        (("--timeout", "0"), "--timeout 0"),
    ],
)
def test_the_command_says_so(tmp_path, options, said):
    (tmp_path / "rows.jsonl").write_text("")
    command = [sys.executable, "-m", "cuset_stage.cli", "curate", "cases", str(tmp_path / "work")]
    asked = ["--input", str(tmp_path / "rows.jsonl"), "--endpoint", "http://localhost:1/v1", "--model", "test"]
    done = subprocess.run([*command, *asked, *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "work" / "cases").exists()
