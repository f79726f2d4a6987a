import numpy as np


TOLERANCE = {"dx": (1e-4, 1e-4), "dweight": (1e-4, 1e-3)}


def make_inputs(rng, rows, cols, values="normal"):
    x = rng.normal(0.0, 1.0, (rows, cols)) * rng.uniform(0.5, 4.0, (rows, 1))
    dy = rng.normal(0.2, 1.0, (rows, cols))
    if values == "sparse":  # rows of zeros leave only the 1e-6 under the root; whole rows without a gradient
        x[::3], dy[::3] = 0.0, dy[::3] / 1024.0
        x[1::3] /= 4096.0
        dy[4::6] = 0.0
    return {
        "sizes": np.array([rows, cols], dtype=np.int32),
        "x": x.astype(np.float32),
        "dy": dy.astype(np.float32),
        "weight": rng.uniform(0.5, 1.5, cols).astype(np.float32),
    }


def reference(inputs):
    x, dy, weight = (inputs[name].astype(np.float64) for name in ("x", "dy", "weight"))
    q = 1.0 / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + 1e-6)
    inner = (x * weight * dy).mean(axis=1, keepdims=True)
    dx = q * (weight * dy - x * q**2 * inner)
    dweight = (dy * x * q).sum(axis=0)
    return {"dx": dx.astype(np.float32), "dweight": dweight.astype(np.float32)}
