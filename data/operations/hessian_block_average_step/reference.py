import numpy as np


# A mean of at most 100 magnitudes, one square root, one division.
TOLERANCE = {"param_out": (2e-5, 2e-6), "moment_out": (1e-5, 1e-9)}


def make_inputs(rng, blocks, width):
    size = np.exp(rng.normal(0.0, 1.0, (blocks, 1)))
    out = {
        "param": rng.standard_normal((blocks, width)),
        "grad": size * rng.standard_normal((blocks, width)),
        "diag": size * rng.standard_normal((blocks, width)),
        "moment": size[:, 0] ** 2 * rng.uniform(0.2, 1.5, blocks),
    }
    return {k: v.astype(np.float32) for k, v in out.items()}


def reference(inputs):
    p, g, d, m = (inputs[k].astype(np.float64) for k in ("param", "grad", "diag", "moment"))
    m = 0.9 * m + 0.1 * np.abs(d).mean(axis=1) ** 2
    return {
        "param_out": (p - 0.15 * g / (np.sqrt(m)[:, None] + 0.0001)).astype(np.float32),
        "moment_out": m.astype(np.float32),
    }
