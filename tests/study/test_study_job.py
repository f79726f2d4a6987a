"""GPUs of a machine are given out once, in quarters, and are free again when the command that has them ends."""

import json
import os
import subprocess
import sys
import time

import pytest

from cuset_stage.files import drop_torn_checkpoints, write_atomically
from cuset_stage.study.job import try_lease


@pytest.fixture
def lease(tmp_path):
    return lambda gpus, shares, pack=True: try_lease(tmp_path, gpus, shares, pack)


def test_small_jobs_share_a_gpu_and_large_ones_take_several(lease):
    first, second = lease(["0", "1"], 1), lease(["0", "1"], 2)
    assert first[0] == second[0]  # the fullest that has room
    whole = lease(["0", "1"], 4)
    assert whole[0] != first[0] and len(whole[1]) == 4
    assert lease(["0", "1"], 4) is None and lease(["0", "1"], 8) is None
    assert lease(["0", "1"], 1)[0] == first[0]
    assert lease(["0", "1"], 1) is None


def test_small_jobs_spread_where_none_is_large(lease):
    gpus = [lease(["0", "1", "2"], 1, pack=False)[0] for _ in range(6)]
    assert sorted(gpus[:3]) == sorted(gpus[3:]) == [["0"], ["1"], ["2"]]


def test_a_command_keeps_its_gpu_when_its_parent_is_killed(lease):
    _, places = lease(["0"], 4)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], pass_fds=places)
    for place in places:
        os.close(place)
    assert lease(["0"], 1) is None
    child.kill()
    child.wait()
    assert lease(["0"], 1) is not None


def test_a_checkpoint_whose_writing_was_stopped_is_no_start(tmp_path):
    for name, whole in (("checkpoint-5", True), ("checkpoint-10", False)):
        (tmp_path / "model" / name).mkdir(parents=True)
        (tmp_path / "model" / name / "trainer_state.json").write_text("{}" if whole else '{"epoch"')
    best = tmp_path / "model" / "checkpoint-best"  # the user's
    best.mkdir()
    drop_torn_checkpoints(tmp_path / "model")
    assert {path.name for path in (tmp_path / "model").iterdir()} == {"checkpoint-5", "checkpoint-best"}
    best.rmdir()
    (tmp_path / "model" / "checkpoint-5" / "trainer_state.json").unlink()
    drop_torn_checkpoints(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.fixture
def job(tmp_path):
    """A folder of a study with one job, the module `work` there, which counts its runs and then does what `code` says; starts it."""
    (tmp_path / "done" / "generate").mkdir(parents=True)

    def start(code, name="generate/m"):
        (tmp_path / "work.py").write_text(f"open('runs', 'a').write('x')\n{code}\n")
        entry = {"shares": 0, "module": ["work"], "environment": {"OF_THE_JOB": "1"}}
        study = {"python": sys.executable, "cwd": str(tmp_path), "executor": "local", "gpus": [], "pack": False}
        (tmp_path / "study.json").write_text(json.dumps({**study, "jobs": {name: entry}}))
        command = [sys.executable, "-m", "cuset_stage.study.job", name]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)

    return start


def test_a_job_whose_process_is_killed_says_so_in_its_log(job, tmp_path):
    first = job("import os; os.kill(os.getpid(), 9)")
    log, _ = first.communicate()
    assert first.returncode != 0 and "ended by SIGKILL (often for want of memory)" in log
    assert job("").wait() == 0 and (tmp_path / "done" / "generate" / "m.json").is_file()


def test_a_job_has_its_environment_and_the_user_s_comes_first(job, monkeypatch):
    assert job("import os; assert os.environ['OF_THE_JOB'] == '1'").wait() == 0
    monkeypatch.setenv("OF_THE_JOB", "2")
    assert job("import os; assert os.environ['OF_THE_JOB'] == '2'").wait() == 0


def test_a_job_that_a_killed_study_left_is_waited_for_and_not_run_again(job, tmp_path):
    first = job("import time, pathlib\nwhile not pathlib.Path('stop').exists(): time.sleep(0.05)")
    while not (tmp_path / "runs").exists():
        time.sleep(0.05)
    second = job("import time, pathlib\nwhile not pathlib.Path('stop').exists(): time.sleep(0.05)")
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(timeout=2)
    (tmp_path / "stop").touch()
    assert first.wait() == 0 and second.wait() == 0
    assert (tmp_path / "runs").read_text() == "x"


def test_judging_has_ended_where_the_judge_itself_failed_and_no_other_job_has(job, tmp_path):
    assert job("raise SystemExit(3)").wait() == 3 and not list((tmp_path / "done" / "generate").iterdir())
    assert job("raise SystemExit(3)", "evaluate/m").wait() == 0
    assert json.loads((tmp_path / "done" / "evaluate" / "m.json").read_text())["infra_error"]


def test_links_and_pipes_stay_when_they_are_written_to(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for name in ("link", "pipe"):
        write_atomically(tmp_path / name, "text")
    assert os.read(reader, 10) == b"text" and (tmp_path / "file").read_text() == "text"
    assert (tmp_path / "link").is_symlink() and (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_a_full_disk_is_said_with_the_file(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/study\.json'"):
        write_atomically(tmp_path / "study.json", "{}")
    assert not list(tmp_path.iterdir())
