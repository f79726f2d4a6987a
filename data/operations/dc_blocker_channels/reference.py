import numpy as np


# A stable recurrence; rounding errors are amplified by at most 1 / (1 - 0.98) = 50.
TOLERANCE = {"y": (1e-5, 2e-4)}


def make_inputs(rng, steps, channels):
    x = rng.standard_normal((steps, channels)) + rng.uniform(-4.0, 4.0, channels)
    x += np.sin(np.arange(steps)[:, None] * rng.uniform(0.001, 0.5, channels)) * 2.0
    return {"x": x.astype(np.float32), "pole": rng.uniform(0.5, 0.98, channels).astype(np.float32)}


def reference(inputs):
    x, pole = inputs["x"].astype(np.float64), inputs["pole"].astype(np.float64)
    y = np.empty(x.shape)
    y[0] = x[0]
    for t in range(1, len(x)):
        y[t] = x[t] - x[t - 1] + pole * y[t - 1]
    return {"y": y.astype(np.float32)}
