import numpy as np


# grad - m_out cancels when gradients repeat; s has its own floor of 1e-8.
TOLERANCE = {"param_out": (1e-5, 1e-6), "m_out": (1e-5, 5e-7), "s_out": (2e-5, 1e-9)}


def make_inputs(rng, n):
    trend = rng.normal(0.0, 1.0, n)
    noise = rng.choice([0.01, 0.3, 2.0], n)
    out = {
        "param": rng.standard_normal(n),
        "grad": trend + noise * rng.standard_normal(n),
        "m": 0.88 * trend,
        "s": 0.02 * noise**2 * rng.uniform(0.5, 1.5, n),
    }
    return {k: v.astype(np.float32) for k, v in out.items()}


def reference(inputs):
    p, g, m, s = (inputs[k].astype(np.float64) for k in ("param", "grad", "m", "s"))
    m = 0.9 * m + 0.1 * g
    s = 0.999 * s + 0.001 * (g - m) ** 2 + 1e-8
    mh, sh = m / (1.0 - 0.9**20), s / (1.0 - 0.999**20)
    out = {"param_out": p - 0.001 * (mh / (np.sqrt(sh) + 1e-8) + 0.01 * p), "m_out": m, "s_out": s}
    return {k: v.astype(np.float32) for k, v in out.items()}
