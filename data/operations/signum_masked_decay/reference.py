import numpy as np


# grad and momentum are multiples of 1/8 of limited size, so momentum_out, its sign and the counts are exact.
TOLERANCE = {"weight_out": (1e-5, 1e-7), "momentum_out": (0, 0), "agreement": (0, 0)}


def make_inputs(rng, rows, cols):
    g = np.rint(8.0 * rng.standard_normal((rows, cols))) / 8.0
    m = np.where(rng.random(g.shape) < 0.1, -g / 7.0, np.rint(2.0 * rng.standard_normal(g.shape)) / 8.0)
    m = np.where(np.rint(8.0 * m) == 8.0 * m, m, 0.0)
    return {
        "weight": rng.standard_normal(g.shape).astype(np.float32),
        "grad": g.astype(np.float32),
        "momentum": m.astype(np.float32),
        "decay_row": (rng.random(rows) < 0.6).astype(np.uint8),
    }


def reference(inputs):
    w, g, m = (inputs[k].astype(np.float64) for k in ("weight", "grad", "momentum"))
    d = np.where(inputs["decay_row"] == 1, 0.999, 1.0)[:, None]
    m = 0.875 * m + 0.125 * g
    return {
        "weight_out": (d * w - 0.01 * np.sign(m)).astype(np.float32),
        "momentum_out": m.astype(np.float32),
        "agreement": np.sum(g * m > 0, axis=1).astype(np.int32),
    }
