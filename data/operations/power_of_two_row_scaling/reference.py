import numpy as np


# Scaling by a power of two is exact.
TOLERANCE = {"scaled": (0, 0), "exponent": (0, 0)}


def make_inputs(rng, rows, cols):
    a = rng.uniform(-1.0, 1.0, (rows, cols)) * 2.0 ** rng.integers(-30, 31, (rows, 1))
    a[rows // 3] = 0.0
    a[5::17] = np.clip(np.round(a[5::17]), -8, 8)
    a[5::17, 3] = -8.0
    return {"a": a.astype(np.float32)}


def reference(inputs):
    a = inputs["a"]
    e = np.frexp(np.abs(a).max(1))[1].astype(np.int32)
    return {"scaled": np.ldexp(a, -e[:, None]).astype(np.float32), "exponent": e}
