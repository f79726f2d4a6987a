import numpy as np


# Powers and sums in float32 (about 1e-6), divided by |a - 1| >= 0.2.
TOLERANCE = {"divergence": (2e-4, 3e-5)}


def make_inputs(rng, rows, bins):
    p = rng.gamma(0.6, 1.0, (rows, bins)) * (rng.random((rows, bins)) < 0.8)
    p[:, 1] += 0.01
    q = p * rng.uniform(0.0, 1.0, (rows, 1)) + rng.gamma(1.0, 1.0, (rows, bins)) + 0.05
    order = rng.choice([0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 3.0], rows)

    def norm(v):
        return (v / v.sum(axis=1, keepdims=True)).astype(np.float32)

    return {"p": norm(p), "q": norm(q), "order": order.astype(np.float32)}


def reference(inputs):
    p, q = inputs["p"].astype(np.float64), inputs["q"].astype(np.float64)
    a = inputs["order"].astype(np.float64)[:, None]
    one = a[:, 0] == 1.0
    lp = np.log(np.where(p > 0, p, 1.0))
    lq = np.log(q)
    power = np.where(p > 0, np.exp(a * lp + (1.0 - a) * lq), 0.0).sum(axis=1)
    limit = (p * (lp - lq)).sum(axis=1)
    return {"divergence": np.where(one, limit, np.log(power) / np.where(one, 1.0, a[:, 0] - 1.0)).astype(np.float32)}
