"""The plots of a run, also from the few values that a short run logs."""

import json

import pytest
from PIL import Image

from cuset_stage.stage.artifacts import plot_run


@pytest.mark.parametrize(
    ("log", "height"),
    [
        ([{"step": 2, "train_runtime": 1.0}], None),
        ([{"step": 2, "eval_pairs_accuracy": 0.5}], 300),
        ([{"step": 1, "cuset/nll": 1.0, "cuset/cuda_confidence": 0.5}, {"step": 2, "eval_pairs_accuracy": 0.5}], 900),
    ],
    ids=["nothing", "one panel", "three"],
)
def test_a_panel_for_what_was_logged(tmp_path, log, height):
    (tmp_path / "trainer_state.json").write_text(json.dumps({"log_history": log}))
    plot_run(str(tmp_path), [], "cuset")
    picture = tmp_path / "training_cuset.png"
    assert picture.exists() is (height is not None)
    if height is not None:
        assert Image.open(picture).size == (800, height)
