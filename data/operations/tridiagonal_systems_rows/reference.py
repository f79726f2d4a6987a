import numpy as np


# Diagonally dominant systems: float32 elimination keeps about six digits.
TOLERANCE = {"u": (5e-5, 2e-5)}


def make_inputs(rng, systems, n):
    low, high = rng.uniform(-1.0, 1.0, (systems, n)), rng.uniform(-1.0, 1.0, (systems, n))
    mid = (np.abs(low) + np.abs(high) + rng.uniform(0.2, 1.5, (systems, n))) * rng.choice([-1.0, 1.0], (systems, n))
    low[:, 0], high[:, -1] = 9.0, -9.0
    rhs = rng.normal(0.0, 2.0, (systems, n))
    return {k: v.astype(np.float32) for k, v in (("low", low), ("mid", mid), ("high", high), ("rhs", rhs))}


def reference(inputs):
    low, mid, high, u = (inputs[k].astype(np.float64).T.copy() for k in ("low", "mid", "high", "rhs"))
    n = len(mid)
    for i in range(1, n):
        w = low[i] / mid[i - 1]
        mid[i] -= w * high[i - 1]
        u[i] -= w * u[i - 1]
    u[n - 1] /= mid[n - 1]
    for i in range(n - 2, -1, -1):
        u[i] = (u[i] - high[i] * u[i + 1]) / mid[i]
    return {"u": np.ascontiguousarray(u.T).astype(np.float32)}
