import numpy as np


# Few roundings. |r| stays away from 1 by construction, so the count is exact.
TOLERANCE = {"theta_out": (1e-5, 1e-6), "m_out": (1e-5, 1e-6), "clipped": (0, 0)}


def make_inputs(rng, n):
    m = rng.normal(0.0, 1.0, n)
    g = rng.normal(0.0, 1.0, n)
    now = 0.96 * m.astype(np.float32).astype(np.float64) + 0.04 * g.astype(np.float32)
    r = np.where(rng.random(n) < 0.6, rng.uniform(0.02, 0.99, n), rng.uniform(1.01, 30.0, n))
    h = np.abs(now) / r / 0.05
    h = np.where(rng.random(n) < 0.1, -h, h)
    small = np.abs(now) < 1e-3
    m = np.where(small, 1.0, m)
    h = np.where(small, 2.0, h)
    out = {"theta": rng.standard_normal(n), "grad": g, "m": m, "hess": h}
    return {k: x.astype(np.float32) for k, x in out.items()}


def reference(inputs):
    p, g, m, h = (inputs[k].astype(np.float64) for k in ("theta", "grad", "m", "hess"))
    m = 0.96 * m + 0.04 * g
    r = m / np.maximum(0.05 * h, 1e-12)
    out = p * (1.0 - 0.0001) - 0.002 * np.clip(r, -1.0, 1.0)
    return {
        "theta_out": out.astype(np.float32),
        "m_out": m.astype(np.float32),
        "clipped": np.array([np.sum(np.abs(r) >= 1.0)], dtype=np.int32),
    }
