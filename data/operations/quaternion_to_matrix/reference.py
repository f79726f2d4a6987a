import numpy as np


# Entries lie in [-1, 1] and take about eight float32 roundings.
TOLERANCE = {"matrices": (1e-5, 5e-6)}


def make_inputs(rng, n):
    q = rng.normal(0.0, 1.0, (n, 4)) * rng.uniform(0.3, 3.0, (n, 1))
    q[::61] = 0.0
    return {"quaternions": q.astype(np.float32)}


def reference(inputs):
    x, y, z, w = inputs["quaternions"].astype(np.float64).T
    norm = x * x + y * y + z * z + w * w
    s = np.where(norm > 0, 2.0 / np.where(norm > 0, norm, 1.0), 0.0)
    m = [
        1 - s * (y * y + z * z),
        s * (x * y - z * w),
        s * (x * z + y * w),
        s * (x * y + z * w),
        1 - s * (x * x + z * z),
        s * (y * z - x * w),
        s * (x * z - y * w),
        s * (y * z + x * w),
        1 - s * (x * x + y * y),
    ]
    return {"matrices": np.stack(m, axis=1).astype(np.float32)}
