import numpy as np


# Two square roots and a few products in float32; G goes up to some thousands.
TOLERANCE = {"theta_out": (2e-5, 5e-6), "second_out": (1e-5, 1e-12)}


def make_inputs(rng, chains, dim):
    size = np.exp(rng.normal(-2.0, 2.0, (chains, dim)))
    out = {
        "theta": rng.standard_normal(size.shape),
        "grad": size * rng.standard_normal(size.shape),
        "noise": rng.standard_normal(size.shape),
        "second": size**2 * rng.uniform(0.3, 2.0, size.shape),
        "rate": np.exp(rng.uniform(-9.0, -4.0, chains)),
    }
    return {k: v.astype(np.float32) for k, v in out.items()}


def reference(inputs):
    t, g, e, s = (inputs[k].astype(np.float64) for k in ("theta", "grad", "noise", "second"))
    h = inputs["rate"].astype(np.float64)[:, None]
    s = 0.99 * s + 0.01 * g * g
    p = 1.0 / (np.sqrt(s) + 1e-5)
    return {
        "theta_out": (t - 0.5 * h * p * g + np.sqrt(h * p) * e).astype(np.float32),
        "second_out": s.astype(np.float32),
    }
