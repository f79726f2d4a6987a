import numpy as np


# Float32 sums of some tens of terms of mixed sign.
TOLERANCE = {"y": (1e-4, 1e-4)}


def make_inputs(rng, nodes, entries):
    owner = np.sort((nodes * rng.random(entries) ** 1.2).astype(np.int64))
    return {
        "row_start": np.searchsorted(owner, np.arange(nodes + 1)).astype(np.int32),
        "neighbor": rng.integers(0, nodes, entries).astype(np.int32),
        "weight": rng.normal(0.2, 1, entries).astype(np.float32),
        "x": rng.normal(0, 1, nodes).astype(np.float32),
    }


def reference(inputs):
    start, x, w = inputs["row_start"], inputs["x"].astype(np.float64), inputs["weight"].astype(np.float64)
    owner = np.repeat(np.arange(len(x)), np.diff(start))
    y = np.bincount(owner, np.abs(w) * x[owner] - w * x[inputs["neighbor"]], len(x))
    return {"y": y.astype(np.float32)}
