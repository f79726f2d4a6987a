import numpy as np


TOLERANCE = {"weight_between": (0, 0), "cut": (0, 0)}


def make_inputs(rng, vertices, edges, clusters, pattern="random"):
    cluster = (clusters * rng.random(vertices) ** 1.5).astype(np.int64)
    ends = rng.integers(0, vertices, (edges, 2))
    weights = rng.integers(0, 1000, edges)
    if pattern == "heavy":  # one pair of clusters gets most of the weight: more than 32 bits
        cluster[:3] = [0, clusters - 1, 0]
        ends[: edges - 100] = [0, 1]
        weights[:] = 1000000
    return {
        "sizes": np.array([vertices, edges, clusters], dtype=np.int32),
        "edges": ends.astype(np.int32),
        "weights": weights.astype(np.int32),
        "cluster": cluster.astype(np.int32),
    }


def reference(inputs):
    clusters = int(inputs["sizes"][2])
    p, q = inputs["cluster"][inputs["edges"]].T.astype(np.int64)
    weights = inputs["weights"].astype(np.float64)  # sums stay far below 2^53
    other = p != q
    between = np.bincount(p * clusters + q, weights=weights, minlength=clusters**2)
    between += np.bincount((q * clusters + p)[other], weights=weights[other], minlength=clusters**2)
    return {
        "weight_between": between.reshape(clusters, clusters).astype(np.int64),
        "cut": np.array([weights[other].sum()]).astype(np.int64),
    }
