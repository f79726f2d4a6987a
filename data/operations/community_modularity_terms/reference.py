import numpy as np


# The sums are exact in float32 (multiples of 1/4 below 2^22); the term is a difference with a few roundings.
TOLERANCE = {"inside": (1e-5, 1e-3), "term": (1e-5, 1e-7)}


def make_inputs(rng, nodes, edges, communities):
    community = rng.permutation(np.arange(nodes) * communities // nodes).astype(np.int32)
    order = np.argsort(community, kind="stable")
    place = np.argsort(order)
    u = rng.integers(0, nodes, edges)
    near = order[(place[u] + rng.integers(-15, 16, edges)) % nodes]
    v = np.where(rng.random(edges) < 0.5, near, rng.integers(0, nodes, edges))
    return {
        "edge": np.stack([u, v], axis=1).astype(np.int32),
        "weight": (rng.integers(1, 17, edges) * 0.25).astype(np.float32),
        "community": community,
    }


def reference(inputs):
    weight = inputs["weight"].astype(np.float64)
    cu, cv = inputs["community"][inputs["edge"].T]
    n = inputs["community"].max() + 1
    inside = np.bincount(cu[cu == cv], weight[cu == cv], n)
    ends = np.bincount(cu, weight, n) + np.bincount(cv, weight, n)
    total = weight.sum()
    term = inside / total - (ends / (2 * total)) ** 2
    return {"inside": inside.astype(np.float32), "term": term.astype(np.float32)}
