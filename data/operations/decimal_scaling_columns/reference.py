import numpy as np


# One division by an exactly representable power of ten (or a product with its rounded reciprocal).
TOLERANCE = {"scaled": (2e-6, 1e-10), "digits": (0, 0)}


def make_inputs(rng, records, fields):
    top = rng.uniform(1.2, 9.5, fields) * 10.0 ** rng.integers(-3, 8, fields)
    t = rng.uniform(-1.0, 1.0, (records, fields)) * 0.999 * top
    t[rng.integers(0, records, fields), np.arange(fields)] = top * np.where(rng.random(fields) < 0.5, -1, 1)
    t[:, 3] = np.clip(np.round(t[:, 3]), -10, 10)
    t[0, 3] = 10.0
    return {"table": t.astype(np.float32)}


def reference(inputs):
    t = inputs["table"].astype(np.float64)
    top = np.abs(t).max(0)
    j = (top[None, :] >= 10.0 ** np.arange(9)[:, None]).sum(0)
    return {"scaled": (t / 10.0**j).astype(np.float32), "digits": j.astype(np.int32)}
