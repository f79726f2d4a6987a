import numpy as np


TOLERANCE = {"chosen": (0, 0), "total": (0, 0)}


def make_inputs(rng, trees, leaves, overhead, values="entropy"):
    depth = np.floor(np.log2(np.arange(1, 2 * leaves)))
    cost = rng.integers(1, 1000, (trees, 2 * leaves - 1)) * leaves / 2.0**depth + overhead * (2.0 - depth)
    cost = np.clip(cost, 0, 2**20)
    if values == "ties":  # a parent that costs as much as its two children and the overhead stays whole
        cost = 4 * leaves / 2.0**depth - overhead + rng.integers(0, 2, (trees, 2 * leaves - 1))
    return {"sizes": np.array([trees, leaves, overhead], dtype=np.int32), "cost": cost.astype(np.int32)}


def reference(inputs):
    cost = inputs["cost"].astype(np.int64)
    _, leaves, overhead = map(int, inputs["sizes"])
    best, split = cost.copy(), np.zeros(cost.shape, dtype=bool)
    for node in range(leaves - 2, -1, -1):
        children = best[:, 2 * node + 1] + best[:, 2 * node + 2] + overhead
        split[:, node] = children < cost[:, node]
        best[:, node] = np.minimum(cost[:, node], children)
    reached = np.zeros(cost.shape, dtype=bool)
    reached[:, 0] = True
    for node in range(1, cost.shape[1]):
        reached[:, node] = reached[:, (node - 1) // 2] & split[:, (node - 1) // 2]
    return {"chosen": (reached & ~split).astype(np.uint8), "total": best[:, 0].astype(np.int32)}
