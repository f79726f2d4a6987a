import numpy as np


# Four exponentials (expf or __expf of arguments at most 200 below zero) and a weighted mean; signs may cancel.
TOLERANCE = {"y": (5e-5, 2e-5)}


def make_inputs(rng, height, width, channels):
    x = rng.normal(0.0, 1.5, (height, width, channels))
    x[rng.random(x.shape) < 0.01] *= 30.0
    return {"x": np.clip(x, -100, 100).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    e = np.stack([x[a::2, b::2] for a in (0, 1) for b in (0, 1)])
    w = np.exp(e - e.max(0))
    return {"y": ((w * e).sum(0) / w.sum(0)).astype(np.float32)}
