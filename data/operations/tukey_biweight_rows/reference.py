import numpy as np


# Sums of up to 40,000 non-negative float32 terms, usually pairwise by thread: below 1e-4 relative. Counts are exact.
TOLERANCE = {"loss": (1e-4, 1e-5), "outliers": (0, 0)}


def make_inputs(rng, rows, cols):
    r = rng.standard_normal((rows, cols)) * rng.uniform(0.5, 6.0, (rows, 1))
    r = r.astype(np.float32)
    r[rng.random((rows, cols)) < 0.03] = 4.0
    r[rng.random((rows, cols)) < 0.03] = -4.0
    return {"residual": r}


def reference(inputs):
    r = inputs["residual"].astype(np.float64)
    inside = np.abs(r) <= 4.0
    q = np.where(inside, 1.0 - (r / 4.0) ** 2, 0.0)
    loss = 16.0 / 6.0 * np.sum(1.0 - q**3, axis=1)
    return {"loss": loss.astype(np.float32), "outliers": np.sum(~inside, axis=1).astype(np.int32)}
