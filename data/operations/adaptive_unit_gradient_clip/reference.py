import numpy as np


# Norms over up to 4608 float32 values; at the limit both branches agree.
TOLERANCE = {"clipped": (3e-5, 1e-9), "scale": (3e-5, 0)}


def make_inputs(rng, units, fan_in):
    w = rng.standard_normal((units, fan_in)) * rng.uniform(0.01, 1.0, (units, 1))
    w[rng.random(units) < 0.05] *= 1e-6
    g = rng.standard_normal((units, fan_in)) * 0.02 * np.exp(rng.normal(-0.5, 1.5, (units, 1)))
    return {"weight": w.astype(np.float32), "grad": g.astype(np.float32)}


def reference(inputs):
    w, g = inputs["weight"].astype(np.float64), inputs["grad"].astype(np.float64)
    limit = 0.02 * np.maximum(np.sqrt((w * w).sum(axis=1)), 0.001)
    ng = np.sqrt((g * g).sum(axis=1))
    scale = np.where(ng > limit, limit / np.maximum(ng, 1e-6), 1.0)
    return {"clipped": (g * scale[:, None]).astype(np.float32), "scale": scale.astype(np.float32)}
