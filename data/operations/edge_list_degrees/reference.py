import numpy as np


# Counts: exact.
TOLERANCE = {"degree": (0, 0), "loops": (0, 0)}


def make_inputs(rng, nodes, edges):
    source = (nodes * rng.random(edges) ** 1.5).astype(np.int32)
    target = rng.integers(0, nodes, edges).astype(np.int32)
    same = rng.random(edges) < 0.12
    target[same] = source[same]
    source[0], target[0] = 0, nodes - 1
    return {"source": source, "target": target}


def reference(inputs):
    s, t = inputs["source"], inputs["target"]
    nodes = max(s.max(), t.max()) + 1
    keep = s != t
    degree = np.stack([np.bincount(t[keep], minlength=nodes), np.bincount(s[keep], minlength=nodes)], axis=1)
    return {"degree": degree.astype(np.int32), "loops": np.bincount(s[~keep], minlength=nodes).astype(np.int32)}
