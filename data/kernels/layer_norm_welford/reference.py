import numpy as np


TOLERANCE = {"y": (1e-3, 2e-4), "rstd": (1e-3, 2e-4)}


def make_inputs(rng, rows, cols, values="normal"):
    spread = rng.uniform(0.3, 3.0, (rows, 1))
    x = rng.normal(0.0, 1.0, (rows, cols)) * spread + rng.uniform(-50.0, 50.0, (rows, 1))
    if values == "constant_rows":  # no variance at all, and rows of very large numbers
        x[0::3] = rng.integers(-20, 21, (len(x[0::3]), 1)) / 4.0
        x[1::3] *= 1.0e6
    return {
        "sizes": np.array([rows, cols], dtype=np.int32),
        "x": x.astype(np.float32),
        "gamma": rng.uniform(0.5, 1.5, cols).astype(np.float32),
        "beta": rng.normal(0.0, 0.5, cols).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    rstd = 1.0 / np.sqrt(x.var(axis=1) + 1e-5)
    y = (x - x.mean(axis=1, keepdims=True)) * rstd[:, None] * inputs["gamma"] + inputs["beta"]
    return {"y": y.astype(np.float32), "rstd": rstd.astype(np.float32)}
