import numpy as np


# Float32 sums of some tens of products; the gate is good to about 1e-6 even with a fast exponential.
TOLERANCE = {"updated": (1e-4, 1e-4)}


def make_inputs(rng, nodes, edges, channels):
    owner = np.sort((nodes * rng.random(edges) ** 1.3).astype(np.int64))
    return {
        "row_start": np.searchsorted(owner, np.arange(nodes + 1)).astype(np.int32),
        "source": rng.integers(0, nodes, edges).astype(np.int32),
        "gate": rng.normal(0, 2, edges).astype(np.float32),
        "feature": rng.normal(0, 1, (nodes, channels)).astype(np.float32),
    }


def reference(inputs):
    start, feature = inputs["row_start"], inputs["feature"]
    g = (1 / (1 + np.exp(-inputs["gate"].astype(np.float64)))).astype(np.float32)
    updated = feature.astype(np.float64)
    filled = np.flatnonzero(np.diff(start) > 0)
    for c in range(0, feature.shape[1], 16):
        message = g[:, None].astype(np.float64) * feature[inputs["source"], c : c + 16]
        updated[filled, c : c + 16] += np.add.reduceat(message, start[filled], axis=0)
    return {"updated": updated.astype(np.float32)}
