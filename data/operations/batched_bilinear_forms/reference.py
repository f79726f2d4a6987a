import numpy as np


# float32 sums of up to 256500 products of order one: the value grows like 500 and the error stays below 0.02.
TOLERANCE = {"form": (1e-4, 2e-2)}


def make_inputs(rng, batch, m, n):
    return {
        "x": rng.normal(0.0, 1.0, (batch, m)).astype(np.float32),
        "a": rng.normal(0.2, 1.0, (batch, m, n)).astype(np.float32),
        "y": rng.normal(0.1, 1.0, (batch, n)).astype(np.float32),
    }


def reference(inputs):
    x, a, y = (inputs[k].astype(np.float64) for k in ("x", "a", "y"))
    return {"form": np.sum(x * np.matmul(a, y[:, :, None])[:, :, 0], axis=1).astype(np.float32)}
