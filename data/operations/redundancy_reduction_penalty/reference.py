import numpy as np


# The redundancy term adds up to 11 million float32 squares in partial sums.
TOLERANCE = {"terms": (3e-4, 0), "gradient": (1e-6, 1e-7)}


def make_inputs(rng, dim):
    c = np.clip(rng.normal(0.0, 0.2, (dim, dim)), -1.0, 1.0)
    np.fill_diagonal(c, rng.uniform(0.2, 1.0, dim))
    return {"correlation": c.astype(np.float32)}


def reference(inputs):
    c = inputs["correlation"].astype(np.float64)
    diag = np.diagonal(c)
    terms = [np.sum((1.0 - diag) ** 2), np.sum(c * c) - np.sum(diag * diag)]
    g = 0.01 * c
    np.fill_diagonal(g, -2.0 * (1.0 - diag))
    return {"terms": np.array(terms, dtype=np.float32), "gradient": g.astype(np.float32)}
