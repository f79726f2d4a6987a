import numpy as np


# Differences of products up to 2 over steps of 0.2 years or more; the largest forward rate leads by a margin.
TOLERANCE = {"discount": (1e-5, 1e-7), "forward": (2e-4, 2e-5), "steepest": (0, 0)}


def make_inputs(rng, curves, tenors):
    time = np.cumsum(rng.uniform(0.25, 0.8, tenors))
    base = 0.01 + 0.03 * (1 - np.exp(-time / 5)) + rng.uniform(-0.01, 0.02, (curves, 1))
    fwd = base + rng.normal(0, 0.004, (curves, tenors))
    fwd[np.arange(curves), rng.integers(0, tenors, curves)] = 0.09
    gaps = np.diff(time, prepend=0.0)
    return {"zero_rate": (np.cumsum(fwd * gaps, axis=1) / time).astype(np.float32), "time": time.astype(np.float32)}


def reference(inputs):
    t = inputs["time"].astype(np.float64)
    zt = inputs["zero_rate"].astype(np.float64) * t
    f = np.diff(zt, axis=1, prepend=0.0) / np.diff(t, prepend=0.0)
    return {
        "discount": np.exp(-zt).astype(np.float32),
        "forward": f.astype(np.float32),
        "steepest": np.argmax(f, axis=1).astype(np.int32),
    }
