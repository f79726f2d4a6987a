import numpy as np


# A handful of float32 roundings; near the threshold of the shrinkage only tiny values differ.
TOLERANCE = {"next_point": (1e-5, 1e-6), "lookahead": (1e-5, 2e-6), "clock_out": (1e-6, 0)}


def make_inputs(rng, n):
    out = {
        "point": rng.standard_normal(n),
        "last": rng.standard_normal(n),
        "grad": 5.0 * rng.standard_normal(n),
        "penalty": np.where(rng.random(n) < 0.2, 0.0, rng.uniform(0.0, 12.0, n)),
        "clock": rng.uniform(1.5, 30.0, 1),
    }
    return {k: v.astype(np.float32) for k, v in out.items()}


def reference(inputs):
    p, last, g, lam = (inputs[k].astype(np.float64) for k in ("point", "last", "grad", "penalty"))
    t = float(inputs["clock"][0])
    v = p - 0.1 * g
    nxt = np.sign(v) * np.maximum(np.abs(v) - 0.1 * lam, 0.0)
    t2 = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
    return {
        "next_point": nxt.astype(np.float32),
        "lookahead": (nxt + (t - 1.0) / t2 * (nxt - last)).astype(np.float32),
        "clock_out": np.array([t2], dtype=np.float32),
    }
