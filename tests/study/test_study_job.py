"""GPUs of a machine are given out once, in quarters, and are free again when the command that has them ends."""

import os
import subprocess
import sys
import time

import pytest

from cuset_stage.files import drop_torn_checkpoints
from cuset_stage.study import job as study_job
from cuset_stage.study.job import _try_lease


@pytest.fixture
def lease(tmp_path):
    return lambda gpus, quarters: _try_lease(tmp_path, gpus, quarters)


def test_small_jobs_share_a_gpu_and_large_ones_take_several(lease):
    first, second = lease(["0", "1"], 1), lease(["0", "1"], 2)
    assert first[0] == second[0]  # the fullest that has room
    whole = lease(["0", "1"], 4)
    assert whole[0] != first[0] and len(whole[1]) == 4
    assert lease(["0", "1"], 4) is None and lease(["0", "1"], 8) is None
    assert lease(["0", "1"], 1)[0] == first[0]
    assert lease(["0", "1"], 1) is None


def test_a_command_keeps_its_gpu_when_its_parent_is_killed(lease):
    _, places = lease(["0"], 4)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], pass_fds=places)
    for place in places:
        os.close(place)
    assert lease(["0"], 1) is None
    child.kill()
    child.wait()
    for _ in range(50):
        if (got := lease(["0"], 1)) is not None:
            break
        time.sleep(0.1)
    assert got is not None


def test_a_checkpoint_whose_writing_was_stopped_is_no_start(tmp_path):
    for name, whole in (("checkpoint-5", True), ("checkpoint-10", False)):
        (tmp_path / "model" / name).mkdir(parents=True)
        if whole:
            (tmp_path / "model" / name / "trainer_state.json").touch()
    drop_torn_checkpoints(tmp_path / "model")
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["checkpoint-5"]
    (tmp_path / "model" / "checkpoint-5" / "trainer_state.json").unlink()
    drop_torn_checkpoints(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_no_gpu_is_waited_for_on_a_cpu():
    with study_job.leased([], 0) as (gpus, held):
        assert (gpus, held) == ([], [])
