import numpy as np


# A few float32 roundings; gradients of several hundred may cancel in the moment, hence its absolute part.
TOLERANCE = {"weight_out": (1e-5, 1e-6), "moment_out": (1e-5, 1e-4), "norm_out": (1e-6, 1e-9)}


def make_inputs(rng, rows, dim):
    step = np.where(rng.random(rows) < 0.3, 0, rng.integers(1, 60, rows))
    scale = np.exp(rng.normal(0.0, 1.5, (rows, 1)))
    out = {
        "weight": 0.1 * rng.standard_normal((rows, dim)),
        "grad": scale * rng.standard_normal((rows, dim)),
        "moment": 0.5 * scale * rng.standard_normal((rows, dim)),
        "norm": scale * rng.uniform(0.2, 2.0, (rows, dim)),
    }
    return {**{k: v.astype(np.float32) for k, v in out.items()}, "step": step.astype(np.int32)}


def reference(inputs):
    w, g, m, u = (inputs[k].astype(np.float64) for k in ("weight", "grad", "moment", "norm"))
    t = inputs["step"].astype(np.float64)[:, None]
    live = t > 0
    m2 = 0.9 * m + 0.1 * g
    u2 = np.maximum(0.999 * u, np.abs(g) + 1e-7)
    w2 = w - 0.002 / (1.0 - 0.9 ** np.where(live, t, 1.0)) * m2 / u2
    out = {"weight_out": np.where(live, w2, w), "moment_out": np.where(live, m2, m), "norm_out": np.where(live, u2, u)}
    return {k: v.astype(np.float32) for k, v in out.items()}
