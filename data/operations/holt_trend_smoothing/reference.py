import numpy as np


# A stable linear recurrence in float32 with a slowly forgotten trend.
TOLERANCE = {"forecast": (2e-5, 2e-3)}


def make_inputs(rng, steps, series):
    x = np.cumsum(rng.standard_normal((steps, series)) * 0.1, axis=0) + rng.standard_normal((steps, series))
    return {
        "x": x.astype(np.float32),
        "alpha": rng.uniform(0.05, 0.95, series).astype(np.float32),
        "beta": rng.uniform(0.05, 0.95, series).astype(np.float32),
    }


def reference(inputs):
    x, a, b = (inputs[k].astype(np.float64) for k in ("x", "alpha", "beta"))
    f = np.empty(x.shape)
    f[0] = x[0]
    level, trend = x[0].copy(), x[1] - x[0]
    for t in range(1, len(x)):
        f[t] = level + trend
        new = a * x[t] + (1 - a) * f[t]
        trend = b * (new - level) + (1 - b) * trend
        level = new
    return {"forecast": f.astype(np.float32)}
