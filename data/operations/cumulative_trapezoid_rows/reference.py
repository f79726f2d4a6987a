import numpy as np


# Running float32 sums of up to 50000 small trapezoids; total range of t is 20.
TOLERANCE = {"area": (5e-5, 5e-4)}


def make_inputs(rng, rows, points):
    t = np.cumsum(rng.uniform(0.2, 1.8, points)) * (20.0 / points)
    f = np.sin(t * rng.uniform(0.2, 6.0, (rows, 1)) + rng.uniform(0.0, 6.0, (rows, 1))) + 0.3 * rng.standard_normal(
        (rows, points)
    )
    return {"f": (f + rng.uniform(-0.5, 0.5, (rows, 1))).astype(np.float32), "t": t.astype(np.float32)}


def reference(inputs):
    f, t = inputs["f"].astype(np.float64), inputs["t"].astype(np.float64)
    area = np.zeros(f.shape)
    area[:, 1:] = np.cumsum(0.5 * (f[:, 1:] + f[:, :-1]) * np.diff(t), axis=1)
    return {"area": area.astype(np.float32)}
