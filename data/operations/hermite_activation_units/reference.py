import numpy as np


# The terms reach about 30 and may cancel; float32 rounding of them is some 1e-5.
TOLERANCE = {"y": (1e-5, 3e-5)}


def make_inputs(rng, rows, units):
    coef = rng.normal(0.0, 1.0, (5, units)) * np.array([0.5, 1.0, 0.5, 0.25, 0.1])[:, None]
    return {
        "x": np.clip(rng.normal(0.0, 1.2, (rows, units)), -3, 3).astype(np.float32),
        "coef": coef.astype(np.float32),
    }


def reference(inputs):
    x, a = inputs["x"].astype(np.float64), inputs["coef"].astype(np.float64)
    before, now = np.ones_like(x), x
    y = a[0] + a[1] * x
    for k in range(1, 4):
        before, now = now, x * now - k * before
        y += a[k + 1] * now
    return {"y": y.astype(np.float32)}
