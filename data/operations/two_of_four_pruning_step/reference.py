import numpy as np


# Comparisons of given magnitudes are exact; the update has two or three roundings.
TOLERANCE = {"weight_out": (1e-5, 1e-6), "kept": (0, 0)}


def make_inputs(rng, groups):
    w = rng.standard_normal((groups, 4))
    coarse = rng.random((groups, 1)) < 0.4
    w = np.where(coarse, np.rint(2.0 * w) / 2.0, w)
    return {"weight": w.astype(np.float32), "grad": rng.standard_normal((groups, 4)).astype(np.float32)}


def reference(inputs):
    w, g = inputs["weight"], inputs["grad"].astype(np.float64)
    order = np.argsort(-np.abs(w), axis=1, kind="stable")[:, :2]
    keep = np.zeros(w.shape, dtype=bool)
    np.put_along_axis(keep, order, True, axis=1)
    w64 = w.astype(np.float64)
    out = w64 - 0.05 * (g + np.where(keep, 0.0, 0.2 * w64))
    return {"weight_out": out.astype(np.float32), "kept": (keep * np.array([1, 2, 4, 8])).sum(axis=1).astype(np.uint8)}
