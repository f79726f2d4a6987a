import numpy as np


# Integer arithmetic: exact.
TOLERANCE = {"quotient": (0, 0)}


def make_inputs(rng, n):
    num = (rng.normal(0.0, 1.0, n) * np.exp2(rng.uniform(4.0, 29.0, n))).astype(np.int64)
    den = (rng.normal(0.0, 1.0, n) * np.exp2(rng.uniform(2.0, 27.0, n))).astype(np.int64)
    den[rng.random(n) < 0.03] = 0
    num[rng.random(n) < 0.02] = 0
    limit = 2**31 - 1
    return {
        "num": np.clip(num, -limit - 1, limit).astype(np.int32),
        "den": np.clip(den, -limit - 1, limit).astype(np.int32),
    }


def reference(inputs):
    a, b = inputs["num"].astype(np.int64), inputs["den"].astype(np.int64)
    low, high = -(2**31), 2**31 - 1
    size = (np.abs(a) << 16) // np.where(b == 0, 1, np.abs(b))
    q = np.clip(np.where((a < 0) != (b < 0), -size, size), low, high)
    zero = np.where(a > 0, high, np.where(a < 0, low, 0))
    return {"quotient": np.where(b == 0, zero, q).astype(np.int32)}
