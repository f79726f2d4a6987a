import numpy as np


# Integer sums: exact.
TOLERANCE = {"cut": (0, 0)}


def make_inputs(rng, partitions, nodes, edges):
    edge = rng.integers(0, nodes, (edges, 2)).astype(np.int32)
    edge[::50, 1] = edge[::50, 0]
    share = rng.random((partitions, 1)) * 0.6 + 0.2
    return {
        "edge": edge,
        "weight": rng.integers(-20, 101, edges).astype(np.int32),
        "side": (rng.random((partitions, nodes)) < share).astype(np.uint8),
    }


def reference(inputs):
    u, v = inputs["edge"].T
    weight = inputs["weight"].astype(np.int64)
    return {"cut": np.array([weight[s[u] != s[v]].sum() for s in inputs["side"]]).astype(np.int32)}
