import numpy as np


# Integers: exact.
TOLERANCE = {"walks": (0, 0)}


def make_inputs(rng, nodes, entries):
    owner = np.sort((nodes * rng.random(entries) ** 1.2).astype(np.int64))
    return {
        "row_start": np.searchsorted(owner, np.arange(nodes + 1)).astype(np.int32),
        "neighbor": rng.integers(0, nodes, entries).astype(np.int32),
    }


def reference(inputs):
    start, neighbor = inputs["row_start"], inputs["neighbor"]
    c = np.ones(len(start) - 1, dtype=np.int64)
    for _ in range(5):
        total = np.concatenate([[0], np.cumsum(c[neighbor])])
        c = (total[start[1:]] - total[start[:-1]]) % 65521
    return {"walks": c.astype(np.int32)}
