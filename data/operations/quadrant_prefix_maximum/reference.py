import numpy as np


# Copied values.
TOLERANCE = {"best": (0, 0)}


def make_inputs(rng, rows, cols):
    x = rng.standard_normal((rows, cols)) * 0.7
    x += 3.0 * (np.arange(rows)[:, None] / rows + np.arange(cols) / cols) * (rng.random((rows, cols)) < 0.05)
    return {"x": x.astype(np.float32)}


def reference(inputs):
    return {"best": np.maximum.accumulate(np.maximum.accumulate(inputs["x"], axis=1), axis=0)}
