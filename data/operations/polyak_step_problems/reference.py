import numpy as np


# A float32 sum of up to 30,000 squares, one division, one product.
TOLERANCE = {"x_out": (5e-5, 5e-6), "step": (1e-4, 0)}


def make_inputs(rng, problems, dim):
    g = rng.standard_normal((problems, dim)) * np.exp(rng.normal(-1.0, 1.0, (problems, 1))) / np.sqrt(dim)
    g[rng.random(problems) < 0.05] = 0.0
    f = rng.normal(0.0, 3.0, problems)
    out = {
        "x": rng.uniform(-1.0, 1.0, g.shape),
        "grad": g,
        "value": f,
        "best": f - np.abs(rng.normal(0.0, 0.8, problems)) * np.where(rng.random(problems) < 0.1, -1.0, 1.0),
    }
    out = {k: v.astype(np.float32) for k, v in out.items()}
    out["value"] = np.float32(1.0 / 64) * np.rint(64.0 * out["value"])
    out["best"] = np.float32(1.0 / 64) * np.rint(64.0 * out["best"])
    return out


def reference(inputs):
    x, g, f, b = (inputs[k].astype(np.float64) for k in ("x", "grad", "value", "best"))
    n2 = (g * g).sum(axis=1)
    step = np.where(n2 > 0, np.clip((f - b) / np.where(n2 > 0, n2, 1.0), 0.0, 10.0), 0.0)
    return {"x_out": np.clip(x - step[:, None] * g, -1.0, 1.0).astype(np.float32), "step": step.astype(np.float32)}
