import numpy as np


# Means and variances of up to 4097 float32 terms with offsets of a few standard deviations.
TOLERANCE = {"t": (2e-4, 1e-3)}


def make_inputs(rng, rows, cols):
    group = (rng.random(rows) < 0.4).astype(np.uint8)
    group[:2], group[2:4] = 0, 1
    effect = rng.normal(0.0, 0.6, cols) * (rng.random(cols) < 0.6)
    x = (
        rng.standard_normal((rows, cols)) * (1.0 + 0.7 * group[:, None])
        + effect * group[:, None]
        + rng.uniform(-2.0, 2.0, cols)
    )
    return {"x": x.astype(np.float32), "group": group}


def reference(inputs):
    x, g = inputs["x"].astype(np.float64), inputs["group"]
    a, b = x[g == 1], x[g == 0]
    se = a.var(axis=0, ddof=1) / len(a) + b.var(axis=0, ddof=1) / len(b)
    return {"t": ((a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(se + 1e-6)).astype(np.float32)}
