import numpy as np


# Copies and single subtractions.
TOLERANCE = {"features": (1e-6, 1e-6)}


def make_inputs(rng, node_count, dim, edges):
    source = rng.integers(0, node_count, edges)
    source[rng.random(edges) < 0.12] = -1
    return {
        "nodes": rng.normal(0, 1, (node_count, dim)).astype(np.float32),
        "source": source.astype(np.int32),
        "target": rng.integers(0, node_count, edges).astype(np.int32),
    }


def reference(inputs):
    nodes, s = inputs["nodes"], inputs["source"]
    center = nodes[inputs["target"]]
    out = np.concatenate([center, nodes[s] - center], axis=1)
    out[s < 0] = 0
    return {"features": out}
