import numpy as np


# Elimination of well conditioned matrices up to order 64 in float32; signs are exact.
TOLERANCE = {"sign": (0, 0), "log_abs": (1e-5, 5e-4)}


def make_inputs(rng, batch, n):
    a = rng.normal(0.0, 1.0, (batch, n, n))
    a[:, np.arange(n), np.arange(n)] += 2.5 * np.sqrt(n) * rng.choice([-1.0, 1.0], (batch, n))
    order = np.argsort(rng.random((batch, n)), axis=1)
    return {"a": np.take_along_axis(a, order[:, :, None], axis=1).astype(np.float32)}


def reference(inputs):
    sign, log_abs = np.linalg.slogdet(inputs["a"].astype(np.float64))
    return {"sign": sign.astype(np.int32), "log_abs": log_abs.astype(np.float32)}
