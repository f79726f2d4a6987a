import numpy as np


TOLERANCE = {"farthest": (0, 0)}


def make_inputs(rng, sources, targets, values="surface"):
    source = rng.normal(0.0, 2500.0, (sources, 3))
    target = rng.normal(300.0, 2500.0, (targets, 3))
    if values == "ties":  # a coarse grid, on which many points are equally far
        source = 2000 * rng.integers(-5, 6, (sources, 3))
        target = 2000 * rng.integers(-2, 3, (targets, 3))
    clipped = (np.clip(np.rint(cloud), -10000, 10000).astype(np.int16) for cloud in (source, target))
    return {"sizes": np.array([sources, targets], dtype=np.int32)} | dict(
        zip(("source", "target"), clipped, strict=True)
    )


def reference(inputs):
    p, q = inputs["source"].astype(np.float64), inputs["target"].astype(np.float64)
    nearest = np.empty(len(p))
    for begin in range(0, len(p), 256):  # whole numbers below 2^53: exact in float64
        part = p[begin : begin + 256]
        distance = (q**2).sum(axis=1)[None] - 2.0 * part @ q.T
        nearest[begin : begin + 256] = distance.min(axis=1) + (part**2).sum(axis=1)
    index = int(np.argmax(nearest))
    return {"farthest": np.array([index, int(nearest[index])], dtype=np.int32)}
