import numpy as np


# A mean of up to 1200 squared percentages in float32; the day counts are comparisons of given values.
TOLERANCE = {"ulcer": (1e-4, 1e-5), "longest": (0, 0)}


def make_inputs(rng, assets, days):
    step = rng.normal(0.0, 1.0, (assets, days)) * rng.uniform(0.002, 0.03, (assets, 1)) + rng.uniform(0, 2e-3)
    prices = np.round(100.0 * np.exp(np.cumsum(step, axis=1)) * 8.0) / 8.0 + 1.0
    return {"prices": prices.astype(np.float32)}


def reference(inputs):
    p = inputs["prices"].astype(np.float64)
    peak = np.maximum.accumulate(p, axis=1)
    ulcer = np.sqrt(((100.0 * (peak - p) / peak) ** 2).mean(axis=1))
    run, best = np.zeros((2, len(p)), np.int32)
    for under in (p < peak).T:
        run = np.where(under, run + 1, 0)
        best = np.maximum(best, run)
    return {"ulcer": ulcer.astype(np.float32), "longest": best.astype(np.int32)}
