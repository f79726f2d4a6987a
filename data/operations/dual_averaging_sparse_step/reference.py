import numpy as np


# u is a difference of float32 values near 0.05 and larger; its relative error is bounded by the margin around 0.
TOLERANCE = {"weight": (2e-4, 1e-6), "grad_sum_out": (1e-6, 1e-6), "square_sum_out": (1e-6, 0), "nonzeros": (0, 0)}


def make_inputs(rng, n):
    t = int(rng.integers(20, 200))
    g = rng.standard_normal(n).astype(np.float32)
    target = np.where(rng.random(n) < 0.5, rng.uniform(0.0, 0.049, n), rng.uniform(0.051, 0.8, n)) * t
    s = (rng.choice([-1.0, 1.0], n) * target - g).astype(np.float32)
    q = t * rng.uniform(0.3, 2.0, n)
    return {"grad_sum": s, "square_sum": q.astype(np.float32), "grad": g, "round": np.array([t], dtype=np.int32)}


def reference(inputs):
    g = inputs["grad"].astype(np.float64)
    s, q, t = inputs["grad_sum"] + g, inputs["square_sum"] + g * g, float(inputs["round"][0])
    u = np.abs(s) / t - 0.05
    w = np.where(u > 0, -np.sign(s) * 0.3 * t * u / np.sqrt(q), 0.0)
    return {
        "weight": w.astype(np.float32),
        "grad_sum_out": s.astype(np.float32),
        "square_sum_out": q.astype(np.float32),
        "nonzeros": np.array([np.sum(u > 0)], dtype=np.int32),
    }
