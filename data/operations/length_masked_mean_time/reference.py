import numpy as np


# Means of up to 1000 float32 terms.
TOLERANCE = {"mean": (2e-5, 3e-5)}


def make_inputs(rng, batch, steps, features):
    x = rng.standard_normal((batch, steps, features)) + rng.uniform(-2.0, 2.0, (batch, 1, features))
    lengths = rng.integers(1, steps + 1, batch)
    lengths[0] = steps
    lengths[1] = 0
    x += 1000.0 * (np.arange(steps) >= lengths[:, None])[:, :, None]
    skip = (rng.random((batch, steps)) < 0.3) * rng.integers(1, 256, (batch, steps))
    skip[2] = 1
    return {"x": x.astype(np.float32), "lengths": lengths.astype(np.int32), "skip": skip.astype(np.uint8)}


def reference(inputs):
    x, skip = inputs["x"], inputs["skip"]
    keep = (np.arange(x.shape[1]) < inputs["lengths"][:, None]) & (skip == 0)
    total = np.stack([a[k].sum(axis=0, dtype=np.float64) for a, k in zip(x, keep, strict=False)])
    return {"mean": (total / np.maximum(keep.sum(axis=1), 1)[:, None]).astype(np.float32)}
