import numpy as np


# Sums of up to 150 signed float32 terms of size 100; a power with an exponent up to 20.
TOLERANCE = {"value": (2e-4, 2e-2), "positive_share": (1e-4, 1e-6)}


def make_inputs(rng, projects, flows):
    return {
        "amounts": rng.normal(10.0, 100.0, (projects, flows)).astype(np.float32),
        "days": rng.integers(0, 7301, (projects, flows)).astype(np.int32),
        "rate": rng.uniform(-0.02, 0.15, projects).astype(np.float32),
    }


def reference(inputs):
    g = 1.0 + inputs["rate"].astype(np.float64)[:, None]
    worth = inputs["amounts"].astype(np.float64) * g ** (-inputs["days"] / 365.0)
    share = np.maximum(worth, 0.0).sum(axis=1) / np.abs(worth).sum(axis=1)
    return {"value": worth.sum(axis=1).astype(np.float32), "positive_share": share.astype(np.float32)}
