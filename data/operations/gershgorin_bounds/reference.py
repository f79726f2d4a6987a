import numpy as np


# float32 sums of up to 500 magnitudes; rows keep a clear distance from the dominance limit, so counts are exact.
TOLERANCE = {"bounds": (1e-5, 1e-4), "dominant": (0, 0)}


def make_inputs(rng, batch, n):
    a = rng.normal(0.0, 1.0, (batch, n, n))
    i = np.arange(n)
    a[:, i, i] = 0.0
    radius = np.abs(a).sum(axis=2)
    share = np.where(
        rng.random((batch, n)) < rng.uniform(0.1, 0.9, (batch, 1)),
        rng.uniform(1.02, 1.6, (batch, n)),
        rng.uniform(0.0, 0.98, (batch, n)),
    )
    a[:, i, i] = radius * share * rng.choice([-1.0, 1.0], (batch, n))
    return {"a": a.astype(np.float32)}


def reference(inputs):
    a = inputs["a"].astype(np.float64)
    centre = np.diagonal(a, axis1=1, axis2=2)
    radius = np.abs(a).sum(axis=2) - np.abs(centre)
    bounds = np.stack([(centre - radius).min(axis=1), (centre + radius).max(axis=1)], axis=1)
    return {"bounds": bounds.astype(np.float32), "dominant": (np.abs(centre) > radius).sum(axis=1).astype(np.int32)}
