import numpy as np


# Integers from one rounded float32 product: exact.
TOLERANCE = {"path": (0, 0)}


def make_inputs(rng, nodes, entries, walks, steps):
    owner = np.sort((nodes * rng.random(entries) ** 1.1).astype(np.int64))
    return {
        "row_start": np.searchsorted(owner, np.arange(nodes + 1)).astype(np.int32),
        "neighbor": rng.integers(0, nodes, entries).astype(np.int32),
        "origin": rng.integers(0, nodes, walks).astype(np.int32),
        "draw": rng.random((steps, walks), dtype=np.float32),
    }


def reference(inputs):
    start, neighbor, at = inputs["row_start"], inputs["neighbor"], inputs["origin"]
    path = np.empty(inputs["draw"].shape, dtype=np.int32)
    for t, u in enumerate(inputs["draw"]):
        d = start[at + 1] - start[at]
        k = np.minimum((u * d.astype(np.float32)).astype(np.int32), d - 1)
        at = np.where(d == 0, at, neighbor[np.clip(start[at] + k, 0, len(neighbor) - 1)])
        path[t] = at
    return {"path": path}
