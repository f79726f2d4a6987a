import numpy as np


# Copied weights and integers: exact.
TOLERANCE = {"lightest": (0, 0), "chosen": (0, 0)}


def make_inputs(rng, nodes, edges):
    u = (nodes * rng.random(edges) ** 1.2).astype(np.int64)
    v = rng.integers(0, nodes, edges)
    v[::40] = u[::40]
    u[1], v[1] = 0, nodes - 1
    return {
        "edge": np.stack([u, v], axis=1).astype(np.int32),
        "weight": (rng.integers(1, 200, edges) * 0.125).astype(np.float32),
    }


def reference(inputs):
    u, v = inputs["edge"].T.astype(np.int64)
    nodes = max(u.max(), v.max()) + 1
    k = np.flatnonzero(u != v)
    order = k[np.argsort(inputs["weight"][k], kind="stable")][::-1]
    chosen = np.full(nodes, -1)
    both = np.stack([u[order], v[order]], axis=1).ravel()
    chosen[both] = np.repeat(order, 2)
    lightest = np.where(chosen < 0, np.float32(0), inputs["weight"][chosen])
    return {"lightest": lightest.astype(np.float32), "chosen": chosen.astype(np.int32)}
