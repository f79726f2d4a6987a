import numpy as np


# Four or five float32 roundings an element.
TOLERANCE = {"weight_out": (1e-5, 1e-6), "buffer_out": (1e-5, 1e-7)}


def make_inputs(rng, rows, cols):
    g = rng.standard_normal((rows, cols)) * (rng.random((rows, cols)) < 0.5)
    g[rng.random(rows) < 0.2] = 0.0
    g[3] = 0.0
    g[3, cols - 1] = 1.5
    out = {
        "weight": rng.standard_normal(g.shape),
        "grad": g,
        "buffer": rng.standard_normal(g.shape),
        "nu": rng.choice([0.0, 0.7, 1.0], cols),
    }
    return {k: v.astype(np.float32) for k, v in out.items()}


def reference(inputs):
    w, g, b = (inputs[k].astype(np.float64) for k in ("weight", "grad", "buffer"))
    nu = inputs["nu"].astype(np.float64)
    live = np.any(g != 0, axis=1, keepdims=True)
    b2 = 0.95 * b + 0.05 * g
    w2 = w - 0.2 * ((1.0 - nu) * g + nu * b2)
    return {
        "weight_out": np.where(live, w2, w).astype(np.float32),
        "buffer_out": np.where(live, b2, b).astype(np.float32),
    }
