import numpy as np


# Diagonally dominant systems, two float32 substitutions and a correction.
TOLERANCE = {"x": (1e-4, 3e-5)}


def make_inputs(rng, n, systems):
    a, c = rng.uniform(-1.0, 1.0, (n, systems)), rng.uniform(-1.0, 1.0, (n, systems))
    b = np.abs(a) + np.abs(c) + rng.uniform(0.3, 1.2, (n, systems))
    f = rng.normal(0.0, 2.0, (n, systems))
    return {k: v.astype(np.float32) for k, v in (("a", a), ("b", b), ("c", c), ("f", f))}


def reference(inputs):
    a, b, c, f = (inputs[k].astype(np.float64) for k in "abcf")
    n = len(b)
    # Border the ring at its last unknown: solve the open chain for the data and for the couplings to that unknown.
    y, z, d = f[:-1].copy(), np.zeros_like(f[:-1]), b[:-1].copy()
    z[0] -= a[0]
    z[-1] -= c[-2]
    for i in range(1, n - 1):
        w = a[i] / d[i - 1]
        d[i] -= w * c[i - 1]
        y[i] -= w * y[i - 1]
        z[i] -= w * z[i - 1]
    y[-1] /= d[-1]
    z[-1] /= d[-1]
    for i in range(n - 3, -1, -1):
        y[i] = (y[i] - c[i] * y[i + 1]) / d[i]
        z[i] = (z[i] - c[i] * z[i + 1]) / d[i]
    last = (f[-1] - c[-1] * y[0] - a[-1] * y[-1]) / (b[-1] + c[-1] * z[0] + a[-1] * z[-1])
    return {"x": np.concatenate([y + z * last, last[None]]).astype(np.float32)}
