import numpy as np


# Upper corners and their differences cancel: about 2e-6 absolute in each length, relative to sizes of at least 1.
TOLERANCE = {"fraction": (1e-4, 2e-5)}


def make_inputs(rng, rows, cols):
    def draw(k):
        return np.concatenate([rng.uniform(-4.0, 4.0, (k, 3)), rng.uniform(1.0, 6.0, (k, 3))], axis=1)

    return {"left": draw(rows).astype(np.float32), "right": draw(cols).astype(np.float32)}


def reference(inputs):
    a, b = inputs["left"].astype(np.float64)[:, None], inputs["right"].astype(np.float64)[None]
    common = 1.0
    for k in range(3):
        top = np.minimum(a[..., k] + a[..., k + 3], b[..., k] + b[..., k + 3])
        common = common * np.maximum(top - np.maximum(a[..., k], b[..., k]), 0.0)
    smaller = np.minimum(a[..., 3:].prod(axis=2), b[..., 3:].prod(axis=2))
    return {"fraction": (common / smaller).astype(np.float32)}
