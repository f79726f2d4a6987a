import numpy as np


TOLERANCE = {"y": (1e-3, 2e-4), "rstd": (1e-3, 2e-4)}


def make_inputs(rng):
    spread = rng.uniform(0.3, 3.0, (777, 1))
    return {
        "x": (rng.normal(0.0, 1.0, (777, 1000)) * spread + rng.uniform(-50.0, 50.0, (777, 1))).astype(np.float32),
        "gamma": rng.uniform(0.5, 1.5, 1000).astype(np.float32),
        "beta": rng.normal(0.0, 0.5, 1000).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    rstd = 1.0 / np.sqrt(x.var(axis=1) + 1e-5)
    y = (x - x.mean(axis=1, keepdims=True)) * rstd[:, None] * inputs["gamma"] + inputs["beta"]
    return {"y": y.astype(np.float32), "rstd": rstd.astype(np.float32)}
