"""A small pair file, and what the tiny model makes of it."""

import json
from pathlib import Path

import pytest


RIGHT = "```cpp\nint i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) y[i] = x[i];\n```"
CHANGES = (("i < n", "i <= n"), ("if (i < n) ", ""), ("blockIdx.x * ", ""), ("y[i]", "y[n]"), ("x[i]", "x[n - i]"))


@pytest.fixture(scope="session")
def pair_file(tmp_path_factory) -> Path:
    """Fifteen pairs of three tasks, and one of two right programs."""
    rows = [
        {"task": task, "prompt": f"{task} x to y.", "right": RIGHT, "wrong": RIGHT.replace(*change), "kind": change[0]}
        for task in ("Copy", "Move", "Write")
        for change in CHANGES
    ]
    equivalent = RIGHT.replace("blockIdx.x * blockDim.x", "blockDim.x * blockIdx.x")
    rows.append({**rows[0], "wrong": equivalent, "kind": "equivalent"})
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
