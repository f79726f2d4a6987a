import numpy as np


# 1 - 0.999^t for t >= 50 in float32 keeps about five digits; everything else is a few roundings.
TOLERANCE = {"param_out": (2e-5, 2e-5), "m_out": (1e-5, 5e-7), "v_out": (1e-5, 1e-9)}


def make_inputs(rng, n):
    scale = np.exp(rng.uniform(-11.0, 1.0, n))
    out = {
        "param": rng.standard_normal(n),
        "grad": scale * rng.standard_normal(n),
        "m": scale * rng.standard_normal(n),
        "v": scale**2 * rng.uniform(0.1, 1.0, n),
    }
    return {**{k: x.astype(np.float32) for k, x in out.items()}, "step": rng.integers(50, 400, 1).astype(np.int32)}


def reference(inputs):
    p, g, m, v = (inputs[k].astype(np.float64) for k in ("param", "grad", "m", "v"))
    t = float(inputs["step"][0])
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    e = 0.001 * np.sqrt(1.0 - 0.999**t) / (1.0 - 0.9**t) / (np.sqrt(v) + 1e-8)
    e = np.clip(e, 0.1 * (1.0 - 1.0 / (0.001 * t + 1.0)), 0.1 * (1.0 + 1.0 / (0.001 * t)))
    return {"param_out": (p - e * m).astype(np.float32), "m_out": m.astype(np.float32), "v_out": v.astype(np.float32)}
