import numpy as np


# Two float32 norms over up to 90,000 elements (1e-5 relative with partial sums), then a few products.
TOLERANCE = {"weight_out": (2e-5, 2e-6), "velocity_out": (5e-5, 1e-6), "rate": (1e-4, 0)}


def make_inputs(rng, layers, width):
    w = rng.standard_normal((layers, width)) * rng.uniform(0.01, 2.0, (layers, 1))
    g = rng.standard_normal((layers, width)) * np.exp(rng.uniform(-6.0, 1.0, (layers, 1)))
    w[2] = 0.0
    g[5] = 0.0
    out = {"weight": w, "grad": g, "velocity": 0.01 * rng.standard_normal(w.shape)}
    return {k: x.astype(np.float32) for k, x in out.items()}


def reference(inputs):
    w, g, v = (inputs[k].astype(np.float64) for k in ("weight", "grad", "velocity"))
    nw, ng = np.sqrt((w * w).sum(axis=1)), np.sqrt((g * g).sum(axis=1))
    ok = (nw > 0) & (ng > 0)
    rate = np.where(ok, 0.001 * nw / np.where(ok, ng + 0.0005 * nw, 1.0), 1.0)
    v = 0.9 * v + rate[:, None] * 0.1 * (g + 0.0005 * w)
    return {
        "weight_out": (w - v).astype(np.float32),
        "velocity_out": v.astype(np.float32),
        "rate": rate.astype(np.float32),
    }
