"""A model with real weights and short runs on short conversations, in float32 on a CPU or in bf16 on a GPU."""

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
    """The model folder that CUSET_TEST_WEIGHTS names, of which tests/conftest.py has seen that a model lies there.

    On a CPU it is a folder of links whose config.json says float32: models load in the type that theirs says, and few CPUs are fast in
    bfloat16.
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
    """Run a recipe's keys; every optimizer step sees two rows of uneven length, and they are the same in all steps."""
    keys = {"model_name_or_path": str(weights), "dataset_dir": str(eight_samples), "dataset": "eight"}
    keys |= {"max_samples": ROWS, "cutoff_len": 256, "per_device_train_batch_size": ROWS, "max_steps": STEPS}
    keys |= {"disable_gradient_checkpointing": True, "use_cpu": not ON_GPU, "bf16": ON_GPU}
    keys["learning_rate"] = 1.0e-4 if ON_GPU else 1.0e-3  # in bf16 a large step makes rounding visible in the next
    environment = {"OMP_NUM_THREADS": str(len(os.sched_getaffinity(0))), "CUDA_VISIBLE_DEVICES": "0" * ON_GPU}

    def run(**more):
        return llamafactory({**keys, **more}, **environment)

    return run
