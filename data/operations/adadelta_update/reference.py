import numpy as np


# A few roundings, two square roots and a division in float32.
TOLERANCE = {"weight_out": (1e-5, 1e-6), "acc_grad_out": (1e-5, 1e-10), "acc_delta_out": (2e-5, 1e-10)}


def make_inputs(rng, rows, cols):
    g = rng.standard_normal((rows, cols)) * np.exp(rng.normal(-1.0, 2.0, (rows, 1)))
    out = {
        "weight": 0.2 * rng.standard_normal(g.shape),
        "grad": g,
        "acc_grad": g * g * rng.uniform(0.0, 4.0, g.shape),
        "acc_delta": rng.uniform(0.0, 0.05, g.shape) ** 2,
    }
    return {k: v.astype(np.float32) for k, v in out.items()}


def reference(inputs):
    w, g, a, d = (inputs[k].astype(np.float64) for k in ("weight", "grad", "acc_grad", "acc_delta"))
    a = 0.95 * a + 0.05 * g * g
    delta = g * np.sqrt(d + 1e-6) / np.sqrt(a + 1e-6)
    out = {"weight_out": w - delta, "acc_grad_out": a, "acc_delta_out": 0.95 * d + 0.05 * delta * delta}
    return {k: v.astype(np.float32) for k, v in out.items()}
