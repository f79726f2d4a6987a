"""A small pair file, and the tiny model that scores its pairs."""

from pathlib import Path

import pytest
from llamafactory.hparams import DataArguments
from task_factory import write_lines
from transformers import AutoModelForCausalLM

from cuset_stage.stage.loading import open_template, open_tokenizer


RIGHT = "```cpp\nint i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) y[i] = x[i];\n```"
CHANGES = (("i < n", "i <= n"), ("if (i < n) ", ""), ("blockIdx.x * ", ""), ("y[i]", "y[n]"), ("x[i]", "x[n - i]"))


@pytest.fixture(scope="session")
def pair_file(tmp_path_factory) -> Path:
    """A file with fifteen pairs of three tasks, and one pair whose two programs are both right."""
    rows = [
        {"task": task, "prompt": f"{task} x to y.", "right": RIGHT, "wrong": RIGHT.replace(*change), "kind": change[0]}
        for task in ("Copy", "Move", "Write")
        for change in CHANGES
    ]
    equivalent = RIGHT.replace("blockIdx.x * blockDim.x", "blockDim.x * blockIdx.x")
    rows.append({**rows[0], "wrong": equivalent, "kind": "equivalent"})
    return write_lines(tmp_path_factory.mktemp("pairs") / "pairs.jsonl", *rows)


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return open_tokenizer(str(tiny_model))


@pytest.fixture(scope="module")
def template(tokenizer):
    return open_template(tokenizer, DataArguments(template="qwen"))


@pytest.fixture(scope="module")
def model(tiny_model):
    return AutoModelForCausalLM.from_pretrained(tiny_model).eval()
