import numpy as np


TOLERANCE = {"cost": (0, 0), "root": (0, 0)}


def make_inputs(rng, chains, matrices, values="random"):
    dims = rng.integers(1, 10001, (chains, matrices + 1))
    if values == "ties":  # equal sizes: every order costs the same; and sizes at both limits
        dims[::2] = 10000
        dims[1::4] = rng.choice([1, 2, 10000], dims[1::4].shape)
    return {"sizes": np.array([chains, matrices], dtype=np.int32), "dims": dims.astype(np.int32)}


def reference(inputs):
    dims = inputs["dims"].astype(np.int64).T
    matrices, chains = len(dims) - 1, dims.shape[1]
    best = np.zeros((matrices, matrices, chains), dtype=np.int64)
    root = np.full(chains, -1, dtype=np.int64)
    for span in range(1, matrices):
        for i in range(matrices - span):
            j = i + span
            costs = best[i, i:j] + best[i + 1 : j + 1, j] + dims[i] * dims[i + 1 : j + 1] * dims[j + 1]
            best[i, j] = costs.min(axis=0)
            if span == matrices - 1:
                root = costs.argmin(axis=0)
    return {"cost": best[0, -1].copy(), "root": root.astype(np.int32)}
