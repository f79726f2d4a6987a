import numpy as np


# Sums are integers; the last quotient may be taken in float32.
TOLERANCE = {"rho": (1e-6, 1e-6), "footrule": (0, 0)}


def make_inputs(rng, rows, items):
    a = rng.permuted(np.tile(np.arange(1, items + 1), (rows, 1)), axis=1)
    noise = rng.normal(0, items * rng.uniform(0.05, 1.5, (rows, 1)), (rows, items))
    score = a * rng.choice([-1, 1], (rows, 1)) + noise
    b = np.argsort(np.argsort(score, axis=1), axis=1) + 1
    a[0] = np.arange(1, items + 1)
    b[0] = a[0][::-1]
    return {"rank_a": a.astype(np.int32), "rank_b": b.astype(np.int32)}


def reference(inputs):
    d = inputs["rank_a"].astype(np.int64) - inputs["rank_b"]
    n = d.shape[1]
    rho = 1 - 6 * (d * d).sum(axis=1) / (n * (n * n - 1))
    return {"rho": rho.astype(np.float32), "footrule": np.abs(d).sum(axis=1).astype(np.int32)}
