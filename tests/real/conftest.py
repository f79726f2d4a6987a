"""Fixtures for tests with real weights: short runs on short conversations, in float32 on a CPU or in bf16 on a GPU."""

import json
import os
from pathlib import Path

import pytest
import torch


WEIGHTS = os.environ.get("CUSET_TEST_WEIGHTS")
ON_GPU = torch.cuda.is_available()
STEPS = ROWS = 2


@pytest.fixture(scope="session", params=[WEIGHTS], ids=[Path(WEIGHTS or "no weights").name])
def weights(request, tmp_path_factory) -> Path:
    """The model folder that CUSET_TEST_WEIGHTS names. tests/conftest.py has checked that a model lies there.

    On a CPU this is a folder of links to its files, with a config.json that says float32. Models load in the dtype of
    their config.json, and few CPUs are fast in bfloat16.
    """
    if not request.param:
        pytest.skip("set CUSET_TEST_WEIGHTS to a model folder, such as one of Qwen2.5-Coder-0.5B-Instruct")
    folder = Path(request.param).resolve()
    if ON_GPU:
        return folder
    linked = tmp_path_factory.mktemp("weights") / folder.name
    linked.mkdir()
    for path in folder.iterdir():
        if path.name != "config.json":
            (linked / path.name).symlink_to(path)
    config = json.loads((folder / "config.json").read_text()) | {"dtype": "float32", "torch_dtype": "float32"}
    (linked / "config.json").write_text(json.dumps(config))
    return linked


@pytest.fixture(scope="session")
def train(weights, llamafactory, eight_samples):
    """A function that trains with these recipe keys.

    Every optimizer step sees the same two rows, which differ in length.
    """
    keys = {"model_name_or_path": str(weights), "dataset_dir": str(eight_samples), "dataset": "eight"}
    keys |= {"max_samples": ROWS, "cutoff_len": 256, "per_device_train_batch_size": ROWS, "max_steps": STEPS}
    keys |= {"disable_gradient_checkpointing": True, "use_cpu": not ON_GPU, "bf16": ON_GPU}
    # In bf16, large steps would make rounding errors visible in the next step.
    keys["learning_rate"] = 1.0e-4 if ON_GPU else 1.0e-3
    environment = {"OMP_NUM_THREADS": str(len(os.sched_getaffinity(0))), "CUDA_VISIBLE_DEVICES": "0" * ON_GPU}

    def run(**more):
        return llamafactory({**keys, **more}, **environment)

    return run
