import numpy as np


TOLERANCE = {"dx": (1e-4, 1e-6)}


def make_inputs(rng, rows, cols, values="normal"):
    weights = np.exp(rng.normal(0.0, 1.5, (rows, cols)))
    y = weights / weights.sum(axis=1, keepdims=True)
    dy = rng.normal(0.3, 1.0, (rows, cols))
    temperature = rng.uniform(0.4, 0.8)
    if values == "one_hot":  # saturated rows have no gradient at all, and a constant dy gives none either
        y[::3] = 0.0
        y[::3, cols // 2] = 1.0
        dy[1::3] = dy[1::3, :1]
        y[2::3] = 0.0
        y[2::3, [0, cols - 1]] = [0.75, 0.25]
        temperature = 4.0
    return {
        "sizes": np.array([rows, cols], dtype=np.int32),
        "y": y.astype(np.float32),
        "dy": dy.astype(np.float32),
        "temperature": np.array([temperature], dtype=np.float32),
    }


def reference(inputs):
    y, dy = inputs["y"].astype(np.float64), inputs["dy"].astype(np.float64)
    dot = (y * dy).sum(axis=1, keepdims=True)
    return {"dx": (y * (dy - dot) / inputs["temperature"].astype(np.float64)).astype(np.float32)}
