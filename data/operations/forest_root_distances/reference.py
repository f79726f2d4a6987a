import numpy as np


# Positive float32 sums along paths of up to a few hundred edges.
TOLERANCE = {"root": (0, 0), "distance": (3e-5, 1e-5)}


def make_inputs(rng, nodes):
    i = np.arange(nodes)
    up = np.maximum(i - 1 - (i * rng.random(nodes) * 0.3).astype(np.int64), 0)
    up[:7] = i[:7]
    roots = rng.integers(0, nodes, nodes // 60)
    up[roots] = roots
    name = rng.permutation(nodes)
    parent = np.empty(nodes, dtype=np.int32)
    parent[name] = name[up]
    return {"parent": parent, "length": rng.uniform(0.1, 2.0, nodes).astype(np.float32)}


def reference(inputs):
    root = inputs["parent"].copy()
    distance = np.where(root == np.arange(len(root)), 0.0, inputs["length"].astype(np.float64))
    while True:
        above = root[root]
        if np.array_equal(above, root):
            break
        distance = distance + distance[root]
        root = above
    return {"root": root.astype(np.int32), "distance": distance.astype(np.float32)}
