import numpy as np


# Values are selected, not computed: exact.
TOLERANCE = {"y": (0, 0)}


def make_inputs(rng, planes, height, width):
    return {"x": np.round(rng.normal(0.0, 4.0, (planes, height, width)), 1).astype(np.float32)}


def reference(inputs):
    x = inputs["x"]
    h, w = x.shape[1:]
    p = np.pad(x, ((0, 0), (1, 1), (1, 1)), mode="edge")
    s = np.stack([p[:, a : a + h : 2, b : b + w : 2] for a in range(3) for b in range(3)])
    return {"y": np.partition(s, 4, axis=0)[4].astype(np.float32)}
