import numpy as np


# A subtraction and an addition in float32 of values below about 20.
TOLERANCE = {"spread": (1e-6, 4e-6)}


def make_inputs(rng, planes, height, width, out_h, out_w):
    x = rng.normal(0, 1, (planes, height, width))
    x *= rng.uniform(0.2, 2.0, (planes, height, 1)) * rng.uniform(0.2, 2.0, (planes, 1, width))
    return {
        "x": (x + rng.normal(0, 3, (planes, 1, 1))).astype(np.float32),
        "offset": rng.uniform(-1, 1, (out_h, out_w)).astype(np.float32),
    }


def cells(size, parts):
    return [(i * size // parts, -(-(i + 1) * size // parts)) for i in range(parts)]


def reference(inputs):
    x, offset = inputs["x"], inputs["offset"]
    rows, cols = cells(x.shape[1], offset.shape[0]), cells(x.shape[2], offset.shape[1])
    high = np.stack([x[:, a:b].max(axis=1) for a, b in rows], axis=1)
    low = np.stack([x[:, a:b].min(axis=1) for a, b in rows], axis=1)
    high = np.stack([high[:, :, a:b].max(axis=2) for a, b in cols], axis=2)
    low = np.stack([low[:, :, a:b].min(axis=2) for a, b in cols], axis=2)
    return {"spread": (high.astype(np.float64) - low + offset).astype(np.float32)}
