import numpy as np


# Few roundings; the sign of v - grad^2 has a margin, except where both are exactly equal (small integers).
TOLERANCE = {"param_out": (1e-5, 1e-6), "v_out": (1e-5, 1e-8)}


def make_inputs(rng, n, tensors):
    start = np.concatenate([[0], np.sort(rng.choice(n - 1, tensors - 1, replace=False)) + 1])
    g = rng.standard_normal(n)
    v = g * g * np.where(rng.random(n) < 0.5, rng.uniform(0.1, 0.9, n), rng.uniform(1.1, 6.0, n))
    tie = rng.random(n) < 0.05
    g = np.where(tie, np.rint(3.0 * g), g)
    v = np.where(tie, g * g, v)
    out = {
        "param": rng.standard_normal(n),
        "grad": g,
        "m": 0.5 * rng.standard_normal(n),
        "v": v,
        "rate": rng.uniform(0.001, 0.05, tensors),
    }
    return {**{k: x.astype(np.float32) for k, x in out.items()}, "start": start.astype(np.int32)}


def reference(inputs):
    p, g, m, v = (inputs[k].astype(np.float64) for k in ("param", "grad", "m", "v"))
    k = np.searchsorted(inputs["start"], np.arange(len(p)), side="right") - 1
    v = v - 0.001 * np.sign(v - g * g) * g * g
    p = p - inputs["rate"].astype(np.float64)[k] * (0.9 * m + 0.1 * g) / (np.sqrt(v) + 0.001)
    return {"param_out": p.astype(np.float32), "v_out": v.astype(np.float32)}
