import numpy as np


# Positive float32 sums of up to half a million terms, spread over many threads.
TOLERANCE = {"ratio": (1e-4, 1e-6)}


def make_inputs(rng, batch, n):
    s = rng.standard_normal((batch, n, n)).astype(np.float32)
    mix = rng.uniform(-1.0, 1.0, (batch, 1, 1)).astype(np.float32)
    a = s + mix * np.swapaxes(s, 1, 2)
    a[rng.integers(0, batch)] = np.eye(n, dtype=np.float32) * 3.0
    return {"a": a.astype(np.float32)}


def reference(inputs):
    a = inputs["a"].astype(np.float64)
    t = np.swapaxes(a, 1, 2)
    i = np.arange(a.shape[1])
    d, s = a - t, a + t
    d[:, i, i] = 0.0
    s[:, i, i] = 0.0
    d, s = (d * d).sum(axis=(1, 2)) / 2, (s * s).sum(axis=(1, 2)) / 2
    return {"ratio": np.where(d + s > 0, d / np.where(d + s > 0, d + s, 1.0), 0.0).astype(np.float32)}
