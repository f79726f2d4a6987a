import numpy as np


# Sum of up to 50,000 squares in float32 partial sums, then its square root.
TOLERANCE = {"weight_out": (1e-5, 2e-6), "moment_out": (5e-5, 1e-6), "second_out": (1e-4, 0)}


def make_inputs(rng, layers, width):
    g = rng.standard_normal((layers, width)) * np.exp(rng.uniform(-3.0, 2.0, (layers, 1)))
    v = (g * g).sum(axis=1) * rng.uniform(0.1, 4.0, layers)
    v[rng.random(layers) < 0.25] = 0.0
    out = {
        "weight": 0.3 * rng.standard_normal(g.shape),
        "grad": g,
        "second": v,
        "moment": rng.standard_normal(g.shape) * 5.0 / np.sqrt(width),
    }
    return {k: x.astype(np.float32) for k, x in out.items()}


def reference(inputs):
    w, g, m, v = (inputs[k].astype(np.float64) for k in ("weight", "grad", "moment", "second"))
    q = (g * g).sum(axis=1)
    v = np.where(v == 0, q, 0.98 * v + 0.02 * q)
    m = 0.95 * m + g / (np.sqrt(v) + 1e-8)[:, None] + 0.001 * w
    out = {"weight_out": w - 0.01 * m, "moment_out": m, "second_out": v}
    return {k: x.astype(np.float32) for k, x in out.items()}
