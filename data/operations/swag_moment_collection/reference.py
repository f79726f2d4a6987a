import numpy as np


# square_out - mean_out^2 cancels: values near 1 leave an error of 3e-7 in a variance that is at least 0.01 or floored.
TOLERANCE = {"mean_out": (1e-5, 1e-7), "square_out": (1e-5, 1e-8), "deviation": (1e-4, 5e-5)}


def make_inputs(rng, n):
    m = rng.normal(0.0, 0.5, n)
    spread = np.where(rng.random(n) < 0.2, 0.0, rng.uniform(0.2, 1.0, n))
    m = np.where(spread == 0.0, 0.25 * np.rint(4.0 * m), m)
    theta = m + spread * rng.normal(0.0, 1.0, n)
    out = {"theta": theta, "mean": m, "square": m * m + spread**2}
    return {**{k: v.astype(np.float32) for k, v in out.items()}, "models": rng.integers(3, 20, 1).astype(np.int32)}


def reference(inputs):
    t, m, s = (inputs[k].astype(np.float64) for k in ("theta", "mean", "square"))
    k = float(inputs["models"][0])
    m = (k * m + t) / (k + 1.0)
    s = (k * s + t * t) / (k + 1.0)
    out = {"mean_out": m, "square_out": s, "deviation": np.sqrt(np.maximum(s - m * m, 1e-6))}
    return {k: v.astype(np.float32) for k, v in out.items()}
