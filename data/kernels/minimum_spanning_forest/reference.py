import numpy as np


TOLERANCE = {"chosen": (0, 0), "total": (0, 0)}


def make_inputs(rng, vertices, edges, pattern="random"):
    ends = rng.integers(0, vertices, (edges, 2))
    near = rng.random(edges) < 0.6
    ends[near, 1] = np.minimum(ends[near, 0] + rng.integers(0, 4, near.sum()), vertices - 1)
    weights = rng.integers(0, 10**9 + 1, edges)
    if pattern == "equal":  # two weights only: the numbers of the edges decide
        weights = rng.choice([5, 10**9], edges)
    return {
        "sizes": np.array([vertices, edges], dtype=np.int32),
        "edges": ends.astype(np.int32),
        "weights": weights.astype(np.int32),
    }


def reference(inputs):
    ends, weights = inputs["edges"].tolist(), inputs["weights"]
    parent = list(range(int(inputs["sizes"][0])))
    chosen = np.zeros(weights.size, dtype=np.uint8)
    for e in np.argsort(weights, kind="stable").tolist():
        a, b = ends[e]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[a] = b
            chosen[e] = 1
    return {"chosen": chosen, "total": np.array([weights[chosen == 1].sum(dtype=np.int64)])}
