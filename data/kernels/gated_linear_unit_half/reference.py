import numpy as np


TOLERANCE = {"y": (2e-3, 1e-6)}


def make_inputs(rng, rows, pairs, values="normal"):
    x = rng.normal(0.0, 2.0, (rows, 2, pairs, 2))
    if values == "extremes":  # gates far outside the range of expf, values near the largest half
        x[:, 0] = rng.choice([-60000.0, -1.0, 0.0, 0.125, 60000.0], (rows, pairs, 2))
        x[:, 1] = rng.choice([-65504.0, -200.0, -3.0, 0.0, 3.0, 200.0, 65504.0], (rows, pairs, 2))
    return {"sizes": np.array([rows, pairs], dtype=np.int32), "x": x.astype(np.float16)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    # exp(-709) is still finite, and the quotient rounds to 0 in half long before.
    return {"y": (x[:, 0] / (1.0 + np.exp(np.minimum(-x[:, 1], 700.0)))).astype(np.float16)}
