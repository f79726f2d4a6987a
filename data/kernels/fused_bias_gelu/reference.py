import numpy as np


TOLERANCE = {"y": (1e-4, 1e-5)}


def make_inputs(rng, rows, cols, values="normal"):
    x = rng.normal(0.0, 2.0, (rows, cols))
    if values == "extremes":  # zeros, and magnitudes whose cube leaves the range of float
        x = rng.choice([-1.0e20, -300.0, -5.0, 0.0, 5.0, 300.0, 1.0e20], (rows, cols))
    return {
        "sizes": np.array([rows, cols], dtype=np.int32),
        "x": x.astype(np.float32),
        "bias": rng.normal(0.0, 1.0, cols).astype(np.float32),
    }


def reference(inputs):
    z = inputs["x"].astype(np.float64) + inputs["bias"]
    y = 0.5 * z * (1.0 + np.tanh(0.7978845608 * (z + 0.044715 * z * z * z)))
    return {"y": y.astype(np.float32)}
