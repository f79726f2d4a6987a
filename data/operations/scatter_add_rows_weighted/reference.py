import numpy as np


# Sums of about ten products of size 1 in any order: some 1e-6 absolute; cancellation makes an absolute part needed.
TOLERANCE = {"result": (1e-5, 5e-5)}


def make_inputs(rng, rows, cols, updates):
    target = rng.integers(0, rows, updates)
    target[rng.random(updates) < 0.1] = -1
    return {
        "base": rng.normal(0, 1, (rows, cols)).astype(np.float32),
        "source": rng.normal(0, 1, (updates, cols)).astype(np.float32),
        "target": target.astype(np.int32),
        "weight": rng.uniform(-1, 2, updates).astype(np.float32),
    }


def reference(inputs):
    keep = np.nonzero(inputs["target"] >= 0)[0]
    keep = keep[np.argsort(inputs["target"][keep], kind="stable")]
    target = inputs["target"][keep]
    rows = inputs["source"][keep].astype(np.float64) * inputs["weight"][keep].astype(np.float64)[:, None]
    out = inputs["base"].astype(np.float64)
    starts = np.nonzero(np.diff(target, prepend=-1))[0]
    out[target[starts]] += np.add.reduceat(rows, starts, axis=0)
    return {"result": out.astype(np.float32)}
